"""Contacts as arrays, contact rules for two shapes, and the compiled loop that applies a rule to many pairs.

A contact rule is a function of two poses, ``rule(a: Pose, b: Pose) -> Manifold``. It can be called from kernels, and
from Python with `pose`. `pair_loop` compiles the loop that applies one rule to a list of pairs. All of it is in
float64, for arrays of any type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from choque._core.kernel import helper, kernel
from choque._core.types import U8, U32, Floats, Integer, Pairs, Rows
from choque._core.vector import Vector, along, store

MAX_POINTS = 4  # the maximum number of points in a manifold


class ContactArrays(NamedTuple):
    """The arrays of `Contacts` as kernels take them; in buffers, a pair that does not touch has no points."""

    pairs: Pairs
    normal: Floats
    points: Floats
    separations: Floats
    features: U32
    point_count: U8

    @classmethod
    def empty(cls, count: int, dtype: DTypeLike, max_points: int = 1) -> Self:
        """Return arrays for ``count`` manifolds of at most ``max_points`` points, not initialised."""
        return cls(
            np.empty((count, 2), np.int32),
            np.empty((count, 3), dtype),
            np.empty((count, max_points, 3), dtype),
            np.empty((count, max_points), dtype),
            np.empty((count, max_points), np.uint32),
            np.empty(count, np.uint8),
        )

    def take(self, rows: Rows | slice) -> Self:
        """Return the manifolds in these rows; of a slice they are views."""
        return type(self)(*[array[rows] for array in self])  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts between bodies, one manifold for each pair, in the order of the pairs.

    ``k`` is the number of points for which these arrays have room: 1 by the contact rules, 4 by ``soft-step``.
    `point` and `depth` are the first point of each manifold, which is its deepest.

    Attributes
    ----------
    pairs
        (m, 2) int32: the two bodies, smaller first, sorted.
    normal
        (m, 3): unit vectors from the first body toward the second.
    points
        (m, k, 3): the contact points, each in the middle of the overlap.
    separations
        (m, k): the signed distance of the bodies along the normal at each point, negative where they overlap.
    features
        (m, k) uint32: which features of the two shapes make each point, the same from step to step; 0 where a pair has
        only one point.
    point_count
        (m,) uint8: the number of points of each manifold, at least 1 and at most 4. The rest of a row is not defined.
    """

    pairs: Pairs
    normal: Floats
    points: Floats
    separations: Floats
    features: U32
    point_count: U8

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        depth = f", up to {self.depth.max():.6g} deep" if len(self) else ""
        return f"<Contacts: {len(self):,} pairs with {int(self.point_count.sum()):,} points{depth}>"

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        facts: dict[str, object] = {"pairs": len(self), "points": int(self.point_count.sum())}
        if len(self):
            facts |= {"depth": f"{self.depth.min():.6g} to {self.depth.max():.6g}"}
        return card("Contacts", facts, boxes_picture(self.point, self.point))

    @property
    def point(self) -> Floats:
        """(m, 3): the deepest point of each manifold, a view of `points`."""
        return self.points[:, 0]

    @property
    def depth(self) -> Floats:
        """(m,): the overlap along the normal at the deepest point, positive."""
        found: Floats = -self.separations[:, 0]
        return found

    @classmethod
    def none(cls, dtype: type[np.floating] = np.float64) -> Self:
        """Return no contacts."""
        return cls(*ContactArrays.empty(0, dtype))

    def take(self, rows: Rows) -> Self:
        """Return the contacts in these rows."""
        return type(self)(*self.arrays().take(rows))

    def arrays(self) -> ContactArrays:
        """Return the arrays as one structure for kernels, not copied."""
        return ContactArrays(self.pairs, self.normal, self.points, self.separations, self.features, self.point_count)


NEAR = 1e-6
"""Relative to the size of a pair: two axes, or an axis and a rectangle, that come closer than this intersect.

The line between two closest points is then mostly rounding error, and moving along it would not separate long bodies.
Each rule then chooses a direction that does separate them; the depth is at most this much larger than the least one.
"""

FLAT = 1e-10
"""Relative to the size of a pair: how much closer one end may be before two parallel bodies touch at that end.

Below it they touch along a segment, and the contact is in its middle, however the pair is turned.
"""

FLAT_SINGLE = 1e-6  # `FLAT` for float32, whose rotations have rounding errors of that size


class Pose(NamedTuple):
    """One shape in its pose, as contact rules take it."""

    position: Vector
    x_axis: Vector  # where the local x axis points in the world
    y_axis: Vector
    z_axis: Vector
    size: Vector  # the row of `Shapes.size`
    row: int  # the row of the body among the shapes
    flat: float  # `FLAT`, or `FLAT_SINGLE` where the pose comes from float32 arrays


class Manifold(NamedTuple):
    """How two shapes touch, up to four points; a rule always returns tuples of the same length, its maximum."""

    point_count: int  # 0 where the shapes do not touch
    normal: Vector  # unit vector from the first shape toward the second
    points: tuple[Vector, ...]  # the deepest point first, each in the middle of the overlap
    separations: tuple[float, ...]  # signed distances along the normal, negative where the shapes overlap
    features: tuple[int, ...]  # which features of the shapes make each point; 0 where a rule has only one point


Rule: TypeAlias = Callable[[Pose, Pose], Manifold]
"""The manifold of two shapes of given kinds, the shape of the smaller kind first.

Decorated with `inline` a rule is compiled once, as part of its loop.
"""


class PoseArrays(NamedTuple):
    """The poses and sizes of all bodies, columns of `Shapes`."""

    position: Floats
    rotation: Floats
    size: Floats


Loop: TypeAlias = Callable[[PoseArrays, ContactArrays, int, int], None]
"""``loop(poses, found, first, last)``: write the manifolds of rows ``first … last − 1`` of ``found.pairs``."""


def pose(position: ArrayLike, size: ArrayLike, rotation: ArrayLike | None = None, *, row: int = 0) -> Pose:
    """Return the pose of one shape: ``position`` (3,), ``size`` (3,) as in `Shapes`, ``rotation`` (3, 3).

    Examples
    --------
    >>> from choque.narrow.sphere import sphere_sphere
    >>> found = sphere_sphere(pose([0, 0, 0], [2, 0, 0]), pose([3, 0, 0], [2, 0, 0]))
    >>> found.point_count, found.normal, found.separations
    (1, (1.0, 0.0, 0.0), (-1.0,))
    """
    turn = np.eye(3) if rotation is None else np.asarray(rotation, np.float64)
    vectors = [np.asarray(position), turn[:, 0], turn[:, 1], turn[:, 2], np.asarray(size)]
    x, y, z, w, s = (tuple(map(float, vector)) for vector in vectors)
    return Pose(x, y, z, w, s, row, FLAT)  # type: ignore[arg-type]


# What rules are written with


@helper
def clamp(number: float, limit: float) -> float:
    """Return ``number``, but at least −``limit`` and at most ``limit``."""
    return min(max(number, -limit), limit)


@helper
def offset(origin: Pose, target: Pose) -> Vector:
    """Return the vector from one body to another."""
    a, b = origin.position, target.position
    return b[0] - a[0], b[1] - a[1], b[2] - a[2]


@helper
def to_world(pose: Pose, local: Vector) -> Vector:
    """Return a direction in the frame of a body as one in the world."""
    x, y, z = local
    a, b, c = pose.x_axis, pose.y_axis, pose.z_axis
    return a[0] * x + b[0] * y + c[0] * z, a[1] * x + b[1] * y + c[1] * z, a[2] * x + b[2] * y + c[2] * z


@helper
def apart() -> Manifold:
    """Return the manifold of shapes that do not touch."""
    zero = (0.0, 0.0, 0.0)
    return Manifold(0, zero, (zero,), (0.0,), (0,))


@helper
def touching(body: Pose, from_body: Vector, normal: Vector, surface: float, depth: float) -> Manifold:
    """Return a manifold of one point.

    It lies on the ray from the place ``from_body``, relative to the first body, along the normal. The surface of the
    body is ``surface`` away from there, and the point half the ``depth`` before that.
    """
    x, y, z = body.position
    place = (x + from_body[0], y + from_body[1], z + from_body[2])
    return Manifold(1, normal, (along(place, normal, surface - 0.5 * depth),), (-depth,), (0,))


# The loop over pairs


@helper
def read_pose(position: Floats, rotation: Floats, size: Floats, row: Integer, flat: float) -> Pose:
    """Return the pose of the body in row ``row``."""
    return Pose(
        (np.float64(position[row, 0]), np.float64(position[row, 1]), np.float64(position[row, 2])),
        (np.float64(rotation[row, 0, 0]), np.float64(rotation[row, 1, 0]), np.float64(rotation[row, 2, 0])),
        (np.float64(rotation[row, 0, 1]), np.float64(rotation[row, 1, 1]), np.float64(rotation[row, 2, 1])),
        (np.float64(rotation[row, 0, 2]), np.float64(rotation[row, 1, 2]), np.float64(rotation[row, 2, 2])),
        (np.float64(size[row, 0]), np.float64(size[row, 1]), np.float64(size[row, 2])),
        np.int64(row),  # type: ignore[arg-type]
        flat,
    )


@helper
def _write(
    normal: Floats, points: Floats, separations: Floats, features: U32, pair: Integer, manifold: Manifold
) -> None:
    store(normal, pair, manifold.normal)
    for place in range(len(manifold.points)):  # a constant, so that the compiler unrolls the loop
        x, y, z = manifold.points[place]
        points[pair, place, 0], points[pair, place, 1], points[pair, place, 2] = x, y, z
        separations[pair, place] = manifold.separations[place]
        if len(manifold.points) > 1:
            features[pair, place] = manifold.features[place]


def _loop(poses: PoseArrays, found: ContactArrays, first: Integer, last: Integer) -> None:
    """Write the manifolds of the pairs ``first … last − 1``; the template of `pair_loop`."""
    position, rotation, size = poses
    pairs, normal, points, separations, features, point_count = found
    flat = FLAT_SINGLE if position.itemsize == 4 else FLAT
    for pair in range(first, last):
        a = read_pose(position, rotation, size, pairs[pair, 0], flat)
        b = read_pose(position, rotation, size, pairs[pair, 1], flat)
        manifold = rule(a, b)  # type: ignore[name-defined]  # noqa: F821
        point_count[pair] = manifold.point_count
        if manifold.point_count > 0:
            _write(normal, points, separations, features, pair, manifold)


@cache
def pair_loop(rule: Rule) -> Loop:
    """Return the compiled loop that applies a contact rule to a list of pairs.

    Every rule gets a copy of the template in which the global name ``rule`` is its own. With a closure instead, Numba
    would find no kernel on disk again: it names those by the identity of what they enclose.
    """
    inner = getattr(rule, "py_func", rule)
    name = f"loop_{inner.__module__}_{inner.__qualname__}".replace(".", "_")
    made = FunctionType(_loop.__code__, {**globals(), "rule": rule}, name)
    made.__module__, made.__qualname__ = __name__, name
    return kernel(made)
