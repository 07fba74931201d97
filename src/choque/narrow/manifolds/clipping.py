"""Manifolds between faces: clip one face by the sides of another, and keep four points.

The *reference* face lies in the plane of two axes. The corners of the other, the *incident* face, are given by their
two coordinates in that plane and their height above it. Clipping by the sides of the reference face leaves the region
in which both face each other. Corners keep their feature id, and a corner made by clipping is named after the edge and
the side that met, so that the ids last while bodies hardly move (Sutherland and Hodgman, 1974, for the clipping).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import helper
from choque._core.types import Integer
from choque._core.vector import Vector, add, along, scaled
from choque.narrow.manifolds.solids import Scratch, put_point
from choque.narrow.pair import MAX_POINTS, ContactArrays

FIRST_MADE, MADE = 128, 16384  # the first label of a corner that clipping makes, and how many labels two faces have


@helper
def start_corner(scratch: Scratch, place: Integer, x: float, y: float, height: float) -> None:
    """Write a corner of the incident face, before clipping."""
    flat, label = scratch.flat, scratch.label
    flat[0, place, 0], flat[0, place, 1], flat[0, place, 2] = x, y, height
    label[0, place, 0] = label[0, place, 1] = place


@helper
def clip(scratch: Scratch, count: Integer, side_count: Integer) -> tuple[Any, Any]:
    """Clip the corners in buffer 0 by all sides; return the buffer with the rest, and how many corners it has.

    Two corners are a segment, three and more a polygon, one a point.
    """
    _, flat, label, sides = scratch
    own, now, is_open = count, 0, count < 3
    for side in range(side_count):
        then, kept = 1 - now, 0
        x, y, limit = sides[side, 0], sides[side, 1], sides[side, 2]
        for corner in range(count):
            following = corner + 1 if corner + 1 < count else 0
            here = x * flat[now, corner, 0] + y * flat[now, corner, 1] - limit
            there = x * flat[now, following, 0] + y * flat[now, following, 1] - limit
            if here <= 0:
                for part in range(3):
                    flat[then, kept, part] = flat[now, corner, part]
                label[then, kept, 0], label[then, kept, 1] = label[now, corner, 0], label[now, corner, 1]
                kept += 1
            if (here <= 0) != (there <= 0) and not (is_open and following == 0):
                share = here / (here - there)
                for part in range(3):
                    start = flat[now, corner, part]
                    flat[then, kept, part] = start + share * (flat[now, following, part] - start)
                edge = label[now, corner, 0]
                label[then, kept, 0] = own + side if here <= 0 else edge
                label[then, kept, 1] = FIRST_MADE + edge * 64 + side
                kept += 1
        now, count = then, kept
    return now, count


@helper
def keep_near(scratch: Scratch, now: Integer, count: Integer, margin: float) -> Any:
    """Keep the corners lower than ``margin``, at most four of them; return how many."""
    flat, label = scratch.flat, scratch.label
    kept = 0
    for corner in range(count):
        if flat[now, corner, 2] < margin:
            _swap(flat, label, now, kept, corner)
            kept += 1
    if kept > MAX_POINTS:
        _keep_four(flat, label, now, kept)
        kept = MAX_POINTS
    return kept


@helper
def _keep_four(flat: Any, label: Any, now: Integer, count: Integer) -> None:
    """Move to the front: the lowest, the farthest from it, the farthest from their line, the farthest across it."""
    for keep in range(MAX_POINTS):
        best, which = -np.inf, keep
        x, y = flat[now, 0, 0], flat[now, 0, 1]
        run, rise = flat[now, 1, 0] - x, flat[now, 1, 1] - y
        side = 1.0 if run * (flat[now, 2, 1] - y) - rise * (flat[now, 2, 0] - x) < 0 else -1.0
        for corner in range(keep, count):
            if keep == 0:
                value = -flat[now, corner, 2]
            elif keep == 1:
                value = (flat[now, corner, 0] - x) ** 2 + (flat[now, corner, 1] - y) ** 2
            else:
                value = run * (flat[now, corner, 1] - y) - rise * (flat[now, corner, 0] - x)
                value = abs(value) if keep == 2 else side * value
            if value > best:
                best, which = value, corner
        _swap(flat, label, now, keep, which)


@helper
def _swap(flat: Any, label: Any, now: Integer, one: Integer, other: Integer) -> None:
    if one == other:
        return
    for part in range(3):
        flat[now, one, part], flat[now, other, part] = flat[now, other, part], flat[now, one, part]
    for part in range(2):
        label[now, one, part], label[now, other, part] = label[now, other, part], label[now, one, part]


@helper
def write_flat(
    found: ContactArrays,
    pair: Integer,
    scratch: Scratch,
    kept: tuple[Any, Any],
    frame: tuple[Vector, Vector, Vector, Vector],
    flipped: Any,
    base: Integer,
) -> None:
    """Write the manifold of the corners ``kept``, a buffer and their number, the lowest first.

    ``frame`` is a point of the reference plane, two axes in it, and its normal. ``flipped``: the reference face is that
    of the second solid. ``base`` names the two faces.
    """
    flat, label = scratch.flat, scratch.label
    now, count = kept
    origin, right, up, normal = frame
    sign = -1.0 if flipped else 1.0
    found.point_count[pair] = count
    for axis in range(3):
        found.normal[pair, axis] = sign * normal[axis]
    for corner in range(1, count):
        if flat[now, corner, 2] < flat[now, 0, 2]:
            _swap(flat, label, now, 0, corner)
    for corner in range(count):
        height = flat[now, corner, 2]
        point = add(origin, add(scaled(right, flat[now, corner, 0]), scaled(up, flat[now, corner, 1])))
        if flipped:
            point = along(point, normal, height)
        put_point(found, pair, corner, point, height, base * MADE + label[now, corner, 1])
