"""Triangle meshes to voxels: a thin surface, a solid, or every voxel that a triangle touches.

Lattice units inside: voxel (i, j, k) spans i to i + 1 along x, and so on.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import ArrayLike

from choque.errors import InvalidInput, UnknownName
from choque.files.meshes import Mesh, check_mesh, read_mesh
from choque.volumes._lattice import FARTHEST, Lattice, check_cells
from choque.volumes._model import ExtremeVertices
from choque.volumes._scan_conversion import conservative_cells, solid_cells, surface_cells

FILLS = ("solid", "surface")


def as_mesh(mesh: str | os.PathLike[str] | Mesh | tuple[ArrayLike, ArrayLike]) -> Mesh:
    """A mesh from the name of a file, or from vertices and faces."""
    if isinstance(mesh, (str, os.PathLike)):
        return read_mesh(mesh)
    try:
        vertices, faces = mesh
    except (TypeError, ValueError) as problem:
        raise InvalidInput("A mesh is the name of a file, or a pair of vertices (n, 3) and faces (m, 3).") from problem
    return check_mesh(vertices, faces, InvalidInput, "The mesh")


def voxelise_mesh(
    mesh: str | os.PathLike[str] | Mesh | tuple[ArrayLike, ArrayLike],
    lattice: Lattice,
    fill: str = "solid",
    *,
    conservative: bool = False,
) -> ExtremeVertices:
    """The voxels of a mesh on a lattice; see `choque.volumes.Volume.from_mesh`.

    Triangles without area are skipped, except that a surface keeps their corners and edges. Holds one byte for every
    voxel of the box around the mesh while it works.
    """
    if fill not in FILLS:
        raise UnknownName("way to fill a mesh", str(fill), FILLS)
    given = as_mesh(mesh)
    if fill == "solid":
        check_closed(given)
    if len(given.faces) == 0:
        return ExtremeVertices.from_mask(np.zeros((0, 0, 0), np.bool_))
    with np.errstate(over="ignore"):
        corners = lattice.to_lattice(given.vertices)[given.faces]
    reach = float(np.abs(corners).max())
    if reach >= FARTHEST:
        raise InvalidInput(
            f"The mesh reaches {reach:.3g} voxels from the origin of the lattice, where floats no longer tell voxels "
            "apart; use larger voxels, or move the mesh."
        )
    # A margin of one cell on each side: a triangle on a cell's side touches the cell beyond it as well.
    first = np.floor(corners.min(axis=(0, 1))).astype(np.int64) - 1
    shape = np.floor(corners.max(axis=(0, 1))).astype(np.int64) + 2 - first
    check_cells(shape.tolist(), "The box around the mesh")
    mask = np.zeros(tuple(shape.tolist()), np.uint8)
    corners -= first
    if fill == "solid":
        solid_cells(corners, mask)
    elif not conservative:
        surface_cells(np.floor(corners).astype(np.int64), mask)
    if conservative:
        conservative_cells(corners, mask)
    return ExtremeVertices.from_mask(mask.view(np.bool_), offset=tuple(first.tolist()))


def check_closed(mesh: Mesh) -> None:
    """Refuse a mesh with holes: every edge must belong to an even number of triangles."""
    _, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    faces = place.reshape(-1)[mesh.faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    edges = np.sort(np.concatenate([faces[whole][:, pair] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    open_count = int((counts % 2).sum())
    if open_count:
        raise InvalidInput(
            f"The mesh has holes: {open_count} edges belong to an odd number of triangles, so it has no inside "
            "to fill. Repair it, or use fill='surface'."
        )
