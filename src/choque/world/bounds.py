"""Bounding volumes of bodies, by name: what a broad phase is given at each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import memory
from choque._core.types import Floats
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres, directions
from choque.errors import InvalidInput, UnknownName
from choque.narrow.extents import bound, bound_boxes, bound_oriented, bound_slabs, bound_spheres
from choque.world.bodies import Bodies

Maker = Callable[[Bodies, int], Bounds]
"""Gives the volumes of bodies, in as many threads as the second argument says."""

_OF_METHOD = {"brute-obb": "oriented", "sap-kdop": "18-dop", "sap-obb": "oriented"}


class BodyBoxes(OrientedBoxes):
    """Oriented boxes of bodies, with the axis-aligned boxes of the bodies themselves, which are tighter.

    The box of a capsule lies inside the box around its oriented box; a method that sweeps boxes first and tests
    oriented boxes then is given the best of both.
    """

    lower: Floats
    upper: Floats

    _fields = ("center", "half", "axes", "lower", "upper")  # type: ignore[assignment]

    def boxes(self) -> Boxes:
        """The boxes of the bodies."""
        return Boxes.unchecked(self.lower, self.upper)

    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> BodyBoxes:
        moved = OrientedBoxes.unchecked(self.center, self.half, self.axes)._moved(rotation, translation)
        around = moved.boxes()
        return self.unchecked(moved.center, moved.half, moved.axes, around.lower, around.upper)


def box_bounds(bodies: Bodies, thread_count: int) -> Boxes:
    """The axis-aligned box of each body."""
    lower, upper = _empty(bodies, 3), _empty(bodies, 3)
    _run(bound_boxes, bodies, thread_count, lower, upper)
    return Boxes.unchecked(lower, upper)


def oriented_bounds(bodies: Bodies, thread_count: int) -> BodyBoxes:
    """The box of each body along its own axes, and the axis-aligned one."""
    center, half, axes = _empty(bodies, 3), _empty(bodies, 3), _empty(bodies, 3, 3)
    _run(bound_oriented, bodies, thread_count, center, half, axes)
    around = box_bounds(bodies, thread_count)
    return BodyBoxes.unchecked(center, half, axes, around.lower, around.upper)


def sphere_bounds(bodies: Bodies, thread_count: int) -> Spheres:
    """The sphere around each body and its centre."""
    center, radius = _empty(bodies, 3), _empty(bodies)
    _run(bound_spheres, bodies, thread_count, center, radius)
    return Spheres.unchecked(center, radius)


def slab_bounds(k: int) -> Maker:
    """What gives the k-DOP of each body."""
    along = directions(k).astype(np.float64)

    def bounds(bodies: Bodies, thread_count: int) -> KDops:
        lower, upper = _empty(bodies, len(along)), _empty(bodies, len(along))
        _run(bound_slabs, bodies, thread_count, along, lower, upper)
        return KDops.unchecked(lower, upper)

    return bounds


_SLABS = {f"{k}-dop": k for k in (6, 14, 18, 26)}

_MAKERS: dict[str, Maker] = {
    "box": box_bounds,
    "oriented": oriented_bounds,
    "sphere": sphere_bounds,
    **{name: slab_bounds(k) for name, k in _SLABS.items()},
}


LEGACY = "legacy"
"""The boxes of the Fingsics engine, axis-aligned and oriented, in single precision."""


def bounds_names() -> list[str]:
    """The kinds of bounds that a world can give its broad phase, in alphabetical order."""
    return sorted([*_MAKERS, LEGACY])


def find_bounds(name: str | None, method: str) -> Maker:
    """What makes the bounds called ``name``, or if that is None those that suit the broad phase ``method``."""
    wanted = _OF_METHOD.get(method, "box") if name is None else name
    if wanted == LEGACY:
        from choque.theses.fingsics.boxes import legacy_bounds

        return legacy_bounds
    if not isinstance(wanted, str) or wanted not in _MAKERS:
        raise UnknownName("kind of bounds", str(wanted), bounds_names())
    return _MAKERS[wanted]


def slabs_of(name: str | None, method: str) -> int | None:
    """The k of the bounds called ``name``, or of those that suit ``method``; None for others than k-DOPs."""
    return _SLABS.get(_OF_METHOD.get(method, "box") if name is None else name)


def refuse_lost(bodies: Bodies) -> None:
    """Refuse bodies of which one left the range of floats, where no kernel on the processor looks at them."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = bodies.position.sum(axis=1, dtype=np.float64) + bodies.rotation.sum(axis=(1, 2), dtype=np.float64)
    lost = np.flatnonzero(~np.isfinite(total))
    if len(lost):
        raise _lost_body(bodies, int(lost[0]))


def _empty(bodies: Bodies, *shape: int) -> Floats:
    found: Floats = memory.empty((len(bodies), *shape), bodies.dtype)
    return found


def _run(kernel: Callable[..., int], bodies: Bodies, thread_count: int, *outputs: Any) -> None:
    """Run a kernel over all bodies; a body that left the range of floats is named before it can do harm."""
    lost = bound(kernel, bodies.shapes(), thread_count, *outputs)
    if lost >= 0:
        raise _lost_body(bodies, lost)


def _lost_body(bodies: Bodies, row: int) -> InvalidInput:
    return InvalidInput(
        f"The body {bodies.ids[row]} is at {bodies.position[row].tolist()} and turned by "
        f"{bodies.rotation[row].tolist()}; a step needs finite numbers. Lower its speed or the length of the step."
    )
