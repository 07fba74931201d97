"""The formats .evm and .vox of the thesis: samples byte by byte, round trips, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from choque.errors import UnknownName, UnreadableFile
from choque.theses.evm.voxel_text import read_evm, read_vox, write_evm, write_vox
from choque.volumes import Volume

L_PRISM = """#EV: 12 Order: ZYX

0.000000 0.000000 0.000000
2.000000 0.000000 0.000000
1.000000 1.000000 0.000000
2.000000 1.000000 0.000000
0.000000 2.000000 0.000000
1.000000 2.000000 0.000000
0.000000 0.000000 2.000000
2.000000 0.000000 2.000000
1.000000 1.000000 2.000000
2.000000 1.000000 2.000000
0.000000 2.000000 2.000000
1.000000 2.000000 2.000000

"""
VOX = "MIN 0 0 0\nMAX 1 1 1\n\n0 1\n1 1\n\n0 1\n1 1\n"

masks = arrays(np.bool_, array_shapes(min_dims=3, max_dims=3, max_side=4))


def test_an_l_prism_in_the_format_of_the_thesis(tmp_path: Path) -> None:
    """F-003-34."""
    (tmp_path / "l.evm").write_text(L_PRISM)
    found = read_evm(tmp_path / "l.evm")
    assert found.order == "zyx"
    write_evm(tmp_path / "again.evm", found)
    assert (tmp_path / "again.evm").read_text() == L_PRISM
    prism = Volume.read(tmp_path / "l.evm")
    assert prism.voxel_count == 6
    prism.write(tmp_path / "third.evm")
    assert (tmp_path / "third.evm").read_text() == L_PRISM


def test_the_voxels_of_the_thesis(tmp_path: Path) -> None:
    """F-003-35."""
    (tmp_path / "a.vox").write_text(VOX)
    mask, first = read_vox(tmp_path / "a.vox")
    assert first == (0, 0, 0)
    assert not mask[0, 1].any()  # lines run from the highest y down
    assert mask.sum() == 6
    turned, _ = read_vox(tmp_path / "a.vox", rows="ascending")
    assert np.array_equal(turned, mask[:, ::-1])
    for rows, voxels in (("descending", mask), ("ascending", turned)):
        write_vox(tmp_path / "b.vox", voxels, first, rows=rows)
        assert (tmp_path / "b.vox").read_text() == VOX
    with pytest.raises(UnknownName, match="descending"):
        read_vox(tmp_path / "a.vox", rows="up")


def test_blocks_lines_and_columns_are_z_y_and_x(tmp_path: Path) -> None:
    """F-003-35."""
    mask = np.zeros((2, 3, 4), np.bool_)
    mask[1, 0, 0] = mask[0, 2, 3] = True
    write_vox(tmp_path / "a.vox", mask, (-1, 5, 7))
    text = (tmp_path / "a.vox").read_text()
    assert text.startswith("MIN -1 5 7\nMAX 0 7 10\n\n0 0\n0 0\n0 1\n\n")
    assert text.endswith("\n1 0\n0 0\n0 0\n")


@given(masks, st.tuples(*[st.integers(-9, 9)] * 3), st.sampled_from([(1.0, 1.0, 1.0), (0.3, 0.25, 1 / 3)]))
def test_round_trips(tmp_path_factory: pytest.TempPathFactory, mask: np.ndarray, first: tuple, spacing: tuple) -> None:
    folder = tmp_path_factory.mktemp("voxels")
    volume = Volume.from_voxels(mask, spacing=spacing).translated(tuple(np.multiply(first, spacing)))
    volume.write(folder / "a.evm")
    assert Volume.read(folder / "a.evm") == volume
    if spacing == (1.0, 1.0, 1.0):
        volume.write(folder / "a.vox")
        assert Volume.read(folder / "a.vox") == volume


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.evm", L_PRISM[:-60], "12 vertices and holds"),
        ("a.evm", "hello\n", "#EV"),
        ("a.evm", L_PRISM.replace("ZYX", "ZZX"), "order"),
        ("a.evm", L_PRISM.replace("2.000000 2.000000\n1.", "3.000000 2.000000\n1."), "odd number"),
        ("a.evm", L_PRISM.replace("2.000000", "2.500000"), "off the lattice"),
        ("a.evm", "#EV: many Order: XYZ\n", "damaged"),
        ("a.vox", VOX[:-4], "needs 8 values"),
        ("a.vox", VOX.replace("0 1", "0 7"), "'7'"),
        ("a.vox", "MINIMUM", "damaged"),
        ("a.vox", "nothing", "MIN"),
        ("a.vox", "MIN 0 0 0\nMID 1 1 1\n", "MAX"),
    ],
)
def test_a_wrong_file_is_one_sentence(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UnreadableFile, match=words):
        Volume.read(tmp_path / name)


@pytest.mark.parametrize(
    "change", [("0.000000 1.0", "1e999 1.0"), ("0.000000 1.0", "nan 1.0"), ("spacing: 0.5", "spacing: 0")]
)
def test_an_evm_file_with_numbers_that_are_not_finite_is_refused(change: tuple[str, str], tmp_path: Path) -> None:
    text = "#EV: 8 Order: XYZ\n\n" + "".join(
        f"{x}.000000 {y}.000000 {z}.000000\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)
    )
    text += "# spacing: 0.5 0.5 0.5\n# origin: 0 0 0\n"
    assert change[0] in text
    path = tmp_path / "solid.evm"
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(UnreadableFile, match="must be finite, and the spacing above 0"):
        read_evm(path)
