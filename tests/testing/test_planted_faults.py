"""The suite itself is tested: each planted fault is caught by the check for it, and an honest method passes."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from choque._core.emission import Sink
from choque._core.pair_sets import Change, no_pairs
from choque.bounds import Boxes
from choque.broad import BroadPhase, PairFilter
from choque.broad.brute import AllPairs, Brute
from choque.errors import InvalidInput, UnknownName
from choque.testing import ConformanceFailure, broad_phase_checks, check_broad_phase

CHECKS = dict(broad_phase_checks())
FAULTS: list[tuple[str, Any]] = []


class SetOverBrute(BroadPhase):
    """A set in which faults are planted, over an index that has none."""

    def __init__(self, bounds: Any, **options: Any) -> None:
        super().__init__(bounds, Brute(), **options)


def caught_by(*checks: str) -> Any:
    def plant(method: Any) -> Any:
        FAULTS.extend((check, method) for check in checks)
        return method

    return plant


@caught_by("generated-scenes", "edge-cases", "reference-scene", "filters", "unwatched-motion", "replay")
class DropsPair(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        return found[:-1]


@caught_by("generated-scenes", "form")
class RepeatsPair(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        return np.concatenate((found[:1], found))


@caught_by("generated-scenes", "edge-cases")
class AddsPair(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        first = np.array([[0, 1]], np.int32)
        return found if len(self) < 2 or (found[:1] == first).all(axis=1).any() else np.concatenate((first, found))


@caught_by("form")
class Unsorted(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        return found[::-1]


@caught_by("form")
class LargerIdFirst(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        return found[:, ::-1]


@caught_by("form")
class WideIntegers(SetOverBrute):
    def pairs(self) -> Any:
        return super().pairs().astype(np.int64)


@caught_by("form")
class WritableAnswer(SetOverBrute):
    def pairs(self) -> Any:
        return super().pairs().copy()


@caught_by("count")
class CountsOneTooMany(SetOverBrute):
    def count(self) -> int:
        return super().count() + 1


@caught_by("edge-cases", "generated-scenes", "metamorphic")
class RoundsToHalves(Brute):
    """Compares 16-bit numbers, as a hasty port to another device might."""

    def build(self) -> None:
        with np.errstate(over="ignore"):
            self.table = replace(self.table, records=self.records.astype(np.float16).astype(self.records.dtype))
        super().build()


@caught_by("edge-cases", "metamorphic")
class IgnoresTopology(SetOverBrute):
    """Touching counts, except beyond 2**19."""

    def __init__(self, bounds: Any, *, closed: bool = True, **options: Any) -> None:
        super().__init__(bounds, closed=closed or bool(np.max(bounds.boxes().upper, initial=0) < 2**19), **options)


@caught_by("metamorphic")
class LooksAtFirstRowsOnly(Brute):
    """An answer that depends on the order of the rows."""

    def pairs(self) -> Any:
        found = super().pairs()
        return found[found[:, 0] < 100]


@caught_by("monotone")
class MissesTheNested(Brute):
    """Loses a box inside another, which growing both alike does not cure but growing the others does."""

    def pairs(self) -> Any:
        found = super().pairs()
        size = (self.records[:, 3:] - self.records[:, :3]).max(axis=1)
        return found[(size[found] % 4 != 0).any(axis=1)]


@caught_by("query")
class QueryForgetsIds(SetOverBrute):
    def query(self, other: Any) -> Any:
        found = super().query(other).copy()
        found[:, 1] = np.searchsorted(self.ids, found[:, 1])
        return found


@caught_by("filters", "filters-follow-bodies", "replay")
class IgnoresFilter(Brute):
    def make_sink(self, keep: bool) -> Sink:
        return Sink(len(self), self.thread_count(), None, keep)


@caught_by("filters", "filters-follow-bodies")
class LetsStaticMeet(Brute):
    def make_sink(self, keep: bool) -> Sink:
        given = self.table.pair_filter
        if given is not None:
            given = PairFilter(given.groups, given.masks, np.zeros(len(self), np.bool_))
        return Sink(len(self), self.thread_count(), given, keep)


@caught_by("filters")
class CountIgnoresFilter(SetOverBrute):
    def count(self) -> int:
        sink = Sink(len(self), 1, None, keep=False)
        self.index.emit(sink)
        return sink.pair_count


@caught_by("filters-follow-bodies")
class ForgetsFilterOfArrivals(SetOverBrute):
    def add(self, bounds: Any, **filters: Any) -> Any:  # noqa: ARG002
        return super().add(bounds)


@caught_by("replay", "net-change")
class LosesEnded(SetOverBrute):
    @property
    def ended(self) -> Any:
        return no_pairs()


@caught_by("replay", "net-change")
class BeganIsEverything(SetOverBrute):
    @property
    def began(self) -> Any:
        return self.pairs()


@caught_by("unwatched-motion", "replay")
class FollowsNothing(Brute):
    def update(self, previous: Any) -> Change:  # noqa: ARG002
        return Change(no_pairs(), no_pairs())


@caught_by("from-nothing-and-back", "replay")
class UsesIdsAgain(SetOverBrute):
    """Hands out the smallest numbers that no living body has."""

    def add(self, bounds: Any, **filters: Any) -> Any:
        free = np.setdiff1d(np.arange(len(self) + len(bounds)), self.ids)[: len(bounds)]
        super().add(bounds, **filters)
        return free.astype(np.int32)


@caught_by("mixed-precision")
class NarrowsArrivals(Brute):
    def build(self) -> None:
        limits = np.finfo(np.float32)  # a third axis that is not there is wider than float32
        narrow = self.records.clip(limits.min, limits.max).astype(np.float32)
        if (self.records == narrow)[:, [0, 1, 3, 4]].all(axis=1).any():
            self.table = replace(self.table, records=narrow)
        super().build()


@caught_by("bad-input")
class UsesUpIdsOfRefusedArrivals(SetOverBrute):
    def add(self, bounds: Any, **filters: Any) -> Any:
        try:
            return super().add(bounds, **filters)
        except InvalidInput:
            self.remove(super().add(Boxes([[0, 0, 0]], [[1, 1, 1]])))
            raise


@caught_by("bad-input")
class ForgetsPairsWhenRefusing(SetOverBrute):
    def update(self, bounds: Any) -> None:
        try:
            super().update(bounds)
        except InvalidInput:
            self._state.pairs = no_pairs()
            raise


@caught_by("bad-input")
class MovesBeforeItLooks(SetOverBrute):
    def move(self, ids: Any, bounds: Any) -> None:
        known = [int(one) for one in np.ravel(np.asarray(ids, object)) if one in self.ids.tolist()]
        if len(known) > 1 and len(bounds) >= 1 and bounds.dimension == self.dimension:
            super().move(known[:1], bounds.take([0]))
        super().move(ids, bounds)


@caught_by("bad-input")
class TakesUnknownIds(SetOverBrute):
    def remove(self, ids: Any) -> None:
        super().remove(np.intersect1d(self.ids, ids))


@caught_by("bad-options")
class TakesAnyThreads(SetOverBrute):
    def __init__(self, bounds: Any, *, threads: Any = None, **options: Any) -> None:
        super().__init__(bounds, threads=threads if isinstance(threads, int) and threads > 0 else 1, **options)


@caught_by("accepted-input")
class IdsMustBeArrays(SetOverBrute):
    def remove(self, ids: Any) -> None:
        super().remove(ids[:])


@caught_by("given-arrays")
class WritesToCorners(SetOverBrute):
    def update(self, bounds: Any) -> None:
        super().update(bounds)
        bounds.lower[0] -= 1


@caught_by("copies")
class CopyIsItself(SetOverBrute):
    def copy(self) -> Any:
        return self


@caught_by("copies")
class PickleForgetsChange(SetOverBrute):
    def __getstate__(self) -> dict[str, Any]:
        state = copy.copy(self._state)
        state.change = state.previous = None
        return {**vars(self), "_state": state}


@caught_by("thread-count")
class DropsPairWithTwoThreads(Brute):
    def pairs(self) -> Any:
        found = super().pairs()
        return found[: len(found) - (self.thread_count() > 1)]


@caught_by("two-objects")
class SharesAnswer(SetOverBrute):
    """Two objects write to one place, so each may read the other's pairs."""

    shared: Any = None

    def update(self, bounds: Any) -> None:
        super().update(bounds)
        SharesAnswer.shared = self if SharesAnswer.shared is None else SharesAnswer.shared

    def pairs(self) -> Any:
        return super().pairs() if SharesAnswer.shared is None else BroadPhase.pairs(SharesAnswer.shared)


class Honest(Brute):
    """The control: the same base as every fault, and none."""


@pytest.mark.parametrize(("check", "method"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_planted_fault_is_caught(check: str, method: Any) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        CHECKS[check](method)
    message = str(caught.value)
    assert f"fails the check {check!r}" in message
    assert method.__name__ in message
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize("check", CHECKS)
def test_no_fault_is_found_where_there_is_none(check: str) -> None:
    CHECKS[check](Honest)


def test_every_check_has_a_fault_that_only_a_working_check_can_catch() -> None:
    assert {check for check, _ in FAULTS} == set(CHECKS)


def test_the_message_names_scene_settings_first_pair_and_the_way_back() -> None:
    with pytest.raises(ConformanceFailure) as caught:
        check_broad_phase(DropsPair, checks=["edge-cases"])
    message = str(caught.value)
    assert "on the scene 'all-identical' (60 boxes, 2D, float32), with closed=True" in message
    assert "the pair (58, 59) is missing (1 missing, 0 too many)" in message
    assert "choque.testing.check_broad_phase(DropsPair, checks=['edge-cases'])" in message
    assert "choque.testing.scenes.make('all-identical', dimension=2, dtype='float32', count=60, seed=0)" in message


def test_an_error_inside_a_method_is_reported_as_a_failure_of_the_check() -> None:
    class Breaks(Brute):
        def build(self) -> None:
            raise ZeroDivisionError("nothing to divide by")

    with pytest.raises(ConformanceFailure, match="ZeroDivisionError was raised: nothing to divide by") as caught:
        check_broad_phase(Breaks, checks=["form"])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_superset_must_contain_the_answer_and_keep_the_filter() -> None:
    class Loses(AllPairs):
        def pairs(self) -> Any:
            return super().pairs()[1:]

    class Unfiltered(AllPairs):
        def make_sink(self, keep: bool) -> Sink:
            return Sink(len(self), 1, None, keep)

    check_broad_phase(AllPairs, exact=False, checks=["edge-cases", "filters"])
    with pytest.raises(ConformanceFailure, match="is too many"):
        check_broad_phase(AllPairs, checks=["edge-cases"])
    with pytest.raises(ConformanceFailure, match="is missing"):
        check_broad_phase(Loses, exact=False, checks=["edge-cases"])
    with pytest.raises(ConformanceFailure, match="the filter forbids"):
        check_broad_phase(Unfiltered, exact=False, checks=["filters"])


def test_a_factory_is_a_name_a_class_or_a_function_that_takes_options() -> None:
    seen: list[dict[str, Any]] = []

    def make(bounds: Any, *, flavour: str, **options: Any) -> BroadPhase:
        seen.append({"flavour": flavour, **options})
        return BroadPhase(bounds, Brute(), **options)

    check_broad_phase("brute", checks=["form"])
    check_broad_phase(Brute, checks=["form"])
    check_broad_phase(make, checks=["form"], options={"flavour": "sour"})
    assert {"flavour": "sour", "closed": False} in seen
    with pytest.raises(InvalidInput, match="factory is 3"):
        check_broad_phase(3, checks=["form"])  # type: ignore[arg-type]


def test_options_are_part_of_the_way_back() -> None:
    def make(bounds: Any, *, flavour: str, **options: Any) -> BroadPhase:
        return BroadPhase(bounds, DropsPair(), **options)

    with pytest.raises(ConformanceFailure, match=r"options=\{'flavour': 'sour'\}\)"):
        check_broad_phase(make, checks=["edge-cases"], options={"flavour": "sour"})


def test_an_unknown_check_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'replay'"):
        check_broad_phase("brute", checks=["repaly"])


def test_every_check_explains_itself() -> None:
    assert all(check.explanation.endswith(".") for check in CHECKS.values())
