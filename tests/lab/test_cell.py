"""The time limit of a cell: by the clock that times it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from choque.lab import cell

NAP = "import time; time.sleep(1.2)"
SPIN = "while True: pass"


def ended_by_deadline(program: str, *, by_processor: bool, seconds: float = 0.4) -> bool:
    with subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True) as process:
        deadline = cell._Deadline(process, by_processor=by_processor)
        deadline.set(seconds)
        process.wait()
        deadline.cancel()
    return deadline.passed


@pytest.mark.skipif(not cell.CAN_COPY, reason="only Linux tells the processor time of another process here")
def test_a_limit_by_the_processor_does_not_count_time_in_which_others_run() -> None:
    assert not ended_by_deadline(NAP, by_processor=True)
    assert ended_by_deadline(NAP, by_processor=False)
    assert ended_by_deadline(SPIN, by_processor=True)


def test_a_process_that_only_waits_is_ended_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell, "PATIENCE", 2)
    assert ended_by_deadline("import time; time.sleep(60)", by_processor=True)


def test_the_processor_time_of_a_process_that_is_gone_is_unknown() -> None:
    assert cell.processor_seconds(2**30) is None


def test_another_run_that_measures_is_known_by_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(cell, "_lock_file", lambda: tmp_path / "lock")
    assert cell.other_run() is None
    with cell._turn(True):
        assert cell.other_run() is None  # this one
    assert cell.other_run() is None
    with (tmp_path / "lock").open("w") as handle:
        handle.write("1")
        handle.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert cell.other_run() == 1
