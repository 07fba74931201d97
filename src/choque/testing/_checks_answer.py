"""The answer: equal to the oracle on every scene, of the right form, and without pairs that a filter forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.types import I64, Pairs
from choque.bounds import Boxes
from choque.testing import oracle, scenes
from choque.testing._mirror import Mirror
from choque.testing._subject import Subject, broad_phase_check, scene_of
from choque.testing.scenes import FloatName, NamedBoxes

COUNT = 80  # bodies under a filter
FLOATS: tuple[FloatName, ...] = ("float32", "float64")
REFERENCE = {10_000: 11_811, 100_000: 1_144_045}  # boxes of the reference scene and its closed pairs, as published


@cache
def scene(name: str, dimension: int, dtype: FloatName, count: int) -> NamedBoxes:
    """The scene, made once for all methods that are checked in one process."""
    return scenes.make(name, dimension=dimension, dtype=dtype, count=count)


@cache
def expected(name: str, dimension: int, dtype: FloatName, count: int, closed: bool) -> Pairs:
    """The oracle's answer to `scene`, asked once."""
    given = scene(name, dimension, dtype, count)
    return oracle.overlapping_pairs(given.lower, given.upper, closed=closed)


@broad_phase_check("generated-scenes")
def generated_scenes(subject: Subject) -> None:
    """Equal to the oracle on every generator; closed and half-open, 2D and 3D, float32 and float64."""
    _check_all(subject, scenes.GENERATED, 1000 if subject.thorough else 150)


@broad_phase_check("edge-cases")
def edge_cases(subject: Subject) -> None:
    """Equal to the oracle on empty, equal, flat, touching, infinite, huge, subnormal and far-away boxes."""
    _check_all(subject, [name for name in scenes.names() if name not in scenes.GENERATED], 60)


def _check_all(subject: Subject, names: list[str] | tuple[str, ...], count: int) -> None:
    for name, dimension, dtype, closed in product(names, (2, 3), FLOATS, (True, False)):
        if name == "reference" and dimension == 2:
            continue  # it is defined in 3D
        with subject.trial(scene(name, dimension, dtype, count), closed=closed) as trial:
            trial.agree("pairs()", trial.make().pairs(), expected(name, dimension, dtype, count, closed))


@broad_phase_check("reference-scene")
def reference_scene(subject: Subject) -> None:
    """The published counts of the reference scene: 11,811, and 1,144,045 of 100,000 boxes when thorough."""
    # A superset may be all pairs there are, and the answer must fit into memory.
    count = 10_000 if subject.exact else 1_000
    with subject.trial(scene("reference", 3, "float32", count)) as trial:
        trial.agree("pairs()", trial.make().pairs(), expected("reference", 3, "float32", count, True))
    for count, pair_count in REFERENCE.items():
        if subject.exact and (count == 10_000 or subject.thorough):
            with subject.trial(scene("reference", 3, "float32", count)) as trial:
                found = trial.make().count()
                trial.require(found == pair_count, f"count() is {found}; it must be {pair_count}")


@broad_phase_check("form")
def form(subject: Subject) -> None:
    """Pairs are (m, 2) int32, smaller id first, sorted, unique and read-only, and the same each time."""
    for name, closed in product(("clustered", "touching", "empty"), (True, False)):
        with subject.trial(scene(name, 3, "float64", 150), closed=closed) as trial:
            broad = trial.make()
            first = broad.pairs()
            trial.well_formed("pairs()", first)
            for what in ("pairs", "began", "ended", "ids"):
                array = getattr(broad, what)
                array = array() if what == "pairs" else array
                trial.require(not array.flags.writeable, f"{what} can be written to; the next caller would see it")
            trial.require(np.array_equal(first, broad.pairs()), "pairs() differs when it is asked again")
            trial.require(np.array_equal(first, trial.make().pairs()), "pairs() differs in a second object")
            trial.require(np.array_equal(broad.began, first), "began is not pairs() after create")
            trial.require(len(broad.ended) == 0, "ended is not empty after create")
            trial.require(len(broad) == len(trial.scene.lower), f"len() is {len(broad)}, not the number of bodies")
            trial.require(broad.dimension == 3, f"dimension is {broad.dimension}; it must be 3")


@broad_phase_check("count")
def count(subject: Subject) -> None:
    """count() is the number of pairs, whether it is asked before or after them."""
    for name, closed in product(("uniform", "touching", "ground-plane", "all-identical", "empty"), (True, False)):
        with subject.trial(scene(name, 3, "float32", 120), closed=closed) as trial:
            broad = trial.make()
            before = broad.count()
            pair_count = len(broad.pairs())
            for moment, found in (("before", before), ("after", broad.count())):
                trial.require(found == pair_count, f"count() {moment} pairs() is {found}; there are {pair_count} pairs")


@broad_phase_check("query")
def query(subject: Subject) -> None:
    """query() finds what other boxes overlap, by id, also after bodies have left."""
    asked = ("touching", "ground-plane", "empty", "one", "infinite")
    for name, dimension, dtype, closed in product(asked, (2, 3), FLOATS, (True, False)):
        bodies = scene("touching", dimension, dtype, 80)
        with subject.trial(bodies, closed=closed) as trial:
            trial.moment = f"asked about {name!r}"
            other = scene(name, dimension, dtype, 40)
            broad = trial.make()
            for gone in ([], [0, 7, 79]):
                broad.remove(gone)
                alive = np.delete(np.arange(80, dtype=np.int32), gone)
                rows = oracle.overlapping_queries(
                    bodies.lower[alive], bodies.upper[alive], other.lower, other.upper, closed=closed
                )
                rows[:, 1] = alive[rows[:, 1]]
                found = broad.query(other.boxes())
                trial.agree("query()", found, rows, ordered=False)


@broad_phase_check("given-arrays")
def given_arrays(subject: Subject) -> None:
    """The arrays given are not written to, and ids and filters are copied, not held."""
    given = scenes.make("touching", count=50)
    lower, upper = given.lower.copy(), given.upper.copy()
    with subject.trial(scene_of("touching", lower, upper)) as trial:
        static, groups, moving = np.arange(50) < 10, np.arange(50) % 3 + 1, np.arange(30, 20, -1)
        rows = oracle.overlapping_pairs(lower, upper, groups=groups, masks=groups, static=static)
        broad = trial.make(static=static, groups=groups, masks=groups)
        broad.pairs()
        broad.update(given.boxes())
        broad.move(moving, given.boxes().take(moving))
        trial.require(np.array_equal(moving, np.arange(30, 20, -1)), "the ids given were written to")
        intact = np.array_equal(lower, given.lower) and np.array_equal(upper, given.upper)
        trial.require(intact, "the corners given were written to")
        static[:], groups[:], moving[:] = True, 0, 0
        new = broad.add(given.boxes().take([0]), groups=0)
        new[:] = 0
        trial.agree("pairs(), the arrays given being overwritten since,", broad.pairs(), rows)
        trial.require(bool(broad.ids[-1] == 50), "writing to what add() returned changed an id")


def _filters() -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    bits = random.integers(0, 16, (2, COUNT))
    resting = random.random(COUNT) < 0.5
    return [
        {"static": resting},
        {"static": True},
        {"groups": bits[0]},
        {"masks": bits[1]},
        {"groups": bits[0], "masks": bits[1], "static": resting},
        {"groups": 0x80000000, "masks": 0xFFFFFFFF},
        {"groups": 2, "masks": 4},
        {"groups": bits[0].astype(np.uint8).tolist(), "static": resting.tolist()},
    ]


@broad_phase_check("filters")
def filters(subject: Subject) -> None:
    """Groups, masks and static flags hold in pairs and count, and two static bodies never meet."""
    scene = scenes.make("touching", count=COUNT)
    for chosen in _filters():
        for closed in (True, False):
            with subject.trial(scene, closed=closed, **chosen) as trial:
                mirror = Mirror(scene.boxes(), closed=closed, **chosen)
                found = trial.make().pairs()
                trial.require(bool(mirror.allowed(found).all()), "pairs() holds a pair that the filter forbids")
                trial.agree("pairs()", found, mirror.pairs())
                counted = trial.make().count()
                trial.require(counted == len(found), f"count() is {counted}; there are {len(found)} pairs")


@broad_phase_check("filters-follow-bodies")
def filters_follow_bodies(subject: Subject) -> None:
    """Each body keeps its filter when others come and go, and one added without a filter meets everything."""
    scene = scenes.make("touching", count=COUNT)
    arriving = scenes.make("touching", count=20, seed=1).boxes()
    for chosen in (*_filters(), {}):
        with subject.trial(scene, **chosen) as trial:
            broad, mirror = trial.make(), Mirror(scene.boxes(), **chosen)
            gone = np.array([79, 0, 41, 3], np.int32)
            for target in (broad, mirror):
                target.remove(gone)
                target.add(arriving, groups=3, masks=np.arange(20) % 5, static=np.arange(20) % 2 == 0)
                target.remove(gone[:0])
                target.add(arriving)
                target.remove(np.array([80, 99, 102], np.int32))
            trial.moment = "after remove and add"
            trial.require(bool(mirror.allowed(broad.pairs()).all()), "pairs() holds a pair that the filter forbids")
            trial.agree("pairs()", broad.pairs(), mirror.pairs())


# Changes of the scene that must not change the answer, on numbers for which floating point is exact

Transform: TypeAlias = tuple[str, Callable[[I64, I64], tuple[NDArray[Any], NDArray[Any]]]]


def _whole_numbers(dimension: int, count: int, seed: int) -> tuple[I64, I64]:
    """Boxes between whole numbers below 2¹⁹, sizes from 0 to a quarter of the space, half of them crowded."""
    random = np.random.default_rng([seed, dimension])
    lower = random.integers(-(2**18), 2**18, (count, dimension))
    lower[: count // 2] //= 2**14
    size = np.int64(2) ** random.integers(0, 17, (count, 1)) * random.integers(0, 3, (count, dimension))
    size[: count // 2] = random.integers(0, 12, (count // 2, dimension))
    return lower, lower + size


def _transforms(dimension: int) -> Iterator[Transform]:
    shift = np.array([4097, -65_536, 2**19 - 1])[:dimension]
    yield "translated", lambda low, high: (low + shift, high + shift)
    for exponent in (-30, -1, 11):
        yield f"scaled by 2**{exponent}", lambda low, high, e=exponent: (low * 2.0**e, high * 2.0**e)  # type: ignore[misc]
    yield "axes swapped", lambda low, high: (low[:, ::-1], high[:, ::-1])
    yield "axes rotated", lambda low, high: (np.roll(low, 1, axis=1), np.roll(high, 1, axis=1))
    yield "mirrored", lambda low, high: (-high, -low)


@broad_phase_check("metamorphic")
def metamorphic(subject: Subject) -> None:
    """Translating, scaling by powers of two, swapping axes, mirroring and permuting change no pair."""
    seeds = range(8 if subject.thorough else 1)
    for seed, dimension, closed in product(seeds, (2, 3), (True, False)):
        lower, upper = _whole_numbers(dimension, 150, seed)
        dtype = np.float32 if seed % 2 == 0 else np.float64
        scene = scene_of("whole numbers", lower.astype(dtype), upper.astype(dtype))
        with subject.trial(scene, closed=closed) as trial:
            plain, what = trial.make().pairs(), "pairs() beside those of the untouched scene"
            for name, transform in _transforms(dimension):
                trial.moment = name
                low, high = (np.ascontiguousarray(corner, dtype) for corner in transform(lower, upper))
                trial.agree(what, trial.make(Boxes(low, high)).pairs(), plain)
            trial.moment = "permuted"
            order = np.random.default_rng(seed).permutation(len(lower))
            shuffled = trial.make(scene.boxes().take(order)).pairs()
            back = np.sort(order[shuffled], axis=1).astype(np.int32)
            trial.agree(what, back[np.lexsort(back.T[::-1])], plain)


@broad_phase_check("monotone")
def monotone(subject: Subject) -> None:
    """Growing every box loses no pair, and a body far from all others adds none."""
    for dimension, closed in product((2, 3), (True, False)):
        lower, upper = _whole_numbers(dimension, 120, 3)
        scene = scene_of("whole numbers", lower.astype(np.float64), upper.astype(np.float64))
        with subject.trial(scene, closed=closed) as trial:
            plain = set(map(tuple, trial.make().pairs().tolist()))
            grown = set(map(tuple, trial.make(Boxes(scene.lower - 1, scene.upper + 1)).pairs().tolist()))
            lost = plain - grown
            trial.require(not lost, f"the pair {min(lost, default=0)} is lost when every box grows by 1")
            stranger = Boxes(np.full((1, dimension), 2.0**30), np.full((1, dimension), 2.0**30 + 1))
            joined = set(map(tuple, trial.make(scene.boxes().join(stranger)).pairs().tolist()))
            odd = plain ^ joined if subject.exact else plain - joined
            trial.require(not odd, f"the pair {min(odd, default=0)} comes or goes with a body far away from it")
