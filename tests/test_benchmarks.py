"""Every script in ``benchmarks/`` names only what Choque has and explains its options, and small sizes run."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import choque

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))
TWO_VERSIONS = {"adapters", "before_after", "environments", "same_answers"}
"""Scripts that also name what earlier versions had."""
SMALL = {"neighbors": "--atoms 300 --cutoffs 4 --rounds 1 --threads 1", "random_cells": "--cells 4"}
"""Runs whose kernels other tests compile too."""

pytestmark = pytest.mark.skipif(not SCRIPTS, reason="the benchmarks are not part of this copy of the source")


def run(script: str, *words: str, monkeypatch: pytest.MonkeyPatch, name: str = "__main__") -> None:
    """Execute a script in this process, as ``python benchmarks/script.py words`` does."""
    monkeypatch.setattr(sys, "argv", [script, *words])
    monkeypatch.syspath_prepend(FOLDER)
    runpy.run_path(str(FOLDER / f"{script}.py"), run_name=name)


def missing_names(script: str) -> Iterator[str]:
    """Yield every ``choque.a.b`` and every import from Choque, inside functions too, that does not exist."""
    whole = ast.parse((FOLDER / f"{script}.py").read_text("utf-8"))
    for node in ast.walk(whole):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "choque":
            home = importlib.import_module(str(node.module))
            for name in (alias.name for alias in node.names):
                if not hasattr(home, name) and importlib.util.find_spec(f"{node.module}.{name}") is None:
                    yield f"from {node.module} import {name}"
        elif isinstance(node, ast.Attribute):
            chain = ast.unparse(node)
            if re.fullmatch(r"choque(\.\w+)+", chain) and not _exists(chain.split(".")[1:]):
                yield chain


def _exists(words: list[str]) -> bool:
    found: object = choque
    for word in words:
        if not isinstance(found, ModuleType | type):
            return True  # an attribute of a value: not to be seen from here
        if not hasattr(found, word):
            return False
        found = getattr(found, word)
    return True


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script not in TWO_VERSIONS])
def test_a_script_names_only_what_exists(script: str) -> None:
    assert list(missing_names(script)) == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_explains_its_options(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "argparse" not in (FOLDER / f"{script}.py").read_text("utf-8"):
        run(script, monkeypatch=monkeypatch, name=script)
        return
    with pytest.raises(SystemExit) as end:
        run(script, "--help", monkeypatch=monkeypatch)
    assert end.value.code == 0
    assert "--help" in capsys.readouterr().out


@pytest.mark.parametrize("script", SMALL)
def test_a_small_size_runs(script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(script, *SMALL[script].split(), monkeypatch=monkeypatch)
    assert capsys.readouterr().out
