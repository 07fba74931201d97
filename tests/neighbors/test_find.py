"""`choque.neighbors` against the oracle over all images, its properties, and failures of other libraries."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbor_oracle import oracle, random_cell, rows

import choque

Search = Any


@pytest.fixture(params=["pairs", "cells"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Search:
    """`choque.neighbors`, with all systems searched as small ones or all by cells."""
    limit = 10_000 if request.param == "pairs" else -1
    monkeypatch.setattr("choque.neighbors._find.MAX_SMALL", limit)
    return choque.neighbors


def check(search: Search, positions: Any, cutoff: float | None = None, **options: Any) -> int:
    """Compare with the oracle; return the number of neighbours."""
    found = rows(search(positions, cutoff, quantities="ijS", **options))
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    assert len(set(found)) == len(found)
    assert set(found) == oracle(positions, cutoff, **options)
    return len(found)


def random_system(random: np.random.Generator) -> tuple[Any, float, dict[str, Any]]:
    """Return points, a cut-off and options: tilted, thin, small and large cells, any mixture of periodic axes."""
    dimension = int(random.integers(2, 4))
    count = int(random.integers(0, 14))
    length = 10 ** random.uniform(-0.5, 0.7)
    kind = int(random.integers(0, 5))
    cutoff = 1.0 if kind == 4 else length * 10 ** random.uniform(-1, 0.1)
    options: dict[str, Any] = {}
    space = np.eye(dimension) * length
    if kind:
        space = random_cell(random, dimension, length, tilt=0.5 * (kind >= 2))
        options = {"cell": space, "periodic": random.random(dimension) < 0.65}
    positions = random.uniform(-0.3, 1.3, (count, dimension)) @ space
    if kind == 4:  # many distances that are equal to the cut-off
        positions = np.round(positions * 2) / 2
    if random.random() < 0.3:
        options["other"] = random.uniform(-0.5, 1.5, (int(random.integers(0, 8)), dimension)) @ space
    else:
        options["full"] = bool(random.random() < 0.6)
    return positions, cutoff, options


def test_random_cells(search: Search) -> None:
    random = np.random.default_rng(0)
    total = 0
    for _ in range(100):
        positions, cutoff, options = random_system(random)
        total += check(search, positions, cutoff, **options)
    assert total > 1000


@pytest.mark.full
def test_no_neighbour_is_missed_in_a_hundred_thousand_random_cells(thorough: bool) -> None:
    random = np.random.default_rng(None if thorough else 1)
    for _ in range(100_000 if thorough else 100):
        positions, cutoff, options = random_system(random)
        check(choque.neighbors, positions, cutoff, **options)


def test_cells_that_are_nearly_flat(search: Search) -> None:
    """Angles far below those of random cells: a cell has up to a hundred times less volume than its edges' product."""
    random = np.random.default_rng(21)
    total = tried = 0
    while tried < 12:
        cell = random.normal(0, 2.0, (3, 3))
        share = np.linalg.det(cell) / np.prod(np.linalg.norm(cell, axis=1))
        if 0.01 < share < 0.1:
            tried += 1
            total += check(search, random.uniform(-1, 2, (6, 3)) @ cell, 1.2, cell=cell)
    assert total > 100


def test_a_thousand_points(search: Search) -> None:
    random = np.random.default_rng(2)
    cell = random_cell(random, 3, 10.0, 0.3)
    positions = random.uniform(-0.2, 1.2, (500, 3)) @ cell
    assert check(search, positions, 2.0, cell=cell) > 1000
    assert check(search, positions, 2.0, cell=cell, periodic=(True, False, True), full=False) > 500


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_types_of_floats(search: Search, dtype: Any) -> None:
    positions = np.random.default_rng(3).uniform(0, 5, (60, 3)).astype(dtype)
    assert check(search, positions, 1.3, cell=np.diag([5.0, 5.0, 5.0])) > 100


def test_distances_and_vectors(search: Search) -> None:
    random = np.random.default_rng(4)
    cell = random_cell(random, 3, 4.0, 0.4)
    positions = random.uniform(-1, 2, (40, 3)) @ cell
    i, j, shift, distance, vector, pairs = search(positions, 2.5, cell=cell, quantities="ijSdDP")
    np.testing.assert_allclose(vector, positions[j] - positions[i] + shift @ cell, atol=1e-12)
    np.testing.assert_allclose(distance, np.linalg.norm(vector, axis=1), rtol=1e-14)
    assert (distance < 2.5).all()
    np.testing.assert_array_equal(pairs, np.stack((i, j), axis=1))
    assert [array.dtype for array in (i, shift, distance)] == [np.int32, np.int32, np.float64]
    only = search(positions, 2.5, cell=cell, quantities="d")
    np.testing.assert_array_equal(only, distance)


def test_a_cell_of_edge_lengths_and_one_length(search: Search) -> None:
    positions = np.random.default_rng(5).uniform(0, 3, (20, 2))
    want = rows(search(positions, 1.0, cell=np.diag([3.0, 3.0]), quantities="ijS"))
    assert rows(search(positions, 1.0, cell=[3, 3], quantities="ijS")) == want
    assert rows(search(positions, 1.0, cell=3, quantities="ijS")) == want


def test_the_signature_begins_with_the_positions() -> None:
    """The package is called, and its first argument is not taken for ``self``, as help and editors would."""
    assert list(inspect.signature(choque.neighbors).parameters)[:3] == ["positions", "cutoff", "cell"]


def test_no_points_one_point_and_equal_points(search: Search) -> None:
    for dimension in (2, 3):
        assert len(search(np.empty((0, dimension)), 1.0)[0]) == 0
        assert len(search(np.empty((0, dimension)), 1.0, cell=np.eye(dimension))[0]) == 0
        assert len(search(np.zeros((1, dimension)), 1.0)[0]) == 0
        assert check(search, np.zeros((1, dimension)), 1.5, cell=np.eye(dimension)) == (8 if dimension == 2 else 18)
        assert check(search, np.ones((4, dimension)), 0.5) == 12
    assert len(search(np.zeros((3, 3)), 1.0, other=np.empty((0, 3)))[0]) == 0
    assert len(search(np.empty((0, 3)), 1.0, other=np.zeros((3, 3)), cell=np.eye(3))[0]) == 0


def test_a_pair_at_the_cut_off_is_not_listed(search: Search) -> None:
    positions = [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]
    assert len(search(positions, 5.0)[0]) == 0
    assert len(search(positions, np.nextafter(5.0, 6.0))[0]) == 2


def test_axes_that_do_not_repeat_need_no_vector(search: Search) -> None:
    positions = np.random.default_rng(6).uniform(0, 2, (20, 3))
    flat = np.array([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    flags = (True, True, False)
    found = rows(search(positions, 0.8, cell=flat, periodic=flags, quantities="ijS"))
    thick = flat.copy()
    thick[2] = (3.0, 1.0, 7.0)
    assert set(found) == oracle(positions, 0.8, thick, flags)
    assert set(rows(search(positions, 0.8, cell=thick, periodic=flags, quantities="ijS"))) == set(found)


@pytest.mark.parametrize("exponent", [-140, -60, -20, 20, 60, 140])
def test_any_unit_of_length(search: Search, exponent: int) -> None:
    random = np.random.default_rng(7)
    unit = 2.0 ** (3 * exponent)
    cell = random_cell(random, 3, 4.0, 0.3)
    positions = random.uniform(0, 1, (40, 3)) @ cell
    want = rows(search(positions, 1.5, cell=cell, quantities="ijS"))
    assert len(want) > 50
    assert rows(search(positions * unit, 1.5 * unit, cell=cell * unit, quantities="ijS")) == want


def test_points_a_million_cells_away(search: Search) -> None:
    random = np.random.default_rng(8)
    cell = random_cell(random, 3, 4.0, 0.3)
    positions = random.uniform(0, 1, (30, 3)) @ cell
    positions[::3] += np.array([900_000, -3, 5]) @ cell
    i, j, shift, vector = search(positions, 1.9, cell=cell, quantities="ijSD")
    exact = positions[j] - positions[i] + shift @ cell
    np.testing.assert_allclose(vector, exact, atol=1e-8)
    home = positions.copy()
    home[::3] -= np.array([900_000, -3, 5]) @ cell
    # Positions are rounded to 5e-10 there, and no pair of these is that near to the cut-off.
    assert len(i) == len(oracle(home, 1.9, cell))


@pytest.mark.parametrize("far", [1e2, 1e5, 1e9])
def test_few_points_far_away(search: Search, far: float) -> None:
    random = np.random.default_rng(15)
    positions = random.uniform(0, 10, (400, 3))
    positions[:3] = random.uniform(-far, far, (3, 3))
    positions[3] = positions[0] + 0.25
    positions[4] = -0.3, 5.0, 5.0
    assert check(search, positions, 1.0) > 100
    assert check(search, positions[:200], 1.0, other=positions[100:]) > 100
    assert check(search, positions, 1.0, full=False) > 50


# Properties

seeds = st.integers(0, 2**32 - 1)


def periodic_system(seed: int) -> tuple[np.random.Generator, Any, Any, Any, float]:
    random = np.random.default_rng(seed)
    cell = random_cell(random, 3, 3.0, 0.5)
    flags = random.random(3) < 0.7
    positions = random.uniform(0, 1, (int(random.integers(1, 30)), 3)) @ cell
    return random, positions, cell, flags, float(random.uniform(0.4, 3.0))


@given(seeds)
def test_permuted_points_have_the_same_neighbours(seed: int) -> None:
    random, positions, cell, flags, cutoff = periodic_system(seed)
    order = random.permutation(len(positions))
    found = rows(choque.neighbors(positions, cutoff, cell=cell, periodic=flags, quantities="ijS"))
    permuted = choque.neighbors(positions[order], cutoff, cell=cell, periodic=flags, quantities="ijS")
    assert {(int(order[i]), int(order[j]), *s) for i, j, *s in rows(permuted)} == set(found)


@given(seeds)
def test_points_moved_by_lattice_vectors_have_the_same_neighbours(seed: int) -> None:
    random = np.random.default_rng(seed)
    cell = np.array([[4.0, 0, 0], [1.5, 3.0, 0], [-0.5, 1.0, 2.0]])  # sums with eighths are exact
    flags = random.random(3) < 0.7
    positions = random.integers(0, 32, (20, 3)) / 8
    moves = random.integers(-5, 6, (20, 3)) * flags
    cutoff = float(random.uniform(0.4, 3.0))
    found = rows(choque.neighbors(positions, cutoff, cell=cell, periodic=flags, quantities="ijS"))
    moved = rows(choque.neighbors(positions + moves @ cell, cutoff, cell=cell, periodic=flags, quantities="ijS"))
    assert {(i, j, *(np.array(s) + moves[j] - moves[i]).tolist()) for i, j, *s in moved} == set(found)


@given(seeds)
def test_a_rotated_cell_has_the_same_neighbours(seed: int) -> None:
    random, positions, cell, flags, cutoff = periodic_system(seed)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    i, j, shift, distance = choque.neighbors(positions, cutoff + 1e-9, cell=cell, periodic=flags, quantities="ijSd")
    turned = choque.neighbors(positions @ turn, cutoff, cell=cell @ turn, periodic=flags, quantities="ijS")
    sure = distance < cutoff - 1e-9
    assert set(rows((i[sure], j[sure], shift[sure]))) <= set(rows(turned)) <= set(rows((i, j, shift)))


@given(seeds)
def test_swapped_sets_have_the_same_pairs(seed: int) -> None:
    random, positions, cell, flags, cutoff = periodic_system(seed)
    other = random.uniform(-1, 1, (12, 3)) @ cell
    options = {"cell": cell, "periodic": flags, "quantities": "ijS"}
    found = rows(choque.neighbors(positions, cutoff, other=other, **options))
    swapped = rows(choque.neighbors(other, cutoff, other=positions, **options))
    assert {(j, i, *(-s for s in shift)) for i, j, *shift in swapped} == set(found)


@given(seeds)
def test_a_full_list_is_a_half_list_and_its_mirror_image(seed: int) -> None:
    _, positions, cell, flags, cutoff = periodic_system(seed)
    options = {"cell": cell, "periodic": flags, "quantities": "ijS"}
    half = set(rows(choque.neighbors(positions, cutoff, full=False, **options)))
    mirror = {(j, i, *(-s for s in shift)) for i, j, *shift in half}
    assert not half & mirror
    assert half | mirror == set(rows(choque.neighbors(positions, cutoff, **options)))


def test_any_number_of_threads_gives_the_same_arrays() -> None:
    random = np.random.default_rng(9)
    cell = random_cell(random, 3, 30.0, 0.3)
    positions = random.uniform(0, 1, (9000, 3)) @ cell
    radii = random.uniform(0.2, 1.5, 9000)
    batch = np.arange(0, 9001, 1000)
    for options in ({"cutoff": 2.5}, {"cutoff": 2.5, "full": False}, {"radii": radii}, {"cutoff": 2.5, "batch": batch}):
        one, two = (
            choque.neighbors(positions, cell=cell, quantities="ijSdD", threads=threads, **options) for threads in (1, 2)
        )
        assert len(one[0]) > 1000
        for first, second in zip(one, two, strict=True):
            np.testing.assert_array_equal(first, second)


# Radii and batches


@pytest.mark.parametrize("seed", range(12))
def test_radii(search: Search, seed: int) -> None:
    random = np.random.default_rng(seed)
    cell = random_cell(random, 3, 6.0, 0.3)
    positions = random.uniform(-0.3, 1.3, (60, 3)) @ cell
    radii = 10 ** random.uniform(-3, 0.4, 60)
    radii[::7] = 0
    options: dict[str, Any] = {"cell": cell, "periodic": random.random(3) < 0.7, "radii": radii}
    assert check(search, positions, **options) > 0
    check(search, positions, full=False, **options)
    other, other_radii = positions[:20] + 0.3, radii[:20] * 2
    check(search, positions, other=other, other_radii=other_radii, **options)


def test_radii_that_are_all_zero_or_one_number(search: Search) -> None:
    positions = np.random.default_rng(1).uniform(0, 3, (30, 3))
    assert len(search(np.zeros((3, 3)), radii=0)[0]) == 0
    want = rows(search(positions, 1.0, quantities="ijS"))
    assert sorted(rows(search(positions, radii=0.5, quantities="ijS"))) == sorted(want)


def test_a_batch_is_its_systems(search: Search) -> None:
    random = np.random.default_rng(2)
    sizes = [5, 0, 1, 160, 30, 0, 12]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    cells = np.stack([random_cell(random, 3, 4.0, 0.4) for _ in sizes])
    flags = random.random((len(sizes), 3)) < 0.6
    positions = np.concatenate(
        [random.uniform(-0.2, 1.2, (size, 3)) @ cell for size, cell in zip(sizes, cells, strict=True)]
    )
    radii = random.uniform(0.05, 1.0, len(positions))
    for limit in ({"cutoff": 1.7}, {"radii": radii}):
        found = rows(search(positions, batch=starts, cell=cells, periodic=flags, quantities="ijS", **limit))
        want = set()
        for k, (first, last) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
            own = {name: value if name == "cutoff" else value[first:last] for name, value in limit.items()}
            for i, j, *shift in oracle(positions[first:last], cell=cells[k], periodic=flags[k], **own):
                want.add((i + first, j + first, *shift))
        assert len(found) == len(want) > 100
        assert set(found) == want


def test_a_batch_with_one_cell_and_in_free_space(search: Search) -> None:
    positions = np.random.default_rng(3).uniform(0, 2, (20, 2))
    found = rows(search(positions, 0.7, batch=[0, 10, 20], quantities="ijS"))
    assert found == [row for row in rows(search(positions, 0.7, quantities="ijS")) if row[0] // 10 == row[1] // 10]
    cell = np.diag([2.0, 2.0])
    found = rows(search(positions, 0.7, batch=[0, 20], cell=cell, quantities="ijS"))
    assert set(found) == oracle(positions, 0.7, cell)


# Failures that other libraries published


def test_atomistica_30_a_coordinate_just_below_zero(search: Search) -> None:
    """A coordinate of -1e-52 becomes 1.0 when it is wrapped: outside the last bin."""
    positions = np.array([[-1e-52, 0.5, 0.5], [0.9, 0.5, 0.5], [0.1, 0.5, -1e-52], [0.1, -1e-300, 0.5]])
    assert check(search, positions, 0.35, cell=np.eye(3)) > 0
    assert check(search, positions, 0.35, cell=np.eye(3), periodic=(True, False, False)) > 0


def test_mdanalysis_2919_an_atom_in_the_centre_of_the_box(search: Search) -> None:
    random = np.random.default_rng(10)
    box = np.array([18.0, 15.0, 12.0])
    positions = np.concatenate(([box / 2], random.uniform(0, box, (150, 3))))
    assert check(search, positions, 3.2, cell=np.diag(box), other=positions[:40]) > 100


def test_mdanalysis_2345_a_tiny_box_with_angles_of_60_degrees(search: Search) -> None:
    half, root = 0.5, np.sqrt(3) / 2
    cell = 1e-3 * np.array([[1, 0, 0], [half, root, 0], [half, root / 3, np.sqrt(2 / 3)]])
    random = np.random.default_rng(11)
    positions = random.integers(-2, 3, (20, 3)) @ cell + random.uniform(0, 1, (20, 3)) @ cell
    assert check(search, positions, 1.5e-4, cell=cell) >= 0
    assert check(search, positions, 1.5e-3, cell=cell) > 500


def test_mdanalysis_4906_a_grid_misses_a_bond_that_brute_force_finds(search: Search) -> None:
    """Atoms of a tilted box, many of them outside it, in single precision; the box is two and a bit cut-offs wide."""
    cell = np.array([[7.1, 0, 0], [-3.4, 7.4, 0], [2.9, -3.1, 7.2]])
    positions = (np.random.default_rng(14).uniform(-0.6, 1.4, (160, 3)) @ cell).astype(np.float32)
    assert check(search, positions, 3.4, cell=cell) > 1_000


def test_mdanalysis_3181_a_slab_of_silver_in_a_tilted_box(search: Search) -> None:
    """Layers of a close packing, atoms on the faces of the box in single precision: 12 neighbours, 9 on the surface."""
    edge, rows_of = 2.892, np.stack(np.meshgrid(*[np.arange(5)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    a, b = np.array([edge, 0, 0]), np.array([edge / 2, edge * np.sqrt(3) / 2, 0])
    up = (a + b) / 3 + [0, 0, edge * np.sqrt(2 / 3)]
    layers = [rows_of @ np.stack((a, b)) + layer * up for layer in range(4)]
    positions, cell = np.concatenate(layers).astype(np.float32), np.stack((5 * a, 5 * b, [0.0, 0.0, 30.0]))
    counts = np.bincount(search(positions, 2.9, cell=cell, quantities="i"), minlength=100)
    assert counts.tolist() == [9] * 25 + [12] * 50 + [9] * 25


def test_mdtraj_1019_the_nearest_image_in_a_flat_triclinic_cell(search: Search) -> None:
    alpha, beta, gamma = np.radians([46.8, 34.4, 78.7])
    c = np.array([np.cos(beta), (np.cos(alpha) - np.cos(beta) * np.cos(gamma)) / np.sin(gamma), 0])
    c[2] = np.sqrt(1 - c @ c)
    cell = 2 * np.stack(([1, 0, 0], [np.cos(gamma), np.sin(gamma), 0], c))
    positions = np.array([[0.5338, 1.5336, 0.9745], [1.4097, 1.9486, 1.1537]])
    i, j, d = search(positions, 0.9, cell=cell, quantities="ijd")
    assert d[i != j].min() == pytest.approx(0.6186748, abs=1e-5)
    assert check(search, positions, 3.0, cell=cell) > 10


@pytest.mark.parametrize("seed", range(8))
def test_openmm_5382_few_particles_in_a_triclinic_box(search: Search, seed: int) -> None:
    """Reduced triclinic vectors at their limits, low density, a cut-off of nearly half the smallest height."""
    random = np.random.default_rng(seed)
    cell = np.array([[5.0, 0, 0], [2.5, 5.0, 0], [-2.5, 2.5, 5.0]]) * random.uniform(0.8, 1.2)
    positions = random.uniform(-1, 2, (25, 3)) @ cell
    assert check(search, positions, 0.49 * cell[2, 2], cell=cell) > 0


@pytest.mark.parametrize("tilt", [5.8706104168703526, 5.8706104168703437])
def test_lammps_2759_a_perfect_lattice_with_tilts_of_one_half(search: Search, tilt: float) -> None:
    """Every atom of the lattice has 12 nearest neighbours, and a half list has each pair once."""
    width, half = 20.336391026925106, 10.168195513462551
    cell = np.array([[width, 0, 0], [half, 17.611831250611051, 0], [half, tilt, 16.604593741893638]])
    grid = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    positions = grid / 8 @ cell
    nearest = width / 8
    i = search(positions, 1.2 * nearest, cell=cell, quantities="i")
    assert (np.bincount(i, minlength=512) == 12).all()
    assert len(search(positions, 1.2 * nearest, cell=cell, full=False)[0]) == 512 * 6


def test_mace_1501_a_molecule_in_a_huge_box(search: Search) -> None:
    """Bins of the size of the cut-off would be 10^15."""
    positions = np.random.default_rng(12).uniform(0, 3, (200, 3)) + 5e4
    found = search(positions, 1.0, cell=np.eye(3) * 1e5)
    assert len(found[0]) == len(oracle(positions, 1.0)) > 0


def test_pymatgen_2277_a_cut_off_much_smaller_than_the_cell(search: Search) -> None:
    positions = np.random.default_rng(13).uniform(0, 10, (50, 3))
    positions[1] = positions[0] + 1e-7
    assert check(search, positions, 1e-6, cell=np.eye(3) * 10) == 2


def test_vesin_0_5_8_cells_thinner_than_the_cut_off(search: Search) -> None:
    cell = np.array([[0.9, 0, 0], [0.4, 7.0, 0], [3.0, -2.0, 1.1]])
    positions = np.random.default_rng(14).uniform(0, 1, (12, 3)) @ cell
    for flags in ((True, True, True), (True, False, True), (False, False, True), (True, False, False)):
        assert check(search, positions, 3.3, cell=cell, periodic=flags) > 100
