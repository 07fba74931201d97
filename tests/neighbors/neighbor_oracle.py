"""Neighbours by brute force over all images: an oracle that shares no code with the search.

The rule is that of the docstring of `choque.neighbors`, in float64 and in the order of its sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Neighbour = tuple[int, ...]
"""(i, j, *S)."""


def oracle(
    positions: Any,
    cutoff: float | None = None,
    cell: Any = None,
    periodic: Any = None,
    *,
    full: bool = True,
    radii: Any = None,
    other: Any = None,
    other_radii: Any = None,
) -> set[Neighbour]:
    """Return all neighbours."""
    near = np.asarray(positions, np.float64)
    far = near if other is None else np.asarray(other, np.float64)
    dimension = near.shape[1]
    spans = [range(1)] * dimension
    vectors = np.zeros((dimension, dimension))
    reach = (
        2 * max(np.max(each, initial=0) for each in (radii, other_radii) if each is not None)
        if cutoff is None
        else cutoff
    )
    if cell is not None:
        vectors = np.asarray(cell, np.float64)
        flags = np.broadcast_to(True if periodic is None else periodic, dimension)
        if len(near) and len(far):
            spans = _spans(near, far, vectors, flags, reach)
    if cutoff is None:
        far_radii = radii if other is None else other_radii
        limits = np.asarray(radii, np.float64)[:, None] + np.asarray(far_radii, np.float64)[None]
    else:
        limits = np.full((len(near), len(far)), float(cutoff))
    found: set[Neighbour] = set()
    if not len(near) or not len(far):
        return found
    step = far[None] - near[:, None]
    shifts = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, dimension)
    offsets = shifts[:, :1] * vectors[0]
    for axis in range(1, dimension):
        offsets = offsets + shifts[:, axis, None] * vectors[axis]
    longest = (reach + np.sqrt(np.square(step).sum(axis=2).max())) * (1 + 1e-9)
    is_possible = np.sqrt(np.square(offsets).sum(axis=1)) <= longest
    for shift, offset in zip(shifts[is_possible].tolist(), offsets[is_possible], strict=True):
        moved = step + offset if any(shift) else step
        square = moved[..., 0] * moved[..., 0]
        for axis in range(1, dimension):
            square = square + moved[..., axis] * moved[..., axis]
        for i, j in np.argwhere(square < limits * limits).tolist():
            if other is not None or _is_listed(i, j, tuple(shift), full):
                found.add((i, j, *shift))
    return found


def _is_listed(i: int, j: int, shift: tuple[int, ...], full: bool) -> bool:
    zero = (0,) * len(shift)
    if full:
        return i != j or shift != zero
    return i < j or (i == j and shift > zero)


def _spans(near: Any, far: Any, vectors: Any, flags: Any, reach: float) -> list[range]:
    """Return the images along each axis that can matter: |S| * height <= reach + extents along the face's normal."""
    repeated = np.flatnonzero(flags)
    spans = [range(1)] * len(vectors)
    for axis in repeated.tolist():
        normal = vectors[axis].copy()
        rest = vectors[[other for other in repeated.tolist() if other != axis]]
        if len(rest):
            basis = np.linalg.qr(rest.T)[0]
            normal = normal - basis @ (basis.T @ normal)
        height = np.linalg.norm(normal)
        along_near, along_far = near @ normal / height, far @ normal / height
        low = (along_near.min() - along_far.max() - reach) / height
        high = (along_near.max() - along_far.min() + reach) / height
        spans[axis] = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 2)
    return spans


def rows(answer: Any) -> list[Neighbour]:
    """Return what ``quantities="ijS"`` gives as tuples."""
    i, j, shift = answer
    return [(a, b, *s) for a, b, s in zip(i.tolist(), j.tolist(), shift.tolist(), strict=True)]


def random_cell(random: np.random.Generator, dimension: int, length: float, tilt: float) -> Any:
    """Return a right-handed cell with edges of about ``length``, up to a factor of three, tilted."""
    while True:
        cell = np.diag(length * 3 ** random.uniform(-1, 1, dimension)) + random.normal(
            0, tilt * length, (dimension,) * 2
        )
        if np.linalg.det(cell) < 0:
            cell[0] *= -1
        if np.linalg.det(cell) > 0.1 * np.prod(np.linalg.norm(cell, axis=1)):
            return cell
