"""Orientation predicates of the k-DOP thesis: the side of a line or of a face on which a point lies. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.kernel import kernel
from choque._core.predicates import line_side, plane_side
from choque._core.vector import point_of
from choque.errors import InvalidInput


def orientation_2d(a: ArrayLike, b: ArrayLike, target: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where ``target`` lies left of the line from a to b, −1 right of it, 0 on it; points (2,) or (n, 2).

    The sign of the determinant of the three points under a row of ones, which is twice the area of their triangle.

    Examples
    --------
    >>> orientation_2d([0, 0], [2, 0], [[1, 1], [1, -1], [5, 0]]).tolist()
    [1, -1, 0]
    """
    return _signs(_line_sides, _points(2, a=a, b=b, target=target))


def orientation_3d(a: ArrayLike, b: ArrayLike, c: ArrayLike, target: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where ``target`` lies in front of the face a b c, −1 behind it, 0 in its plane; points (3,) or (n, 3).

    The front is the side from which a, b, c turn counter-clockwise: the sign of n · (target − a), n the normal.

    Examples
    --------
    >>> orientation_3d([0, 0, 0], [1, 0, 0], [0, 1, 0], [[0, 0, 2], [3, 3, -1], [7, 7, 0]]).tolist()
    [1, -1, 0]
    """
    return _signs(_plane_sides, _points(3, a=a, b=b, c=c, target=target))


def _points(dimension: int, **given: ArrayLike) -> list[NDArray[np.float64]]:
    """Return all arguments as arrays of points of matching lengths."""
    arrays = []
    for name, value in given.items():
        try:
            array = np.asarray(value, np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidInput(f"{name} is not a point or a list of points ({problem}).") from None
        if array.ndim not in (1, 2) or array.shape[-1] != dimension:
            raise InvalidInput(f"{name} has the shape {array.shape}; it must be ({dimension},) or (n, {dimension}).")
        if not np.isfinite(array).all():
            raise InvalidInput(f"{name} holds a number that is not finite.")
        arrays.append(array)
    lengths = {len(array) for array in arrays if array.ndim == 2}
    if len(lengths) > 1:
        raise InvalidInput(f"The lists of points have different lengths: {sorted(lengths)}.")
    return arrays


def _signs(kernel: Any, given: list[NDArray[np.float64]]) -> NDArray[np.int8]:
    """Run a kernel over points that were broadcast to one shape; a single point gives a single sign."""
    wide = np.broadcast_arrays(*given)
    points = [np.array(array.reshape(-1, array.shape[-1])) for array in wide]
    signs = np.empty(len(points[0]), np.int8)
    kernel(*points, signs)
    return signs.reshape(wide[0].shape[:-1])


@kernel
def _line_sides(a: Any, b: Any, target: Any, signs: NDArray[np.int8]) -> None:
    for row in range(signs.size):
        signs[row] = line_side((a[row, 0], a[row, 1]), (b[row, 0], b[row, 1]), (target[row, 0], target[row, 1]))


@kernel
def _plane_sides(a: Any, b: Any, c: Any, target: Any, signs: NDArray[np.int8]) -> None:
    for row in range(signs.size):
        signs[row] = plane_side(point_of(a, row), point_of(b, row), point_of(c, row), point_of(target, row))
