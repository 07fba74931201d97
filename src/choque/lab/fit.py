"""Curves through measured points: four families that are linear in their coefficients, and power laws.

The families are those in which the thesis on kinetic sweep-and-prune states its results. Each is a sum of known
functions, so the best coefficients are the solution of one linear system: no starting values, no iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput, UnknownName, require

Floats = NDArray[np.float64]
Rule = Literal["steps", "aic"]

TERMS: Mapping[str, Callable[[Floats], Floats]] = {
    "x²": lambda x: x * x,
    "x·ln x": lambda x: x * np.log(x),
    "x": lambda x: x,
    "ln x": np.log,
    "1": np.ones_like,
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "sublinear": ("ln x", "1"),
    "linear": ("x", "ln x", "1"),
    "subquadratic": ("x·ln x", "x", "ln x", "1"),
    "quadratic": ("x²", "x·ln x", "x", "ln x", "1"),
}
"""From the slowest growth to the fastest; the first term of each leads."""
POWER = "power"


@dataclass(frozen=True)
class Fit:
    """A curve and how well it goes through the points.

    For a power law, y = a·xᵇ, everything below is about ln y = ln a + b·ln x, where it is a straight line; the
    coefficients given are a and b themselves.
    """

    family: str
    terms: tuple[str, ...]
    coefficients: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    """For each coefficient its 95 % interval; infinite where no degree of freedom is left."""
    count: int
    dfe: int
    """Degrees of freedom of the error: points less coefficients."""
    sse: float
    """Weighted sum of squared errors."""
    r2: float
    adjusted_r2: float
    rmse: float
    """√(SSE / dfe)."""
    aic: float
    """Akaike's criterion with the correction for few points; only to compare fits to the same points."""

    def __call__(self, x: ArrayLike) -> Floats:
        """Evaluate the curve at ``x``."""
        places = np.asarray(x, np.float64)
        if self.family == POWER:
            scale, exponent = self.coefficients
            power: Floats = scale * places**exponent
            return power
        total: Floats = sum(
            (value * TERMS[term](places) for value, term in zip(self.coefficients, self.terms, strict=True)),
            start=np.zeros_like(places),
        )
        return total

    def __str__(self) -> str:
        if self.family == POWER:
            return f"{self.coefficients[0]:.3g}·x^{self.coefficients[1]:.3f}"
        words = [f"{value:+.3g}·{term}" for value, term in zip(self.coefficients, self.terms, strict=True)]
        return " ".join(words).removesuffix("·1").removeprefix("+")


def fit_family(family: str, x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Fit:
    """Fit one of `FAMILIES` by weighted least squares.

    Parameters
    ----------
    x, y
        (n,) places above 0 and values; at least as many different places as the family has terms.
    weights
        (n,) weights w of Σ w·(y − ŷ)²; None for 1. `relative` gives those for errors that grow with y.
    """
    if family not in FAMILIES:
        raise UnknownName("family of curves", family, FAMILIES)
    terms = FAMILIES[family]
    places, values = _points(x, y, len(terms))
    columns = np.stack([TERMS[term](places) for term in terms], axis=1)
    return _solve(family, terms, columns, values, _weights(weights, len(values)))


def fit_power(x: ArrayLike, y: ArrayLike) -> Fit:
    """Fit y = a·xᵇ, as a straight line on logarithmic axes: errors count in proportion to y."""
    places, values = _points(x, y, 2)
    if (values <= 0).any():
        raise InvalidInput(f"y is {values.min()} at one place; a power law needs values above 0.")
    columns = np.stack([np.ones_like(places), np.log(places)], axis=1)
    line = _solve(POWER, ("a", "b"), columns, np.log(values), np.ones(len(values)))
    scale = tuple(float(each) for each in np.exp([line.coefficients[0], *line.intervals[0]]))
    return Fit(
        **{
            **vars(line),
            "coefficients": (scale[0], line.coefficients[1]),
            "intervals": ((scale[1], scale[2]), line.intervals[1]),
        }
    )


def relative(y: ArrayLike) -> Floats:
    """Weights for errors in proportion to y, as those of times over several orders of magnitude: 1/y²."""
    values = np.abs(np.asarray(y, np.float64))
    smallest = values[values > 0].min(initial=1.0)
    weights: Floats = 1 / np.maximum(values, smallest) ** 2
    return weights


def fit_all(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> dict[str, Fit]:
    """Fit every family that the number of different places allows, in the order of growth."""
    places = len(np.unique(np.asarray(x, np.float64)))
    return {family: fit_family(family, x, y, weights) for family, terms in FAMILIES.items() if len(terms) <= places}


def choose(fits: Mapping[str, Fit] | Sequence[Fit], rule: Rule = "steps") -> Fit:
    """Choose among fits to the same points.

    ``"steps"`` is the rule of the thesis: go to the next larger family while adjusted R² rises, RMSE falls and the 95 %
    interval of the leading coefficient lies above 0; anything further would be over-fitting. A family that fails does
    not end the search if a larger one passes against the best so far. ``"aic"`` takes the smallest criterion.
    """
    listed = list(fits.values()) if isinstance(fits, Mapping) else list(fits)
    if not listed:
        raise InvalidInput("There are no fits to choose from; give measurements at two different sizes or more.")
    if rule == "aic":
        return min(listed, key=lambda fit: fit.aic)
    if rule != "steps":
        raise UnknownName("rule for choosing", rule, ("steps", "aic"))
    best = listed[0]
    for fit in listed[1:]:
        if fit.dfe > 0 and fit.adjusted_r2 > best.adjusted_r2 and fit.rmse < best.rmse and fit.intervals[0][0] > 0:
            best = fit
    return best


def _solve(family: str, terms: tuple[str, ...], columns: Floats, values: Floats, weights: Floats) -> Fit:
    count, term_count = columns.shape
    root = np.sqrt(weights)
    weighted = columns * root[:, np.newaxis]
    # Terms differ by many orders of magnitude; columns of length 1 keep the system solvable.
    scale = np.sqrt((weighted**2).sum(axis=0))
    scale[scale == 0] = 1.0  # ln 1, where 1 is the only place
    orthogonal, triangle = np.linalg.qr(weighted / scale)
    inverse = np.linalg.pinv(triangle)
    coefficients = inverse @ (orthogonal.T @ (values * root)) / scale
    errors = values - columns @ coefficients
    sse = float((weights * errors**2).sum())
    mean = float((weights * values).sum() / weights.sum())
    sst = float((weights * (values - mean) ** 2).sum())
    dfe = count - term_count
    spread = np.sqrt((inverse**2).sum(axis=1)) / scale
    half = _student(dfe) * np.sqrt(sse / dfe) * spread if dfe > 0 else np.full(term_count, np.inf)
    return Fit(
        family=family,
        terms=terms,
        coefficients=tuple(float(each) for each in coefficients),
        intervals=tuple((float(c - h), float(c + h)) for c, h in zip(coefficients, half, strict=True)),
        count=count,
        dfe=dfe,
        sse=sse,
        r2=1 - sse / sst if sst else 1.0,
        adjusted_r2=1 - sse * (count - 1) / (sst * dfe) if sst and dfe > 0 else float("nan"),
        rmse=float(np.sqrt(sse / dfe)) if dfe > 0 else float("nan"),
        aic=_akaike(sse, count, term_count + 1),
    )


def _akaike(sse: float, count: int, parameter_count: int) -> float:
    """Hurvich and Tsai's corrected criterion; infinite where there are too few points for it."""
    if count - parameter_count - 1 <= 0:
        return float("inf")
    correction = 2 * parameter_count * (parameter_count + 1) / (count - parameter_count - 1)
    return float(count * np.log(max(sse, 1e-300) / count) + 2 * parameter_count + correction)


def _student(dfe: int) -> float:
    # Not scipy.stats, which takes a second to import.
    special = require("scipy.special", extra="lab", purpose="to give intervals of fitted coefficients")
    return float(special.stdtrit(dfe, 0.975))


def _points(x: ArrayLike, y: ArrayLike, term_count: int) -> tuple[Floats, Floats]:
    try:
        places, values = np.asarray(x, np.float64).ravel(), np.asarray(y, np.float64).ravel()
    except (TypeError, ValueError):
        raise InvalidInput("Places and values must be numbers.") from None
    if len(places) != len(values):
        raise InvalidInput(f"There are {len(places)} places and {len(values)} values; give as many of both.")
    if not (np.isfinite(places).all() and np.isfinite(values).all() and (places > 0).all()):
        raise InvalidInput("Places and values must be finite, and places above 0.")
    if (different := len(np.unique(places))) < term_count:
        raise InvalidInput(f"{term_count} coefficients need at least as many different places; measured: {different}.")
    return places, values


def _weights(weights: ArrayLike | None, count: int) -> Floats:
    given = np.ones(count) if weights is None else np.asarray(weights, np.float64).ravel()
    if given.shape != (count,) or not (given > 0).all():
        raise InvalidInput(f"weights must be {count} numbers above 0, one for each point.")
    return given
