"""The kernels compile for a card that is not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from choque.errors import ChoqueError
from choque.gpu.session import KERNELS, compile_ahead

ARCHITECTURES = (75, 86, 90) if os.environ.get("CHOQUE_FULL") == "1" else (75,)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles_for_a_cuda_architecture(architecture: int, tmp_path: Path) -> None:
    """No card and no driver: the compiler comes with Warp."""
    modules = (*KERNELS, "choque.theses.kdop.kernels")
    written = compile_ahead(tmp_path, architecture=architecture, modules=modules)
    assert len(written) == len(modules)
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


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ChoqueError, match="cannot be made"):
        compile_ahead(tmp_path / "file" / "folder")


def test_an_architecture_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ChoqueError, match="do not compile for CUDA 3"):
        compile_ahead(tmp_path, architecture=3)
