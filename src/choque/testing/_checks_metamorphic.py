"""Changes of the scene that must not change the answer, on numbers for which floating point is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.types import I64, Pairs
from choque.bounds import Boxes
from choque.testing._subject import Subject, Trial, broad_phase_check, scene_of

Transform: TypeAlias = tuple[str, Callable[[I64, I64], tuple[NDArray[Any], NDArray[Any]]]]


def _scene(dimension: int, count: int, seed: int) -> tuple[I64, I64]:
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
        lower, upper = _scene(dimension, 150, seed)
        dtype = np.float32 if seed % 2 == 0 else np.float64
        scene = scene_of("whole numbers", lower.astype(dtype), upper.astype(dtype))
        with subject.trial(scene, closed=closed) as trial:
            plain = trial.make().pairs()
            for name, transform in _transforms(dimension):
                trial.moment = name
                low, high = (np.ascontiguousarray(corner, dtype) for corner in transform(lower, upper))
                _same(trial, trial.make(Boxes(low, high)).pairs(), plain)
            trial.moment = "permuted"
            order = np.random.default_rng(seed).permutation(len(lower))
            shuffled = trial.make(scene.boxes().take(order)).pairs()
            back = np.sort(order[shuffled], axis=1).astype(np.int32)
            _same(trial, back[np.lexsort(back.T[::-1])], plain)


@broad_phase_check("monotone")
def monotone(subject: Subject) -> None:
    """Growing every box loses no pair, and a body far from all others adds none."""
    for dimension, closed in product((2, 3), (True, False)):
        lower, upper = _scene(dimension, 120, 3)
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


def _same(trial: Trial, found: Pairs, plain: Pairs) -> None:
    trial.agree("pairs() beside those of the untouched scene", found, plain)
