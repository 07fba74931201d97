"""The convex hulls of a world: each kept once, however many bodies have it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.types import Rows
from choque.errors import InvalidInput
from choque.narrow.hulls import Hull, Hulls

_WHOLE = ("points", "first", "triangles", "triangle_first", "volume", "spread", "center", "frame")


def as_hulls(given: Hulls | ArrayLike | str | os.PathLike[str]) -> Hulls:
    """A library of hulls, from itself, from the points (v, 3) of one solid, or from the file of a mesh."""
    if isinstance(given, Hulls):
        return given
    if isinstance(given, str | os.PathLike):
        return Hulls.from_meshes(Path(given))
    return Hulls.from_points(given)


def joined(present: Hulls | None, arriving: Hulls) -> tuple[Hulls, NDArray[np.int32]]:
    """The ``present`` hulls and those that are new among the ``arriving`` ones; where each of these is now."""
    known = [] if present is None else [present[row] for row in range(len(present))]
    before = len(known)
    places = np.empty(len(arriving), np.int32)
    for row in range(len(arriving)):
        hull = arriving[row]
        same = (place for place, other in enumerate(known) if np.array_equal(hull.points, other.points))
        places[row] = next(same, len(known))
        if places[row] == len(known):
            known.append(hull)
    return present if present is not None and len(known) == before else Hulls(known), places


def chosen(given: ArrayLike, count: int, hulls: Hulls) -> Rows:
    """(count,) rows of ``hulls``, from one for all or one for each."""
    rows = np.asarray(given)
    if rows.dtype.kind not in "iu" or rows.shape not in ((), (count,)):
        raise InvalidInput(
            f"row has the shape {rows.shape} and the type {rows.dtype}; it must be a whole number or ({count},)."
        )
    if rows.size and (rows.min() < 0 or rows.max() >= len(hulls)):
        raise InvalidInput(f"row goes from {rows.min()} to {rows.max()}; the hulls are 0 to {len(hulls) - 1}.")
    return np.broadcast_to(rows, count).astype(np.int64)


def pack_hulls(hulls: Hulls | None) -> dict[str, NDArray[Any]]:
    """The hulls as plain arrays; none for none."""
    return {} if hulls is None else {name: getattr(hulls, name) for name in _WHOLE}


def unpack_hulls(arrays: Mapping[str, NDArray[Any]]) -> Hulls | None:
    """The hulls that `pack_hulls` gave as arrays, or a `ValueError` that says what is wrong with them."""
    if not arrays:
        return None
    points, first = arrays["points"].astype(np.float64), arrays["first"].astype(np.int64)
    triangles, triangle_first = arrays["triangles"].astype(np.int64), arrays["triangle_first"].astype(np.int64)
    per_hull = [arrays[name].astype(np.float64) for name in _WHOLE[4:]]
    count = len(first) - 1
    shapes = [(count,), (count, 3), (count, 3), (count, 3, 3)]
    right = all(np.isfinite(array).all() for array in (points, *per_hull))
    right &= [array.shape for array in per_hull] == shapes and points.shape[1:] == triangles.shape[1:] == (3,)
    for starts, total, least in ((first, len(points), 4), (triangle_first, len(triangles), 4)):
        right &= starts.shape == (count + 1,) and count > 0 and starts[0] == 0 and starts[-1] == total
        right &= bool((np.diff(starts) >= least).all())
    if not right:
        raise ValueError("the hulls of its bodies are not in order")
    hulls = []
    for row in range(count):
        solid = points[first[row] : first[row + 1]]
        faces = triangles[triangle_first[row] : triangle_first[row + 1]]
        if faces.min() < 0 or faces.max() >= len(solid):
            raise ValueError(f"a face of hull {row} names a vertex that is not there")
        hulls.append(Hull(solid.copy(), faces.copy(), float(per_hull[0][row]), *(part[row] for part in per_hull[1:])))
    return Hulls(hulls)
