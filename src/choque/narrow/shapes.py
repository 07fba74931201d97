"""The shapes that a narrow phase sees: kinds, poses and sizes as arrays, one row a body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core.types import F64, I8, I32, I64, Floats
from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.bounds import Boxes


class Kind(IntEnum):
    """The kinds of shapes, the numbers in the column `Shapes.kind`."""

    SPHERE = 0
    CAPSULE = 1
    TILE = 2
    CONVEX = 3
    PLANE = 4
    MESH = 5


SPHERE, CAPSULE, TILE, CONVEX, PLANE, MESH = (int(kind) for kind in Kind)
"""The same numbers as plain integers, for kernels."""

KIND_NAMES = tuple(kind.name.lower() for kind in Kind)  # the names of the kinds, in the order of their numbers
KIND_COUNT = len(KIND_NAMES)
KINDS_ALLOWED = f"the kinds are whole numbers from 0 to {KIND_COUNT - 1}: {', '.join(KIND_NAMES)}"
_NO_POINTS = np.empty((0, 3))
_NO_HULLS = np.zeros(1, np.int64)


class Solids(NamedTuple):
    """The arrays of `Shapes` as kernels take them; hulls are empty where there are none."""

    kind: I8
    position: Floats
    rotation: Floats
    size: Floats
    hull: I32
    points: F64  # (V, 3) the vertices of all hulls, one hull after the other
    starts: I64  # (h + 1,) where the vertices of each hull start


@dataclass(frozen=True, eq=False)
class Shapes:
    """Solids in their poses.

    Attributes
    ----------
    kind
        (n,) int8: numbers of `Kind`.
    position
        (n, 3): the centre of each body.
    rotation
        (n, 3, 3): ``rotation @ local`` is the direction in the world.
    size
        (n, 3): sphere (radius, 0, 0); capsule (radius, length of its cylinder along local z, 0); tile (length along
        local x, width along local z, 0), its normal local y; convex: the scale of its hull along each local axis;
        plane: not used, it is the half-space below local y = 0; mesh: ones, a mesh is not scaled.
    hull
        (n,) int32: the row of ``hulls`` of a convex body or a mesh, -1 for all others.
    hulls
        The convex hulls and meshes that bodies refer to, `choque.narrow.Hulls`; None where there are none.
    """

    kind: I8
    position: Floats
    rotation: Floats
    size: Floats
    hull: I32 | None = None
    hulls: Any = None

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def of_spheres(cls, position: ArrayLike, radius: ArrayLike = 1.0) -> Self:
        """Return spheres around ``position`` (n, 3) of ``radius``, (n,) or one for all."""
        return cls._posed(SPHERE, position, (radius, 0.0, 0.0), None)

    @classmethod
    def of_capsules(
        cls, position: ArrayLike, radius: ArrayLike = 1.0, length: ArrayLike = 1.0, *, rotation: ArrayLike | None = None
    ) -> Self:
        """Return capsules along local z; ``length`` is that of the cylinder, ``rotation`` (3, 3) or (n, 3, 3)."""
        return cls._posed(CAPSULE, position, (radius, length, 0.0), rotation)

    @classmethod
    def of_boxes(cls, position: ArrayLike, size: ArrayLike = 1.0, *, rotation: ArrayLike | None = None) -> Self:
        """Return boxes around ``position`` (n, 3) with edges of length ``size``: one for all, (3,), or (n, 3)."""
        from choque.narrow.hulls import Hulls

        return cls._posed(CONVEX, position, (size,), rotation, Hulls.boxes())

    @classmethod
    def _posed(
        cls, kind: int, position: ArrayLike, size: tuple[ArrayLike, ...], rotation: ArrayLike | None, hulls: Any = None
    ) -> Self:
        """Return checked shapes; ``size`` is a number for each column, or one array for all; ``hulls`` has one hull."""
        from choque._core import check

        center = check.vectors(position, "position")
        count = len(center)
        turns = check.table(np.eye(3) if rotation is None else rotation, "rotation", (count, 3, 3))
        if len(size) == 1:
            sizes = check.table(size[0], "size", (count, 3))
        else:
            sizes = np.stack([check.table(part, "size", (count,)) for part in size], axis=1)
        hull = np.zeros(count, np.int32) if hulls is not None else None
        return cls(np.full(count, kind, np.int8), center, turns, sizes, hull, hulls).checked()

    def boxes(self, *, threads: int | None = None) -> Boxes:
        """Return the axis-aligned box around each shape, in the float type of the shapes.

        Boxes are wider than the shapes by a few units in the last place, so shapes that touch have boxes that overlap.
        The box of a mesh is that around the corners of its own box. A half-space is unbounded, except above where its
        surface is perpendicular to an axis of the world. O(n), plus the vertices of hulls.
        """
        from choque._core import memory
        from choque._core.threads import resolve_count
        from choque.bounds import Boxes
        from choque.narrow.extents import bound, bound_boxes

        shapes = self.aligned()
        lower, upper = (memory.empty((len(shapes), 3), shapes.position.dtype) for _ in range(2))
        lost = bound(bound_boxes, shapes, resolve_count(threads, len(shapes)), lower, upper)
        if lost >= 0:
            raise InvalidInput(
                f"Shape {lost} has the position {shapes.position[lost].tolist()} and the rotation "
                f"{shapes.rotation[lost].tolist()}; both must hold finite numbers."
            )
        return Boxes.unchecked(lower, upper)

    def solids(self) -> Solids:
        """Return the arrays as one structure for kernels that bound them, not copied."""
        hull = np.full(len(self), -1, np.int32) if self.hull is None else self.hull
        packed = (_NO_POINTS, _NO_HULLS) if self.hulls is None else self.hulls.outline
        return Solids(self.kind, self.position, self.rotation, self.size, hull, *packed)

    def aligned(self) -> Self:
        """Return the same shapes in the layout that kernels are compiled for; arrays that have it are not copied."""
        kind, position, rotation, size = self.kind, self.position, self.rotation, self.size
        number, count = position.dtype, len(kind)
        if not (
            kind.shape == (count,) and position.shape == (count, 3) == size.shape and rotation.shape == (count, 3, 3)
        ):
            raise InvalidInput(
                f"The shapes have kinds {kind.shape}, positions {position.shape}, rotations {rotation.shape} and sizes "
                f"{size.shape}; they must be (n,), (n, 3), (n, 3, 3) and (n, 3) with the same n."
            )
        is_typed = kind.dtype == np.int8 and rotation.dtype == number == size.dtype in (np.float32, np.float64)
        if is_typed and all(column.flags.carray for column in (kind, position, rotation, size)):
            return self
        from choque._core import check

        if kind.dtype != np.int8:
            strange = kind[(kind < 0) | (kind >= KIND_COUNT)] if kind.dtype.kind in "iu" else kind
            if len(strange):
                raise InvalidInput(f"A shape has the kind {strange[0]!r} of {kind.dtype}; {KINDS_ALLOWED}.")
        floats = check.widest(*(check.floats(getattr(self, name), name) for name in ("position", "rotation", "size")))
        kind = np.require(kind, np.int8, ["C", "A", "W"])
        return replace(self, kind=kind, position=floats[0], rotation=floats[1], size=floats[2])

    def checked(self) -> Self:
        """Return the same shapes, lists included, laid out for kernels, or raise `InvalidInput` for the first bad row.

        Kinds must be known, positions and sizes finite, sizes not negative, rotations orthonormal, and every convex
        shape and mesh must have a hull.
        """
        from choque._core import check

        kind = np.asarray(self.kind)
        if kind.ndim != 1:
            raise InvalidInput(f"kind has the shape {kind.shape}; it must be (n,), a number for each shape.")
        names = ("position", "rotation", "size")
        position, rotation, size = (check.floats(getattr(self, name), name) for name in names)
        shapes = replace(self, kind=kind, position=position, rotation=rotation, size=size).aligned()
        unknown = np.flatnonzero((shapes.kind < 0) | (shapes.kind >= KIND_COUNT))
        if len(unknown):
            raise InvalidInput(f"Row {unknown[0]} of kind is {shapes.kind[unknown[0]]}; {KINDS_ALLOWED}.")
        check.finite(shapes.position, "position")
        check.not_negative(check.finite(shapes.size, "size"), "size")
        check.orthonormal(shapes.rotation, "rotation")
        shapes.check_hulls()
        return shapes

    def check_hulls(self) -> None:
        """Raise `InvalidInput` unless every convex shape has a solid hull, and every mesh its triangles."""
        convex = np.flatnonzero((self.kind == CONVEX) | (self.kind == MESH))
        if len(convex) == 0:
            return
        if self.hulls is None or self.hull is None:
            what = "convex" if self.kind[convex[0]] == CONVEX else "a mesh"
            raise InvalidInput(f"Shape {convex[0]} is {what}, but there are no hulls; give the shapes hull and hulls.")
        rows = np.asarray(self.hull)
        if rows.shape != self.kind.shape or rows.dtype.kind not in "iu":
            raise InvalidInput(
                f"hull is {rows.dtype} {rows.shape}; it must hold a whole number for each of the {len(self)} shapes."
            )
        count = len(self.hulls)
        lost = convex[(rows[convex] < 0) | (rows[convex] >= count)]
        if len(lost):
            raise InvalidInput(
                f"Shape {lost[0]} has the hull {rows[lost[0]]}; hulls go from 0 to {count - 1}. Give the number of one."
            )
        flat = convex[(self.kind[convex] == CONVEX) & ~(self.hulls.volume[rows[convex]] > 0)]
        if len(flat):
            raise InvalidInput(
                f"Shape {flat[0]} is convex and has the hull {rows[flat[0]]}, which is a mesh without a volume; "
                "give it the kind MESH."
            )
        scaled = convex[(self.kind[convex] == MESH) & (np.asarray(self.size)[convex] != 1).any(axis=1)]
        if len(scaled):
            raise InvalidInput(
                f"Shape {scaled[0]} is a mesh of the size {self.size[scaled[0]].tolist()}; a mesh has the size "
                "1, 1, 1. Scale its vertices."
            )
