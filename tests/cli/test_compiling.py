"""How many kernels are missing, how long they take to compile, and the calls that compile them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from choque._core import kernel
from choque._core.kernel import announcement
from choque._core.phases import run_phases
from choque.cli import _compiling as compiling  # patched: how many kernels are missing
from choque.cli import _warm_up  # patched: the calls that compile
from choque.cli._compiling import (  # `choque doctor` prints them, and verbs with long work wait for them
    Outlook,
    cache_folder,
    is_on_disk,
    kernels_of,
    outlook,
    prepare,
    why_unwritable,
)
from choque.dynamics.soft_step import substeps  # patched: what is solved
from choque.lab.warm_up import taking_up


@pytest.mark.parametrize(("limit", "runs"), [(float("inf"), 2), (-float("inf"), 1)])
def test_only_quick_work_is_done_twice_for_its_time(monkeypatch: pytest.MonkeyPatch, limit: float, runs: int) -> None:
    monkeypatch.setattr(compiling, "TIMED_AGAIN", limit)
    made: list[int] = []
    assert compiling.timed(lambda: made.append(1) or len(made))[0] == runs


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_kernel_that_is_compiled_or_loaded_is_noticed() -> None:
    add = numba.njit(lambda x: x + 1)
    with taking_up() as count:
        before = count()
        add(1)
        after = count()
        add(2)
    assert before < after == count()


def test_the_solver_is_compiled_for_all_that_worlds_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel that lacked the kernel for boxes alone compiled it at the first step."""
    solved = []

    def noted(kernel: Any, phases: Any, *arguments: Any) -> None:
        solved.append((arguments[2] is not None, arguments[3] is not None))
        run_phases(kernel, phases, *arguments)

    monkeypatch.setattr(substeps, "run_phases", noted)
    _warm_up.use_resting_worlds()
    assert {(True, False), (False, True), (True, True)} <= set(solved)


def test_every_call_is_reported_and_a_failure_does_not_stop_the_others() -> None:
    made: list[str] = []
    steps: list[tuple[int, int, str]] = []

    def fail() -> None:
        raise RuntimeError("out\nof order")

    calls = {"one": lambda: made.append("one"), "two": fail, "three": lambda: made.append("three")}
    assert prepare(calls, lambda *step: steps.append(step)) == {"two": "RuntimeError: out of order"}
    assert made == ["one", "three"]
    assert steps == [(0, 3, "one"), (1, 3, "two"), (2, 3, "three"), (3, 3, "")]


def test_the_time_is_estimated_from_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcement, "count", 4)
    monkeypatch.setattr(announcement, "seconds", 8.0)
    assert Outlook(9, 21).missing == 12
    assert Outlook(9, 21).seconds == 24.0
    monkeypatch.setattr(announcement, "count", 0)
    assert Outlook(9, 21).seconds == 12 * kernel.SECONDS_EACH


def test_no_folder_without_kernels() -> None:
    assert cache_folder([]) is None


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_a_kernel_is_on_disk_once_it_was_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "kernels_on_disk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(
        "from choque._core.kernel import inline, kernel\n\n\n"
        "@inline\ndef part(x):\n    return x + 1\n\n\n"
        "@kernel\ndef first(x):\n    return part(x[0])\n\n\n"
        "@kernel\ndef second(x):\n    return x[0]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    try:
        kernels = {each.py_func.__name__: each for each in kernels_of("kernels_on_disk")}
        assert set(kernels) == {"first", "second"}, "inlined parts do not count"
        assert outlook("kernels_on_disk") == (0, 2)
        before = announcement.seconds
        kernels["first"](np.ones(1))
        assert announcement.seconds > before
        assert outlook("kernels_on_disk") == (1, 2)
        assert is_on_disk(kernels["first"])
        folder = cache_folder(kernels.values())
        assert folder is not None
        assert not why_unwritable(folder)
        shutil.rmtree(folder)
        assert not is_on_disk(kernels["first"])
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "kernels_on_disk"]:
            del sys.modules[name]


@pytest.mark.parametrize("processors", ["1", "2"])
def test_another_process_compiles_where_there_is_a_processor_for_it(
    processors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHOQUE_THREADS", processors)
    mark = tmp_path / "done"
    with compiling.compiling_beside(f"open({str(mark)!r}, 'w')") as helper:
        assert (helper is None) == (processors == "1")
        if helper is not None:
            assert helper.wait(60) == 0
    assert mark.exists() == (processors == "2")


def test_the_other_process_ends_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOQUE_THREADS", "2")
    with compiling.compiling_beside("import time; time.sleep(600)") as helper:
        assert helper is not None
    assert helper.returncode is not None
    compile(_warm_up.BACKWARDS, "backwards", "exec")
