"""The broad phases of the Fingsics engine: the sweep against plain Python, oriented boxes, saving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque import broad
from choque.bounds import OrientedBoxes
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, SPHERE, TILE
from choque.theses import fingsics
from choque.theses.fingsics.boxes import body_boxes, oriented_boxes_meet
from choque.theses.fingsics.indices import FingsicsBruteObb, FingsicsSap, FingsicsSapObb, FingsicsSweep
from choque.theses.fingsics.totals import cost_of
from choque.world import World
from choque.world.bounds import BodyBoxes


class PlainSweep:
    """The sweep as its specification reads: lists of [value, is upper, body], exchanged one by one."""

    def __init__(self, lower: Any, upper: Any, static: Any) -> None:
        self.static = static
        self.lists = [
            sorted(
                (
                    [side[body, axis], end, body]
                    for body in range(len(lower))
                    for end, side in enumerate((lower, upper))
                ),
                key=lambda point: point[0],
            )
            for axis in range(3)
        ]
        count = len(lower)
        self.pairs = {
            (i, j)
            for i in range(count)
            for j in range(i + 1, count)
            if not (static[i] and static[j]) and self.overlap(i, j, (0, 1, 2))
        }

    def place(self, axis: int, body: int, end: int) -> int:
        return next(k for k, point in enumerate(self.lists[axis]) if point[1:] == [end, body])

    def overlap(self, i: int, j: int, axes: Any) -> bool:
        return all(
            self.place(k, i, 0) < self.place(k, j, 1) and self.place(k, j, 0) < self.place(k, i, 1) for k in axes
        )

    def exchange(self, axis: int, k: int) -> None:
        """Exchange the points at k and k + 1, which ``axis`` has in the wrong order."""
        points = self.lists[axis]
        upper, lower = points[k], points[k + 1]
        pair = (min(lower[2], upper[2]), max(lower[2], upper[2]))
        if lower[1] == 1 and upper[1] == 0:
            self.pairs.discard(pair)
        elif (
            lower[1] == 0
            and upper[1] == 1
            and pair[0] != pair[1]
            and not (self.static[pair[0]] and self.static[pair[1]])
            and self.overlap(*pair, [other for other in range(3) if other != axis])
        ):
            self.pairs.add(pair)
        points[k], points[k + 1] = lower, upper

    def update(self, lower: Any, upper: Any) -> None:
        for body in range(len(lower)):
            for axis in range(3):
                for end, side in enumerate((lower, upper)):
                    k = self.place(axis, body, end)
                    points = self.lists[axis]
                    points[k][0] = side[body, axis]
                    while k > 0 and points[k][0] < points[k - 1][0]:
                        self.exchange(axis, k - 1)
                        k -= 1
                    while k + 1 < len(points) and points[k][0] > points[k + 1][0]:
                        self.exchange(axis, k)
                        k += 1


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_sweep_equals_its_description(seed: int, jumps: bool) -> None:
    """Whole numbers, so that ends often coincide: ties, stale pairs and all. F-001-13: lists sorted, places valid."""
    random = np.random.default_rng(seed)
    count = 9
    lower = random.integers(0, 12, (count, 3)).astype(np.float32)
    extent = random.integers(0, 4, (count, 3)).astype(np.float32)
    static = random.random(count) < 0.3
    sweep = FingsicsSweep.of(lower, lower + extent, static)
    plain = PlainSweep(lower, lower + extent, static)
    for _ in range(12):
        assert sweep.pairs().tolist() == [list(pair) for pair in sorted(plain.pairs)]
        lower = lower + random.integers(-8 if jumps else -1, 9 if jumps else 2, (count, 3)).astype(np.float32)
        sweep.update(lower, lower + extent, static)
        plain.update(lower, lower + extent)
        assert (np.diff(sweep.values, axis=1) >= 0).all()
        np.testing.assert_array_equal(np.take_along_axis(sweep.places, sweep.points, 1), np.tile(np.arange(18), (3, 1)))


def test_sweep_follows_small_motions_exactly() -> None:
    """F-001-12: without ties and jumps, the pairs are those of the boxes, in every one of 600 frames."""
    random = np.random.default_rng(1)
    count = 40
    center, velocity = random.uniform(0, 10, (count, 3)), random.uniform(-0.1, 0.1, (count, 3))
    static = np.zeros(count, np.bool_)
    lower, upper = (center - 0.7).astype(np.float32), (center + 0.7).astype(np.float32)
    sweep = FingsicsSweep.of(lower, upper, static)
    for _ in range(600):
        velocity = np.where((center < 0) | (center > 10), -np.sign(center - 5) * np.abs(velocity), velocity)
        center = center + velocity
        lower, upper = (center - 0.7).astype(np.float32), (center + 0.7).astype(np.float32)
        sweep.update(lower, upper, static)
        meet = ((lower[:, None] <= upper[None]) & (lower[None] <= upper[:, None])).all(axis=2)
        np.testing.assert_array_equal(sweep.pairs(), np.argwhere(np.triu(meet, 1)))


def test_sweep_of_a_long_log() -> None:
    """Everything passes everything: more entries than a log holds at once."""
    count = 300
    lower = np.tile(np.arange(count, dtype=np.float32)[:, None], (1, 3))
    static = np.zeros(count, np.bool_)
    sweep = FingsicsSweep.of(lower, lower + 0.5, static)
    assert len(sweep.pairs()) == 0
    assert sweep.update(np.zeros_like(lower), np.ones_like(lower), static) > 0
    sweep.update(lower[::-1].copy(), lower[::-1] + np.float32(0.5), static)
    assert len(sweep.pairs()) <= count * (count - 1) // 2


def test_sweep_refuses_a_state_of_others() -> None:
    lower = np.arange(9, dtype=np.float32).reshape(3, 3)
    sweep = FingsicsSweep.of(lower, lower + 1, np.zeros(3, np.bool_))
    good = sweep.state()
    sweep.restore(good)
    for name, wrong in (
        ("points", good["points"][:, ::-1]),
        ("points", good["points"] + 1),
        ("places", good["places"][:, :-1]),
        ("values", good["values"][:, ::-1]),
        ("keys", np.array([7 << 32 | 9], np.uint64)),
    ):
        with pytest.raises(InvalidInput, match="not one of these bodies"):
            sweep.restore({**good, name: wrong})
    with pytest.raises(InvalidInput, match="incomplete"):
        sweep.restore({})


def test_oriented_boxes_agree_with_the_exact_test_but_for_rounding() -> None:
    """F-001-11."""
    random = np.random.default_rng(3)
    count = 400
    axes, _ = np.linalg.qr(random.normal(size=(count, 3, 3)))
    center, half = random.uniform(-2, 2, (count, 3)), random.uniform(0.05, 1, (count, 3))
    arrays = [array.astype(np.float32) for array in (center, half, axes)]
    pairs = np.argwhere(np.triu(np.ones((count, count), np.bool_), 1))[::61].astype(np.int32)
    room = np.empty((3, 3), np.float32)
    found = np.array([oriented_boxes_meet(*arrays, i, j, room) for i, j in pairs])
    smaller, larger = (
        OrientedBoxes(center, half * factor, axes.transpose(0, 1, 2)).overlap(pairs) for factor in (0.999, 1.001)
    )
    assert 0.1 < found.mean() < 0.9
    assert not (smaller & ~found).any()
    assert not (found & ~larger).any()


def scene_of_each(**options: Any) -> World:
    """Balls and rods that fall on a tilted floor and one another."""
    random = np.random.default_rng(7)
    world = fingsics.world(**options)
    world.add_tiles([[0, 0, 0]], 12, 8, rotation=[[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    place = np.argwhere(np.ones((3, 3, 3), np.bool_)) * 1.7 + [-2, 3, -1]
    world.add_spheres(place[::2], random.uniform(0.4, 0.8, 14), acceleration=[0, -9.8, 0], restitution=0.4)
    world.add_capsules(place[1::2], 0.4, 0.8, acceleration=[0, -9.8, 0], velocity=random.uniform(-2, 2, (13, 3)))
    return world


def test_bounds_are_those_of_the_original() -> None:
    world = scene_of_each()
    bounds = body_boxes(world.bodies, 1)
    assert isinstance(bounds, BodyBoxes)
    assert bounds.lower.dtype == np.float32
    tile = int(np.flatnonzero(world.bodies.kind == TILE)[0])
    np.testing.assert_array_equal(bounds.half[tile], np.array([12, 1e-4, 8], np.float32))
    np.testing.assert_allclose(bounds.lower[tile], [-6, -0.6 * 4, -0.8 * 4], rtol=1e-6)
    for kind in (SPHERE, CAPSULE):
        rows = np.flatnonzero(world.bodies.kind == kind)
        reach = bounds.upper[rows, 0] - world.bodies.position[rows, 0]
        np.testing.assert_allclose(reach, world.bodies.size[rows, 0], rtol=1e-5)


@pytest.mark.parametrize("method", [FingsicsBruteObb, FingsicsSap, FingsicsSapObb])
def test_a_method_of_the_engine_is_the_exact_one_for_other_bounds(method: type[FingsicsSap]) -> None:
    bounds = body_boxes(scene_of_each().bodies, 1)
    assert broad.create(method.name, bounds).index.name == method.name
    boxes = bounds.boxes()
    exact, other = broad.create(method.departs_from, boxes), broad.create(method, boxes)
    moved = type(boxes)(boxes.lower + np.float32(0.5), boxes.upper + np.float32(0.75))
    for _ in range(2):
        np.testing.assert_array_equal(other.pairs(), exact.pairs())
        for each in (exact, other):
            each.update(moved)
    with pytest.raises(InvalidInput, match="no option of"):
        broad.create(method, bounds, cells=3)


def test_a_world_of_the_engine_uses_its_methods() -> None:
    for method, kind in (
        ("sap-incremental", FingsicsSap),
        ("sap-obb", FingsicsSapObb),
        ("brute-obb", FingsicsBruteObb),
    ):
        world = scene_of_each(broad=method)
        world.step(0.01)
        assert type(world.detection.broad_phase.index) is kind


def test_methods_agree_on_collisions() -> None:
    """F-001-14: sap-obb is what both sap and the oriented boxes leave; collisions are those of all pairs."""
    methods = ("all", "brute", "sap-incremental", "brute-obb", "sap-obb", "grid")
    worlds = [scene_of_each(broad=method) for method in methods]
    touched = 0
    for _ in range(90):
        reports = [world.step() for world in worlds]
        assert len({report.contacts for report in reports}) == 1
        touched += reports[0].contacts
        pairs = {method: set(map(tuple, world.pairs().tolist())) for method, world in zip(methods, worlds, strict=True)}
        assert pairs["sap-obb"] <= pairs["sap-incremental"] <= pairs["brute"] <= pairs["all"]
        assert pairs["sap-obb"] <= pairs["sap-incremental"] & pairs["brute-obb"]
        assert pairs["grid"] == pairs["brute"]
    assert len({world.hash() for world in worlds}) == 1
    assert touched > 100


@pytest.mark.parametrize("method", ["sap-incremental", "sap-obb", "brute-obb"])
def test_saved_copied_and_threaded_worlds_go_on_alike(method: str, tmp_path: Path) -> None:
    world = scene_of_each(broad=method)
    for _ in range(45):
        world.step()
    world.write(tmp_path / "world.npz")
    others = [World.read(tmp_path / "world.npz"), world.copy(), World.read(tmp_path / "world.npz", threads=2)]
    for _ in range(30):
        report = world.step()
        for other in others:
            again = other.step()
            assert (again.pairs, again.contacts, again.impulses) == (report.pairs, report.contacts, report.impulses)
            assert other.hash() == world.hash()


def test_counts_of_the_filter_are_reported() -> None:
    """F-001-15: b of SAP+OBB is o of SAP."""
    plain, filtered = scene_of_each(broad="sap-incremental"), scene_of_each(broad="sap-obb")
    for _ in range(30):
        before, after = plain.step(), filtered.step()
        assert cost_of(after).bounding_tests == before.pairs
        assert cost_of(after).exact_tests == after.pairs


def test_other_kinds_are_refused() -> None:
    world = fingsics.world()
    world.add_ground()
    with pytest.raises(InvalidInput, match="is a plane; the Fingsics engine has spheres, capsules and tiles"):
        world.step()


def test_a_lost_body_is_named() -> None:
    world = scene_of_each()
    world.bodies.position[3, 1] = np.nan
    with pytest.raises(InvalidInput, match="The body 3 is at"):
        world.step()
