"""Tiles of a few boxes against comparisons of each box with each tile."""

from __future__ import annotations

import numpy as np
import pytest

import choque
from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque.scale import tiling
from choque.scale.tiling import LARGE, SEVERAL, Scattered, count_tiles, cut, first_wrong, keep_own, keep_touching


@pytest.mark.parametrize("dimension", [2, 3])
def test_every_box_goes_to_the_tiles_it_touches_and_every_pair_to_one(dimension: int) -> None:
    lower = np.random.default_rng(dimension).uniform(0, 9, (60, dimension)).round()  # some on cuts
    size = np.where(np.arange(60) % 20 == 0, 9.0, 1.0)[:, None]
    boxes = np.hstack((lower, lower + size))
    assert first_wrong(boxes) == -1
    assert first_wrong(np.vstack((boxes, boxes[:1] + np.nan))) == 60
    tiles = cut(boxes, 1.0, 6, dimension)
    regions = tiles.regions()
    below, above = regions[:, None, 0, :dimension], regions[:, None, 1, :dimension]
    touches = ~((boxes[:, :dimension] >= above) | (boxes[:, dimension:] < below)).any(axis=2)
    often = touches.sum(axis=0)
    assert often.min() == 1 < tiling.MANY < often.max()
    homes, counts = np.empty(60, np.int64), np.zeros(len(regions) + 1, np.int64)
    count_tiles(boxes, tiles, homes, counts)
    assert counts.tolist() == [*touches[:, often <= tiling.MANY].sum(axis=1), (often > tiling.MANY).sum()]
    only = np.where(often == 1, touches.argmax(axis=0), np.where(often > tiling.MANY, LARGE, SEVERAL))
    assert homes.tolist() == only.tolist()
    ends = np.cumsum(counts)
    out = Scattered(np.empty((ends[-1], 2 * dimension)), np.empty(ends[-1], np.int64))
    tiling.place_boxes(boxes, np.arange(60), tiles, homes, ends - counts, out)
    assert np.array_equal(out.boxes, boxes[out.ids])
    pairs = choque.pairs(lower, lower + size)
    belonging = []
    for tile, region in enumerate(regions):
        assert out.ids[ends[tile] - counts[tile] : ends[tile]].tolist() == [
            row for row in np.flatnonzero(touches[tile]) if often[row] <= tiling.MANY
        ]
        kept, ids = boxes.copy(), np.arange(60)
        count = keep_touching(kept, ids, region)
        assert ids[:count].tolist() == np.flatnonzero(touches[tile]).tolist()
        assert np.array_equal(kept[:count], boxes[ids[:count]])
        keys = pack_pairs(pairs)
        belonging += unpack_pairs(keys[: keep_own(keys, lower, lower, region)]).tolist()
    assert sorted(belonging) == pairs.tolist()
