"""The sweep on a device gives the array of the processor: same pairs, same order, on every scene and kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque
from choque._core.pair_keys import unpack_pairs
from choque.bounds import Boxes, KDops, Spheres, directions
from choque.broad import create
from choque.errors import InvalidInput
from choque.gpu import sweep as device_sweep
from choque.gpu.session import Session
from choque.gpu.sweep import sweep_slabs
from choque.testing import broad_phase_checks, oracle, scenes

CHECKS = dict(broad_phase_checks())


def slabs_of(boxes: Any) -> np.ndarray:
    return np.concatenate((boxes.lower, boxes.upper), axis=1)


@pytest.mark.parametrize("scene", scenes.names())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairs_are_those_of_the_processor_on_every_scene(scene: str, dtype: Any, device: str) -> None:
    """F-002-23: device, processor and brute force; 2D and 3D, both topologies, boxes and 18-DOPs."""
    for dimension in (3,) if scene == "reference" else (2, 3):
        boxes = scenes.make(scene, dimension=dimension, dtype=dtype, count=80).boxes()
        for closed in (True, False):
            wanted = oracle.overlapping_pairs(boxes.lower, boxes.upper, closed=closed)
            np.testing.assert_array_equal(choque.pairs(boxes.lower, boxes.upper, closed=closed, device=device), wanted)
            np.testing.assert_array_equal(create("sap-kdop", boxes, closed=closed).pairs(), wanted)


def test_the_reference_scene_has_its_pairs(device: str) -> None:
    """The 10,000 boxes of the public generator: 11,811 pairs, the same array."""
    boxes = scenes.make("reference", dimension=3, dtype="float32", count=10_000).boxes()
    wanted = choque.pairs(boxes.lower, boxes.upper)
    assert len(wanted) == 11_811
    found = choque.pairs(boxes.lower, boxes.upper, device=device)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.int32


@pytest.mark.parametrize("kind", ["spheres", 6, 14, 18, 26])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_of_bounds_is_swept(kind: Any, closed: bool, dtype: Any, device: str) -> None:
    random = np.random.default_rng(0)
    points = (random.normal(size=(250, 5, 3)) * [0.2, 1, 0.2] + random.random((250, 1, 3)) * 8).astype(dtype)
    volumes = Spheres.fit(points) if kind == "spheres" else KDops.fit(points, k=kind)
    found = create("sap-kdop", volumes, closed=closed, device=device)
    np.testing.assert_array_equal(found.pairs(), create("sap-kdop", volumes, closed=closed).pairs())
    assert found.counters.tests > 0


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_the_method_on_a_device_passes_the_suite(check: str) -> None:
    """began, ended, add, remove, filters, copies: whatever the contract asks for."""
    CHECKS[check]("sap-kdop", options={"device": "warp-cpu"})


@pytest.mark.parametrize("slab", range(9))
def test_any_direction_finds_the_same(slab: int, device: str) -> None:
    random = np.random.default_rng(1)
    volumes = KDops.fit(random.normal(size=(200, 4, 3)) + random.random((200, 1, 3)) * 12, k=18)
    keys, tests = sweep_slabs(slabs_of(volumes), slab, device)
    every = np.stack(np.triu_indices(200, 1), axis=1).astype(np.int32)
    np.testing.assert_array_equal(unpack_pairs(keys), every[volumes.overlap(every)])
    along = np.sort(volumes.lower[:, slab])
    meeting = sum(int(np.searchsorted(along, high, side="right")) for high in volumes.upper[:, slab]) - sum(
        range(1, 201)
    )
    assert tests == meeting


@pytest.mark.parametrize("count", [2, 65, 66, 500])
def test_everything_overlaps_everything(count: int, device: str) -> None:
    """F-002-22: count, scan, fill; all n(n − 1)/2 pairs, equal minima, no pair twice (F-002-21)."""
    keys, tests = sweep_slabs(np.tile([0.0, 0, 0, 1, 1, 1], (count, 1)), 0, device)
    np.testing.assert_array_equal(unpack_pairs(keys), np.stack(np.triu_indices(count, 1), axis=1))
    assert tests == count * (count - 1) // 2


def test_boxes_apart_on_the_other_axis_are_no_pairs(device: str) -> None:
    """F-002-20: the sweep stops where nothing starts before the end."""
    lower = np.array([[0.0, 0], [10, 5], [20, 10], [30, 15], [40, 20]])
    keys, tests = sweep_slabs(np.concatenate((lower, lower + np.array([31, 2])), axis=1), 0, device)
    assert keys.size == 0
    assert tests == 9


def test_answers_that_are_too_long_come_in_parts(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    random = np.random.default_rng(3)
    lower = random.random((400, 3)) * 4
    boxes = Boxes(lower, lower + 1)
    whole, _ = sweep_slabs(slabs_of(boxes), 0, device)
    monkeypatch.setattr(device_sweep, "MAX_PAIRS_AT_ONCE", 100)
    parts, _ = sweep_slabs(slabs_of(boxes), 0, device)
    assert whole.size > 1000
    np.testing.assert_array_equal(parts, whole)


def test_more_candidates_than_a_device_counts_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_sweep, "MAX_SEGMENTS", 3)
    with pytest.raises(InvalidInput, match="Use the device 'cpu'"):
        sweep_slabs(np.tile([0.0, 0, 0, 1, 1, 1], (50, 1)), 0, "warp-cpu")


@pytest.mark.parametrize("count", [0, 1])
def test_no_body_and_one_body_have_no_pairs(count: int, device: str) -> None:
    assert sweep_slabs(np.zeros((count, 6)), 0, device)[0].size == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sweep_slabs(np.zeros((2, 3)), 0, "warp-cpu"), r"\(n, 2m\)"),
        (lambda: sweep_slabs(["a"], 0, "warp-cpu"), "element type"),
        (lambda: sweep_slabs(np.zeros((2, 6)), 3, "warp-cpu"), "slab is 3"),
        (lambda: sweep_slabs(np.zeros((2, 6)), 0.5, "warp-cpu"), "slab is 0.5"),
    ],
)
def test_invalid_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()


def test_one_long_interval_is_shared_by_many_items(device: str) -> None:
    """Balance: the work of an item is bounded by a segment, however long an interval is."""
    lower = np.linspace(0, 1000, 2000)[:, None] * np.ones(3)
    slabs = np.concatenate((lower, lower + 0.1), axis=1)
    slabs[7, 3:] = 2000
    session = Session(device)
    keys, tests = sweep_slabs(slabs, 0, session)
    assert tests == 1992
    assert keys.size == 1992
    assert session.traffic.launches["count_pairs"] == 1


def test_the_swept_direction_may_be_a_diagonal() -> None:
    line = np.linspace(0, 50, 300)[:, None] * [1, 1, 0]
    points = line[:, None] + np.random.default_rng(4).normal(0, 0.2, (300, 4, 3))
    volumes = KDops.fit(points, k=18)
    broad = create("sap-kdop", volumes, device="warp-cpu")
    assert broad.index.axis == tuple(directions(18)[3].tolist())
    np.testing.assert_array_equal(broad.pairs(), create("sap-kdop", volumes).pairs())
