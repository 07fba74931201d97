"""Shared by all tests: hypothesis without deadlines, and the choice between reduced and full counts.

`make test` runs every test at a reduced count and draws the same examples each time. With ``CHOQUE_FULL=1``
in the environment (`make test-all`) the counts are those that an issue names, and the examples are fresh.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import choque
from choque._core.registry import Registry

if TYPE_CHECKING:
    from choque.scene import BodyScene

FULL = os.environ.get("CHOQUE_FULL", "") == "1"

settings.register_profile("reduced", max_examples=15, derandomize=True)
settings.register_profile("full", max_examples=400)
settings.register_profile(
    "choque",
    settings.get_profile("full" if FULL else "reduced"),
    deadline=None,  # the first example may compile kernels
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("choque")

os.environ.setdefault("CHOQUE_COMPILERS", "1")  # several tests run at a time already

gc.set_threshold(50_000, 20, 50)  # compiling makes objects by the million, few of them in circles


LARGE = 600  # tests in a file


def pytest_configure(config: pytest.Config) -> None:
    """Let xdist take files in the order in which they were collected, rather than by their number of tests.

    Every second worker reads the folders from the last to the first: what one has translated to bytecode, with its
    assertions rewritten, the other loads.
    """
    config.option.loadscopereorder = False
    is_second = os.environ.get("PYTEST_XDIST_WORKER", "").endswith(("1", "3", "5", "7", "9"))
    if is_second and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        found = [path for path in Path(__file__).parent.iterdir() if path.is_dir() or path.match("test_*.py")]
        config.args = sorted((str(path) for path in found if path.name != "__pycache__"), reverse=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files: two with very many tests, those of the studio, then by their number of tests.

    The first two compile most kernels. Were folders taken one after the other, both workers would meet the same kernels
    at the same time and compile them twice. The browser is closed when a worker has left the studio. Short files are
    left for the end.
    """
    files = [item.nodeid.partition("::")[0] for item in items]
    count = Counter(files)
    order = {name: (count[name] < LARGE, not name.startswith("tests/studio/"), -count[name], name) for name in count}
    items[:] = [item for _, item in sorted(zip(files, items, strict=True), key=lambda pair: order[pair[0]])]


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Whether proofs run at their full count."""
    return FULL


@pytest.fixture(scope="session", autouse=True)
def _folder_of_ones_own() -> Iterator[None]:
    """A temporary folder for this process and those it starts: timed cells wait for each other by a lock in it.

    Nothing here is judged by the clock, so tests need not wait for the cells of other workers or of a study.
    """
    before = os.environ.get("TMPDIR")
    folder = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="choque-tests-")
    tempfile.tempdir = None  # asked for again
    yield
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before
    tempfile.tempdir = None
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def figures_as_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of reports as SVG alone: the same figure once more, in pixels, takes as long and tells no more."""
    monkeypatch.setattr("choque.lab.reporting.to_png", lambda *_: None)


@pytest.fixture(scope="module", autouse=True)
def _old_objects_at_rest() -> None:
    """Spare the garbage collector what earlier files left: by the end that is a million objects to look through."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    """Forget what the tests, pages and docstrings of a file register: tests of another file would find it."""
    changed: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    register = Registry.register

    def noted(self: Registry[Any], *arguments: Any) -> Any:
        changed.setdefault(id(self._registered), (self._registered, dict(self._registered)))
        return register(self, *arguments)

    Registry.register = noted  # type: ignore[method-assign]
    yield
    Registry.register = register  # type: ignore[method-assign]
    for known, before in changed.values():
        known.clear()
        known.update(before)


@pytest.fixture(scope="session")
def fingsics() -> Path:
    """The folder of the Fingsics engine's own scenes, which are not in this repository."""
    given = os.environ.get("CHOQUE_FINGSICS")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data" / "fingsics"
    if not folder.is_dir():
        pytest.skip(f"the Fingsics scenes are not at {folder}; set CHOQUE_FINGSICS to their folder")
    return folder


@pytest.fixture(scope="session")
def assert_same() -> Callable[[BodyScene, BodyScene], None]:
    """A comparison of two scenes: all columns and the camera, to the last bit."""

    def compare(first: BodyScene, second: BodyScene) -> None:
        for name, one in first.bodies.columns().items():
            other = second.bodies.columns()[name]
            assert one.dtype == other.dtype
            if name == "mesh":
                one, other = ([mesh and [mesh.vertices, mesh.faces] for mesh in column] for column in (one, other))
            np.testing.assert_equal(one, other, err_msg=name)
        assert first.camera == second.camera

    return compare


@pytest.fixture(params=["warp-cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The name of a Warp device: its CPU, and a CUDA card where there is one."""
    pytest.importorskip("warp", reason="the extra gpu is not installed")
    from choque.gpu.devices import load_warp

    if request.param == "cuda" and not load_warp().get_cuda_device_count():
        pytest.skip("no CUDA card here")
    return str(request.param)


class Interrupted(BaseException):
    """Stands for Ctrl-C or a lack of memory, which no code expects."""


FINALISERS = ("__del__", "_give_back")
"""Functions that finalise objects, at any time: Python prints what they raise, and goes on."""


def run_interrupted(call: Callable[[], object], line: int) -> tuple[int, bool]:
    """Run ``call``, raise `Interrupted` at the ``line``-th line of Choque that it executes, from 0, on this thread.

    Return how many lines were executed, and whether it was interrupted.
    """
    package = str(Path(choque.__file__).parent)
    executed = -1

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        nonlocal executed
        if not frame.f_code.co_filename.startswith(package) or frame.f_code.co_name in FINALISERS:
            return None
        if event == "line":
            executed += 1
            if executed == line:
                raise Interrupted
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interrupted:
        return executed, True
    finally:
        sys.settrace(before)
    return executed, False


@pytest.fixture(scope="session")
def interrupt() -> Callable[[Callable[[], object], int], tuple[int, bool]]:
    """A function that runs a call and interrupts it at a line of Choque; see `run_interrupted`."""
    return run_interrupted
