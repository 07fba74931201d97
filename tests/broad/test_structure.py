"""What methods show of what they have built: parts that hold what they list, orders that are in order."""

from __future__ import annotations

import numpy as np
import pytest

from choque import broad
from choque.bounds import Boxes

PARTS = {
    "bvh": "blocks",
    "grid": "cells",
    "multi-sap": "cells",
    "octree": "leaves",
    "kd-tree": "leaves",
    "bsp": "leaves",
}
SWEEPS = ("sap-direct", "sap-incremental", "sap-obb", "sap-kinetic")


def some(count: int, dimension: int, seed: int = 4) -> Boxes:
    """Boxes of two classes of sizes."""
    random = np.random.default_rng(seed)
    lower = random.uniform(-10, 10, (count, dimension))
    size = np.where(np.arange(count)[:, None] % 7 == 0, 3.0, 0.3) * random.uniform(0.5, 1, (count, dimension))
    return Boxes(lower, lower + size)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("method", PARTS)
def test_every_part_meets_what_it_lists_and_every_body_is_listed(method: str, dimension: int) -> None:
    boxes = some(400, dimension)
    found = broad.create(method, boxes).structure()
    assert (found.method, found.kind) == (method, PARTS[method])
    assert found.lower.shape == found.upper.shape == (len(found), dimension)
    assert found.starts[0] == 0
    assert found.starts[-1] == len(found.members)
    assert (np.diff(found.starts) > 0).all()
    assert set(found.members.tolist()) == set(range(400))
    for part in range(len(found)):
        rows = found.listed(part)
        lower, upper = boxes.lower[rows], boxes.upper[rows]
        if method == "bvh" or method == "bsp":
            assert (found.lower[part] <= lower).all()
            assert (upper <= found.upper[part]).all()
        elif method == "grid":
            assert (found.lower[part] <= lower + 1e-6).all()
            assert (lower <= found.upper[part] + 1e-6).all()
        elif method != "multi-sap":  # whose outer cells have what lies outside
            assert (found.lower[part] <= upper).all()
            assert (lower <= found.upper[part]).all()


def test_levels_are_finest_first() -> None:
    found = broad.create("grid", some(400, 3)).structure()
    edges = [(found.upper - found.lower)[found.level == level].max() for level in range(int(found.level.max()) + 1)]
    assert len(edges) > 1
    assert edges == sorted(edges)
    blocks = broad.create("bvh", some(400, 3)).structure()
    assert np.bincount(blocks.level).tolist() == [25, 2]
    assert [len(blocks.listed(part)) for part in (0, 24, 25, 26)] == [16, 16, 256, 144]


@pytest.mark.parametrize("method", SWEEPS)
def test_orders_are_in_order(method: str) -> None:
    boxes = some(90, 3)
    found = broad.create(method, boxes).structure()
    assert found.axis is not None
    assert found.order is not None
    assert (np.diff(boxes.lower[found.order, found.axis]) >= 0).all()
    if found.ends is not None:
        values = np.concatenate((boxes.lower, boxes.upper))
        for axis in range(3):
            assert sorted(found.ends[axis].tolist()) == list(range(180))
            assert (np.diff(values[found.ends[axis], axis]) >= 0).all()


def test_who_works_through_another_shows_what_that_has_built() -> None:
    boxes = some(3_000, 3)
    auto = broad.create("auto", boxes)
    assert auto.structure().method == auto.index.choice.method  # type: ignore[attr-defined]
    assert broad.create("interest", boxes, k=2.0).structure().kind == "blocks"
    assert broad.create("interest", boxes).structure().method in broad.names()


@pytest.mark.parametrize("method", broad.names())
def test_ids_are_those_of_present_bodies_and_an_empty_set_has_no_structure(method: str) -> None:
    made = broad.create(method, some(40, 2))
    made.remove([0, 3, 39])
    found = made.structure()
    assert set(found.members.tolist()) <= set(made.ids.tolist())
    assert found.order is None or sorted(found.order.tolist()) == made.ids.tolist()
    made.remove(made.ids)
    nothing = made.structure()
    assert len(nothing.members) == 0
    assert len(nothing.lower) == len(nothing.level) == 0
