"""Meshes that stay on the device: vertices, volumes, pairs, and what crosses the bus."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from choque._core.pair_keys import unpack_pairs
from choque.bounds import KDops, Spheres, directions
from choque.errors import InvalidInput, UnknownName
from choque.gpu.sweep import sweep_slabs
from choque.theses.kdop import BodyPoints
from choque.theses.kdop.pipeline import BOUNDS, Pipeline, sweep_spheres
from choque.theses.kdop.sorts import SORTS

KDOPS = ("box", "6-dop", "14-dop", "18-dop", "26-dop")
TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


def rounded_cube() -> np.ndarray:
    short = 0.179303
    signs = itertools.product((-1, 1), repeat=3)
    return np.array(
        sorted({tuple(np.roll([a * short, b * short, c], shift)) for a, b, c in signs for shift in range(3)})
    )


def poses(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    quaternion = random.normal(size=(count, 4))
    return random.normal(0, 6, (count, 3)), quaternion / np.linalg.norm(quaternion, axis=1)[:, None]


def matrices(quaternion: np.ndarray) -> np.ndarray:
    """By q v q⁻¹ for the three unit vectors, which shares nothing with the kernel's formula."""
    x, y, z, w = quaternion.T
    vector = np.stack((x, y, z), axis=1)
    columns = []
    for unit in np.eye(3):
        twice = 2 * np.cross(vector, unit)
        columns.append(unit + w[:, None] * twice + np.cross(vector, twice))
    return np.stack(columns, axis=2)


def every_pair(volumes: Any) -> np.ndarray:
    pairs = np.stack(np.triu_indices(len(volumes), 1), axis=1).astype(np.int32)
    return pairs[volumes.overlap(pairs)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vertices_go_to_the_world(dtype: str, device: str) -> None:
    """F-002-01: scale, quaternion, translation, against float64 on the host."""
    points = np.random.default_rng(0).normal(size=(3, 8, 3))
    position, quaternion = poses(40, 1)
    groups = np.arange(40) % 3
    scale = np.random.default_rng(2).uniform(0.5, 6, (40, 3))
    pipeline = Pipeline(points, groups=groups, scale=scale, device=device, dtype=dtype)
    world = pipeline.vertices(position, quaternion)
    turn = matrices(quaternion)
    wanted = ((points[groups] * scale[:, None]) @ turn.transpose(0, 2, 1) + position[:, None]).reshape(-1, 3)
    np.testing.assert_allclose(world, wanted, rtol=0, atol=TOLERANCE[dtype] * np.abs(wanted).max())
    np.testing.assert_allclose(pipeline.vertices(position, turn), world, rtol=0, atol=TOLERANCE[dtype] * 100)


@pytest.mark.parametrize("bounds", KDOPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slabs_are_those_of_the_processor_and_contain_all(bounds: str, dtype: str, device: str) -> None:
    """F-002-02 and 03: the nine directions and every other k, under random poses."""
    position, quaternion = poses(60, 3)
    groups = np.zeros(60, np.int64)
    pipeline = Pipeline([rounded_cube()], groups=groups, scale=[2, 6, 2], bounds=bounds, device=device, dtype=dtype)
    built = pipeline.volumes(position, quaternion)
    assert isinstance(built, KDops)
    exact = BodyPoints([rounded_cube()]).kdops(groups, position, matrices(quaternion), [2, 6, 2], k=built.k)
    np.testing.assert_allclose(built.lower, exact.lower, rtol=0, atol=20 * TOLERANCE[dtype] * 30)
    world = pipeline.vertices(position, quaternion).reshape(60, 24, 3).astype(np.float64)
    along = world @ directions(built.k).T
    assert (built.lower <= along.min(axis=1)).all()
    assert (built.upper >= along.max(axis=1)).all()
    if dtype == "float32":  # and the exact bodies too, which the device only knows rounded
        assert (built.lower <= exact.lower + 1e-12).all()
        assert (built.upper >= exact.upper - 1e-12).all()


def test_the_slabs_of_a_box_are_its_own(device: str) -> None:
    """F-002-07: a 6-DOP and a box have the same pairs, bit for bit."""
    position, quaternion = poses(80, 4)
    pipelines = [
        Pipeline([rounded_cube()], groups=np.zeros(80, int), scale=2.0, bounds=bounds, device=device)
        for bounds in ("box", "6-dop")
    ]
    one, two = (pipeline.pairs(position, quaternion) for pipeline in pipelines)
    np.testing.assert_array_equal(one, two)
    assert len(one)


@pytest.mark.parametrize("bounds", KDOPS)
def test_an_item_an_axis_builds_the_same_numbers(bounds: str, device: str) -> None:
    """F-002-47."""
    position, quaternion = poses(50, 5)
    whole, split = (
        Pipeline(
            [rounded_cube()], groups=np.zeros(50, int), scale=[2, 6, 2], bounds=bounds, device=device, per_axis=per_axis
        )
        for per_axis in (False, True)
    )
    assert whole.volumes(position, quaternion) == split.volumes(position, quaternion)
    assert whole.traffic.launches["build_kdops"] == 1
    assert split.traffic.launches["build_kdops_by_axis"] == 1
    assert split.traffic.launches["build_kdops"] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spheres_reach_the_farthest_vertex_of_all(dtype: str, device: str) -> None:
    """F-002-04: a farther vertex that is not the first, on a scaled mesh."""
    points = np.array([[0.1, 0, 0], [0, 1, 0], [0, -3, 0], [0, 0, 2.5]])
    position, quaternion = poses(30, 6)
    pipeline = Pipeline(
        [points], groups=np.zeros(30, int), scale=[1, 1, 4], bounds="sphere", device=device, dtype=dtype
    )
    spheres = pipeline.volumes(position, quaternion)
    assert isinstance(spheres, Spheres)
    np.testing.assert_allclose(spheres.radius, 10.0, rtol=30 * TOLERANCE[dtype])
    assert (spheres.radius >= 10).all()


def test_the_radius_is_measured_once(device: str) -> None:
    """F-002-05: the kernel that measures is launched again only when the scale changed, and finds the same."""
    position, quaternion = poses(30, 7)
    pipeline = Pipeline([rounded_cube()], groups=np.zeros(30, int), scale=2.0, bounds="sphere", device=device)
    first = pipeline.volumes(position, quaternion)
    for frame in range(4):
        pipeline.pairs(*poses(30, 8 + frame))
    assert pipeline.traffic.launches["build_radii"] == 1
    again = Pipeline([rounded_cube()], groups=np.zeros(30, int), scale=2.0, bounds="sphere", device=device)
    assert again.volumes(position, quaternion) == first
    pipeline.set_scale([2, 6, 2])
    larger = pipeline.volumes(position, quaternion)
    assert pipeline.traffic.launches["build_radii"] == 2
    assert isinstance(larger, Spheres)
    assert isinstance(first, Spheres)
    assert (larger.radius > 2 * first.radius).all()


@pytest.mark.parametrize("sort", ["library", "decimal", "bitonic"])
def test_bounds_may_change_at_any_time_and_pairs_are_theirs(sort: str, device: str) -> None:
    """F-002-06 and 09: one scene, six kinds; the pairs are those of the volumes, and 18 are among the boxes'."""
    position, quaternion = poses(150, 9)
    pipeline = Pipeline([rounded_cube()], groups=np.zeros(150, int), scale=[0.5, 1.5, 0.5], device=device, sort=sort)
    found = {}
    for bounds in BOUNDS:
        pipeline.bounds = bounds
        pairs = pipeline.pairs(position, quaternion)
        np.testing.assert_array_equal(pairs, every_pair(pipeline.volumes(position, quaternion)))
        found[bounds] = {*map(tuple, pairs.tolist())}
    assert found["26-dop"] <= found["18-dop"] < found["box"] == found["6-dop"]
    assert len(found["box"]) < len(found["sphere"])


def test_only_transforms_go_up_and_only_pairs_come_down(device: str) -> None:
    """F-002-24: 28 bytes a body, 8 a pair, and three numbers of the scans; the meshes stay."""
    count = 120
    pipeline = Pipeline([rounded_cube()], groups=np.zeros(count, int), scale=[2, 6, 2], device=device)
    assert pipeline.traffic.up > 24 * 12  # the mesh
    for frame in range(3):
        pipeline.traffic.reset()
        pairs = pipeline.pairs(*poses(count, 20 + frame))
        assert pipeline.traffic.up == count * 7 * 4
        assert pipeline.traffic.down == 8 * len(pairs) + 3 * 8


def test_kernels_are_compiled_once_for_a_device(device: str) -> None:
    """F-002-25: no module is loaded again in the loop."""
    from choque.gpu import kernels_sweep
    from choque.theses.kdop import kernels

    warp = __import__("warp")
    pipeline = Pipeline([rounded_cube()], groups=np.zeros(20, int), device=device)
    pipeline.pairs(*poses(20, 30))
    modules = [warp.get_module(each.__name__) for each in (kernels, kernels_sweep)]
    before = [{key: id(execution) for key, execution in module.execs.items()} for module in modules]
    for bounds, sort in itertools.product(("sphere", "14-dop", "box"), ("library", "decimal", "bitonic")):
        pipeline.bounds, pipeline.sort = bounds, sort
        pipeline.pairs(*poses(20, 31))
    assert [{key: id(execution) for key, execution in module.execs.items()} for module in modules] == before
    assert any(before)


def test_the_axis_follows_the_spread_at_its_period(device: str) -> None:
    """F-002-12: a tall pile is swept upward, a flat one along the ground, from the next period on."""
    random = np.random.default_rng(10)
    _, quaternion = poses(64, 11)
    tall, flat = random.normal(size=(64, 3)) * [1, 50, 1], random.normal(size=(64, 3)) * [50, 1, 20]
    pipeline = Pipeline([rounded_cube()], groups=np.zeros(64, int), device=device, axis_period=3)
    axes = []
    for frame in range(6):
        pairs = pipeline.pairs(tall if frame < 1 else flat, quaternion)
        axes.append(pipeline.axis)
        np.testing.assert_array_equal(pairs, every_pair(pipeline.volumes(tall if frame < 1 else flat, quaternion)))
    assert axes[:3] == [(0, 1, 0)] * 3
    assert axes[3:] == [(1, 0, 0)] * 3


def test_ragged_meshes_and_no_bodies(device: str) -> None:
    points = np.concatenate((rounded_cube(), [[1, 2, 3]], np.eye(3)))
    pipeline = Pipeline(points, [0, 24, 25, 28], device=device)
    built = pipeline.volumes(np.zeros((3, 3)), np.tile([0, 0, 0, 1.0], (3, 1)))
    assert isinstance(built, KDops)
    np.testing.assert_allclose(built.lower[:, :3], [[-1, -1, -1], [1, 2, 3], [0, 0, 0]], atol=1e-4)
    empty = Pipeline([rounded_cube()], groups=[], device=device)
    assert empty.pairs(np.empty((0, 3)), np.empty((0, 4))).shape == (0, 2)


POSE = (np.zeros((1, 3)), np.array([[0.0, 0, 0, 1]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Pipeline([rounded_cube()], bounds="20-dop", device="warp-cpu"), "no kind of bounds"),
        (lambda: Pipeline([rounded_cube()], sort="quick", device="warp-cpu"), "no sort on a device"),
        (lambda: Pipeline([rounded_cube()], dtype="float16", device="warp-cpu"), "no float type"),
        (lambda: Pipeline([rounded_cube()], axis_period=0, device="warp-cpu"), "axis_period is 0"),
        (lambda: Pipeline([rounded_cube()], scale=0.0, device="warp-cpu"), "not zero"),
        (lambda: Pipeline([rounded_cube()], scale=[1, 2], device="warp-cpu"), "scale has the shape"),
        (lambda: Pipeline([rounded_cube()], device="tpu"), "no device called 'tpu'"),
        (
            lambda: Pipeline([rounded_cube()], device="warp-cpu").pairs(np.zeros((2, 3)), POSE[1]),
            "position has the shape",
        ),
        (lambda: Pipeline([rounded_cube()], device="warp-cpu").pairs(POSE[0], np.eye(3)), "rotation has the shape"),
        (lambda: Pipeline([rounded_cube()], device="warp-cpu").pairs([[0, np.nan, 0]], POSE[1]), "Row 0 of position"),
        (lambda: Pipeline([rounded_cube()], device="warp-cpu").pairs(POSE[0], np.zeros((1, 4))), "quaternion 0"),
    ],
)
def test_bad_input_is_a_sentence(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()


def test_an_unknown_kind_changes_nothing() -> None:
    pipeline = Pipeline([rounded_cube()], device="warp-cpu")
    with pytest.raises(UnknownName):
        pipeline.bounds = "ball"
    assert pipeline.bounds == "18-dop"
    assert pipeline.device == "warp-cpu"


@pytest.mark.parametrize("direction", [(1, 0, 0), (1, 1, 0), (0, 1, -1), (1, -1, 1)])
@pytest.mark.parametrize("closed", [True, False])
def test_spheres_are_swept_along_any_direction(direction: Any, closed: bool, device: str) -> None:
    random = np.random.default_rng(2)
    spheres = Spheres(random.integers(0, 9, (150, 3)).astype(np.float32), random.integers(0, 3, 150).astype(np.float32))
    keys, _ = sweep_spheres(spheres.center, spheres.radius, direction, device, closed=closed)
    every = np.stack(np.triu_indices(150, 1), axis=1).astype(np.int32)
    np.testing.assert_array_equal(unpack_pairs(keys), every[spheres.overlap(every, closed=closed)])


@pytest.mark.parametrize("count", [0, 1])
def test_no_sphere_and_one_alone_have_no_pairs(count: int, device: str) -> None:
    assert sweep_spheres(np.zeros((count, 3)), np.zeros(count), (1, 0, 0), device)[0].size == 0


@pytest.mark.parametrize(
    ("radius", "direction", "message"),
    [(np.zeros(2), (1, 0, 0), r"\(n, 3\) and \(n,\)"), (np.zeros(3), (0, 0, 0), "not all 0")],
)
def test_invalid_spheres_are_refused(radius: Any, direction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        sweep_spheres(np.zeros((3, 3)), radius, direction, "warp-cpu")


@pytest.mark.parametrize("sort", sorted(SORTS))
@pytest.mark.parametrize("slab", range(9))
def test_every_sort_gives_the_same_pairs(sort: str, slab: int, device: str) -> None:
    random = np.random.default_rng(1)
    volumes = KDops.fit(random.normal(size=(200, 4, 3)) + random.random((200, 1, 3)) * 12, k=18)
    slabs = np.concatenate((volumes.lower, volumes.upper), axis=1)
    keys, tests = sweep_slabs(slabs, slab, device, sort=SORTS[sort])
    every = np.stack(np.triu_indices(200, 1), axis=1).astype(np.int32)
    np.testing.assert_array_equal(unpack_pairs(keys), every[volumes.overlap(every)])
    along = np.sort(volumes.lower[:, slab])
    meeting = sum(int(np.searchsorted(along, high, side="right")) for high in volumes.upper[:, slab]) - sum(
        range(1, 201)
    )
    assert tests == meeting if sort != "decimal" else tests >= meeting
