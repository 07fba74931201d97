"""Sweep and prune with k-DOPs: the pairs of every kind of bounds, and the choice of the axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core.jacobi import symmetric_eigen
from choque._core.sweep_axis import nearest_direction, principal_direction, spread_share
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres, directions
from choque.broad import create
from choque.broad.sap_kdop import frame_along
from choque.errors import InvalidInput
from choque.testing import scenes

KINDS = {2: ("boxes", "spheres", 4, 8), 3: ("boxes", "spheres", 6, 14, 18, 26)}
ALL_KINDS = [(dimension, kind) for dimension, kinds in KINDS.items() for kind in kinds]


def clouds(count: int, dimension: int, seed: int, crowd: float = 1.0) -> np.ndarray:
    """Elongated clouds of six points, some along diagonals."""
    random = np.random.default_rng(seed)
    shape = random.normal(size=(count, 6, dimension)) * np.array([0.1, 1.0, 0.1])[:dimension]
    turn = np.linalg.qr(random.normal(size=(count, dimension, dimension)))[0]
    return shape @ turn + random.random((count, 1, dimension)) * (count / crowd) ** (1 / dimension)


def fitted(points: np.ndarray, kind: str | int) -> Any:
    if kind == "boxes":
        return Boxes.fit(points)
    return Spheres.fit(points) if kind == "spheres" else KDops.fit(points, k=int(kind))


def oracle(volumes: Any, closed: bool = True) -> np.ndarray:
    pairs = np.stack(np.triu_indices(len(volumes), 1), axis=1).astype(np.int32)
    return pairs[volumes.overlap(pairs, closed=closed)]


@pytest.mark.parametrize(("dimension", "kind"), ALL_KINDS)
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("tiles", [None, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_those_of_the_bounds(dimension: int, kind: Any, closed: bool, tiles: bool | None, dtype: Any) -> None:
    """F-002-06, 07, 23: every kind of bounds against its own all-pairs test."""
    for count, seed in ((0, 0), (1, 1), (2, 2), (150, 3)):
        volumes = fitted(clouds(count, dimension, seed).astype(dtype), kind)
        broad = create("sap-kdop", volumes, closed=closed, tiles=tiles)
        np.testing.assert_array_equal(broad.pairs(), oracle(volumes, closed))
        assert broad.count() == len(oracle(volumes, closed))


@pytest.mark.parametrize("closed", [True, False])
@given(seed=st.integers(0, 10**6), k=st.sampled_from((6, 14, 18, 26)))
def test_touching_slabs_overlap_as_the_bounds_do(closed: bool, seed: int, k: int) -> None:
    """F-002-21: whole numbers, so that minima coincide and slabs touch; no pair is there twice."""
    random = np.random.default_rng(seed)
    points = random.integers(-2, 3, (40, 3, 3)) + random.integers(0, 6, (40, 1, 3))
    volumes = KDops.fit(points, k=k)
    np.testing.assert_array_equal(create("sap-kdop", volumes, closed=closed).pairs(), oracle(volumes, closed))


def test_tighter_bounds_have_fewer_pairs() -> None:
    """F-002-07 and 09: 26 within 18 within 6, and a 6-DOP is a box."""
    points = clouds(400, 3, 4, crowd=2.0)
    found = {k: {*map(tuple, create("sap-kdop", KDops.fit(points, k=k)).pairs().tolist())} for k in (6, 14, 18, 26)}
    assert found[26] < found[18] < found[6]
    assert found[26] < found[14] < found[6]
    np.testing.assert_array_equal(
        create("sap-kdop", KDops.fit(points, k=6)).pairs(), create("sap-direct", Boxes.fit(points)).pairs()
    )


def test_oriented_boxes_count_as_the_boxes_around_them() -> None:
    volumes = OrientedBoxes.fit(clouds(100, 3, 5))
    np.testing.assert_array_equal(create("sap-kdop", volumes).pairs(), oracle(volumes.boxes()))


def test_everything_overlaps_everything() -> None:
    """F-002-22: no buffer is capped."""
    count = 700
    same = KDops.fit(np.zeros((count, 1, 3)) + np.array([[[0, 0, 0]]]) + np.zeros((count, 2, 3)), k=18)
    pairs = create("sap-kdop", same).pairs()
    np.testing.assert_array_equal(pairs, np.stack(np.triu_indices(count, 1), axis=1))


def test_boxes_that_meet_on_one_axis_only_are_no_pairs() -> None:
    """F-002-20: neighbours in the order of the sweep that are apart on the other axis."""
    lower = np.array([[0, 0], [1, 5], [2, 10], [3, 15], [4, 20]])
    broad = create("sap-kdop", Boxes(lower, lower + np.array([3, 2])))
    assert len(broad.pairs()) == 0
    flat = create("sap-kdop", Boxes(lower * [10, 1], lower * [10, 1] + [31, 2]))
    assert flat.index.axis == (1, 0)
    assert len(flat.pairs()) == 0
    assert flat.counters.tests == 9  # each against the three that start before it ends, the last ones fewer


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_long_intervals_and_threads_change_nothing(threads: int) -> None:
    points = clouds(4500, 3, 6)
    points[::500, 0] -= 50
    points[::500, 1] += 50
    volumes = KDops.fit(points, k=18)
    broad = create("sap-kdop", volumes, threads=threads)
    single = create("sap-kdop", volumes, threads=1, tiles=False)
    np.testing.assert_array_equal(broad.pairs(), single.pairs())
    np.testing.assert_array_equal(oracle(volumes.take(np.arange(0, 4500, 20))), _among(broad.pairs(), 20))


@pytest.mark.parametrize("threads", [1, 3])
def test_large_boxes_are_swept_separately(threads: int) -> None:
    """F-002-23: bodies that touch very many tiles are in no list; nothing counted depends on the threads."""
    lower = np.random.default_rng(16).random((4000, 3)) * [900, 300, 300]
    upper = lower + 1
    lower[::100, 1:], upper[::100, 1:] = 0, 301
    volumes = Boxes(lower, upper)
    broad = create("sap-kdop", volumes, tiles=True, threads=threads)
    line = create("sap-kdop", volumes, tiles=False, threads=1)
    np.testing.assert_array_equal(broad.pairs(), line.pairs())
    assert len(broad.index._sweep.apart) == 40
    assert broad.counters.tests < line.counters.tests
    assert (broad.counters.tests, broad.counters.duplicates) == _counted_on_one_thread(volumes)


def _counted_on_one_thread(volumes: Boxes) -> tuple[int, int]:
    broad = create("sap-kdop", volumes, tiles=True, threads=1)
    broad.pairs()
    return broad.counters.tests, broad.counters.duplicates


def test_crowded_tiles_outgrow_any_chunk() -> None:
    """F-002-22: a block of candidates that does not fit is looked at again, and no pair is written twice or lost."""
    random = np.random.default_rng(17)
    crowd = random.random((300, 2, 3)) + np.array([0, 0, 0])
    far = random.random((300, 2, 3)) + np.array([3, 40, 40])
    volumes = KDops.fit(np.concatenate((crowd, far)), k=18)
    broad = create("sap-kdop", volumes, tiles=True)
    assert len(broad.index._sweep.starts) > 2
    np.testing.assert_array_equal(broad.pairs(), oracle(volumes))


def test_the_tests_of_a_tile_are_the_candidates_that_start_before_the_end() -> None:
    """The lanes of a block that start too late, or belong to the next tile, are not counted."""
    lower = np.array([[100.0 * x, 60.0 * y] for x in range(8) for y in range(2)])
    tiled, line = (create("sap-kdop", Boxes(lower, lower + [150, 1]), tiles=tiles) for tiles in (True, False))
    assert tiled.index.axis == line.index.axis == (1, 0)
    np.testing.assert_array_equal(tiled.pairs(), line.pairs())
    assert tiled.counters.tests == len(tiled.pairs()) == 14 < line.counters.tests


def _among(pairs: np.ndarray, step: int) -> np.ndarray:
    chosen = pairs[(pairs % step == 0).all(axis=1)]
    return chosen // step


@given(st.integers(0, 1000), st.lists(st.sampled_from(["update", "move", "add", "remove"]), max_size=5))
def test_any_script_keeps_the_oracle(seed: int, changes: list[str]) -> None:
    random = np.random.default_rng(seed)
    volumes = KDops.fit(clouds(30, 3, seed, crowd=3.0), k=18)
    broad = create("sap-kdop", volumes, axis_period=2)
    for number, change in enumerate(changes, start=1):
        before = {*map(tuple, broad.pairs().tolist())}
        some = np.sort(random.permutation(len(volumes))[:4])
        fresh = KDops.fit(clouds(60, 3, seed + number, crowd=3.0), k=18)
        if change == "update":
            volumes = fresh.take(np.arange(len(volumes)))
            broad.update(volumes)
        elif change == "move":
            volumes = volumes.put(some, fresh.take(some))
            broad.move(broad.ids[some], fresh.take(some))
        elif change == "add":
            volumes = volumes.join(fresh.take([0, 1, 2]))
            broad.add(fresh.take([0, 1, 2]))
        else:
            volumes = volumes.take(np.setdiff1d(np.arange(len(volumes)), some))
            broad.remove(broad.ids[some])
        now = {*map(tuple, broad.ids[oracle(volumes)].tolist())}
        assert {*map(tuple, broad.began.tolist())} == now - before
        assert {*map(tuple, broad.ended.tolist())} == before - now
        assert {*map(tuple, broad.pairs().tolist())} == now


def test_kinds_may_change_between_updates() -> None:
    points = clouds(120, 3, 7, crowd=2.0)
    broad = create("sap-kdop", Boxes.fit(points))
    for kind in (26, "spheres", 14, "boxes", 18):
        broad.update(fitted(points, kind))
        np.testing.assert_array_equal(broad.pairs(), oracle(fitted(points, kind)))


def test_groups_and_static_flags_hold() -> None:
    static = np.arange(200) % 3 == 0
    volumes = KDops.fit(clouds(200, 3, 8, crowd=3.0), k=18)
    wanted = oracle(volumes)
    wanted = wanted[~(static[wanted[:, 0]] & static[wanted[:, 1]])]
    np.testing.assert_array_equal(create("sap-kdop", volumes, static=static).pairs(), wanted)


def test_the_filter_is_counted() -> None:
    points = clouds(300, 3, 9, crowd=2.0)
    broad = create("sap-kdop", KDops.fit(points, k=18))
    kept = len(broad.pairs())
    assert kept < broad.counters.filtered < broad.counters.tests
    assert broad.counters.filter_seconds > 0
    assert create("sap-kdop", KDops.fit(points, k=6)).counters.filtered == 0


# The axis


@pytest.mark.parametrize("seed", range(6))
def test_the_axis_of_an_ellipsoid_is_found_within_a_degree(seed: int) -> None:
    """F-002-10, whatever the ellipsoid's place."""
    random = np.random.default_rng(seed)
    frame = np.linalg.qr(random.normal(size=(3, 3)))[0]
    centre = random.normal(size=(200_000, 3)) * [10, 4, 3] @ frame + random.normal(size=3) * 1000
    found = principal_direction(np.concatenate((centre - 1, centre + 1), axis=1), 3, centred=True)
    assert found is not None
    assert np.degrees(np.arccos(min(1.0, abs(found @ frame[0])))) < 1


def test_the_printed_eigenvectors_are_found() -> None:
    """F-002-10: the oracle of the thesis, vectors in rows."""
    values, vectors = symmetric_eigen([[4, 2, 0], [2, 5, 3], [0, 3, 6]])
    np.testing.assert_allclose(values, [1.4516, 4.6395, 8.9089], atol=1e-3)
    printed = [[-0.54801, 0.69826, -0.46056], [0.79072, 0.25284, -0.55753], [0.27285, 0.6697, 0.69069]]
    np.testing.assert_allclose(np.abs(np.sum(vectors * printed, axis=1)), 1, atol=1e-3)


def test_about_the_origin_the_axis_points_at_distant_bodies() -> None:
    """Second moments about the origin show where the bodies are, not along which axis they spread."""
    centre = np.random.default_rng(10).normal(size=(500, 3)) * [5, 1, 1] + [0, 1000, 0]
    records = np.concatenate((centre - 1, centre + 1), axis=1)
    about_mean, about_origin = (principal_direction(records, 3, centred=centred) for centred in (True, False))
    assert about_mean is not None
    assert about_origin is not None
    assert abs(about_mean[0]) > 0.99
    assert abs(about_origin[1]) > 0.99
    boxes = Boxes(records[:, :3], records[:, 3:])
    assert create("sap-kdop", boxes).index.axis == (1, 0, 0)
    assert create("sap-kdop-origin", boxes).index.axis == (0, 1, 0)


@pytest.mark.parametrize("k", [4, 8, 6, 14, 18, 26])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_vector_is_snapped_to_the_nearest_direction_or_its_opposite(k: int, sign: int) -> None:
    """F-002-11."""
    along = directions(k)
    units = along / np.linalg.norm(along, axis=1)[:, None]
    random = np.random.default_rng(11)
    for slab, unit in enumerate(units):
        vector = np.zeros(3)
        vector[: len(unit)] = sign * unit + random.normal(0, 0.02, len(unit))
        assert nearest_direction(vector, along) == slab


@pytest.mark.parametrize(("kind", "axis"), [("boxes", (1, 0, 0)), (18, (1, 1, 0)), ("spheres", (1, 1, 0))])
def test_each_kind_is_swept_along_a_direction_of_its_own(kind: Any, axis: tuple[int, ...]) -> None:
    """F-002-11: three for boxes, nine for 18-DOPs and for spheres."""
    along = np.random.default_rng(12).random((200, 1, 3)) * [0.2, 0.1, 0.1] + np.linspace(0, 80, 200)[:, None, None] * [
        1.05,
        1,
        0,
    ]
    points = along + np.random.default_rng(13).normal(0, 0.3, (200, 5, 3))
    broad = create("sap-kdop", fitted(points, kind))
    assert broad.index.axis == axis
    np.testing.assert_array_equal(broad.pairs(), oracle(fitted(points, kind)))


@pytest.mark.parametrize("k", [8, 6, 14, 18, 26])
def test_the_frame_of_a_sweep_spans_space(k: int) -> None:
    along = directions(k)
    for slab in range(len(along)):
        chosen = [along[place] for place in frame_along(slab, along) if place >= 0]
        assert abs(np.linalg.det(np.array(chosen, float))) >= 1


def line(axis: int, seed: int = 14) -> Boxes:
    centre = np.random.default_rng(seed).normal(size=(300, 3))
    centre[:, axis] *= 1.2
    return Boxes(centre - 0.1, centre + 0.1)


def test_the_axis_is_chosen_again_after_its_period() -> None:
    """F-002-12: the spread changes too little to be noticed at once, so the period decides."""
    broad = create("sap-kdop", line(0), axis_period=5)
    assert broad.index.axis == (1, 0, 0)
    for _ in range(4):
        broad.update(line(2))
    assert broad.index.axis == (1, 0, 0)
    broad.update(line(2))
    assert broad.index.axis == (0, 0, 1)
    assert broad.index.axis_changes == ((0, (1, 0, 0)), (5, (0, 0, 1)))
    assert create("sap-kdop", line(0)).index.axis_period == 30


def test_another_axis_is_chosen_as_soon_as_the_spread_shrinks() -> None:
    broad = create("sap-kdop", line(0))
    flat = line(2)
    squeezed = Boxes(flat.lower * [0.1, 1, 1], flat.upper * [0.1, 1, 1])
    broad.update(squeezed)
    assert broad.index.axis == (0, 0, 1)
    assert spread_share(np.concatenate((squeezed.lower, squeezed.upper), axis=1), 0, directions(6)) < 0.1
    kept = create("sap-kdop", line(0), axis_period=None)
    kept.update(squeezed)
    assert kept.index.axis == (1, 0, 0)


@pytest.mark.parametrize(
    "boxes",
    [
        Boxes(np.full((3, 3), -np.inf), np.full((3, 3), np.inf)),
        Boxes(np.zeros((5, 3)), np.ones((5, 3))),
        Boxes(np.array([[-1e308] * 3, [1e307] * 3]), np.array([[-1e307] * 3, [1e308] * 3])),
    ],
)
def test_the_axis_is_kept_if_the_centres_do_not_decide(boxes: Boxes) -> None:
    """F-002-12: infinite, equal and unsquarable centres."""
    broad = create("sap-kdop", boxes)
    assert broad.index.axis == (1, 0, 0)
    np.testing.assert_array_equal(broad.pairs(), oracle(boxes))


def test_an_infinite_plane_does_not_affect_the_axis() -> None:
    ground = Boxes([[-np.inf, -np.inf, -1]], [[np.inf, np.inf, 0]])
    assert create("sap-kdop", line(1).join(ground)).index.axis == (0, 1, 0)


@pytest.mark.parametrize("options", [{"axis_period": 0}, {"axis_period": 2.5}, {"axis_period": True}, {"tiles": "yes"}])
def test_invalid_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        create("sap-kdop", line(0), **options)


# Other ways to divide space: F-002-46 and F-002-49


@pytest.mark.parametrize("scene", ["uniform", "touching"])
def test_subdivided_and_many_axis_sweeps_find_the_same(scene: str) -> None:
    """Octree, cells, a sweep for each cell, three sorted axes, and baselines: one set of pairs."""
    boxes = scenes.make(scene, dimension=3, dtype="float64", count=600, seed=15).boxes()
    wanted = create("brute", boxes).pairs()
    for method, options in (
        ("octree", {}),
        ("multi-sap", {"cells": 3}),
        ("sap-incremental", {}),
        ("sap-direct", {"tiles": True}),
        ("sap-kdop", {"tiles": True}),
        ("sap-kdop", {"tiles": False}),
        ("grid", {}),
        ("bvh", {}),
    ):
        np.testing.assert_array_equal(create(method, boxes, **options).pairs(), wanted)
