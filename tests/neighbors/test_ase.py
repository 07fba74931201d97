"""`neighbor_list` with ASE's arguments and conventions, on an object with ASE's attributes and on ASE's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from neighbor_oracle import oracle, random_cell, rows

from choque.errors import InvalidInput, UnknownName
from choque.neighbors import neighbor_list


@dataclass
class Atoms:
    """What `neighbor_list` reads of ASE's class of this name."""

    positions: Any
    cell: Any
    pbc: Any
    numbers: Any


@pytest.fixture(params=[40, 200])
def atoms(request: pytest.FixtureRequest) -> Atoms:
    random = np.random.default_rng(request.param)
    cell = random_cell(random, 3, 5.0, 0.3)
    positions = random.uniform(-0.3, 1.3, (request.param, 3)) @ cell
    return Atoms(positions, cell, np.array([True, False, True]), random.choice([1, 6, 8], request.param))


def test_one_cut_off(atoms: Atoms) -> None:
    i, j, distance, vector, shift = neighbor_list("ijdDS", atoms, 1.7)
    assert set(rows((i, j, shift))) == oracle(atoms.positions, 1.7, atoms.cell, atoms.pbc)
    np.testing.assert_allclose(vector, atoms.positions[j] - atoms.positions[i] + shift @ atoms.cell)
    np.testing.assert_allclose(distance, np.linalg.norm(vector, axis=1))
    assert {array.dtype for array in (i, j, shift)} == {np.dtype(np.int64)}
    np.testing.assert_array_equal(neighbor_list("i", atoms, 1.7), i)


def test_a_radius_for_each_atom(atoms: Atoms) -> None:
    radii = np.random.default_rng(1).uniform(0.1, 1.2, len(atoms.positions))
    want = oracle(atoms.positions, cell=atoms.cell, periodic=atoms.pbc, radii=radii)
    assert set(rows(neighbor_list("ijS", atoms, radii))) == want
    assert set(rows(neighbor_list("ijS", atoms, radii.tolist()))) == want


def test_a_cut_off_for_each_two_kinds(atoms: Atoms) -> None:
    cutoffs = {("H", "C"): 1.9, (1, 1): 0.9, ("O", 8): 1.2, (79, 79): 3.0}
    allowed = {(1, 6): 1.9, (6, 1): 1.9, (1, 1): 0.9, (8, 8): 1.2}
    kinds = atoms.numbers
    want = set()
    for (one, other), cutoff in allowed.items():
        for row in oracle(atoms.positions, cutoff, atoms.cell, atoms.pbc):
            if (kinds[row[0]], kinds[row[1]]) == (one, other):
                want.add(row)
    found = rows(neighbor_list("ijS", atoms, cutoffs))
    assert len(found) == len(want) > 0
    assert set(found) == want


def test_self_interaction(atoms: Atoms) -> None:
    count = len(atoms.positions)
    want = oracle(atoms.positions, 1.5, atoms.cell, atoms.pbc) | {(i, i, 0, 0, 0) for i in range(count)}
    assert set(rows(neighbor_list("ijS", atoms, 1.5, self_interaction=True))) == want


def test_cells_that_are_left_handed_or_zero_are_accepted(atoms: Atoms) -> None:
    mirrored = Atoms(atoms.positions, atoms.cell[[1, 0, 2]], atoms.pbc[[1, 0, 2]], atoms.numbers)
    want = {(i, j, b, a, c) for i, j, a, b, c in oracle(atoms.positions, 1.7, atoms.cell, atoms.pbc)}
    assert set(rows(neighbor_list("ijS", mirrored, 1.7))) == want
    free = Atoms(atoms.positions, np.zeros((3, 3)), np.zeros(3, bool), atoms.numbers)
    assert set(rows(neighbor_list("ijS", free, 1.7))) == oracle(atoms.positions, 1.7)


def test_bad_arguments(atoms: Atoms) -> None:
    with pytest.raises(InvalidInput, match="ijdDS"):
        neighbor_list("ijX", atoms, 1.0)
    with pytest.raises(InvalidInput, match=r"ndarray has no attribute 'positions'; .*choque.neighbors\("):
        neighbor_list("ij", atoms.positions, 1.0)
    with pytest.raises(UnknownName, match="chemical symbol"):
        neighbor_list("ij", atoms, {("Q", "H"): 1.0})
    with pytest.raises(InvalidInput, match="two symbols"):
        neighbor_list("ij", atoms, {"H": 1.0})
    with pytest.raises(InvalidInput, match="cutoff has the shape"):
        neighbor_list("ij", atoms, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match="cutoff is -1"):
        neighbor_list("ij", atoms, -1.0)


@pytest.mark.parametrize("kind", ["number", "radii", "dictionary", "self"])
def test_the_same_as_ase(atoms: Atoms, kind: str) -> None:
    ase = pytest.importorskip("ase")
    from ase.neighborlist import neighbor_list as reference

    theirs = ase.Atoms(atoms.numbers, atoms.positions, cell=atoms.cell, pbc=atoms.pbc)
    radii = np.random.default_rng(2).uniform(0.1, 1.2, len(atoms.positions))
    cutoff: Any = {"radii": radii, "dictionary": {("H", "C"): 1.9, (1, 1): 0.9}}.get(kind, 1.7)
    found = neighbor_list("ijSd", theirs, cutoff, kind == "self")
    want = reference("ijSd", theirs, cutoff, kind == "self")
    assert [array.dtype for array in found] == [array.dtype for array in want]
    assert sorted(rows(found[:3])) == sorted(rows(want[:3]))
