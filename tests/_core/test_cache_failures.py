"""Programs on machines where kernels cannot be kept, or were damaged: each has its answer, and says what is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import choque

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

BOXES = """
import choque
from choque._core.kernel import announcement
boxes = choque.bounds.Boxes([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]])
print(boxes.overlap([[0, 1], [0, 2]]).tolist(), announcement.count > 0)
"""
"""A program with two small kernels: what is kept and what is said of it does not depend on what they compute."""

DOCTOR = """
from importlib import import_module
doctor = import_module("choque.cli.doctor")
print(doctor._kernel_words(doctor.kernels(), warmed_up=False))
"""
REPAIR = """
from importlib import import_module
print(sum(import_module("choque.cli.doctor").repair_kernels().values()))
"""
SMALL_FILES = f"""
import resource
most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
{BOXES}
resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
"""
"""No file may grow beyond this: writing a kernel fails as on a full disk, also for the superuser. What a tracer
of lines writes at the end may."""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )


def answer(done: subprocess.CompletedProcess[str]) -> bool:
    """Check the answer of `BOXES`, and return whether it was compiled."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    overlaps, _, compiled = done.stdout.strip().rpartition(" ")
    assert overlaps == "[True, False]"
    return compiled == "True"


@pytest.fixture
def locked_package(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a copy of the package, where no folder for kernels can be made, by any user."""
    source = Path(choque.__file__).parent
    shutil.copytree(source, tmp_path / "src" / "choque", ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, names in os.walk(tmp_path / "src" / "choque"):
        if any(name.endswith(".py") for name in names):
            Path(folder, "__pycache__").touch()  # a file, where the folder would be
    (tmp_path / "home").touch()
    path = os.pathsep.join([str(tmp_path / "src"), os.environ.get("PYTHONPATH", "")])
    locked = {"HOME": "home", "XDG_CACHE_HOME": "home/cache", "LOCALAPPDATA": "home", "NUMBA_CACHE_DIR": ""}
    return {"PYTHONPATH": path, **{name: str(tmp_path / value) if value else "" for name, value in locked.items()}}


def test_without_any_folder_kernels_are_compiled_in_memory(locked_package: dict[str, str], tmp_path: Path) -> None:
    done = run(BOXES, **locked_package)
    assert answer(done)
    (line,) = done.stderr.splitlines()
    assert line.startswith("choque: compiled kernels cannot be kept")
    assert "NUMBA_CACHE_DIR" in line
    elsewhere = {**locked_package, "NUMBA_CACHE_DIR": str(tmp_path / "elsewhere")}
    assert answer(run(BOXES, **elsewhere))
    assert not answer(run(BOXES, **elsewhere)), "the advice helps"


def test_the_doctor_says_that_nothing_can_be_kept(locked_package: dict[str, str]) -> None:
    done = run(DOCTOR, **locked_package)
    assert done.returncode == 0, done.stderr
    assert "each run compiles again" in done.stdout
    assert "NUMBA_CACHE_DIR" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files there")
def test_a_full_disk_does_not_stop_a_program(tmp_path: Path) -> None:
    done = run(SMALL_FILES, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    assert answer(done)
    notes = [line for line in done.stderr.splitlines() if "cannot be kept" in line]
    assert len(notes) == 1
    assert str(tmp_path / "kernels") in notes[0]
    assert not list((tmp_path / "kernels").rglob("*.tmp.*")), "no partial file is left"
    assert answer(run(BOXES, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))), "nothing was kept"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of its own that has no space left."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True)
    if not made or made.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        (folder / "filling").write_bytes(bytes(60_000))
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_file_system_does_not_stop_a_program(full_disk: Path) -> None:
    done = run(BOXES, NUMBA_CACHE_DIR=str(full_disk / "kernels"))
    assert answer(done)
    assert "no space left on device" in done.stderr
    assert "no space left on device" in run(DOCTOR, NUMBA_CACHE_DIR=str(full_disk / "kernels")).stdout


def test_a_cut_cache_does_not_stop_the_shell_and_the_doctor_repairs_it(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    assert answer(run(BOXES, NUMBA_CACHE_DIR=str(folder)))
    for path in folder.rglob("*.nb[ic]"):
        path.write_bytes(path.read_bytes()[:100])
    done = run(REPAIR, NUMBA_CACHE_DIR=str(folder))
    assert int(done.stdout) > 0
    assert not list(folder.rglob("*.nbi"))
    assert answer(run(BOXES, NUMBA_CACHE_DIR=str(folder)))
    assert not answer(run(BOXES, NUMBA_CACHE_DIR=str(folder)))
    for path in folder.rglob("*.nbi"):
        path.write_bytes(b"")
    boxes = tmp_path / "boxes.csv"
    boxes.write_text("x_lower,y_lower,x_upper,y_upper\n0,0,2,2\n1,1,3,3\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "choque", "pairs", str(boxes), "--method", "brute"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Interrupted" not in done.stderr
    assert "were damaged and are compiled again" in done.stderr
