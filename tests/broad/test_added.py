"""Bodies that are added few at a time: the answers of a new set, at the cost of what came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque import broad
from choque.bounds import Boxes
from choque.broad import create


def sets_of(pairs: Any) -> set[tuple[int, ...]]:
    return {*map(tuple, pairs.tolist())}


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("method", ["auto", "bvh", "grid", "sap-incremental"])
def test_adding_few_bodies_again_and_again_agrees_with_a_new_set_in_every_answer(method: str, filtered: bool) -> None:
    random = np.random.default_rng(4)
    count, most = 700, 1000
    lower = random.uniform(0, 11, (most, 3))
    upper = lower + random.uniform(0.2, 1.4, (most, 3))
    upper[705] = np.inf
    columns = {"groups": 1 << random.integers(0, 3, most), "masks": random.integers(1, 8, most)} if filtered else {}

    def of(rows: Any) -> dict[str, Any]:
        return {name: column[rows] for name, column in columns.items()}

    made = create(method, Boxes(lower[:count], upper[:count]), **of(np.arange(count)))
    living = np.arange(count)
    points = random.uniform(0, 11, (20, 3))
    for turn in range(60):
        before = sets_of(made.pairs())
        coming = np.arange(count, count + 1 + turn % 3)
        ids = made.add(Boxes(lower[coming], upper[coming]), **of(coming))
        assert ids.tolist() == coming.tolist()  # no id is left out
        living, count = np.append(living, coming), count + len(coming)
        fresh = create("brute", Boxes(lower[living], upper[living]), **of(living))
        expected = living[fresh.pairs()]
        assert sets_of(made.began) == sets_of(expected) - before
        assert not len(made.ended)
        if turn % 5 == 2:
            gone = random.choice(living, 2, replace=False)
            made.remove(gone)
            living = np.setdiff1d(living, gone)
        if turn % 7 == 3:
            moving = random.choice(living, 2, replace=False)
            lower[moving], upper[moving] = lower[moving] + 0.5, upper[moving] + 0.5
            made.move(moving, Boxes(lower[moving], upper[moving]))
        if turn % 25 == 24:
            made.update(Boxes(lower[living], upper[living]))
        fresh = create("brute", Boxes(lower[living], upper[living]), **of(living))
        np.testing.assert_array_equal(made.pairs(), living[fresh.pairs()])
        assert made.ids.tolist() == living.tolist()
        assert made.count() == len(made.pairs())
        if turn % 6 == 5:
            near, exact = made.nearest(points, count=3), fresh.nearest(points, count=3)
            np.testing.assert_array_equal(near.ids, living[exact.ids])
            found, query = made.query(Boxes(points, points + 1)), fresh.query(Boxes(points, points + 1))
            np.testing.assert_array_equal(found, np.stack((query[:, 0], living[query[:, 1]]), axis=1))
    assert len(made.index) == len(living)
    assert made.add(Boxes(lower[:1], upper[:1]), **of([0])).tolist() == [count]


@pytest.mark.parametrize("method", ["auto", "bvh"])
def test_adding_few_bodies_does_not_build_the_index_again(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lower = np.random.default_rng(3).uniform(0, 30, (5000, 3))
    made = create(method, Boxes(lower, lower + 1))
    for row in range(3):
        made.add(Boxes(lower[row : row + 1], lower[row : row + 1] + 0.5))
    before = made.counters.tests
    for kind in (broad.find(name) for name in ("auto", "bvh", "grid", "sap-direct", "sap-incremental")):
        monkeypatch.setattr(kind, "build", lambda _: pytest.fail("an index was built"))
    for row in range(3, 100):
        made.add(Boxes(lower[row : row + 1], lower[row : row + 1] + 0.5))
        made.move([row], Boxes(lower[row : row + 1] + 0.1, lower[row : row + 1] + 1))
    made.remove(np.arange(5000, 5010))
    assert len(made) == 5090
    assert made.counters.tests - before < 97 * 2 * 2000


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def test_bodies_whose_addition_is_interrupted_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = np.random.default_rng(3).uniform(0, 8, (900, 3))
    made, kind = create("bvh", Boxes(lower, lower + 1)), broad.find("bvh")
    for row in range(3):
        made.add(Boxes(lower[row : row + 1], lower[row : row + 1] + 0.5))
    before, ids, add = made.pairs().tolist(), made.ids.tolist(), kind.add

    def interrupted(self: Any, rows: Any) -> None:
        add(self, rows)
        raise Interrupted

    monkeypatch.setattr(kind, "add", interrupted)
    with pytest.raises(Interrupted):
        made.add(Boxes([[0, 0, 0]], [[9, 9, 9]]))
    monkeypatch.undo()
    assert (made.pairs().tolist(), made.ids.tolist()) == (before, ids)
    assert made.add(Boxes([[0, 0, 0]], [[9, 9, 9]])).tolist() == [903]
    assert len(made.began) == 903


@pytest.mark.parametrize("method", ["auto", "bvh", "sap-incremental"])
def test_nothing_can_be_added_to_a_set_that_grew_and_was_emptied(method: str) -> None:
    made = create(method, Boxes(np.zeros((2, 3)), np.ones((2, 3))))
    made.remove(made.add(Boxes(np.zeros((1, 3)), np.ones((1, 3)))))
    made.remove([0, 1])
    assert made.add(Boxes(np.empty((0, 3)), np.empty((0, 3)))).size == len(made.pairs()) == 0
    made.add(Boxes(np.zeros((2, 3)), np.ones((2, 3))))
    assert len(made.pairs()) == 1
