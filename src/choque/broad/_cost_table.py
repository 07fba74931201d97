"""What methods took at measured places, and what to expect between them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choque.errors import UnreadableFile
from choque.kernel import kernel

CUT_OFF = 10.0
"""How many times as long as the slowest a method is taken to need that did not finish."""

NIL = 1e-3
"""Added to a coordinate before its logarithm is taken, as it may be 0: boxes may rest, and need not overlap."""

Numbers = Mapping[str, float]


class Expectation(NamedTuple):
    """The method that is expected to be the fastest, and by how much."""

    method: str
    ratios: dict[str, float]
    """How many times as long as it each method is expected to take."""

    def __str__(self) -> str:
        others = sorted((ratio, name) for name, ratio in self.ratios.items() if name != self.method)
        lead = f", {others[0][0]:.2g}x before {others[0][1]}" if others else ""
        return f"{self.method} is expected to be the fastest{lead}"


class CostTable:
    """Places, each with what every method took there, and a choice for any other place.

    The time that a method is expected to take is the mean over all places, in logarithms, weighted by the inverse
    fourth power of their distance (Shepard, "A two-dimensional interpolation function for irregularly-spaced data",
    1968): near a place it is what was measured there. O(places) a question, a few microseconds for a hundred.

    Parameters
    ----------
    coordinates
        The names of the axes; all are positive or 0 and are compared by their decades.
    methods
        Who may be chosen.
    places
        Where each place lies, and the seconds of the methods measured there.
    weights
        How much a decade of each axis counts.
    """

    def __init__(
        self,
        coordinates: Sequence[str],
        methods: Collection[str],
        places: Sequence[tuple[Numbers, Numbers]],
        weights: Numbers | None = None,
    ) -> None:
        self.coordinates, self.methods = tuple(coordinates), tuple(methods)
        self._weights = np.array([(weights or {}).get(name, 1.0) for name in self.coordinates])
        points = np.array([self._point(where) for where, _ in places])
        self._points = points.reshape(len(places), len(self.coordinates))
        times = np.array([self._logarithms(seconds) for _, seconds in places])
        self._times = times.reshape(len(places), len(self.methods))

    def __len__(self) -> int:
        return len(self._points)

    def choose(self, where: Numbers) -> Expectation:
        """The method from which to expect the least time at this point."""
        return self.choose_at([where[name] for name in self.coordinates])

    def choose_at(self, where: Sequence[float]) -> Expectation:
        """The same, from a number for each of ``coordinates``."""
        found = _ratios(np.array(where, np.float64), self._weights, self._points, self._times)
        ratios = dict(zip(self.methods, found.tolist(), strict=True))
        return Expectation(min(ratios, key=ratios.__getitem__), ratios)

    def _point(self, where: Numbers) -> Any:
        return np.log10(np.array([float(where[name]) for name in self.coordinates]) + NIL) * self._weights

    def _logarithms(self, seconds: Numbers) -> list[float]:
        # A method that was not measured at a place was cut off there, and took longer than any that was.
        cut_off = CUT_OFF * max(seconds.values())
        return [math.log(seconds.get(method, cut_off)) for method in self.methods]


def read_cost_table(
    path: str | os.PathLike[str], methods: Collection[str], weights: Numbers | None = None
) -> CostTable:
    """Read the table in a performance map of the laboratory (JSON), for a choice among ``methods``."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        places = [(place["coordinates"], place["seconds"]) for place in data["places"]]
        table = CostTable(data["coordinates"], methods, places, weights)
    except OSError as problem:
        raise UnreadableFile(f"The performance map {path} cannot be read: {problem.strerror}.") from problem
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UnreadableFile(
            f"The file {path} is no performance map ({problem!r}); 'choque lab run comparison' writes one."
        ) from problem
    if not len(table):
        raise UnreadableFile(f"The performance map {path} holds no places; 'choque lab run comparison' writes one.")
    return table


@kernel
def _ratios(where: Any, weights: Any, points: Any, times: Any) -> Any:
    """Per method how many times as long as the fastest it is expected to take."""
    expected = np.zeros(times.shape[1])
    total = 0.0
    for place in range(points.shape[0]):
        distance = 1e-3
        for axis in range(points.shape[1]):
            distance += (points[place, axis] - np.log10(where[axis] + NIL) * weights[axis]) ** 2
        weight = 1.0 / (distance * distance)
        total += weight
        for method in range(times.shape[1]):
            expected[method] += weight * times[place, method]
    expected /= total
    return np.exp(expected - np.min(expected))
