"""What goes in: all that the contract allows is taken, all else is refused and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from choque.bounds import Boxes
from choque.broad import BroadPhase
from choque.errors import InvalidInput
from choque.testing import scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, Trial, broad_phase_check

Mistake: TypeAlias = tuple[str, Callable[[Any], object], str]
"""What is wrong, the call that is, and what the error must name."""

COUNT = 30


def _boxes(count: int, dimension: int = 3) -> Boxes:
    return Boxes(np.zeros((count, dimension)), np.ones((count, dimension)))


def _with(value: float, row: int) -> Any:
    corners = np.zeros((COUNT - 2, 3))
    corners[row, 1] = value
    return corners


def _mistakes() -> list[Mistake]:
    """Calls on `COUNT` bodies of which 4 and 11 have left, so that 28 live and 30 is the next id."""
    return [
        ("NaN in lower", lambda b: b.update(Boxes(_with(np.nan, 9), np.ones((28, 3)))), "9"),
        ("NaN in upper", lambda b: b.update(Boxes(np.zeros((28, 3)), _with(np.nan, 8))), "8"),
        ("lower above upper", lambda b: b.update(Boxes(_with(2.0, 7), np.ones((28, 3)))), "7"),
        ("update of too few", lambda b: b.update(_boxes(27)), "27"),
        ("update of too many", lambda b: b.update(_boxes(COUNT)), "30"),
        ("update in 2D", lambda b: b.update(_boxes(28, 2)), "2D"),
        ("update without bounds", lambda b: b.update([[0, 0, 0]] * 28), "list"),
        ("move of a body that left", lambda b: b.move([3, 11], _boxes(2)), "11"),
        ("move of a body yet to come", lambda b: b.move([30], _boxes(1)), "30"),
        ("move of a negative id", lambda b: b.move([-1], _boxes(1)), "-1"),
        ("move of one id twice", lambda b: b.move([6, 2, 6], _boxes(3)), "6"),
        ("move by fractions", lambda b: b.move([1.0, 2.0], _boxes(2)), "float"),
        ("move by flags", lambda b: b.move([True, False], _boxes(2)), "bool"),
        ("move by text", lambda b: b.move(["1"], _boxes(1)), "ids"),
        ("move by a ragged list", lambda b: b.move([[1], [2, 3]], _boxes(3)), "ids"),
        ("move by a table of ids", lambda b: b.move([[1, 2]], _boxes(2)), "(1, 2)"),
        ("move with too few boxes", lambda b: b.move([1, 2, 3], _boxes(2)), "3"),
        ("move in 2D", lambda b: b.move([1], _boxes(1, 2)), "2D"),
        ("move without bounds", lambda b: b.move([1], [[0, 0, 0]]), "list"),
        ("add in 2D", lambda b: b.add(_boxes(2, 2)), "2D"),
        ("add without bounds", lambda b: b.add([[0, 0, 0]]), "list"),
        ("add with too many groups", lambda b: b.add(_boxes(2), groups=[1, 2, 3]), "groups"),
        ("add with fractional masks", lambda b: b.add(_boxes(2), masks=[1.0, 2.0]), "masks"),
        ("add with a negative group", lambda b: b.add(_boxes(2), groups=[1, -1]), "groups"),
        ("add with a group of 33 bits", lambda b: b.add(_boxes(2), groups=1 << 32), "groups"),
        ("add with numbers as flags", lambda b: b.add(_boxes(2), static=[0, 1]), "static"),
        ("add with ragged groups", lambda b: b.add(_boxes(2), groups=[[1], [2, 3]]), "groups"),
        ("remove of a body that left", lambda b: b.remove([0, 4]), "4"),
        ("remove of one id twice", lambda b: b.remove([8, 8]), "8"),
        ("remove by fractions", lambda b: b.remove([1.5]), "float"),
        ("remove of an id beyond 32 bits", lambda b: b.remove([2**40]), str(2**40)),
        ("query in 2D", lambda b: b.query(_boxes(2, 2)), "2D"),
        ("query without bounds", lambda b: b.query([[0, 0, 0]]), "list"),
    ]


@broad_phase_check("bad-input")
def bad_input(subject: Subject) -> None:
    """Bad data, ids, counts and dimensions raise InvalidInput that names the offender, and change nothing."""
    scene = scenes.make("touching", count=COUNT)
    moved = scenes.make("touching", count=COUNT, seed=2).boxes()
    for asked in (True, False):
        with subject.trial(scene) as trial:
            broad, mirror = trial.make(), Mirror(scene.boxes())
            before: set[tuple[int, int]] = set()
            for target in (broad, mirror):
                target.remove(np.array([11, 4], np.int32))
                before = set(map(tuple, broad.pairs().tolist())) if asked else before
                target.move(np.array([0, 1], np.int32), moved.take([0, 1]))
            for mistake, call, named in _mistakes():
                trial.moment = f"after {mistake}"
                _refused(trial, partial(call, broad), mistake, named)
                if asked:
                    _unchanged(trial, broad, mirror, before)
            trial.moment = "after every mistake"
            trial.agree("pairs()", broad.pairs(), mirror.pairs())
            trial.require(broad.add(moved.take([3]))[0] == COUNT, "a refused add used up an id")


def _refused(trial: Trial, call: Callable[[], object], mistake: str, named: str) -> None:
    try:
        call()
    except InvalidInput as problem:
        trial.require(named in str(problem), f"the error does not name {named!r}: {problem}")
    except Exception as problem:
        trial.fail(f"{mistake} raised {type(problem).__name__} ({problem}) and not InvalidInput")
    else:
        trial.fail(f"{mistake} was accepted; it must raise InvalidInput")


def _unchanged(trial: Trial, broad: BroadPhase, mirror: Mirror, before: set[tuple[int, int]]) -> None:
    trial.require(np.array_equal(broad.ids, mirror.ids), "ids changed though the call was refused")
    trial.agree("pairs() after a refused call", broad.pairs(), mirror.pairs())
    replayed = (before - set(map(tuple, broad.ended.tolist()))) | set(map(tuple, broad.began.tolist()))
    trial.require(replayed == set(map(tuple, broad.pairs().tolist())), "began and ended changed by a refused call")


@broad_phase_check("bad-options")
def bad_options(subject: Subject) -> None:
    """Bad values of the options that every method has raise InvalidInput."""
    scene = scenes.make("touching", count=COUNT)
    options: list[tuple[str, dict[str, Any]]] = [
        ("threads", {"threads": 0}),
        ("threads", {"threads": 1.5}),
        ("groups", {"groups": [1, 2]}),
        ("groups", {"groups": "1"}),
        ("masks", {"masks": np.ones(COUNT)}),
        ("static", {"static": np.zeros((COUNT, 1), np.bool_)}),
    ]
    for named, chosen in options:
        with subject.trial(scene, **chosen) as trial:
            _refused(trial, trial.make, f"a bad value of {named}", named)
    with subject.trial(scene) as trial:
        bare: Any = [[0.0, 0.0, 0.0]]
        _refused(trial, partial(subject.make, bare), "create without bounds", "list")


@broad_phase_check("accepted-input")
def accepted_input(subject: Subject) -> None:
    """Lists, whole numbers, narrow and mixed floats, strided and read-only arrays give the same pairs."""
    scene = scenes.make("touching", count=COUNT, dtype="float32")
    low, high = scene.lower, scene.upper
    frozen = low.copy()
    frozen.flags.writeable = False
    forms: dict[str, tuple[Any, Any]] = {
        "lists": (low.tolist(), high.tolist()),
        "int8": (low.astype(np.int8), high.astype(np.int8)),
        "int64 beside float32": (low.astype(np.int64), high),
        "float16": (low.astype(np.float16), high.astype(np.float16)),
        "float32 beside float64": (low, high.astype(np.float64)),
        "columns first": (np.asfortranarray(low), np.asfortranarray(high)),
        "every second row": (np.repeat(low, 2, axis=0)[::2], np.repeat(high, 2, axis=0)[::2]),
        "big-endian": (low.astype(">f4"), high.astype(">f8")),
        "read-only": (frozen, high),
    }
    with subject.trial(scene) as trial:
        plain = trial.make().pairs()
        for name, (lower, upper) in forms.items():
            trial.moment = f"given as {name}"
            broad = trial.make(Boxes(lower, upper))
            trial.require(np.array_equal(broad.pairs(), plain), "pairs() is not what float32 arrays give")
            broad.update(Boxes(lower, upper))
            trial.require(np.array_equal(broad.pairs(), plain), "pairs() after update is not what float32 arrays give")
        trial.moment = "ids as lists, single numbers and other widths"
        broad, mirror = trial.make(), Mirror(scene.boxes())
        mirror.remove(np.array([1, 2, 3, 9], np.int32))
        for ids in (np.array([2, 1], np.uint8), [3], 9, [], np.empty(0)):
            broad.remove(ids)
        trial.agree("pairs()", broad.pairs(), mirror.pairs())
