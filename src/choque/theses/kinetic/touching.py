"""Contacts of moving polygons: the kinetic sweep finds the boxes that meet, the outlines decide.

Relative to the first polygon the second one moves at the difference of their velocities. Two edges, one of them moving,
have a common point during one span of time: both parameters of their crossing are linear in time, so each of the four
bounds 0 ≤ s ≤ 1, 0 ≤ r ≤ 1 is a half-line. The outlines touch during the union of the spans of all edges. In a gap
between two spans one polygon may still be inside the other; one point decides for the whole gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.kinetic import Sweep
from choque.narrow.polygons import as_polygon, contains


@dataclass(frozen=True)
class ContactSpan:
    """The time span in which two polygons touch, or one lies inside the other."""

    pair: tuple[int, int]
    began: float
    """Start of the contact; the start of the interval if they were in contact then."""
    ended: float
    """End of the contact; the end of the interval if they still are in contact."""
    inside: tuple[tuple[float, float], ...] = ()
    """The spans within it in which one lies inside the other and the outlines do not touch."""


def contacts(
    polygons: Sequence[ArrayLike], velocity: ArrayLike, until: float, *, start: float = 0.0
) -> list[ContactSpan]:
    """Return all contacts of polygons that move at constant velocity, from ``start`` to ``until``, both included.

    Parameters
    ----------
    polygons
        (k, 2) vertices of each at ``start``; simple polygons, convex or not.
    velocity
        (n, 2).

    Returns
    -------
    contacts
        Sorted by the time they began, then by pair; a pair may have several. Touching counts.

    Notes
    -----
    Guarantees: no sampling: times are quotients of areas, in float64, each bound the result of one division. O(k·m) for
    a pair of k and m edges whose boxes meet.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> ahead = [[4, 0.5], [5, 0], [5, 1]]
    >>> found = contacts([square, ahead], velocity=[[1, 0], [0, 0]], until=10)
    >>> [(contact.pair, contact.began, contact.ended) for contact in found]
    [((0, 1), 3.0, 5.0)]
    """
    begin = check.number(start, "start")
    end = check.number(until, "until", begin)
    if not isinstance(polygons, Iterable):
        raise InvalidInput(f"polygons is {polygons!r}; it must be a list of polygons, each (k, 2) vertices.")
    outlines = [as_polygon(polygon, f"Polygon {row}") for row, polygon in enumerate(polygons)]
    speed = check.table(velocity, "velocity", (len(outlines), 2))
    if not outlines:
        return []
    sweep = Sweep([p.min(axis=0) for p in outlines], [p.max(axis=0) for p in outlines], speed, time=begin)
    met = {(a, b) for a, b in sweep.pairs().tolist()}
    events = sweep.advance(end)
    met.update((a, b) for a, b in events.pairs[events.began].tolist())
    found = []
    for a, b in met:
        for span in contact_spans(outlines[a], outlines[b], speed[b] - speed[a], end - begin):
            inside = tuple((begin + float(low), begin + float(high)) for low, high in span[2])
            found.append(ContactSpan((a, b), begin + float(span[0]), begin + float(span[1]), inside))
    return sorted(found, key=lambda each: (each.began, each.pair))


def contact_spans(
    first: NDArray[Any], second: NDArray[Any], velocity: NDArray[Any], duration: Any
) -> list[tuple[Any, Any, list[tuple[Any, Any]]]]:
    """Return (began, ended, inside) of every contact of ``first``, at rest, with ``second``, from 0 to ``duration``.

    Computes with the numbers given: arrays of `fractions.Fraction` (``dtype=object``) give exact times.
    """
    low, high = edge_spans(first, second, velocity)
    if len(low):
        low, high = np.maximum(low, 0 * duration), np.minimum(high, duration)
        real = low <= high
        low, high = low[real], high[real]
    touching: list[list[Any]] = []
    for begin, end in sorted(zip(low.tolist(), high.tolist(), strict=True)):
        if touching and begin <= touching[-1][1]:
            touching[-1][1] = max(touching[-1][1], end)
        else:
            touching.append([begin, end])
    # Between touches, and before and after them, one may be inside the other.
    marks = [0 * duration, *(time for span in touching for time in span), duration]
    spans: list[tuple[Any, Any, list[tuple[Any, Any]]]] = []
    for k in range(0, len(marks), 2):
        before, after = marks[k], marks[k + 1]
        if (before < after or not touching) and _is_inside(first, second + velocity * ((before + after) / 2)):
            _append(spans, before, after, [(before, after)])
        if k + 2 < len(marks):
            _append(spans, marks[k + 1], marks[k + 2], [])
    return spans


def edge_spans(first: NDArray[Any], second: NDArray[Any], velocity: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return (from, to) of the times at which an edge of ``first`` and one of the moving ``second`` share a point."""
    i, j = (index.ravel() for index in np.indices((len(first), len(second))))
    p, u = first[i], np.roll(first, -1, axis=0)[i] - first[i]
    q, z = second[j], np.roll(second, -1, axis=0)[j] - second[j]
    w = np.broadcast_to(velocity, p.shape)
    offset = q - p
    across = _cross(u, z)
    skew = across != 0
    lows, highs = [], []
    if skew.any():
        low, high, fair = _unbounded(int(skew.sum()), offset)
        scale = across[skew]
        for constant, rate in (
            (_cross(offset, z)[skew], _cross(w, z)[skew]),  # along the edge of the first
            (_cross(offset, u)[skew], _cross(w, u)[skew]),  # along the edge of the second
        ):
            sign = np.where(scale > 0, 1, -1)
            _bound(low, high, fair, constant * sign, rate * sign)
            _bound(low, high, fair, (scale - constant) * sign, -rate * sign)
        lows.append(low[fair])
        highs.append(high[fair])
    for k in np.flatnonzero(~skew):
        span = _parallel_span(offset[k], u[k], z[k], w[k])
        if span is not None:
            lows.append(np.array([span[0]], offset.dtype))
            highs.append(np.array([span[1]], offset.dtype))
    if not lows:
        return np.empty(0, offset.dtype), np.empty(0, offset.dtype)
    return np.concatenate(lows), np.concatenate(highs)


def _bound(
    low: NDArray[Any], high: NDArray[Any], fair: NDArray[np.bool_], constant: NDArray[Any], rate: NDArray[Any]
) -> None:
    """Narrow [low, high] to where constant + rate·t ≥ 0."""
    still = rate == 0
    fair &= ~(still & (constant < 0))
    time = -constant / np.where(still, 1, rate)
    low[:] = np.where(rate > 0, np.maximum(low, time), low)
    high[:] = np.where(rate < 0, np.minimum(high, time), high)


def _unbounded(count: int, like: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    low, high = np.full(count, -np.inf, like.dtype), np.full(count, np.inf, like.dtype)
    return low, high, np.ones(count, bool)


def _parallel_span(offset: NDArray[Any], u: NDArray[Any], z: NDArray[Any], w: NDArray[Any]) -> tuple[Any, Any] | None:
    """Return when two parallel edges, from 0 to u and from offset + w·t along z, share a point; None if never."""
    direction = u if (u != 0).any() else z
    if not (direction != 0).any():
        # Two points: a polygon with the same vertex twice. Its neighbouring edges have the same point.
        return None
    apart, closing = _cross(offset, direction), _cross(w, direction)
    # Along the line, in units of the squared length: the first covers [0, length], the second start + rate·t and as far
    # as z.
    start, rate = _dot(offset, direction), _dot(w, direction)
    ends, others = sorted((0 * start, _dot(u, direction))), sorted((start, start + _dot(z, direction)))
    if closing != 0:
        time = -apart / closing
        shift = rate * time
        return (time, time) if others[0] + shift <= ends[1] and ends[0] <= others[1] + shift else None
    if apart != 0:
        return None
    if rate == 0:
        return (-np.inf, np.inf) if others[0] <= ends[1] and ends[0] <= others[1] else None
    times = sorted(((ends[1] - others[0]) / rate, (ends[0] - others[1]) / rate))
    return times[0], times[1]


def _append(
    spans: list[tuple[Any, Any, list[tuple[Any, Any]]]], begin: Any, end: Any, inside: list[tuple[Any, Any]]
) -> None:
    if spans and spans[-1][1] == begin:
        spans[-1] = (spans[-1][0], end, spans[-1][2] + inside)
    else:
        spans.append((begin, end, inside))


def _is_inside(first: NDArray[Any], second: NDArray[Any]) -> bool:
    a, b = first.astype(np.float64), second.astype(np.float64)
    return contains(a, b[0]) or contains(b, a[0])


def _cross(a: NDArray[Any], b: NDArray[Any]) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _dot(a: NDArray[Any], b: NDArray[Any]) -> Any:
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]
