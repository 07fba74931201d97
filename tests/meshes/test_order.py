"""The order of triangles in their tree: every range is divided across its longest side."""

import numpy as np
import pytest

from choque.meshes.surface import spatial_order


def scattered(count, seed):
    return np.random.default_rng(seed).normal(size=(count, 3))


CENTRES = {
    "empty": np.zeros((0, 3)),
    "one": np.zeros((1, 3)),
    "a block": scattered(16, 0),
    "a block and one": scattered(17, 1),
    "levels": scattered(4_200, 2),
    "equal": np.ones((500, 3)),
    "few places": np.round(scattered(900, 3)),
    "a line": np.outer(np.arange(700) % 353, [0, 0, 1.0]),
    "exponents": 10.0 ** np.linspace(-37, 30, 600)[:, None] * [1, -1, 1],
}


def check_divided(centres, first, last):
    """Compare the ends of both halves of a range along its longest side, and go on with the halves."""
    size = 16
    while size * 16 < last - first:
        size *= 16
    if last - first <= 16:
        return
    middle = first + -(-(last - first) // size) // 2 * size
    here = centres[first:last]
    axis = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
    assert centres[first:middle, axis].max() <= centres[middle:last, axis].min()
    check_divided(centres, first, middle)
    check_divided(centres, middle, last)


@pytest.mark.parametrize("name", CENTRES)
def test_ranges_are_divided_across_their_longest_side(name):
    records = np.tile(CENTRES[name].astype(np.float32), 2)
    order = spatial_order(records, 1)
    assert np.array_equal(np.sort(order), np.arange(len(records)))
    check_divided(2 * records[order][:, :3], 0, len(records))


def test_threads_change_nothing():
    records = np.tile(scattered(60_000, 4).astype(np.float32), 2)
    assert np.array_equal(spatial_order(records, 1), spatial_order(records, 3))
