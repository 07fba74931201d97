"""Compiled kernels on disk are used as long as nothing has changed that they are compiled from, and no longer."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

from choque._core import kernel_cache
from choque._core.kernel import announcement
from choque._core.kernel_cache import sources_of
from choque.cli._compiling import kernels_of, repair  # what `choque doctor` does about damaged files

IS_COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")

FILES = {
    "__init__.py": "",
    "constants.py": "SHIFT = 10.0\n",
    "inner.py": "from choque._core.kernel import helper\n\n@helper\ndef twice(x):\n    return 2.0 * x\n",
    "middle.py": (
        "from choque._core.kernel import kernel\nfrom planted_kernels.inner import (\n    twice,\n)\n\n"
        "@kernel\ndef four_times(x):\n    return twice(twice(x))\n"
    ),
    "outer.py": (
        "from choque._core.kernel import kernel\nfrom planted_kernels import middle\n"
        "from planted_kernels.constants import SHIFT as OFFSET\n\n"
        "@kernel\ndef moved(x):\n    return middle.four_times(x) + OFFSET\n"
    ),
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[float, int]]:
    """Write a package with some files changed, and call its kernel: the answer, and how many it compiled."""
    folder = tmp_path / "planted_kernels"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))

    def answer(**changes: str) -> tuple[float, int]:
        for name, text in {**FILES, **{f"{stem}.py": text for stem, text in changes.items()}}.items():
            (folder / name).write_text(text)
        for name in [name for name in sys.modules if name.startswith("planted_kernels")]:
            monkeypatch.delitem(sys.modules, name)
        for cached in (kernel_cache._imports, kernel_cache._content):
            cached.cache_clear()
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files of the same second and size would not be read
        before = announcement.count
        found = importlib.import_module("planted_kernels.outer").moved(1.0)
        return found, announcement.count - before

    return answer


def test_a_kernel_follows_all_that_it_is_compiled_from(planted: Callable[..., tuple[float, int]]) -> None:
    first, compiled = planted()
    assert first == 14.0
    assert compiled > 0
    assert planted() == (14.0, 0)  # loaded
    found, compiled = planted(inner=FILES["inner.py"].replace("2.0", "3.0"))
    assert (found, compiled > 0) == (19.0, True)
    found, compiled = planted(constants="SHIFT = 20.0\n")
    assert (found, compiled > 0) == (24.0, True)


def test_a_kernel_is_compiled_again_when_a_class_of_its_arguments_has_moved(
    planted: Callable[..., tuple[float, int]],
) -> None:
    """The index of kernels on disk names the class, and the class is gone."""
    classes = "from typing import NamedTuple\n\nclass Box(NamedTuple):\n    width: float\n"
    kernel = (
        "from choque._core.kernel import kernel\nfrom planted_kernels.{home} import Box\n\n"
        "@kernel\ndef measured(box):\n    return box.width\n\ndef moved(x):\n    return measured(Box(x))\n"
    )
    assert planted(classes=classes, outer=kernel.format(home="classes"))[0] == 1.0
    assert planted(classes=classes, outer=kernel.format(home="classes")) == (1.0, 0)
    found, compiled = planted(classes="", elsewhere=classes, outer=kernel.format(home="elsewhere"))
    assert (found, compiled > 0) == (1.0, True)


def test_the_sources_of_a_kernel_are_those_of_its_parts() -> None:
    from choque.narrow.convex.probe import _probe  # a kernel with parts in many files

    names = {Path(path).name for path in sources_of(getattr(_probe, "py_func", _probe))}
    assert {"probe.py", "gjk.py", "epa.py", "vector.py"} <= names
    assert "errors.py" not in names


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-30],
    "zeros": lambda content: bytes(len(content)),
    "other words": lambda _: b"not a pickle",
    "a bit at the start": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "a bit in the middle": lambda content: flipped(content, len(content) // 2),
    "a bit near the end": lambda content: flipped(content, len(content) - 40),
}


def flipped(content: bytes, place: int) -> bytes:
    """Change one bit."""
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_compiled_again_and_repaired(
    kind: str, damage: str, planted: Callable[..., tuple[float, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    planted()
    files = list((tmp_path / "cache").rglob(f"outer.*.{kind}"))
    assert len(files) == 1
    files[0].write_bytes(DAMAGES[damage](files[0].read_bytes()))
    found, compiled = planted()
    assert (found, compiled > 0) == (14.0, True)
    assert planted() == (14.0, 0), "it is on disk again"


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_damage_is_found_and_removed(
    planted: Callable[..., tuple[float, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    planted()
    kernels = kernels_of("planted_kernels")
    assert repair(kernels) == []
    for name in ("outer.*.nbi", "middle.*.nbc"):
        (path,) = (tmp_path / "cache").rglob(name)
        path.write_bytes(flipped(path.read_bytes(), 50))
    assert {path.suffix for path in repair(kernels)} == {".nbi", ".nbc"}
    assert repair(kernels) == []
    found, compiled = planted()
    assert (found, compiled > 0) == (14.0, True)


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_an_index_never_names_the_data_of_older_sources(
    planted: Callable[..., tuple[float, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the data of changed sources are written, and free again for the index."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    planted()
    write = kernel_cache._write

    def full(path: Path, content: bytes) -> None:
        if path.suffix == ".nbc":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(kernel_cache, "_write", full)
    changed = FILES["inner.py"].replace("2.0", "3.0")
    assert planted(inner=changed)[0] == 19.0
    monkeypatch.setattr(kernel_cache, "_write", write)
    assert planted(inner=changed)[0] == 19.0
    assert planted(inner=changed) == (19.0, 0)


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_data_of_older_sources_are_removed_after_a_while(
    planted: Callable[..., tuple[float, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    planted()
    (old,) = (tmp_path / "cache").rglob("outer.*.nbc")
    planted(constants="SHIFT = 20.0\n")
    assert old.exists(), "another process may be about to name it"
    os.utime(old, (0, 0))
    planted(constants="SHIFT = 30.0\n")
    assert not old.exists()


def test_compiling_is_announced_with_a_count_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from choque._core import compile_beside, progress
    from choque._core import kernel as kernels

    listener, own, said = kernels._Announcement(), SimpleNamespace(py_func=compile_three), []
    monkeypatch.setattr(kernels, "_ours", [own])
    call = compile_beside.FirstCall(f"{__name__}:compile_three", [[f"{__name__}:compile_three", []]] * 3)
    monkeypatch.setattr(compile_beside, "first_calls", lambda: [call])
    monkeypatch.setattr(compile_beside, "compilers", compile_beside.Compilers())  # without calls of other tests
    clock = iter(range(0, 60, 6))
    monkeypatch.setattr(kernels, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(progress.Line, "lines", [])
    monkeypatch.setattr(kernels.troubles, "unkept", "")  # a full disk, as other tests plant it, changes the words

    def compile_one(dispatcher: object) -> None:
        listener.on_start(SimpleNamespace(data={"dispatcher": dispatcher, "args": ()}))
        listener.on_end(SimpleNamespace(data={"dispatcher": dispatcher}))

    with progress.sent_to(said.append):
        compile_three(compile_one, own)
        compile_one(own)
        compile_one("of a user")
    words = "compiling kernels, once for this machine: "
    assert [each.removeprefix(words) for each in said if each] == [
        "1 of 3, about 1 s",  # before anything is known of this machine
        "2 of 3, about 12 s",  # kernels of six seconds each
        "3 of 3, about 6 s",
        "4 so far",
    ]
    assert (listener.count, listener.seconds) == (4, 24.0)


def compile_three(compile_one: Callable[[object], None], dispatcher: object) -> None:
    for _ in range(3):
        compile_one(dispatcher)


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_functions_of_users_are_not_announced() -> None:
    before = announcement.count
    assert numba.njit(lambda x: x + 1)(2) == 3
    assert announcement.count == before
