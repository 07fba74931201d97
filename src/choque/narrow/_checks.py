"""What is asked of shapes and pairs before a kernel sees them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choque._core import check
from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.narrow.shapes import CONVEX, KIND_NAMES, Shapes

KIND_COUNT = len(KIND_NAMES)
_KINDS_ALLOWED = f"the kinds are whole numbers from 0 to {KIND_COUNT - 1}: {', '.join(KIND_NAMES)}"


def aligned(shapes: Shapes) -> Shapes:
    """The same shapes in the layout that kernels are compiled for; what has it already is not copied."""
    kind, position, rotation, size = shapes.kind, shapes.position, shapes.rotation, shapes.size
    number, count = position.dtype, len(kind)
    if not (kind.shape == (count,) and position.shape == (count, 3) == size.shape and rotation.shape == (count, 3, 3)):
        raise InvalidInput(
            f"The shapes have kinds {kind.shape}, positions {position.shape}, rotations {rotation.shape} and sizes "
            f"{size.shape}; they must be (n,), (n, 3), (n, 3, 3) and (n, 3) with one n."
        )
    if (
        kind.dtype == np.int8
        and number in (np.float32, np.float64)
        and rotation.dtype == number == size.dtype
        and kind.flags.carray
        and position.flags.carray
        and rotation.flags.carray
        and size.flags.carray
    ):
        return shapes
    if kind.dtype != np.int8:
        strange = kind[(kind < 0) | (kind >= KIND_COUNT)] if kind.dtype.kind in "iu" else kind
        if len(strange):
            raise InvalidInput(f"A shape has the kind {strange[0]!r} of {kind.dtype}; {_KINDS_ALLOWED}.")
    floats = check.widest(
        check.floats(position, "position"), check.floats(rotation, "rotation"), check.floats(size, "size")
    )
    kind = np.require(kind, np.int8, ["C", "A", "W"])
    return replace(shapes, kind=kind, position=floats[0], rotation=floats[1], size=floats[2])


def checked(shapes: Shapes) -> Shapes:
    """Shapes of any layout, lists included, laid out for kernels; every number is one that a solid can have."""
    if not isinstance(shapes, Shapes):
        raise InvalidInput(f"The shapes are a {type(shapes).__name__}; they must be a choque.narrow.Shapes.")
    kind = np.asarray(shapes.kind)
    if kind.ndim != 1:
        raise InvalidInput(f"kind has the shape {kind.shape}; it must be (n,), a number for each shape.")
    names = ("position", "rotation", "size")
    position, rotation, size = (check.floats(getattr(shapes, name), name) for name in names)
    shapes = aligned(replace(shapes, kind=kind, position=position, rotation=rotation, size=size))
    unknown = np.flatnonzero((shapes.kind < 0) | (shapes.kind >= KIND_COUNT))
    if len(unknown):
        raise InvalidInput(f"Row {unknown[0]} of kind is {shapes.kind[unknown[0]]}; {_KINDS_ALLOWED}.")
    check.finite(shapes.position, "position")
    check.finite(shapes.size, "size")
    check.not_negative(shapes.size, "size")
    check.orthonormal(shapes.rotation, "rotation")
    check_hulls(shapes)
    return shapes


def check_hulls(shapes: Shapes) -> None:
    """Raise `InvalidInput` unless every convex shape has a hull."""
    convex = np.flatnonzero(shapes.kind == CONVEX)
    if len(convex) == 0:
        return
    if shapes.hulls is None or shapes.hull is None:
        raise InvalidInput(f"Shape {convex[0]} is convex, but there are no hulls; give the shapes hull and hulls.")
    rows = np.asarray(shapes.hull)
    if rows.shape != shapes.kind.shape or rows.dtype.kind not in "iu":
        raise InvalidInput(
            f"hull is {rows.dtype} {rows.shape}; it must hold a whole number for each of the {len(shapes)} shapes."
        )
    count = len(shapes.hulls)
    lost = convex[(rows[convex] < 0) | (rows[convex] >= count)]
    if len(lost):
        raise InvalidInput(f"Shape {lost[0]} has the hull {rows[lost[0]]}; hulls go from 0 to {count - 1}.")


def refusal(shapes: Shapes, pairs: Pairs, place: int) -> InvalidInput:
    """What is wrong with the pair at this place: its rows, its kinds, or its order."""
    first, second = pairs[place].tolist()
    count = len(shapes)
    if not 0 <= first < second < count:
        return InvalidInput(
            f"Pair {place} is ({first}, {second}); both must be rows of the {count} shapes, from 0 to {count - 1}, "
            "the smaller first."
        )
    for row in (first, second):
        if not 0 <= shapes.kind[row] < KIND_COUNT:
            return InvalidInput(f"Shape {row} has the kind {shapes.kind[row]}; {_KINDS_ALLOWED}.")
    return InvalidInput(
        f"Pair {place}, ({first}, {second}), follows {tuple(pairs[place - 1].tolist())}; pairs must be sorted."
    )
