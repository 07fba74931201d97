"""What methods took at measured places, and what to expect between them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import F64
from choque.errors import UnreadableFile

CUT_OFF = 10.0  # a method that timed out is charged this multiple of the slowest measured time
NIL = 1e-3  # added to a coordinate before its logarithm is taken, as it may be 0: boxes may rest, and need not overlap
NEAR = 0.01  # added to the square of a distance: places nearer than its root, a tenth of a decade, count about alike

STIFFNESS = 1e-3
"""Added to the mean squares of terms: the law has no exponent along an axis on which places do not differ."""

Numbers = Mapping[str, float]


class Expectation(NamedTuple):
    """The method that is expected to be the fastest, and by how much."""

    method: str
    ratios: dict[str, float]  # how many times as long as it each method is expected to take

    @classmethod
    def of(cls, methods: Sequence[str], ratios: F64) -> Expectation:
        """Make it from the ratios of ``methods``, the least of which is 1."""
        return cls(methods[int(ratios.argmin())], dict(zip(methods, ratios.tolist(), strict=True)))

    def __str__(self) -> str:
        others = sorted((ratio, name) for name, ratio in self.ratios.items() if name != self.method)
        lead = f", {others[0][0]:.2g}x as fast as {others[0][1]}" if others else ""
        return f"{self.method} is expected to be the fastest{lead}"


class TableArrays(NamedTuple):
    """What `expect_ratios` reads of a table."""

    axes: F64  # (2, axes): how much a decade of each counts, and the mean of all places
    law: F64  # (terms, methods): the fitted law
    places: F64
    """(places, axes + methods): each about their mean, and what the law leaves of the logarithms measured there."""


class CostTable:
    """Places, each with what every method took there, and a choice for any other place.

    Times are nearly powers of the coordinates. So a law is fitted through all places, and what it leaves is added
    as the mean over all places, in logarithms, weighted by the inverse fourth power of their distance (Shepard, "A
    two-dimensional interpolation function for irregularly-spaced data", 1968): near places it is about what was
    measured there, and beyond them it is extrapolated. O(places) for each query, a few microseconds for two hundred.
    """

    def __init__(
        self,
        coordinates: Sequence[str],  # the names of the axes; all are positive or 0 and are compared by their decades
        methods: Collection[str],  # who may be chosen
        places: Sequence[tuple[Numbers, Numbers]],  # where each place lies, and the seconds of the methods there
        weights: Numbers | None = None,  # how much a decade of each axis counts
        degree: int = 1,  # of the law; 2 if its exponents change along the axes, where places enough are measured
    ) -> None:
        self.degree = degree
        self.coordinates, self.methods = tuple(coordinates), tuple(methods)
        self._places = list(places)
        self._weights = np.array([(weights or {}).get(name, 1.0) for name in self.coordinates])
        points = np.array([self._point(where) for where, _ in places]).reshape(len(places), len(self.coordinates))
        times = np.array([self._logarithms(seconds) for _, seconds in places]).reshape(len(places), len(self.methods))
        middle = points.mean(axis=0) if len(places) else np.zeros(len(self.coordinates))
        terms = _terms(points - middle, degree)
        law = _fitted(terms, times)
        places_and_rest = np.hstack((points - middle, times - terms @ law))
        self.arrays = TableArrays(np.stack((self._weights, middle)), law, places_and_rest)

    def __len__(self) -> int:
        return len(self._places)

    def only(self, coordinate: str, value: float) -> CostTable:
        """Return the table of only those places that have this ``value``."""
        places = [place for place in self._places if place[0][coordinate] == value]
        weights = dict(zip(self.coordinates, self._weights.tolist(), strict=True))
        return CostTable(self.coordinates, self.methods, places, weights, self.degree)

    def choose(self, where: Numbers) -> Expectation:
        """Return the method with the least expected time at this point."""
        ratios = np.empty(len(self.methods))
        expect_ratios(np.array([where[name] for name in self.coordinates], np.float64), self.arrays, ratios)
        return Expectation.of(self.methods, ratios)

    def _point(self, where: Numbers) -> Any:
        return np.log10(np.array([float(where[name]) for name in self.coordinates]) + NIL) * self._weights

    def _logarithms(self, seconds: Numbers) -> list[float]:
        # A method that was not measured at a place was cut off there, and took longer than any that was.
        cut_off = CUT_OFF * max(seconds.values())
        return [math.log(seconds.get(method, cut_off)) for method in self.methods]


def read_cost_table(
    path: str | os.PathLike[str], methods: Collection[str], weights: Numbers | None = None, degree: int = 1
) -> CostTable:
    """Read the table in a performance map of the laboratory (JSON), for a choice among ``methods``."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        places = [(place["coordinates"], place["seconds"]) for place in data["places"]]
        table = CostTable(data["coordinates"], methods, places, weights, degree)
    except OSError as problem:
        raise UnreadableFile(f"The performance map {path} cannot be read: {problem.strerror}.") from problem
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UnreadableFile(
            f"The file {path} is not a performance map ({problem!r}); 'choque lab run comparison' writes one."
        ) from problem
    if not len(table):
        raise UnreadableFile(f"The performance map {path} holds no places; 'choque lab run comparison' writes one.")
    return table


def _terms(points: Any, degree: int) -> Any:
    """1, the coordinates, and for degree 2 their products: (places, terms), in the order of `expect_ratios`."""
    axes = range(points.shape[1])
    products = [points[:, a] * points[:, b] for a in axes for b in axes if a <= b] if degree == 2 else []
    return np.column_stack([np.ones(len(points)), points, *products])


def _fitted(terms: Any, times: Any) -> Any:
    """Return the least-squares coefficients (terms, methods), slightly regularised but for the constant."""
    stiffness = STIFFNESS * np.eye(terms.shape[1]) * max(len(terms), 1)
    stiffness[0, 0] = 0.0 if len(terms) else 1.0
    return np.linalg.solve(terms.T @ terms + stiffness, terms.T @ times)


@kernel
def expect_ratios(where: Any, table: TableArrays, expected: Any) -> None:
    """Write the time that each method is expected to take at ``where`` (axes,), as a multiple of the best."""
    law, places = table.law, table.places
    axes, methods = where.size, expected.size
    here = np.empty(axes)
    for axis in range(axes):
        here[axis] = math.log10(where[axis] + NIL) * table.axes[0, axis] - table.axes[1, axis]
    for method in range(methods):
        expected[method] = 0.0
    total = 0.0
    for place in range(places.shape[0]):
        distance = NEAR
        for axis in range(axes):
            distance += (places[place, axis] - here[axis]) ** 2
        weight = 1.0 / (distance * distance)
        total += weight
        for method in range(methods):
            expected[method] += weight * places[place, axes + method]
    best = np.inf
    for method in range(methods):
        expected[method] = expected[method] / total + law[0, method]
        for axis in range(axes):
            expected[method] += here[axis] * law[axis + 1, method]
        term = axes + 1
        for axis in range(axes if law.shape[0] > term else 0):
            for other in range(axis, axes):
                expected[method] += here[axis] * here[other] * law[term, method]
                term += 1
        best = min(best, expected[method])
    for method in range(methods):
        expected[method] = math.exp(expected[method] - best)
