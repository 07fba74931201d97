"""The kernels compile for a card that is not here."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from choque.gpu.devices import load_warp

ARCHITECTURES = (75, 86, 90) if os.environ.get("CHOQUE_FULL") == "1" else (75,)


MODULES = ("choque.gpu.kernels_bodies", "choque.gpu.kernels_sweep", "choque.theses.kdop.kernels")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles_for_a_cuda_architecture(architecture: int, tmp_path: Path) -> None:
    """No card and no driver: the compiler comes with Warp."""
    written: list[Path] = []
    for name in MODULES:
        module = importlib.import_module(name)
        compiled = load_warp().compile_aot_module(module, arch=architecture, module_dir=tmp_path, use_ptx=True)
        written += map(Path, compiled)
    assert len(written) == len(MODULES)
    text = "".join(path.read_text(errors="replace") for path in written)
    for kernel in (
        "bound_bodies",
        "place_vertices",
        "build_kdops_by_axis",
        "count_bins",
        "scan_bins",
        "reorder_signs",
        "fill_pairs",
    ):
        assert kernel in text
    assert f".target sm_{architecture}" in text
    (bodies,) = (path.read_text(errors="replace") for path in written if "kernels_bodies" in path.name)
    assert "fma." not in bodies, "a product and a sum rounded as one would not be those of the processor"
    assert "sqrt.rn.f64" in bodies
