"""The base of every method: what it does for the smallest one, and for those that follow motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque import broad
from choque._core.emission import Sink
from choque._core.pair_sets import Change, difference
from choque.bounds import Boxes, Spheres
from choque.broad import BroadPhase, Index, create
from choque.broad.brute import Brute
from choque.errors import InvalidInput
from choque.testing import check_broad_phase, oracle

APART = Boxes([[0, 0], [5, 5], [9, 9]], [[1, 1], [6, 6], [10, 10]])
ALL_MEET = Boxes([[0, 0], [0, 0], [0, 0]], [[1, 1], [1, 1], [1, 1]])


class Smallest(Index):
    """No more than a method must write."""

    name = "smallest"

    def build(self) -> None:
        self.rows = oracle.overlapping_pairs(self.records[:, :3], self.records[:, 3:])

    def emit(self, sink: Sink) -> None:
        sink.run(copy_rows, len(self.rows), self.rows)


def copy_rows(first: int, last: int, chunk: Any, rows: Any) -> tuple[int, int, int]:
    last_that_fits = min(last, first + chunk.size)
    for place, (i, j) in enumerate(rows[first:last_that_fits].tolist()):
        chunk[place] = (i << 32) | j
    return last_that_fits, last_that_fits - first, 0


class Follower(Brute):
    """Tells each change itself, found the slow way, and counts how often all pairs are written out."""

    name = "follower"
    emissions = 0

    def _rows(self, records: Any) -> Any:
        given = self.table.pair_filter
        filters = {} if given is None else vars(given)
        return oracle.overlapping_pairs(records[:, :3], records[:, 3:], **filters)

    def emit(self, sink: Sink) -> None:
        self.emissions += 1
        super().emit(sink)

    def update(self, previous: Any) -> Change:
        self.build()
        return difference(self._rows(previous), self._rows(self.records))

    def move(self, rows: Any, previous: Any) -> Change:
        before = self.records.copy()
        before[rows] = previous
        return self.update(before)


class Repeater(Brute):
    """Writes every pair twice, as a grid does that lists a body in two cells."""

    name = "repeater"
    repeats_pairs = True

    def emit(self, sink: Sink) -> None:
        super().emit(sink)
        super().emit(sink)


@pytest.mark.parametrize("method", [Smallest, Follower, Repeater])
def test_a_method_made_of_few_hooks_conforms(method: type[Index], thorough: bool) -> None:
    check_broad_phase(method, thorough=thorough)


def test_a_method_that_follows_moves_is_never_asked_for_all_pairs_to_tell_changes() -> None:
    made = create(Follower, APART)
    made.move([1], APART.take([0]))
    assert made.began.tolist() == [[0, 1]]
    made.update(ALL_MEET)
    assert made.began.tolist() == [[0, 2], [1, 2]]
    made.move([2, 0], APART.take([2, 1]))
    assert made.ended.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert made.index.emissions == 0


def test_known_pairs_follow_changes_without_being_written_out_again() -> None:
    made = create(Follower, APART)
    assert made.pairs().tolist() == []
    for boxes in (ALL_MEET, APART, ALL_MEET):
        made.update(boxes)
    assert made.pairs().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert made.index.emissions == 1


def test_pairs_are_written_out_once_and_counting_keeps_none() -> None:
    made = create(Follower, ALL_MEET)
    assert made.count() == 3
    assert made.index.emissions == 1
    assert made.pairs() is not made.pairs()
    assert np.shares_memory(made.pairs(), made.pairs())
    assert made.count() == 3
    assert made.index.emissions == 2


def test_repeated_pairs_are_counted_and_dropped() -> None:
    made = create(Repeater, ALL_MEET)
    assert made.count() == len(made.pairs()) == 3
    assert made.counters.duplicates == 3


def test_counters_add_up_until_reset() -> None:
    made = create(Brute, ALL_MEET)
    assert made.counters.tests == 0
    made.pairs()
    assert made.counters.tests == 3
    made.update(APART)
    made.count()
    assert made.counters.tests == 6
    assert made.counters.peak_bytes > 0
    made.counters.reset()
    assert vars(made.counters) == dict.fromkeys(vars(made.counters), 0)


def test_a_broad_phase_introduces_itself() -> None:
    assert repr(create(Brute, APART)) == "<BroadPhase 'brute': 3 bodies in 2D, closed>"
    assert repr(create(Brute, APART, closed=False)) == "<BroadPhase 'brute': 3 bodies in 2D, half-open>"
    assert len(create(Brute, APART)) == 3
    assert create(Brute, APART).dimension == 2


def test_half_open_boxes_that_end_at_the_smallest_number_still_overlap() -> None:
    """Nothing finite lies below that number, but minus infinity does."""
    for dtype in (np.float32, np.float64):
        smallest = np.finfo(dtype).min
        lower = np.full((2, 2), -np.inf, dtype)
        upper = np.full((2, 2), smallest, dtype)
        assert create(Brute, Boxes(lower, upper), closed=False).pairs().tolist() == [[0, 1]]
        assert create(Brute, Boxes(lower, lower.copy()), closed=False).pairs().tolist() == []


def test_other_kinds_of_bounds_are_refused_before_anything_changes() -> None:
    """`brute-obb` holds on to the bounds it was given, and two kinds cannot be held together."""
    spheres = Spheres([[9.5, 9.5, 9.5]], [1.0])
    made = broad.create("brute-obb", Boxes([[0, 0, 0], [9, 9, 9]], [[1, 1, 1], [10, 10, 10]]))
    for call in (lambda: made.add(spheres), lambda: made.move([0], spheres)):
        with pytest.raises(InvalidInput, match="Spheres"):
            call()
        assert made.ids.tolist() == [0, 1]
        assert made.count() == 0
        made.move([1], Boxes([[9, 9, 9]], [[10, 10, 10]]))
        assert made.pairs().tolist() == []
    assert made.add(Boxes([[9, 9, 9]], [[10, 10, 10]])).tolist() == [2]
    assert made.pairs().tolist() == [[1, 2]]


class Interrupted(BaseException):
    """Stands for Ctrl-C, which no method expects."""


@pytest.mark.parametrize("method", ["auto", "bvh", "grid", "sap-incremental", "sap-kinetic", "sap-obb"])
@pytest.mark.parametrize("change", ["update", "move", "add", "remove"])
def test_a_change_that_is_interrupted_leaves_the_set_as_it_was(
    method: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interruption comes after the index has followed the change: the latest moment, when most was written."""
    random = np.random.default_rng(5)
    lower = random.uniform(0, 12, (900, 3))
    boxes, moved = Boxes(lower, lower + 1), Boxes(lower + 0.4, lower + 1.4)
    made = create(method, boxes)
    before, ids = made.pairs().tolist(), made.ids.tolist()
    calls = {
        "update": lambda: made.update(moved),
        "move": lambda: made.move([3, 7, 11], moved.take([3, 7, 11])),
        "add": lambda: made.add(moved.take([0, 1])),
        "remove": lambda: made.remove([3, 7]),
    }
    kind = type(made.index)
    for name in ("build", "update", "remove", "move") if kind.move is not Index.move else ("build", "update", "remove"):
        monkeypatch.setattr(kind, name, interrupted_after(getattr(kind, name)))
    with pytest.raises(Interrupted):
        calls[change]()
    monkeypatch.undo()
    assert made.ids.tolist() == ids
    assert made.pairs().tolist() == before
    calls["update"]()
    expected = oracle.overlapping_pairs(moved.lower, moved.upper)
    np.testing.assert_array_equal(made.pairs(), expected)
    now, then = {*map(tuple, expected.tolist())}, {*map(tuple, before)}
    assert {*map(tuple, made.began.tolist())} == now - then


def interrupted_after(step: Any) -> Any:
    def interrupted(self: Any, *arguments: Any) -> None:
        step(self, *arguments)
        raise Interrupted

    return interrupted


@pytest.mark.parametrize("method", ["brute", "grid", "bvh", "sap-direct"])
def test_every_method_answers_points_rays_and_nearest_boxes(method: str) -> None:
    made = create(method, Boxes([[0, 0], [4, 0], [8, 8]], [[1, 1], [5, 1], [9, 9]]))
    made.remove([0])
    assert made.query_points([[4.5, 0.5], [0.5, 0.5]]).tolist() == [[0, 1]]
    assert made.query_rays([[0, 0.5]], [[1, 0]]).tolist() == [[0, 1]]
    assert made.cast_rays([[0, 0.5]], [[1, 0]]).ids.tolist() == [1]
    assert made.nearest([[8.5, 8.5]], count=3).ids.tolist() == [[2, 1, -1]]


def test_only_an_index_is_taken_as_one() -> None:
    with pytest.raises(InvalidInput, match=r"must be a choque\.broad\.Index"):
        BroadPhase(APART, "brute")  # type: ignore[arg-type]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("method", [name for name in broad.names() if name != "all"])
def test_a_wider_float_type_joins_boxes_in_the_plane(method: str, closed: bool) -> None:
    """Float32 boxes with one centre, then a float64 one: the third axis, which is flat, must not tell them apart."""
    ones = np.ones((3, 2), np.float32)
    made = create(method, Boxes(-ones, ones), closed=closed)
    wide = Boxes(np.array([[-2.0, -2.0]]), np.array([[2.0, 2.0]]))
    every = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    made.pairs()
    assert made.add(wide).tolist() == [3]
    assert made.pairs().tolist() == every
    made.move([1], wide)
    assert made.pairs().tolist() == every
    made.update(Boxes(np.zeros((4, 2), np.float32), np.ones((4, 2), np.float32)))
    assert made.pairs().tolist() == every
    made.move([2], Boxes(np.array([[7.0, 7.0]]), np.array([[8.0, 8.0]])))
    assert made.pairs().tolist() == [[0, 1], [0, 3], [1, 3]]


PARKED = {
    "at +inf on one axis": ([0, np.inf, 0], [1, np.inf, 1]),
    "at -inf on one axis": ([0, -np.inf, 0], [1, -np.inf, 1]),
    "at +inf": ([np.inf] * 3, [np.inf] * 3),
    "at -inf": ([-np.inf] * 3, [-np.inf] * 3),
    "half a space": ([0, -np.inf, 0], [np.inf, 0, np.inf]),
    "all of space": ([-np.inf] * 3, [np.inf] * 3),
    "near the largest number": ([1e308, 0, 0], [1.7e308, 1, 1]),
}


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("where", PARKED)
@pytest.mark.parametrize("method", [name for name in broad.names() if name not in ("all", "interest")])
def test_boxes_parked_at_infinity_are_answered_by_every_method(
    method: str, where: str, share: float, closed: bool
) -> None:
    random = np.random.default_rng(4)
    count = 1100 if method == "auto" else 70
    lower = random.uniform(0, 0.9 * count ** (1 / 3), (count, 3))
    upper = lower + random.uniform(0, 1.5, (count, 3))
    parked = random.permutation(count)[: int(share * count)]
    made = create(method, Boxes(lower, upper), closed=closed)
    lower[parked], upper[parked] = PARKED[where]
    boxes, expected = Boxes(lower, upper), oracle.overlapping_pairs(lower, upper, closed=closed)
    np.testing.assert_array_equal(create(method, boxes, closed=closed).pairs(), expected)
    made.update(boxes)
    np.testing.assert_array_equal(made.pairs(), expected)
    few = parked[:2]
    made.move(few, Boxes(np.zeros((len(few), 3)), np.ones((len(few), 3))))
    made.move(few, boxes.take(few))
    np.testing.assert_array_equal(made.pairs(), expected)


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("method", [name for name in broad.names() if name != "all"])
def test_removing_few_bodies_of_many_agrees_with_a_new_set_in_every_answer(method: str, filtered: bool) -> None:
    """Removed bodies stay in the index for a while: no answer may show them."""
    random = np.random.default_rng(8)
    count = 800 if method == "auto" else 150
    lower = random.uniform(0, 1.2 * count ** (1 / 3), (count, 3))
    upper = lower + random.uniform(0.2, 1.4, (count, 3))
    upper[7] = np.inf
    lower[7] = -np.inf
    if method == "interest":
        lower[7], upper[7] = 0, 1
    options = {"groups": 1 << random.integers(0, 3, count), "masks": random.integers(1, 8, count)} if filtered else {}
    made = create(method, Boxes(lower, upper), **options)
    living = np.arange(count)
    points = random.uniform(0, 5, (20, 3))
    for turn in range(60):
        before = {*map(tuple, made.pairs().tolist())}
        gone = random.choice(living, 1 + turn % 3, replace=False)
        made.remove(gone)
        living = np.setdiff1d(living, gone)
        if turn % 4 == 1:  # what moves is followed by an index that still holds the removed bodies
            moving = random.choice(living, 2, replace=False)
            lower[moving] += 0.5
            upper[moving] += 0.5
            made.move(moving, Boxes(lower[moving], upper[moving]))
        boxes = Boxes(lower[living], upper[living])
        chosen = {name: column[living] for name, column in options.items()}
        fresh = create("brute", boxes, **chosen)
        expected = living[fresh.pairs()]
        assert len(made) == len(living)
        assert made.ids.tolist() == living.tolist()
        if turn % 2:
            assert made.count() == len(expected)
        now = {*map(tuple, expected.tolist())}
        if turn % 4 == 0:
            assert {*map(tuple, made.ended.tolist())} == before - now
            assert not len(made.began)
        np.testing.assert_array_equal(made.pairs(), expected)
        with pytest.raises(InvalidInput, match=f"No living body has the id {gone[0]}"):
            made.move([gone[0]], Boxes(lower[:1], upper[:1]))
        if turn % 10 == 5:
            near, exact = made.nearest(points, count=3), fresh.nearest(points, count=3)
            np.testing.assert_array_equal(near.ids, living[exact.ids])
            found, query = made.query_points(points), fresh.query_points(points)
            np.testing.assert_array_equal(found, np.stack((query[:, 0], living[query[:, 1]]), axis=1))
            rays, direct = (one.cast_rays(points, points - 2.5) for one in (made, fresh))
            np.testing.assert_array_equal(rays.ids, np.where(direct.ids < 0, -1, living[direct.ids]))
        if turn % 20 == 17:
            lower[living] += 0.1
            upper[living] += 0.1
            made.update(Boxes(lower[living], upper[living]))
        if turn % 20 == 19:
            assert made.add(Boxes(lower[:1], upper[:1])).tolist() == [made.ids[-1]]
            made.remove(made.ids[-1:])
    assert len(made.index) == len(living)


@pytest.mark.parametrize("method", ["auto", "bvh", "grid", "sap-direct", "sap-incremental"])
def test_removing_one_body_does_not_build_the_index_again(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lower = np.random.default_rng(3).uniform(0, 30, (5000, 3))
    made = create(method, Boxes(lower, lower + 1))
    kinds = {type(made.index), *(broad.find(name) for name in ("bvh", "grid", "sap-direct", "sap-incremental"))}
    for kind in kinds:
        monkeypatch.setattr(kind, "build", lambda _: pytest.fail("an index was built"))
    for row in range(0, 2000, 20):
        made.remove([row])
    assert len(made) == 4900
