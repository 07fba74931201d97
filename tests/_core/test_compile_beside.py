"""Kernels of a first call are compiled side by side, and no call depends on it."""

from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numba
import numpy as np
import pytest

from choque._core import compile_beside
from choque._core.compile_beside import FirstCall, allowed, callable_from_python, encoded, example, first_calls, named
from choque._core.kernel_cache import KernelCache
from choque._core.lazy import compile_early
from choque._core.records import Corners

needs_compiler = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

KERNELS = "\n\n".join(f"@kernel\ndef add_{k}(x):\n    return x + {k}" for k in range(6))

SCRIPT = """
import json, os, sys, time
from choque._core import compile_beside
from choque._core.kernel import announcement, compile_ahead
import planted_beside as planted

kernels = [[f"planted_beside:add_{k}", ["int64"]] for k in range(6)]
compile_beside.first_calls = lambda: [compile_beside.FirstCall("__main__:call", kernels, title="a call")]
compilers = compile_beside.compilers

def wait():
    end = time.monotonic() + 200
    while compilers.count < EXPECTED and time.monotonic() < end:
        time.sleep(0.02)

def call():
    total = planted.add_0(1)
    wait()
    processes = [each.pid for each in compilers.processes]
    if STOPPED:
        compilers.stop()
    total += sum(getattr(planted, f"add_{k}")(1) for k in range(1, 6))
    return [total, announcement.count, compilers.count, processes]

compile_ahead(planted.add_0)
if AHEAD:
    compile_ahead(planted.add_0, AHEAD)
    wait()
print(json.dumps(call()))
"""


def side_by_side(folder: Path, compilers: int, *, expected: int, stopped: bool = False, ahead: str = "") -> Any:
    """Make a first call of six kernels: the answer, who compiled how many, and the other processes."""
    (folder / "planted_beside.py").write_text(f"from choque._core.kernel import kernel\n\n{KERNELS}\n")
    script = SCRIPT.replace("EXPECTED", str(expected)).replace("STOPPED", str(stopped)).replace("AHEAD", repr(ahead))
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "CHOQUE_COMPILERS": str(compilers), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)  # nothing else is printed there


@needs_compiler
def test_another_process_compiles_the_kernels_that_come_after_the_first(tmp_path: Path) -> None:
    total, own, others, processes = side_by_side(tmp_path, 2, expected=5)
    assert (total, own, others) == (21, 1, 5)
    assert len(processes) == 1
    for each in processes:
        with pytest.raises(ProcessLookupError):  # it ended with the process that had started it
            os.kill(each, 0)


@needs_compiler
def test_a_process_alone_compiles_everything(tmp_path: Path) -> None:
    assert side_by_side(tmp_path, 1, expected=0) == [21, 6, 0, []]


@needs_compiler
def test_a_call_goes_on_when_the_other_process_is_ended(tmp_path: Path) -> None:
    total, own, others, _ = side_by_side(tmp_path, 2, expected=1, stopped=True)
    assert total == 21
    assert own + others >= 6, "what the other one had not finished was compiled here"


@needs_compiler
def test_what_is_announced_is_compiled_before_the_call(tmp_path: Path) -> None:
    total, own, others, _ = side_by_side(tmp_path, 2, expected=6, ahead="a call")
    assert (total, own, others) == (21, 0, 6)


@needs_compiler
def test_no_kernel_is_compiled_twice(tmp_path: Path) -> None:
    total, own, others, _ = side_by_side(tmp_path, 3, expected=0)
    assert (total, own + others) == (21, 6)


def test_a_process_that_waits_compiles_what_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels: list[Any] = [[f"{__name__}:{name}", []] for name in ("needed", "large", "small", "medium")]
    call = FirstCall(f"{__name__}:{sys._getframe().f_code.co_qualname}", kernels, (9, 8, 1, 4), "a call")
    monkeypatch.setattr(compile_beside, "first_calls", lambda: [call])
    assert call.largest_first() == [kernels[0], kernels[1], kernels[3], kernels[2]]
    compilers = compile_beside.Compilers()
    monkeypatch.setattr(compile_beside, "compilers", compilers)
    monkeypatch.setattr(compilers, "start", lambda _: None)
    compilers.begin_ahead("a call")
    other: Any = Mock()
    compilers.processes.append(other)
    compilers._give(other)
    small = []

    def compile_one(name: str, _: list[Any]) -> None:
        small.append(name.partition(":")[2])
        if len(small) == 2:  # the other process has ended
            compilers._done.add(compilers._work.pop(other))

    monkeypatch.setattr(compile_beside, "compile_one", compile_one)
    needed = SimpleNamespace(__module__=__name__, __qualname__="needed")
    assert compilers.have_compiled(needed, ())
    assert small == ["small", "medium"]
    assert not compilers.have_compiled(SimpleNamespace(__module__=__name__, __qualname__="large"), ())


def test_processes_are_started_by_python_alone_and_by_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHOQUE_COMPILERS", raising=False)
    monkeypatch.setattr("choque._core.threads.available_count", lambda: 16)
    assert allowed() == compile_beside.MAX_PROCESSES
    monkeypatch.setattr("choque._core.threads.available_count", lambda: 1)
    assert allowed() == 1
    monkeypatch.setenv("CHOQUE_COMPILERS", "3")
    assert allowed() == 3
    with monkeypatch.context() as child:
        child.setattr(multiprocessing, "parent_process", lambda: object())
        assert allowed() == 1
    with monkeypatch.context() as frozen:
        frozen.setattr(sys, "frozen", True, raising=False)
        assert allowed() == 1
    for embedding in ("/usr/bin/blender", "", None):
        monkeypatch.setattr(sys, "executable", embedding)
        assert allowed() == 1


@pytest.mark.parametrize(
    "value",
    [
        np.int32(1),
        2.0,
        True,
        None,
        np.zeros((2, 3), np.float32),
        np.zeros((2, 3), order="F"),
        np.zeros((4, 4))[::2, ::2],
        np.broadcast_to(np.zeros(3), (3,)),
        (1, np.zeros(1)),
        (1.0, 2.0),
        Corners(np.zeros(4), np.zeros(4), 2),
    ],
    ids=str,
)
def test_types_are_written_and_read(value: Any) -> None:
    written = json.loads(json.dumps(encoded(numba.typeof(value))))
    assert numba.typeof(example(written)) == numba.typeof(value)


@needs_compiler
@pytest.mark.parametrize("call", first_calls(), ids=lambda call: f"{call.function} {len(call.kernels)}")
def test_the_recorded_kernels_exist_with_these_arguments(call: FirstCall) -> None:
    """A list need not be complete, but one that is long out of date speeds nothing up."""
    module, _, name = call.function.partition(":")
    assert callable(attrgetter(name)(import_module(module)))
    outdated = [name for name, arguments in call.kernels if not is_current(name, arguments)]
    assert len(outdated) <= max(1, len(call.kernels) // 4), f"run python .ci/first_calls.py for {outdated}"


@needs_compiler
def test_what_another_process_compiles_is_kept_on_disk() -> None:
    """Parts of kernels that Python calls, too, are kept as what Python calls."""
    names = {name for call in first_calls() for name, arguments in call.kernels if is_current(name, arguments)}
    assert "choque.kinetic.loop:advance_plain" in names  # such a part
    assert [name for name in sorted(names) if not isinstance(callable_from_python(name)._cache, KernelCache)] == []


def is_current(name: str, arguments: list[Any]) -> bool:
    try:
        inspect.signature(named(name).py_func).bind(*arguments)
        return encoded(numba.typeof(tuple(map(example, arguments)))) == arguments
    except (ImportError, AttributeError, TypeError):
        return False


def test_processes_start_before_numba_is_imported_only_if_a_kernel_was_never_compiled(monkeypatch, tmp_path):
    started = []
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(compile_beside, "compilers", SimpleNamespace(start=lambda: started.append(1)))
    compile_early("world", "bounds.mean_row-")
    assert started == []  # Numba is imported here
    monkeypatch.delitem(sys.modules, "numba")
    compile_early("world", "bounds.mean_row-")
    assert started == [1]
    folder = tmp_path / "kernels" / "world_0123"
    folder.mkdir(parents=True)
    compile_early("world", "bounds.mean_row-")
    assert started == [1, 1]
    (folder / "bounds.mean_row-12.py311.nbi").touch()
    compile_early("world", "bounds.mean_row-")
    assert started == [1, 1]


def test_the_kernel_that_is_looked_for_with_a_world_is_kept_under_that_name():
    from choque.world.bounds import mean_row

    cache = getattr(mean_row, "_cache", None)
    assert cache is None or not hasattr(cache, "files") or cache.files.index.name.startswith("bounds.mean_row-")
