"""``choque interest``: a configuration written, edited, run and logged; what is wrong with one, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Command


def test_a_configuration_is_written_run_and_logged(command: Command, tmp_path: Path) -> None:
    """F-004-29, F-004-30, F-004-37."""
    path, log = tmp_path / "run.txt", tmp_path / "steps.csv"
    command.succeeds("interest", "config", path)
    assert "exists and is kept" in command.fails("interest", "config", path), "it may have been edited"
    path.write_text(path.read_text().replace("steps = 500", "steps = 12").replace("method = AoIP", "method = FB"))
    printed = command.succeeds("interest", "run", "--config", path, "--log", log)
    assert "100 bodies, dense at the start, followed for 12 steps by the method FB." in printed
    assert "4,950.0 pairs that may collide" in printed
    assert len(log.read_text().splitlines()) == 13


def test_a_bad_configuration_is_one_line(command: Command, tmp_path: Path) -> None:
    """F-004-29."""
    path = tmp_path / "run.txt"
    path.write_text("steps = 5\nmethod = octree\n")
    assert f"Line 2 of {path}" in command.fails("interest", "run", "--config", path)
    assert "no file" in command.fails("interest", "run", "--config", tmp_path / "missing.txt")
