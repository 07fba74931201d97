"""The three-axis sweep with the filter of oriented boxes: its pairs, what it counts, and that the filter can pay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres
from choque.broad import create
from choque.testing import scenes


def rods(count: int, seed: int, frame: int = 0, dtype: Any = np.float64) -> OrientedBoxes:
    """Rods of 1 by 1 by 8 in all directions, drifting and turning a little from frame to frame."""
    random = np.random.default_rng(seed)
    side = (count * 30.0) ** (1 / 3)
    center = random.random((count, 3)) * side + frame * random.normal(0, 0.1, (count, 3))
    spin = np.eye(3) + frame * random.normal(0, 0.02, (count, 3, 3))
    axes = np.linalg.qr(np.linalg.qr(random.normal(size=(count, 3, 3)))[0] @ spin)[0]
    half = np.tile([0.5, 0.5, 4.0], (count, 1))
    return OrientedBoxes(center.astype(dtype), half.astype(dtype), np.ascontiguousarray(axes, dtype))


def oracle(volumes: Any, closed: bool = True) -> set[tuple[int, int]]:
    """Return the pairs by separating axes, computed here; the bounds themselves decide what is nearly a touch."""
    pairs = np.stack(np.triu_indices(len(volumes), 1), axis=1).astype(np.int32)
    meets = volumes.overlap(pairs, closed=closed)
    if isinstance(volumes, OrientedBoxes):
        gap = gaps(volumes, pairs)
        clear = np.abs(gap) > 1e-4
        assert np.array_equal(meets[clear], gap[clear] < 0)
    return as_set(pairs[meets])


def gaps(volumes: OrientedBoxes, pairs: Any) -> Any:
    """Return (m,) the widest gap of each pair along the axes and the crossed axes of both; negative if they overlap."""
    center, half, axes = (np.asarray(each, np.float64) for each in (volumes.center, volumes.half, volumes.axes))
    one, two = pairs.T
    crossed = np.cross(axes[one][:, :, None], axes[two][:, None]).reshape(len(pairs), 9, 3)
    along = np.concatenate((axes[one], axes[two], crossed), axis=1)
    length = np.linalg.norm(along, axis=2)
    along /= np.maximum(length, 1e-6)[:, :, None]
    reach = np.zeros(length.shape)
    for row in (one, two):
        reach += (np.abs(np.einsum("mad,mbd->mab", along, axes[row])) * half[row][:, None]).sum(axis=2)
    gap = np.abs(np.einsum("mad,md->ma", along, center[two] - center[one])) - reach
    return np.where(length > 1e-6, gap, -np.inf).max(axis=1)  # parallel edges give no direction


def as_set(pairs: Any) -> set[tuple[int, int]]:
    return {*map(tuple, pairs.tolist())}


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_follows_the_oracle_of_oriented_boxes_frame_after_frame(closed: bool, dtype: Any) -> None:
    """F-001: given tighter bounds, the pairs are those of the bounds, and began and ended add up."""
    broad = create("sap-obb", rods(120, 1, 0, dtype), closed=closed)
    known: set[tuple[int, int]] = set()
    for frame in range(8):
        if frame:
            broad.update(rods(120, 1, frame, dtype))
        wanted = oracle(rods(120, 1, frame, dtype), closed)
        if frame % 3 != 2:  # sometimes the change is not read
            began, ended = as_set(broad.began), as_set(broad.ended)
            assert began == wanted - known
            assert ended == known - wanted
        assert as_set(broad.pairs()) == wanted
        known = wanted


@given(st.integers(0, 1000), st.lists(st.sampled_from(["update", "move", "add", "remove"]), max_size=6))
@example(0, ["remove"] * 5)  # all bodies removed
def test_any_script_keeps_the_oracle(seed: int, changes: list[str]) -> None:
    random = np.random.default_rng(seed)
    volumes = rods(25, seed)
    broad = create("sap-obb", volumes)
    for number, change in enumerate(changes, start=1):
        some = np.sort(random.permutation(len(volumes))[:5])
        fresh = rods(25, seed + number)
        if change == "update":
            volumes = fresh.take(np.arange(len(volumes)) % 25)
            broad.update(volumes)
        elif change == "move":
            volumes = volumes.put(some, fresh.take(some % 25))
            broad.move(broad.ids[some], fresh.take(some % 25))
        elif change == "add":
            volumes = volumes.join(fresh.take([0, 1, 2]))
            broad.add(fresh.take([0, 1, 2]))
        else:
            volumes = volumes.take(np.setdiff1d(np.arange(len(volumes)), some))
            broad.remove(broad.ids[some])
    wanted = {(int(broad.ids[i]), int(broad.ids[j])) for i, j in oracle(volumes)}
    assert as_set(broad.pairs()) == wanted


def test_groups_and_static_flags_hold_for_tighter_bounds() -> None:
    static = np.arange(90) % 2 == 0
    broad = create("sap-obb", rods(90, 3), static=static)
    wanted = {(i, j) for i, j in oracle(rods(90, 3)) if not (static[i] and static[j])}
    assert as_set(broad.pairs()) == wanted
    broad.update(rods(90, 3, 4))
    wanted = {(i, j) for i, j in oracle(rods(90, 3, 4)) if not (static[i] and static[j])}
    assert as_set(broad.pairs()) == wanted


@pytest.mark.parametrize("kind", [Boxes, Spheres, KDops])
def test_other_bounds_count_as_the_boxes_around_them(kind: Any) -> None:
    points = np.random.default_rng(4).random((80, 4, 3)) * [0.4, 0.4, 2.0] + np.random.default_rng(5).random((80, 1, 3))
    volumes = kind.fit(points)
    broad = create("sap-obb", volumes)
    assert as_set(broad.pairs()) == oracle(volumes.boxes())
    assert broad.counters.filtered == 0


def test_a_change_of_kind_is_followed() -> None:
    """Between oriented boxes and the boxes around them the sweep changes nothing, and the pairs do."""
    volumes = rods(120, 6)
    broad = create("sap-obb", volumes)
    for state in (volumes.boxes(), volumes, volumes.boxes()):
        before = as_set(broad.pairs())
        broad.update(state)
        assert as_set(broad.began) == oracle(state) - before
        assert as_set(broad.ended) == before - oracle(state)


def test_only_what_the_sweep_leaves_is_filtered() -> None:
    """The b of the cost model C + bB + oO: each pair of boxes is tested once a frame, and far fewer are left."""
    broad = create("sap-obb", rods(300, 7))
    boxes = create("sap-incremental", rods(300, 7))
    assert broad.counters.filtered == 0
    left = len(broad.pairs())
    assert broad.counters.filtered == len(boxes.pairs())
    assert broad.counters.filter_seconds > 0
    assert 3 * left < broad.counters.filtered
    broad.pairs()
    assert broad.counters.filtered == len(boxes.pairs())
    boxes.update(rods(300, 7, 1))
    broad.update(rods(300, 7, 1))
    broad.pairs()
    assert broad.counters.exchanges == boxes.counters.exchanges
    broad.counters.reset()
    assert broad.counters.filtered == 0
    assert broad.counters.filter_seconds == 0.0


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads: int) -> None:
    broad = create("sap-obb", rods(4200, 8), threads=threads)
    single = create("sap-obb", rods(4200, 8), threads=1)
    for frame in (1, 2):
        broad.update(rods(4200, 8, frame))
        single.update(rods(4200, 8, frame))
        np.testing.assert_array_equal(broad.pairs(), single.pairs())


def test_boxes_are_swept_as_they_are() -> None:
    boxes = scenes.make("touching", dimension=3, dtype="float64", count=200, seed=9).boxes()
    assert as_set(create("sap-obb", boxes).pairs()) == oracle(boxes)
