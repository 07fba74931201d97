"""The script that takes finished studies into the documentation."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "theses" / "collect.py"
specification = importlib.util.spec_from_file_location("collect", SCRIPT)
assert specification is not None
assert specification.loader is not None
collect = importlib.util.module_from_spec(specification)
specification.loader.exec_module(collect)


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in collect.RESULTS.glob("*/study.json")))
def test_every_published_record_can_be_described(folder: str) -> None:
    record = json.loads((collect.RESULTS / folder / "study.json").read_text())
    line = collect.described(record, 12_345)
    assert f"choque lab run {record['study']['name']}" in line
    assert "12,345 cells" in line
    assert record["started"][:10] in line
    assert record["machine"]["processor"] in line
