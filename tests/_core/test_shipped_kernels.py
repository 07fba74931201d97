"""Kernels of a wheel are loaded where they fit, and compiled where they do not."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from choque._core.shipped_kernels import FAMILIES, key_in_family

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"),
    pytest.mark.skipif(platform.machine() not in FAMILIES, reason="no wheels are built for this machine"),
]

KERNELS = """
from choque._core.kernel import helper, kernel

@helper
def part(x):
    return x * 3.0

@kernel
def total(values):
    found = 0.0
    for i in range(values.size):
        found += part(values[i])
    return found
"""

CALL = """
import json, sys
from pathlib import Path
from choque._core import kernel_cache, shipped_kernels
shipped_kernels.FOLDER = Path(sys.argv[1])
kernel_cache.collecting = len(sys.argv) > 2
if not {fits}:
    for name, family in shipped_kernels.FAMILIES.items():
        shipped_kernels.FAMILIES[name] = family._replace(needed=("a feature of the future",))
import numpy, parcel.sums
found = parcel.sums.total(numpy.arange(5.0))
from choque._core.kernel import announcement
print(json.dumps([found, announcement.count]))
"""

Call = Callable[..., tuple[float, int]]


@pytest.fixture(scope="module")
def parcel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose kernels were compiled for the family, in ``shipped``."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "parcel").mkdir()
    (folder / "parcel" / "__init__.py").write_text("")
    (folder / "parcel" / "sums.py").write_text(KERNELS)
    family = FAMILIES[platform.machine()]
    target = {"NUMBA_CPU_NAME": family.name, "NUMBA_CPU_FEATURES": family.features}
    assert _call(folder, folder / "build-cache", target, is_collecting=True) == (30.0, 1)
    assert len(list((folder / "shipped").glob("parcel.sums.*.nbi"))) == 1, "the kernel, with its part inside"
    return folder


def _call(
    folder: Path, cache: Path, environment: dict[str, str], *, is_collecting: bool = False, fits: bool = True
) -> tuple[float, int]:
    """Call the kernel in a new process; return its answer, and how many kernels it compiled, parts not counted."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU")}
    given["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    given |= {"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    arguments = [str(folder / "shipped"), *(["collect"] if is_collecting else [])]
    command = [sys.executable, "-c", CALL.format(fits=fits), *arguments]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    found, compiled = json.loads(done.stdout)
    return found, compiled


def test_kernels_that_fit_are_loaded(parcel: Path, tmp_path: Path) -> None:
    assert _call(parcel, tmp_path, {}) == (30.0, 0)
    assert not list(tmp_path.rglob("*.nbi")), "what was loaded is not kept a second time"


def test_kernels_are_loaded_where_no_cache_can_be_written(parcel: Path) -> None:
    assert _call(parcel, Path("/proc/nowhere"), {}) == (30.0, 0)


@pytest.mark.parametrize(
    "environment", [{"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, {"NUMBA_CPU_NAME": "generic"}]
)
def test_a_process_that_compiles_for_another_processor_loads_none(
    parcel: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert _call(parcel, tmp_path, environment) == (30.0, 1)


def test_a_processor_that_lacks_a_feature_loads_none(parcel: Path, tmp_path: Path) -> None:
    assert _call(parcel, tmp_path, {}, fits=False) == (30.0, 1)


def test_kernels_of_other_sources_are_not_loaded(parcel: Path, tmp_path: Path) -> None:
    module = parcel / "parcel" / "sums.py"
    module.write_text(KERNELS.replace("3.0", "4.0"))
    try:
        assert _call(parcel, tmp_path, {}) == (40.0, 1)
    finally:
        module.write_text(KERNELS)


@pytest.mark.parametrize("change", [lambda content: content[: len(content) // 2], lambda _: b""], ids=["cut", "empty"])
def test_damaged_kernels_are_compiled(parcel: Path, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    contents = {path: path.read_bytes() for path in (parcel / "shipped").iterdir()}
    for path, content in contents.items():
        path.write_bytes(change(content))
    try:
        assert _call(parcel, tmp_path, {}) == (30.0, 1)
    finally:
        for path, content in contents.items():
            path.write_bytes(content)


def test_the_key_of_a_family_keeps_all_but_the_processor() -> None:
    family = FAMILIES["x86_64"]
    assert key_in_family(("signature", ("triple", "znver4", "+avx512f"), "hashes"), family) == (
        "signature",
        ("triple", "x86-64-v3", family.features),
        "hashes",
    )
