"""Worlds whose bodies stay on a device: F-002-24 for `choque.World`, and pairs that are those of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque.broad.sap_kdop import SapKdop
from choque.errors import InvalidInput
from choque.gpu.devices import resolve
from choque.gpu.sweep import DeviceBodies
from choque.narrow.extents import slack_of
from choque.world import World
from choque.world.bounds import find_bounds
from choque.world.resident import ResidentSweep, solids_of

FORM_BYTES = 4 + 3 * 8
"""Bytes that describe the shape of a body."""


def rotations(random: np.random.Generator, count: int) -> np.ndarray:
    turned, _ = np.linalg.qr(random.normal(size=(count, 3, 3)))
    turned[np.linalg.det(turned) < 0] *= -1
    return np.ascontiguousarray(turned)


def mixture(count: int = 12, seed: int = 0, ground: bool = True, **options: Any) -> World:
    """Bodies of every kind, ``count`` of each that moves, close enough to meet."""
    random = np.random.default_rng(seed)
    world = World("sap-kdop", **{"response": "impulse", **options})

    def pose() -> dict[str, Any]:
        return {"rotation": rotations(random, count), "velocity": random.normal(size=(count, 3))}

    world.add_spheres(random.normal(0, 2, (count, 3)), random.uniform(0.2, 0.6, count))
    world.add_capsules(random.normal(0, 2, (count, 3)), 0.3, 1.1, **pose())
    world.add_boxes(random.normal(0, 2, (count, 3)), random.uniform(0.3, 1.5, (count, 3)), **pose())
    world.add_hulls(random.normal(size=(14, 3)), random.normal(0, 2, (count, 3)), [0.5, 0.3, 0.4], **pose())
    if ground:
        world.add_ground(-2.5)
        world.add_tiles(random.normal(0, 2, (3, 3)), 2.0, 3.0, rotation=rotations(random, 3))
    return world


def sweep_of(world: World) -> ResidentSweep:
    broad = world.detection.broad_phase
    assert broad is not None
    assert isinstance(broad.index, ResidentSweep)
    return broad.index


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_slabs_are_those_of_the_processor_bit_for_bit(dtype: str, device: str) -> None:
    """Of every kind of body and for every k, those far from the origin and a ground of any slope among them."""
    world = mixture(dtype=dtype)
    bodies = world.bodies
    bodies.position[::7] *= 1e4
    ground = int(np.flatnonzero(bodies.inverse_mass == 0)[0])
    for upright in (np.eye(3), rotations(np.random.default_rng(1), 1)[0]):
        bodies.rotation[ground] = upright
        for k in (6, 14, 18, 26):
            on_device = DeviceBodies(resolve(device), k, slack_of(bodies.dtype))
            on_device.send_hulls(bodies.hulls.points, bodies.hulls.first)
            on_device.send_solids(solids_of(bodies))
            expected: Any = find_bounds(f"{k}-dop", "sap-kdop")(bodies, 1)
            slabs = on_device.slabs(bodies.position, bodies.rotation).numpy()
            assert slabs.dtype == dtype
            np.testing.assert_array_equal(slabs, np.concatenate((expected.lower, expected.upper), axis=1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_world_on_a_device_goes_the_same_way(dtype: str, device: str) -> None:
    """Over frames in which bodies move, come and go: the same pairs in the same order, so the same world."""
    ours, theirs = mixture(dtype=dtype, device=device), mixture(dtype=dtype)
    met = 0
    for frame in range(8):
        for world in (ours, theirs):
            if frame == 3:
                world.add_hulls(np.eye(4)[:, :3], [[0, 0, 0], [1, 1, 1]], 1.5)
            if frame == 5:
                world.remove(world.bodies.ids[[1, 4, 20]])
            world.step(1 / 30)
        np.testing.assert_array_equal(ours.pairs(), theirs.pairs())
        assert ours.hash() == theirs.hash()
        met += len(ours.pairs())
    assert met > 100
    assert sweep_of(ours).device == resolve(device).name
    assert sweep_of(ours).counters.tests > len(ours.pairs())


@pytest.mark.parametrize(("dtype", "pose_bytes"), [("float64", 96), ("float32", 48)])
def test_only_poses_go_up_and_only_pairs_come_down(dtype: str, pose_bytes: int, device: str) -> None:
    """F-002-24: what bodies are goes up when they come or go, their hulls when there are new ones."""
    world = mixture(ground=False, dtype=dtype, device=device)
    world.step()
    traffic = sweep_of(world).traffic
    for _ in range(3):
        traffic.reset()
        world.step()
        assert traffic.up == pose_bytes * len(world)
        assert traffic.down == 8 * len(world.pairs()) + 3 * 8
        assert traffic.launches["bound_bodies"] == 1
    world.remove(world.bodies.ids[:2])
    traffic.reset()
    world.step()
    assert traffic.up == (pose_bytes + FORM_BYTES) * len(world)
    world.add_hulls(np.eye(4)[:, :3], [0, 0, 0])
    traffic.reset()
    world.step()
    hulls = world.bodies.hulls
    assert traffic.up == (pose_bytes + FORM_BYTES) * len(world) + hulls.points.nbytes + 4 * len(hulls.first)


def test_a_size_that_is_written_to_is_followed(device: str) -> None:
    ours, theirs = mixture(device=device), mixture()
    for world in (ours, theirs):
        world.step()
        world.bodies.size[:10] *= 2.0
        world.step()
    np.testing.assert_array_equal(ours.pairs(), theirs.pairs())


def test_a_copy_goes_on_by_itself(device: str) -> None:
    world = mixture(device=device)
    world.step()
    other = world.copy()
    for each in (other, world):
        each.step()
    np.testing.assert_array_equal(world.pairs(), other.pairs())
    assert sweep_of(world) is not sweep_of(other)


def test_what_a_device_does_not_know_is_left_to_the_sweep_that_is_sent_slabs(device: str) -> None:
    """Half-open bounds, masks, and bounds that are no k-DOPs."""
    for options in ({"closed": False}, {"masks": 3}, {"bounds": "sphere"}):
        ours, theirs = mixture(device=device, **options), mixture(**options)
        for world in (ours, theirs):
            world.step()
        assert isinstance(ours.detection.broad_phase.index, SapKdop)
        np.testing.assert_array_equal(ours.pairs(), theirs.pairs())


def test_a_body_that_left_the_floats_is_named(device: str) -> None:
    world = mixture(device=device)
    world.bodies.position[3, 1] = np.inf
    with pytest.raises(InvalidInput, match="The body 3 is at"):
        world.step()


def test_a_response_with_a_skin_sends_wider_bounds(device: str) -> None:
    here, there = (mixture(4, response="soft-step", **options) for options in ({}, {"device": device}))
    for _ in range(3):
        here.step()
        there.step()
    assert not isinstance(there.detection.broad_phase.index, ResidentSweep)  # type: ignore[union-attr]
    assert there.hash() == here.hash()


def test_no_bodies(device: str) -> None:
    world = World("sap-kdop", device=device)
    assert world.step().pairs == 0
    assert world.detection.broad_phase is None
