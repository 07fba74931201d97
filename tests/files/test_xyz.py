"""Extended XYZ files: what is read, and hostile files that are refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque.errors import InvalidInput, UnreadableFile
from choque.files import read_atoms

WATER = """3
Lattice="5.0 0 0 0 6.0 0 0 1.0 7.0" Properties=id:I:1:species:S:1:pos:R:3:forces:R:3 energy=-1.5 pbc="T T F"
1 O 0.0 0.0 0.0 9 9 9
2 H 0.96 0.0 0.0 9 9 9
3 H -0.24 0.93 1e-3 9 9 9
"""
PLAIN = "1\nplain, with = signs\nHe 1 2 3\n"


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "atoms.xyz"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_an_extended_file(tmp_path: Path) -> None:
    atoms = read_atoms(written(tmp_path, WATER))
    assert atoms.symbols.tolist() == ["O", "H", "H"]
    assert atoms.positions.tolist() == [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 1e-3]]
    assert atoms.cell is not None
    assert atoms.cell.tolist() == [[5, 0, 0], [0, 6, 0], [0, 1, 7]]
    assert atoms.periodic == (True, True, False)


def test_a_plain_file_and_frames(tmp_path: Path) -> None:
    file = written(tmp_path, PLAIN + WATER + "\n" + "0\n\n")
    first, second, third = (read_atoms(file, frame=frame) for frame in range(3))
    assert (first.symbols.tolist(), first.cell, first.periodic) == (["He"], None, (False, False, False))
    assert len(second.positions) == 3
    assert third.positions.shape == (0, 3)
    with pytest.raises(InvalidInput, match=r"frame is 3; .* has 3, numbered from 0"):
        read_atoms(file, frame=3)


def test_a_lattice_alone_repeats_along_all_vectors(tmp_path: Path) -> None:
    atoms = read_atoms(written(tmp_path, "1\nLattice='1 0 0 0 1 0 0 0 1'\nC 0 0 0\n"))
    assert atoms.periodic == (True, True, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not XYZ, which is text: it looks like a PNG picture"),
        ("hello\n\n", "Line 1 of .* begins with the number of atoms"),
        ("-1\n\n", "begins with the number"),
        ("1e9\n\n", "begins with the number"),
        ("99999999999999999999999\n\n", "begins with the number"),
        ("999999999\n\nC 0 0 0\n", "announces 999,999,999 atoms, and 1 lines follow"),
        ("2\n\nC 0 0 0\n", "is truncated"),
        ("1\n\nC 0 0\n", "Line 3 of .* has 3 columns"),
        ("1\n\nC 0 0 nan\n", r"Line 3 of .* has the position .*nan.*; give finite"),
        ("2\n\nC 0 0 0\nC 0 0 x\n", "Line 4 of .* is 'C 0 0 x'; a position is three numbers"),
        ("1\nLattice='1 2 3'\nC 0 0 0\n", "nine finite numbers"),
        ("1\nLattice='1 0 0 0 1 0 0 0 inf'\nC 0 0 0\n", "nine finite numbers"),
        ("1\npbc='T T'\nC 0 0 0\n", "three times T or F"),
        ("1\nProperties=species:S:1\nC 0 0 0\n", "three columns: pos:R:3"),
        ("1\nProperties=species:S:1:pos:R\nC 0 0 0\n", "three columns: pos:R:3"),
        ("1\nProperties=species:S:-1:pos:R:3\nC 0 0 0\n", "must be a number"),
        ("1\nProperties=a:S:999999999:pos:R:3\nC 0 0 0\n", "must be a number"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=sentence):
        read_atoms(written(tmp_path, text))


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(WATER.encode())
    for place in random.integers(0, len(data), 4):
        data[place] = random.integers(0, 256)
    file = written(tmp_path, bytes(data[: random.integers(1, len(data) + 1)]))
    try:
        positions = read_atoms(file).positions
    except UnreadableFile:
        return
    assert np.isfinite(positions).all()
