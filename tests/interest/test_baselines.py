"""The methods that areas are compared with, as the thesis describes them, in its own arena."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interest_oracles import arena, rows, sphere_pairs

import choque
from choque.bounds import Boxes, Spheres
from choque.broad import create

GRIDS = ((1, 2, 1), (2, 2, 1), (2, 2, 2), (4, 4, 4))
WALLS = (np.full(3, -2.0), np.full(3, 2.0))


def grid(boxes: Boxes, cells: tuple[int, int, int]) -> Any:
    return choque.broad.create("grid-cells", boxes, cells=cells, arena=WALLS, test=False)


def raw_count(method: Any) -> int:
    """Candidates with those that a method meets again."""
    unique = len(method.pairs())
    return unique + int(method.counters.duplicates)


@pytest.mark.parametrize(("count", "pairs"), [(100, 4_950), (300, 44_850), (500, 124_750), (1000, 499_500)])
def test_brute_force_pairs_everyone(count: int, pairs: int) -> None:
    """F-004-10."""
    assert choque.broad.create("all", Boxes(*arena(count).frame(1))).count() == pairs


def test_the_first_step() -> None:
    """F-004-12, F-004-14, F-004-28: all coincide; sweeps and areas equal brute force, partitions exceed it."""
    boxes = Boxes(*arena(60).frame(0))
    everyone = 60 * 59 // 2
    assert len(create("interest", boxes).pairs()) == everyone
    for axes in (1, 2, 3):
        assert len(choque.broad.create("sap-axes", boxes, axes=axes).pairs()) == everyone
    eight = grid(boxes, (2, 2, 2))
    assert (len(eight.pairs()), raw_count(eight)) == (everyone, 8 * everyone)
    for depth in (2, 3, 5):
        tree = choque.broad.create("bsp", boxes, depth=depth, test=False, planes="random")
        assert (len(tree.pairs()), raw_count(tree)) == (everyone, 2 ** (depth - 1) * everyone)


def test_dense_uses_only_the_inner_cells() -> None:
    """F-004-13: raw counts of 2x2x2 and 4x4x4 are equal at each step."""
    motion = arena(80)
    for frame in range(1, 400, 23):
        boxes = Boxes(*motion.frame(frame))
        assert raw_count(grid(boxes, (2, 2, 2))) == raw_count(grid(boxes, (4, 4, 4)))


def test_fewer_axes_see_more() -> None:
    """F-004-17."""
    motion = arena(150, start="sparse")
    for frame in range(0, 100, 20):
        boxes = Boxes(*motion.frame(frame))
        one, two, three = (set(rows(choque.broad.create("sap-axes", boxes, axes=axes).pairs())) for axes in (1, 2, 3))
        assert three <= two <= one
        assert three == set(rows(create("interest", boxes).pairs()))


def test_a_kept_sweep_stays_sorted_and_exchanges_little() -> None:
    """F-004-16: the order is kept between steps and repaired by insertion; far fewer exchanges than from scratch."""
    motion = arena(200, start="sparse")
    kept = choque.broad.create("sap-axes", Boxes(*motion.frame(0)))
    for frame in range(1, 40):
        boxes = Boxes(*motion.frame(frame))
        before = kept.counters.exchanges
        kept.update(boxes)
        values = boxes.lower[kept.structure().order, kept.structure().axis]
        assert (np.diff(values) >= 0).all()
        assert kept.counters.exchanges - before < 0.02 * 200**2
        np.testing.assert_array_equal(kept.pairs(), choque.broad.create("brute", boxes).pairs())


def test_aligned_objects_are_a_stress_for_a_kept_sweep() -> None:
    """F-004-18: objects in a line that turns round exchange nearly all places, and the result is still exact."""
    exchanged = []
    for count in (60, 120):
        place = np.linspace(0.0, 30.0, count)
        line = np.stack((place, np.zeros(count), np.zeros(count)), axis=1)
        kept = choque.broad.create("sap-axes", Boxes(line - 0.4, line + 0.4))
        turned = line[::-1].copy()
        kept.update(Boxes(turned - 0.4, turned + 0.4))
        exchanged.append(kept.counters.exchanges)
        wanted = choque.broad.create("brute", Boxes(turned - 0.4, turned + 0.4)).pairs()
        np.testing.assert_array_equal(kept.pairs(), wanted)
        assert kept.counters.exchanges >= 0.95 * count * (count - 1) / 2
    assert exchanged[1] / exchanged[0] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("start", ["dense", "sparse"])
def test_the_narrow_phase_finds_the_same_after_every_method(start: str, thorough: bool) -> None:
    """F-004-15, F-004-26, F-004-27, F-004-43: no method misses a colliding pair."""
    motion = arena(90, start=start, seed=3)
    for frame in range(1, 500, 7 if thorough else 90):
        boxes, spheres = Boxes(*motion.frame(frame)), Spheres(*motion.spheres(frame))
        wanted = sphere_pairs(*motion.spheres(frame))
        methods: list[Any] = [
            create("interest", boxes, k=k, shape=shape) for k in (1, 2) for shape in ("box", "sphere")
        ]
        methods += [grid(boxes, cells) for cells in GRIDS]
        methods += [
            choque.broad.create("bsp", boxes, depth=4, test=False, planes=planes)
            for planes in ("random", "axis", "principal")
        ]
        methods += [choque.broad.create(name, boxes) for name in ("all", "octree", "kd-tree", "sap-incremental")]
        for method in methods:
            candidates = method.pairs()
            assert rows(candidates[spheres.overlap(candidates)]) == wanted
