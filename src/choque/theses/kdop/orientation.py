"""Orientation predicates of the k-DOP thesis: the side of a line or of a face on which a point lies."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput

FLAT = 1e-12
"""Signed areas and volumes below this fraction of the lengths that span them count as 0."""


def orientation_2d(a: ArrayLike, b: ArrayLike, target: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where ``target`` lies left of the line from a to b, −1 right of it, 0 on it; points (2,) or (n, 2).

    The sign of the determinant of the three points under a row of ones, which is twice the area of their triangle.

    Examples
    --------
    >>> orientation_2d([0, 0], [2, 0], [[1, 1], [1, -1], [5, 0]]).tolist()
    [1, -1, 0]
    """
    start, end, point = _points(2, a=a, b=b, target=target)
    edge, offset = end - start, point - start
    first, second = edge[..., 0] * offset[..., 1], edge[..., 1] * offset[..., 0]
    return _sign(first - second, np.abs(first) + np.abs(second))


def orientation_3d(a: ArrayLike, b: ArrayLike, c: ArrayLike, target: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where ``target`` lies in front of the face a b c, −1 behind it, 0 in its plane; points (3,) or (n, 3).

    The front is the side from which a, b, c turn counter-clockwise: the sign of n · (target − a), n the normal.

    Examples
    --------
    >>> orientation_3d([0, 0, 0], [1, 0, 0], [0, 1, 0], [[0, 0, 2], [3, 3, -1], [7, 7, 0]]).tolist()
    [1, -1, 0]
    """
    start, second, third, point = _points(3, a=a, b=b, c=c, target=target)
    one, other, offset = second - start, third - start, point - start
    volume = (np.cross(one, other) * offset).sum(axis=-1)
    lengths = (np.linalg.norm(edge, axis=-1) for edge in (one, other, offset))
    return _sign(volume, math.prod(lengths))


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


def _sign(value: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.int8]:
    return np.where(np.abs(value) <= FLAT * size, 0, np.sign(value)).astype(np.int8)
