"""The order of candidates in the solver against a plain one, for any number of parts and threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from choque._core import threads
from choque.dynamics.soft_step import kept


class Candidates(NamedTuple):
    """Pairs of bodies of the world; what each body is, its row in the solver, and the part of each such row."""

    pairs: np.ndarray
    ids: np.ndarray
    role: np.ndarray
    place: np.ndarray
    owner: np.ndarray
    cuts: np.ndarray


def _candidates(seed: int, parts: int, bodies: int = 200, count: int = 3_000) -> Candidates:
    """Bodies of which an eighth is static, and random pairs of which at most one is."""
    random = np.random.default_rng([seed, parts])
    moving = bodies - bodies // 8
    cuts = moving * np.arange(parts + 1) // parts
    owner = np.full(bodies, -1, np.int32)
    owner[:moving] = np.repeat(np.arange(parts), np.diff(cuts))
    place = random.permutation(bodies).astype(np.int32)
    static = owner[place] < 0
    role = random.choice([kept.OTHER, kept.BALL], bodies)
    role[static] = random.choice([kept.OTHER, kept.STATIC_BALL, kept.WALL], static.sum())
    pairs = np.unique(np.sort(random.integers(0, bodies, (count, 2)), axis=1), axis=0)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~static[pairs].all(axis=1)]
    ids = np.sort(random.choice(10**6, bodies, replace=False))
    return Candidates(pairs.astype(np.int32), ids.astype(np.uint32), role.astype(np.uint8), place, owner, cuts)


def _plainly(given: Candidates) -> list[tuple[int, int, int, int, tuple[int, int]]]:
    """Sort, node, colour, number and solver rows of each pair, in the order of the solver."""
    parts = len(given.cuts) - 1
    found = []
    for number, (one, other) in enumerate(given.pairs.tolist()):
        roles, rows = given.role[[one, other]], given.place[[one, other]]
        other_role = {int(roles[0]): roles[1], int(roles[1]): roles[0]}.get(kept.BALL)
        sort = 0 if other_role is not None and other_role != kept.OTHER else 1
        owners = [int(part) for part in given.owner[rows] if part >= 0]
        height = 0
        while len({part >> height for part in owners}) > 1:
            height += 1
        node = 2 * parts - (2 * parts >> height) + (owners[0] >> height)
        first, second = rows.tolist() if sort == 1 or roles[0] == kept.BALL else rows.tolist()[::-1]
        found.append((sort, node, number, height > 0, (first, second)))
    has: dict[tuple[int, int, bool], set[int]] = {}
    colored = []
    for sort, node, number, joins, rows in sorted(found):
        bodies = [has.setdefault((row, sort, joins), set()) for row in rows if given.owner[row] >= 0]
        taken = set().union(*bodies)
        color = next((color for color in range(kept.COLORS) if color not in taken), kept.COLORS - 1)
        for body in bodies:
            body.add(color)
        colored.append((sort, node, color, number, rows))
    return sorted(colored)


@pytest.mark.parametrize("parts", [1, 2, 8, 64])
def test_candidates_are_arranged_by_part_color_and_key_for_any_number_of_threads(parts: int) -> None:
    given = _candidates(0, parts)
    wanted = _plainly(given)
    split = sum(sort == 0 for sort, *_ in wanted)
    known = kept.known_bodies(given.role, given.place, given.owner)
    ids = given.ids[given.pairs[[number for *_, number, _ in wanted]]].astype(np.uint64)
    for thread_count in (1, 2, 3, 8):
        with threads.parallel_at_any_size():
            starts, (keys, by_key, rows) = kept.arrange(given.pairs, given.ids, known, given.cuts, thread_count)
        np.testing.assert_array_equal(rows, [each for *_, each in wanted])
        np.testing.assert_array_equal(keys, (ids[:, 0] << np.uint64(32)) | ids[:, 1])
        for sort, part in enumerate((slice(None, split), slice(split, None))):
            np.testing.assert_array_equal(keys[part][by_key[part]], np.sort(keys[part]))
            np.testing.assert_array_equal(starts[sort], kept.node_starts(rows[part], given.owner, parts))


def test_a_body_with_more_pairs_than_colors_shares_the_last_color() -> None:
    count = kept.COLORS + 40
    pairs = np.stack((np.zeros(count, np.int32), np.arange(1, count + 1, dtype=np.int32)), axis=1)
    place, owner = np.arange(count + 1, dtype=np.int32), np.zeros(count + 1, np.int32)
    role, ids = np.full(count + 1, kept.BALL, np.uint8), np.arange(count + 1, dtype=np.uint32)
    cuts = np.array([0, count + 1])
    _, (_, _, rows) = kept.arrange(pairs, ids, kept.known_bodies(role, place, owner), cuts, 1)
    np.testing.assert_array_equal(rows, pairs)  # one pair of each colour, then all others, in the order of the keys
