"""Makers of the bounding volumes of bodies, by name: what a broad phase is given at each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from choque._core import memory
from choque._core.kernel import helper, kernel
from choque._core.registry import Registry
from choque._core.threads import over_ranges
from choque._core.types import F64, I8, Bools, Floats, Integer, Pairs
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres, directions
from choque.broad import find
from choque.errors import InvalidInput
from choque.narrow.extents import bound, bound_boxes, bound_oriented, bound_slabs, bound_spheres
from choque.narrow.shapes import SPHERE
from choque.world.bodies import Bodies

AHEAD = 0.06  # wider bounds reach ahead of a moving body by its way in this time, so that it leaves them later [s]
RARE = 4  # bodies faster than the mean by this factor look ahead that much farther
AHEAD_LIMIT = 8.0  # and by no more than its margin times this: more candidates would cost more than searching again
REACH = 8  # numbers of a body in `_write_reach`

Surroundings: TypeAlias = "tuple[Floats, Floats, Floats, Floats, Floats]"
"""Boxes of bodies, lower and upper (n, 3), how far they reach beyond these (n,), and their outer boxes."""

Maker = Callable[[Bodies, int], Bounds]
"""Returns the bounding volumes of bodies; the second argument is the number of threads."""


class BodyBoxes(OrientedBoxes):
    """Oriented boxes of bodies, with the axis-aligned boxes of the bodies themselves, which are tighter.

    The box of a capsule lies inside the box around its oriented box. A method that sweeps boxes first and tests
    oriented boxes then uses both.
    """

    lower: Floats
    upper: Floats

    _fields = ("center", "half", "axes", "lower", "upper")  # type: ignore[assignment]

    def boxes(self) -> Boxes:
        """Return the axis-aligned boxes of the bodies."""
        return Boxes.unchecked(self.lower, self.upper)

    def _moved(self, rotation: F64, translation: F64) -> BodyBoxes:
        moved = OrientedBoxes.unchecked(self.center, self.half, self.axes)._moved(rotation, translation)
        around = moved.boxes()
        return self.unchecked(moved.center, moved.half, moved.axes, around.lower, around.upper)


def box_bounds(bodies: Bodies, threads: int) -> Boxes:
    """Return the axis-aligned box of each body."""
    lower, upper = _empty(bodies, 3), _empty(bodies, 3)
    _run(bound_boxes, bodies, threads, lower, upper)
    return Boxes.unchecked(lower, upper)


def oriented_bounds(bodies: Bodies, threads: int) -> BodyBoxes:
    """Return the box of each body along its own axes, and its axis-aligned box."""
    center, half, axes = _empty(bodies, 3), _empty(bodies, 3), _empty(bodies, 3, 3)
    _run(bound_oriented, bodies, threads, center, half, axes)
    around = box_bounds(bodies, threads)
    return BodyBoxes.unchecked(center, half, axes, around.lower, around.upper)


def sphere_bounds(bodies: Bodies, threads: int) -> Spheres:
    """Return the smallest sphere about the centre of each body that encloses it."""
    center, radius = _empty(bodies, 3), _empty(bodies)
    _run(bound_spheres, bodies, threads, center, radius)
    return Spheres.unchecked(center, radius)


def _slab_bounds(along: F64, bodies: Bodies, threads: int) -> KDops:
    """Return the k-DOP of each body along directions (k / 2, 3)."""
    lower, upper = _empty(bodies, len(along)), _empty(bodies, len(along))
    _run(bound_slabs, bodies, threads, along, lower, upper)
    return KDops.unchecked(lower, upper)


_SLABS = {f"{k}-dop": k for k in (6, 14, 18, 26)}
# Not closures, which could not be pickled.
dop_6, dop_14, dop_18, dop_26 = (partial(_slab_bounds, directions(k).astype(np.float64)) for k in _SLABS.values())

MAKERS: Registry[Maker] = Registry(
    "kind of bounds",
    {
        "box": "choque.world.bounds:box_bounds",
        "oriented": "choque.world.bounds:oriented_bounds",
        "sphere": "choque.world.bounds:sphere_bounds",
        **{name: f"choque.world.bounds:dop_{k}" for name, k in _SLABS.items()},
    },
    group="choque.bounds",
)
"""Makers of bounds by name; other packages add theirs by an entry point in ``choque.bounds``."""

_BUILT_IN = ("box", "oriented", "sphere", *_SLABS)


def widened(bounds: Bounds, by: Floats) -> Bounds:
    """Return bounds of any kind that reach farther by the lengths ``by`` (n,) every way."""
    wider = by[:, np.newaxis]
    if isinstance(bounds, Boxes):
        return Boxes.unchecked(bounds.lower - wider, bounds.upper + wider)
    if isinstance(bounds, Spheres):
        return Spheres.unchecked(bounds.center, bounds.radius + by)
    if isinstance(bounds, BodyBoxes):
        grown = (bounds.half + wider, bounds.axes, bounds.lower - wider, bounds.upper + wider)
        return BodyBoxes.unchecked(bounds.center, *grown)
    if isinstance(bounds, KDops):
        along = directions(2 * bounds.lower.shape[1])
        wider = wider * np.linalg.norm(along, axis=1).astype(bounds.lower.dtype)
        return KDops.unchecked(bounds.lower - wider, bounds.upper + wider)
    raise InvalidInput(
        f'Bounds of the kind {type(bounds).__name__} cannot be made wider, as the response needs; choose bounds="box".'
    )


def surrounding(boxes: Boxes, velocity: Floats, margins: tuple[Floats, Floats], drift: F64, thread_count: int) -> Boxes:
    """Return boxes that reach farther by two ``margins`` (n,) every way, and ahead of what moves faster than ``drift``.

    Ahead by its way in a few steps, at most `AHEAD_LIMIT` times its margin; farther for bodies that are much faster
    than most: one ball that rolls must not make all others be searched again.
    """
    around = Boxes.unchecked(*(memory.empty(boxes.lower.shape, boxes.lower.dtype) for _ in range(2)))
    given = (boxes.lower, boxes.upper, around.lower, around.upper)
    rare = RARE * mean_speed(velocity, drift)
    over_ranges(_surround, len(velocity), thread_count, given, (velocity, drift), margins, rare)
    return around


@kernel
def mean_row(column: Floats, static: Bools) -> tuple[float, float, float]:
    """Return the mean of the rows (n, 3) of bodies that are not static; zeros if there are none."""
    x = y = z = 0.0
    count = 0
    for row in range(static.size):
        if not static[row]:
            x, y, z = x + column[row, 0], y + column[row, 1], z + column[row, 2]
            count += 1
    share = 1.0 / max(1, count)
    return x * share, y * share, z * share


@kernel
def mean_speed(velocity: Floats, drift: F64) -> Any:
    """Return the mean over all bodies of the greatest component of velocities (n, 3), relative to ``drift`` (3,)."""
    total = 0.0
    for row in range(velocity.shape[0]):
        total += _greatest(velocity, row, drift)
    return total / max(1, velocity.shape[0])


@helper
def _greatest(velocity: Floats, row: Integer, drift: F64) -> Any:
    x, y, z = velocity[row, 0] - drift[0], velocity[row, 1] - drift[1], velocity[row, 2] - drift[2]
    return max(abs(x), max(abs(y), abs(z)))


@kernel
def _surround(
    first: Integer, last: Integer, boxes: tuple[Any, ...], motion: tuple[Any, F64], margins: Any, rare: float
) -> None:
    lower, upper, low, high = boxes
    velocity, drift = motion
    near, fat = margins
    for row in range(first, last):
        margin = np.float64(near[row]) + np.float64(fat[row])
        steps = RARE if _greatest(velocity, row, drift) > rare else 1
        most = AHEAD_LIMIT * margin * steps
        for axis in range(3):
            way = min(max((velocity[row, axis] - drift[axis]) * AHEAD * steps, -most), most)
            low[row, axis] = lower[row, axis] - margin + min(way, 0.0)
            high[row, axis] = upper[row, axis] + margin + max(way, 0.0)


def leave(boxes: Boxes, by: Floats, outer: tuple[Floats, Floats], shift: tuple[Any, ...], thread_count: int) -> bool:
    """Tell whether a box that reaches farther by ``by`` (n,) leaves its outer box, which has moved by ``shift``.

    ``outer`` are the lower and upper corners (n, 3) of the outer boxes.
    """
    return any(over_ranges(_leave, len(by), thread_count, boxes.lower, boxes.upper, by, *outer, shift))


@kernel
def _leave(
    first: Integer,
    last: Integer,
    lower: Floats,
    upper: Floats,
    by: Floats,
    outer_lower: Floats,
    outer_upper: Floats,
    shift: tuple[Any, ...],
) -> bool:
    for row in range(first, last):
        for axis in range(3):
            if (
                lower[row, axis] - by[row] < outer_lower[row, axis] + shift[axis]
                or upper[row, axis] + by[row] > outer_upper[row, axis] + shift[axis]
            ):
                return True
    return False


def without_far_spheres(pairs: Pairs, kind: I8, around: Surroundings, thread_count: int) -> Pairs:
    """Drop candidates of which one is a sphere that stays far from the other while both stay in their outer boxes.

    Boxes of spheres that are diagonal neighbours overlap, the spheres do not: a quarter of the candidates of a lattice
    of spheres are left, two thirds of those of a heap. O(m).
    """
    reach, found = memory.empty((len(kind), REACH), np.float64), memory.empty(pairs.shape, np.int32)
    over_ranges(_write_reach, len(kind), thread_count, kind, around, reach)
    count = 0
    for first, last in over_ranges(_drop_far, len(pairs), thread_count, pairs, reach, found):
        found[count : count + last - first] = found[first:last]
        count += last - first
    return found[:count]


@kernel
def _write_reach(first: Integer, last: Integer, kind: I8, around: Surroundings, reach: F64) -> None:
    """Write where the centre of a sphere, or all of another body, may be: lower, upper, radius or 0, and 1 or 0."""
    lower, upper, near, outer_lower, outer_upper = around
    for row in range(first, last):
        is_round = kind[row] == SPHERE
        radius = 0.5 * (upper[row, 0] - lower[row, 0]) + near[row] if is_round else 0.0
        for axis in range(3):
            reach[row, axis], reach[row, 3 + axis] = outer_lower[row, axis] + radius, outer_upper[row, axis] - radius
        reach[row, 6], reach[row, 7] = radius, is_round


@kernel
def _drop_far(first: Integer, last: Integer, pairs: Pairs, reach: F64, found: Pairs) -> tuple[int, int]:
    """Write the pairs of ``first … last − 1`` that stay to the same rows of ``found``, and return which these are."""
    at = first
    for pair in range(first, last):
        one, other = pairs[pair, 0], pairs[pair, 1]
        square = 0.0
        for axis in range(3):
            gap = max(reach[one, axis] - reach[other, 3 + axis], reach[other, axis] - reach[one, 3 + axis])
            square += gap * gap if gap > 0 else 0.0
        radius = reach[one, 6] + reach[other, 6]
        found[at, 0], found[at, 1] = one, other
        at += reach[one, 7] + reach[other, 7] == 0 or not square > (1.0 + 1e-5) * radius * radius
    return first, at


def bounds_names() -> list[str]:
    """List the kinds of bounds that a world can give its broad phase, in alphabetical order."""
    return MAKERS.names()


def find_bounds(name: str | None, method: str) -> Maker:
    """Return the maker of the bounds called ``name``; None for those that suit the broad phase ``method``."""
    return MAKERS.find(find(method).suited_bounds if name is None else name)


def kept_bounds(name: str | None) -> str | None:
    """Return ``name`` if another package registered these bounds: they stay when the broad phase changes."""
    return None if name in _BUILT_IN else name


def slabs_of(name: str | None, method: str) -> int | None:
    """Return the k of the bounds called ``name``, or of those that suit ``method``; None if they are not k-DOPs."""
    return _SLABS.get(find(method).suited_bounds if name is None else name)


def refuse_lost(bodies: Bodies) -> None:
    """Raise an error if the pose of a body is not finite; for bodies that no kernel on the CPU reads."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = bodies.position.sum(axis=1, dtype=np.float64) + bodies.rotation.sum(axis=(1, 2), dtype=np.float64)
    lost = np.flatnonzero(~np.isfinite(total))
    if len(lost):
        raise _lost_body(bodies, int(lost[0]))


def _empty(bodies: Bodies, *shape: int) -> Floats:
    found: Floats = memory.empty((len(bodies), *shape), bodies.dtype)
    return found


def _run(kernel: Callable[..., int], bodies: Bodies, threads: int, *outputs: Any) -> None:
    """Run a kernel over all bodies; raise an error for the first one whose pose is not finite."""
    lost = bound(kernel, bodies.shapes(), threads, *outputs)
    if lost >= 0:
        raise _lost_body(bodies, lost)


def _lost_body(bodies: Bodies, row: int) -> InvalidInput:
    return InvalidInput(
        f"The body {bodies.ids[row]} is at {bodies.position[row].tolist()} and turned by "
        f"{bodies.rotation[row].tolist()}; a step needs finite numbers. Lower its speed or the length of the step."
    )
