"""Convex hulls of a world: each stored once, for any number of bodies, and as plain arrays in files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.types import I32
from choque.narrow.hulls import Hull, Hulls

_ARRAYS = ("points", "first", "triangles", "triangle_first", "volume", "spread", "center", "frame")
MIN_POINTS = 4  # corners, and faces, of the smallest solid: a tetrahedron; meshes, whose volume is 0, may have fewer


def as_hulls(given: Hulls | ArrayLike | str | os.PathLike[str]) -> Hulls:
    """Return a hull library: the given one, or one made from the points (v, 3) of a solid or from a mesh file."""
    if isinstance(given, Hulls):
        return given
    if isinstance(given, str | os.PathLike):
        return Hulls.from_meshes(Path(given))
    return Hulls.from_points(given)


def joined(present: Hulls | None, arriving: Hulls) -> tuple[Hulls, I32]:
    """Return the ``present`` hulls extended by new ones, and the row of each of the ``arriving`` hulls in them."""
    known = [] if present is None else [present[row] for row in range(len(present))]
    before = len(known)
    places = np.empty(len(arriving), np.int32)
    for row in range(len(arriving)):
        hull = arriving[row]
        same = (place for place, other in enumerate(known) if _are_same(hull, other))
        places[row] = next(same, len(known))
        if places[row] == len(known):
            known.append(hull)
    return present if present is not None and len(known) == before else Hulls(known), places


def _are_same(one: Hull, other: Hull) -> bool:
    """Tell whether two hulls are the same solid, or the same mesh."""
    is_mesh = one.volume == other.volume == 0
    return np.array_equal(one.points, other.points) and (
        np.array_equal(one.triangles, other.triangles) if is_mesh else one.volume > 0 < other.volume
    )


def pack_hulls(hulls: Hulls) -> dict[str, NDArray[Any]]:
    """Return the hulls as plain arrays."""
    return {name: getattr(hulls, name) for name in _ARRAYS}


def unpack_hulls(arrays: Mapping[str, NDArray[Any]]) -> Hulls | None:
    """Return the hulls that `pack_hulls` packed; raise `ValueError` if the arrays do not fit together."""
    if not arrays:
        return None
    points, first = arrays["points"].astype(np.float64), arrays["first"].astype(np.int64)
    triangles, triangle_first = arrays["triangles"].astype(np.int64), arrays["triangle_first"].astype(np.int64)
    per_hull = [arrays[name].astype(np.float64) for name in _ARRAYS[4:]]
    count = len(first) - 1
    is_finite = all(np.isfinite(each).all() for each in (points, *per_hull))
    fits = [array.shape for array in per_hull] == [(count,), (count, 3), (count, 3), (count, 3, 3)]
    if count < 1 or not (fits and is_finite):
        raise ValueError("the hulls of its bodies are damaged")
    check_hull_meshes(points, first, triangles, triangle_first, least=1)
    is_solid = per_hull[0] > 0
    if (np.diff(first)[is_solid] < MIN_POINTS).any() or (np.diff(triangle_first)[is_solid] < MIN_POINTS).any():
        raise ValueError("the hulls of its bodies are damaged")
    hulls = []
    for row in range(count):
        solid = points[first[row] : first[row + 1]]
        faces = triangles[triangle_first[row] : triangle_first[row + 1]]
        hulls.append(Hull(solid.copy(), faces.copy(), float(per_hull[0][row]), *(part[row] for part in per_hull[1:])))
    return Hulls(hulls)


def check_hull_meshes(
    points: NDArray[Any], first: NDArray[Any], triangles: NDArray[Any], triangle_first: NDArray[Any], *, least: int = 0
) -> None:
    """Raise `ValueError` unless these arrays are meshes, each of at least ``least`` corners and faces.

    ``points`` (p, 3) and ``triangles`` (t, 3) hold the corners and faces of all meshes; mesh k has those from
    ``first[k]`` to ``first[k + 1]``, and faces name corners within their mesh.
    """
    sound = points.shape[1:] == triangles.shape[1:] == (3,) and len(first) == len(triangle_first)
    if sound and _are_starts(first, len(points), least) and _are_starts(triangle_first, len(triangles), least):
        corners = np.repeat(np.diff(first), np.diff(triangle_first))
        if (triangles >= 0).all() and (triangles < corners[:, np.newaxis]).all():
            return
    raise ValueError("the hulls of its bodies are damaged")


def _are_starts(starts: NDArray[Any], total: int, smallest: int) -> bool:
    """Tell whether ``starts`` cuts ``total`` items into parts of at least ``smallest``."""
    if starts.dtype != np.int64 or starts.ndim != 1 or not len(starts):
        return False
    return starts[0] == 0 and starts[-1] == total and bool((np.diff(starts) >= smallest).all())
