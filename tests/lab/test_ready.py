"""Quick runs whose cells are copies of one process: the same samples, the same failures, no process left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from choque.lab import Plan, Result, cell, run
from choque.lab.cell import CAN_COPY

pytestmark = pytest.mark.skipif(not CAN_COPY, reason="processes are copied on Linux only")

STILL: dict[str, Any] = {"quick": True, "factors": {"n": [100], "scene": ["still"]}}


@pytest.fixture(scope="module")
def copied(ready_study: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("choque.lab.reporting.draw", lambda *_: [])
        patch.setattr(cell, "_serve", lambda *_: pytest.fail("a process was started from nothing"))
        return run(ready_study, output=tmp_path_factory.mktemp("lab") / "copied", **STILL)


def test_copies_measure_what_processes_of_their_own_do(
    copied: Result, planted_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    alone = run(planted_study, output=tmp_path / "alone", **STILL)
    for column in ("method", "verdict", "note", "total", "tests"):
        assert copied.samples.values(column) == alone.samples.values(column)
    assert copied.record["copied"]
    assert "copied" not in alone.record


def test_a_run_says_what_it_took(copied: Result) -> None:
    assert set(copied.record["seconds"]) == {"cells", "report", "waiting"}
    assert "<dt>took</dt>" in (copied.folder / "report.html").read_text(encoding="utf-8")
    older = Result(copied.study, copied.folder, {}, copied.samples)
    assert older.took == ""
    hours = Result(copied.study, copied.folder, {"seconds": {"cells": 7384.0, "waiting": 61.0}}, copied.samples)
    assert hours.took == "2 h 3 min: cells 2 h 3 min; 1 min 1 s of it spent waiting for the cells of another run"


def test_a_copy_that_breaks_leaves_the_others_alone(
    ready_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    methods = ["sleepy", "fatal", "broken", "fast"]
    plan = Plan(minimum=2, maximum=2, precision=None, limit=3.0)
    result = run(ready_study, output=tmp_path / "run", methods=methods, plan=plan, **STILL)
    verdicts = {row["method"]: row["verdict"] for row in result.cells}
    assert verdicts == {"sleepy": "cut off", "fatal": "failed", "broken": "failed", "fast": "exact"}
    notes = {row["method"]: str(row["note"]) for row in result.cells}
    assert notes["broken"] == "RuntimeError: planted trouble"
    assert "the process ended while measuring" in notes["fatal"]


def test_a_full_run_of_short_cells_copies_one_process_after_the_other(
    ready_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies have the same addresses, so cells of one setting should not all come from one process."""
    text = Path(ready_study).read_text(encoding="utf-8")
    study = tmp_path / "short.py"
    study.write_text(text.replace("    kernels=", "    copies=2,\n    kernels="), encoding="utf-8")
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    monkeypatch.setattr(cell, "_serve", lambda *_: pytest.fail("a process was started from nothing"))
    started: list[cell.ReadyProcess] = []

    class Counted(cell.ReadyProcess):
        def __init__(self, order: Any) -> None:
            super().__init__(order)
            started.append(self)

    monkeypatch.setattr(cell, "ReadyProcess", Counted)
    monkeypatch.setattr("choque.lab.execution.ReadyProcess", Counted)
    result = run(
        str(study), output=tmp_path / "run", factors={"n": [100], "scene": ["still"], "seed": [0, 1, 2]},
        methods=["fast", "slow"], side_by_side=2, clock="processor",
    )  # fmt: skip
    assert [row["verdict"] for row in result.cells] == ["exact"] * 6
    assert sum(each.count for each in started) == 6
    assert max(each.count for each in started) <= 2
    assert not any(each.is_there for each in started)


def test_scipy_waits_until_it_is_asked_for() -> None:
    code = (
        "import sys, numba\n"
        "from choque.lab.worker import spare_scipy\n"
        "spare_scipy()\n"
        "from numba.np import arraymath\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "import importlib.util\n"
        "assert arraymath._HAVE_BLAS == (importlib.util.find_spec('scipy') is not None)\n"
        "if arraymath._HAVE_BLAS:\n"
        "    from numba.np.linalg import ensure_blas\n"
        "    ensure_blas()\n"
        "    assert 'scipy.linalg' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
