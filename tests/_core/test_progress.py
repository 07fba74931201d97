"""One line says how far long work is: in a terminal, in a file, in a notebook, and wherever it is sent."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from choque._core import progress
from choque._core.progress import Line, reporting, sent_to, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> str:
        """What is seen: each carriage return writes over the line from its start."""
        seen = ""
        for part in self.getvalue().split("\r"):
            seen = part + seen[len(part) :]
        return seen.rstrip()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "perf_counter", found)
    monkeypatch.setattr(Line, "listeners", [])
    monkeypatch.setattr(Line, "lines", [])
    monkeypatch.setattr(Line, "_width", 0)
    return found


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=found, modules=sys.modules))
    monkeypatch.setattr("shutil.get_terminal_size", lambda: SimpleNamespace(columns=61))
    return found


def test_a_terminal_shows_a_bar_with_the_time_left_and_nothing_afterwards(terminal: Terminal, clock: Clock) -> None:
    with shown("tiles") as tell:
        assert terminal.screen == "choque: tiles"
        clock.now += 3
        tell(1, 4, "reading")
        assert terminal.screen == "choque: tiles [#####---------------] 1 of 4, about 9 s  read"
        clock.now += 3
        tell(3, 4, "")
        assert terminal.screen == "choque: tiles [###############-----] 3 of 4, about 2 s"
        tell(4, 4, "")
        assert terminal.screen == ""
    assert not Line.lines


def test_quick_steps_are_not_drawn_one_by_one(terminal: Terminal, clock: Clock) -> None:
    with shown() as tell:
        for step in range(1000):
            clock.now += 0.001
            tell(step, 1000, "")
    assert 10 <= terminal.getvalue().count("\r") <= 15


def test_work_without_an_end_shows_its_number(terminal: Terminal) -> None:
    with shown() as tell:
        tell(1200, 0, "bowling")
        assert terminal.screen == "choque: 1,200  bowling"


def test_a_line_amid_longer_work_gives_way_to_it_when_that_goes_on(terminal: Terminal, clock: Clock) -> None:
    with shown("Reading") as tell:
        inner = Line()
        inner.show("compiling 1 of 2")
        inner.remove()
        assert terminal.screen == "choque: compiling 1 of 2"  # two texts in turns would flicker
        clock.now += 1
        tell(1, 2, "")
        assert terminal.screen.startswith("choque: Reading [##########")
    assert terminal.screen == ""


def test_a_failure_removes_the_line(terminal: Terminal) -> None:
    def fail() -> None:
        with reporting(True) as tell:
            tell(1, 2, "")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert terminal.screen == ""


def test_a_file_gets_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    with shown("tiles") as tell:
        for step in range(1, 25):
            clock.now += 1
            tell(step, 25, "")
    assert capsys.readouterr().err.splitlines() == [
        "choque: tiles [########------------] 10 of 25, about 15 s",
        "choque: tiles [################----] 20 of 25, about 5 s",
    ]


def test_a_function_is_called_as_it_is_and_none_is_silent(terminal: Terminal) -> None:
    steps: list[Any] = []
    with reporting(lambda *step: steps.append(step)) as tell:
        tell(1, 2, "a")
    for nothing in (None, False):
        with reporting(nothing) as tell:
            tell(1, 2, "a")
    assert steps == [(1, 2, "a")]
    assert terminal.getvalue() == ""


def test_lines_can_be_sent_elsewhere(terminal: Terminal) -> None:
    heard: list[str] = []
    with sent_to(heard.append), shown("Reading"):
        pass
    assert heard == ["Reading", ""]
    assert terminal.getvalue() == ""


def test_a_notebook_has_one_line_for_each_cell(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    cells: list[list[str]] = []

    def display(content: dict[str, str], **_: Any) -> Any:
        cells.append([content["text/plain"]])
        return SimpleNamespace(update=lambda content, **_: cells[-1].append(content["text/plain"]))

    shell = SimpleNamespace(kernel=None, execution_count=1)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))  # type: ignore[arg-type]
    for execution in (1, 2):
        shell.execution_count = execution
        for _ in range(2):
            clock.now += 1
            with shown("Reading"):
                pass
    assert cells == [["choque: Reading", "choque: Reading"]] * 2


def test_no_stderr_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for broken in (None, io.StringIO()):
        if broken is not None:
            broken.isatty = lambda: True  # type: ignore[method-assign]
            broken.write = lambda _: (_ for _ in ()).throw(ValueError("closed"))  # type: ignore[method-assign]
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=broken, modules=sys.modules))
        with shown("Reading") as tell:
            tell(1, 2, "")
