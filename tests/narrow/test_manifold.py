"""Contacts as arrays: manifolds of up to four points, and the views of their deepest ones."""

from __future__ import annotations

import numpy as np
from dynamics_oracles import contacts_of_points

from choque.narrow import Contacts
from choque.narrow.pair import MAX_POINTS, ContactArrays


def of_points(count: int) -> Contacts:
    random = np.random.default_rng(count)
    pairs = np.stack((np.arange(count), np.arange(count) + 1), axis=1).astype(np.int32)
    return contacts_of_points(
        pairs, random.normal(size=(count, 3)), random.normal(size=(count, 3)), random.random(count)
    )


def test_one_point_a_pair_takes_the_memory_of_one() -> None:
    found = of_points(5)
    assert found.points.shape == (5, 1, 3)
    assert found.separations.shape == found.features.shape == (5, 1)
    assert found.point_count.tolist() == [1] * 5
    assert not found.features.any()


def test_point_and_depth_are_those_of_the_first_point() -> None:
    found = of_points(4)
    assert np.shares_memory(found.point, found.points)
    assert found.point.flags.c_contiguous
    assert (found.depth == -found.separations[:, 0]).all()
    assert (found.depth > 0).all()


def test_manifolds_of_several_points() -> None:
    arrays = ContactArrays.empty(3, np.float32, MAX_POINTS)
    arrays.separations[:] = -np.arange(12, 0, -1, dtype=np.float32).reshape(3, 4)
    arrays.points[:] = np.arange(36).reshape(3, 4, 3)
    arrays.point_count[:] = [4, 2, 1]
    found = Contacts(*arrays)
    assert found.points.shape == (3, 4, 3)
    assert found.depth.tolist() == [12, 8, 4]
    assert found.point.tolist() == [[0, 1, 2], [12, 13, 14], [24, 25, 26]]


def test_rows_are_taken_from_every_array() -> None:
    found = of_points(6)
    some = found.take(np.array([4, 1]))
    assert some.pairs.tolist() == [[4, 5], [1, 2]]
    for name in ContactArrays._fields:
        assert (getattr(some, name) == getattr(found, name)[[4, 1]]).all()
    assert len(Contacts.none(np.float32)) == 0
    assert Contacts.none(np.float32).depth.dtype == np.float32
