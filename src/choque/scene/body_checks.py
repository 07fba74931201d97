"""What the bodies of a scene may be: one set of rules for files, generators and Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.scene.body_columns import BOX, CAPSULE, KIND_WORDS, SIZE_WORDS, SPHERE, TILE, BodyColumns

LARGEST, SMALLEST = 1e12, 1e-12
"""The bounds of all numbers: a mass times a radius squared, and its inverse, still fit into single precision."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one body: the first in the order of the rows."""

    row: int
    kind: str
    attribute: str
    value: object
    allowed: str

    def sentence(self, attribute: str | None = None, kind: str | None = None) -> str:
        """Say it; ``attribute`` and ``kind`` are what the file calls them."""
        shown = ",".join(f"{each:g}" for each in np.atleast_1d(np.asarray(self.value)).tolist())
        return f"the {attribute or self.attribute} of this {kind or self.kind} is {shown}; it must be {self.allowed}."


def first_fault(bodies: BodyColumns) -> Fault | None:
    """Find the first body that is not allowed, and what of it; None where all are."""
    found: Fault | None = None
    for attribute, column, bad, allowed in _rules(bodies):
        if bad.any():
            row = int(np.argmax(bad))
            if found is None or row < found.row:
                found = Fault(row, KIND_WORDS[bodies.kind[row]], attribute, column[row], allowed)
    return found


def _rules(bodies: BodyColumns) -> Iterator[tuple[str, NDArray[Any], NDArray[np.bool_], str]]:
    """Go through the rules: the attribute, its column, the rows that break the rule, and what is allowed."""
    for name in ("position", "velocity", "acceleration", "angles", "spin"):
        column = getattr(bodies, name)
        yield name, column, ~(np.abs(column) <= LARGEST).all(axis=1), f"three numbers from -{LARGEST:g} to {LARGEST:g}"
    for kind, places in ((SPHERE, (0,)), (CAPSULE, (0,)), (TILE, (0, 1)), (BOX, (0, 1, 2))):
        for place in places:
            column = bodies.size[:, place]
            yield SIZE_WORDS[kind][place], column, (bodies.kind == kind) & ~_positive(column), _POSITIVE
    length = bodies.size[:, 1]
    unfit = (bodies.kind == CAPSULE) & ~(_positive(length) | (length == 0))
    yield "length", length, unfit, f"0, or {_POSITIVE}"
    yield "mass", bodies.mass, ~_positive(bodies.mass), _POSITIVE
    elasticity = bodies.elasticity
    yield "elasticity", elasticity, ~((elasticity >= 0) & (elasticity <= 1)), "a number from 0 to 1"
    unfit = bodies.rocket & (bodies.kind != CAPSULE)
    yield "rocket", bodies.rocket, unfit, "false, for only capsules are drawn as rockets"


_POSITIVE = f"a number from {SMALLEST:g} to {LARGEST:g}"


def _positive(column: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (column >= SMALLEST) & (column <= LARGEST)
