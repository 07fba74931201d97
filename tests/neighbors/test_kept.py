"""`Neighbors`: exact after every update, and rebuilt only when it must be."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from neighbor_oracle import oracle, random_cell, rows

import choque
from choque.errors import InvalidInput

Interrupt = Callable[[Callable[[], object], int], tuple[int, bool]]


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("dimension", [2, 3])
def test_every_update_is_exact(full: bool, dimension: int) -> None:
    random = np.random.default_rng(dimension)
    cell = random_cell(random, dimension, 5.0, 0.3)
    positions = random.uniform(0, 1, (90, dimension)) @ cell
    kept = choque.Neighbors(1.0, skin=0.5, full=full)
    for _ in range(12):
        kept.update(positions, cell)
        found = rows(kept.find("ijS"))
        assert len(found) == len(kept) == len(set(found))
        assert set(found) == oracle(positions, 1.0, cell, full=full)
        positions = positions + random.normal(0, 0.03, positions.shape)
    assert 1 < kept.rebuild_count < 10


def test_offsets_and_quantities() -> None:
    positions = np.random.default_rng(1).uniform(0, 4, (60, 3))
    kept = choque.Neighbors(1.5, skin=0.3)
    assert kept.update(positions, 4.0, periodic=(True, False, True))
    i, j, shift, distance, vector = kept.find("ijSdD")
    np.testing.assert_array_equal(np.repeat(np.arange(60), np.diff(kept.offsets)), i)
    np.testing.assert_allclose(vector, positions[j] - positions[i] + shift * 4.0)
    np.testing.assert_allclose(distance, np.linalg.norm(vector, axis=1))
    assert "60 points" in repr(kept)


def test_a_list_is_rebuilt_when_something_moved_half_the_skin_or_the_cell_changed() -> None:
    positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    kept = choque.Neighbors(1.2, skin=0.4)
    assert kept.update(positions, 10.0)
    assert not kept.update(positions, 10.0)
    assert not kept.update(positions + [0.19, 0, 0], 10.0)
    assert kept.update(positions + [0.21, 0, 0], 10.0)
    assert not kept.update(positions + [0.25, 0, 0], 10.0)
    assert kept.update(positions, 10.1)
    assert kept.update(positions, 10.1, periodic=(True, True, False))
    assert kept.update(positions[:2], 10.1, periodic=(True, True, False))
    assert kept.update(positions[:2, :2])
    assert kept.rebuild_count == 6


def test_without_a_skin_every_move_rebuilds() -> None:
    kept = choque.Neighbors(1.0)
    assert [kept.update([[0.0, 0.0], [x, 0.0]]) for x in (0.5, 0.6, 2.0)] == [True, True, True]
    assert len(kept) == 0


def test_positions_that_are_changed_in_place_are_seen() -> None:
    positions = np.zeros((2, 3))
    kept = choque.Neighbors(1.0, skin=0.2)
    kept.update(positions)
    positions[1] = 5.0
    assert kept.update(positions)
    assert len(kept) == 0


def test_no_points() -> None:
    kept = choque.Neighbors(1.0, skin=0.2)
    with pytest.raises(InvalidInput, match="call update"):
        kept.find()
    kept.update(np.empty((0, 3)))
    kept.update(np.empty((0, 3)))
    assert len(kept.find()[0]) == 0


@pytest.mark.parametrize("skin", [-0.1, float("nan"), float("inf"), "wide"])
def test_a_bad_skin_is_refused(skin: object) -> None:
    with pytest.raises(InvalidInput, match="skin is"):
        choque.Neighbors(1.0, skin=skin)  # type: ignore[arg-type]


def test_an_exception_at_any_line_of_an_update_leaves_the_list_before_it_or_after_it(interrupt: Interrupt) -> None:
    """More points and fewer, so that offsets of one update with the points of another would leave their arrays."""
    few, many = (np.random.default_rng(1).uniform(0, 2, (count, 3)) for count in (20, 300))

    def answers(kept: choque.Neighbors) -> tuple[object, ...]:
        return kept.rebuild_count, len(kept), kept.positions.tolist(), *map(np.ndarray.tolist, kept.find("ij"))

    for first, second in ((few, many), (many, few)):
        whole = choque.Neighbors(1.0, skin=0.2)
        whole.update(first)
        before = answers(whole)
        whole.update(second)
        after = answers(whole)
        line, was_interrupted = 0, True
        while was_interrupted:
            kept = choque.Neighbors(1.0, skin=0.2)
            kept.update(first)
            _, was_interrupted = interrupt(partial(kept.update, second), line)
            assert answers(kept) in (before, after), f"line {line}"
            line += 5
        assert line > 50
        assert answers(kept) == after


def test_threads_that_share_a_list_see_whole_updates() -> None:
    """The points of an update stand in a row: each has its two neighbours, and the ends one."""
    kept = choque.Neighbors(1.5, skin=0.2)
    kept.update([[0.0, 0.0]])

    def use(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(40):
            count = int(random.integers(2, 3_000))
            kept.update(np.stack((np.arange(count), np.zeros(count)), axis=1))
            i, j = kept.find("ij")
            assert len(i) == 2 * i[-1]
            assert set(np.abs(i - j).tolist()) == {1}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))


def test_points_that_moved_too_far_for_a_number_have_moved() -> None:
    kept = choque.Neighbors(1.0, skin=0.5)
    assert [kept.update([[x, 0.0], [x, 0.5]]) for x in (1.7e308, -1.7e308, 0.0)] == [True, True, True]
    assert len(kept) == 2


def test_offsets_cannot_be_written_and_threads_are_checked_at_once() -> None:
    kept = choque.Neighbors(1.0)
    with pytest.raises(ValueError, match="read-only"):
        kept.offsets[0] = 5
    with pytest.raises(InvalidInput, match="threads is 0"):
        choque.Neighbors(1.0, threads=0)
