"""What is wrong with a mesh, in one table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choque._core import threads
from choque._core.kernel import kernel
from choque._core.pair_keys import pack_pairs
from choque._core.types import F64, I32, I64, Bools
from choque.files.meshes import welded
from choque.meshes.surface import Surface, triangle_at
from choque.meshes.triangles import normal_axis


@dataclass(frozen=True)
class Report:
    """The state of a mesh; ``print(report)`` shows it as a table, with a note at every line that is a problem."""

    vertices: int
    faces: int
    parts: int  #: Connected parts.
    boundary_edges: int  #: Edges of one face: the mesh is open there.
    crowded_edges: int  #: Edges of more than two faces.
    flipped_edges: int  #: Edges whose two faces have different orientations.
    degenerate_faces: I64  #: Faces whose corners lie on a line.
    repeated_faces: int  #: Faces that have the corners of an earlier face.
    unused_vertices: int
    self_intersections: int  #: Pairs of faces that meet outside shared corners.
    volume: float  #: Signed volume; meaningful if the mesh is closed [cubic units].
    area: float  #: [square units]
    size: tuple[float, float, float]  #: Extents of the box around it [units].
    is_closed: bool  #: Whether every edge has an even number of faces, so that inside and outside are defined.

    @property
    def is_clean(self) -> bool:
        """Whether the mesh is closed, consistently oriented, and free of everything counted here as a problem."""
        counts = (self.boundary_edges, self.crowded_edges, self.flipped_edges, self.repeated_faces)
        return not any((*counts, len(self.degenerate_faces), self.self_intersections)) and self.faces > 0

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the lines of the table: what, how much, and a note or an empty string."""
        notes = {
            "boundary edges": (self.boundary_edges, "the surface is open there; inside and outside are not defined"),
            "crowded edges": (self.crowded_edges, "more than two faces meet there"),
            "flipped edges": (self.flipped_edges, "neighbours are oriented differently; the volume is wrong"),
            "degenerate faces": (len(self.degenerate_faces), "their corners lie on a line"),
            "repeated faces": (self.repeated_faces, "the same corners as an earlier face"),
            "self-intersections": (self.self_intersections, "pairs of faces that meet; see self_intersections()"),
            "unused vertices": (self.unused_vertices, "no face has them; harmless"),
        }
        state = "closed" if self.is_closed else "open"
        inside_out = self.is_closed and self.volume < 0
        return [
            ("vertices", f"{self.vertices:,}", ""),
            ("faces", f"{self.faces:,}", "" if self.faces else "the mesh is empty"),
            ("parts", f"{self.parts:,}", ""),
            ("surface", state, ""),
            ("size", " × ".join(f"{side:.6g}" for side in self.size), self._hint()),
            ("area", f"{self.area:.6g}", ""),
            ("volume", f"{self.volume:.6g}" if self.is_closed else "-", "inside out" if inside_out else ""),
            *((name, f"{count:,}", note if count else "") for name, (count, note) in notes.items()),
        ]

    def _hint(self) -> str:
        longest = max(self.size)
        if self.faces and (longest < 0.1 or longest > 10_000):
            return f"{'small' if longest < 0.1 else 'large'}: check the unit, it may be off by 1,000"
        return ""

    def __str__(self) -> str:
        return "\n".join(f"{name:<20}{value:>14}  {note}".rstrip() for name, value, note in self.rows())


def make_report(vertices: F64, faces: I32, surface: Surface, self_intersection_count: int, part_count: int) -> Report:
    """Count everything; vertices at the same place are one."""
    merged, _ = welded(vertices, faces)
    counts, flipped = edge_counts(merged)
    flat = np.zeros(len(faces), np.bool_)
    if len(faces):
        threads.over_ranges(_mark_flat, len(faces), threads.resolve_count(None, len(faces)), surface, flat)
    place = np.empty(len(faces), np.int64)
    place[surface.rows] = np.arange(len(faces))
    corners = vertices[faces]
    middle = vertices.mean(axis=0) if len(vertices) else np.zeros(3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = corners.reshape(-1, 3).max(axis=0) - corners.reshape(-1, 3).min(axis=0) if len(faces) else np.zeros(3)
    different = len(np.unique(np.sort(merged, axis=1), axis=0)) if len(faces) else 0
    return Report(
        vertices=len(vertices),
        faces=len(faces),
        parts=part_count,
        boundary_edges=int(np.count_nonzero(counts == 1)),
        crowded_edges=int(np.count_nonzero(counts > 2)),
        flipped_edges=flipped,
        degenerate_faces=np.flatnonzero(flat[place]),
        repeated_faces=len(faces) - different,
        unused_vertices=len(vertices) - len(np.unique(faces)),
        self_intersections=self_intersection_count,
        volume=float(((corners[:, 0] - middle) * normals).sum() / 6),
        area=float(np.linalg.norm(normals, axis=1).sum() / 2),
        size=(float(sizes[0]), float(sizes[1]), float(sizes[2])),
        is_closed=len(faces) > 0 and not (counts % 2).any(),
    )


def edge_counts(faces: I64) -> tuple[I64, int]:
    """Return how many faces each edge has (edges of no length left out), and how many pairs run the same way."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    is_edge = start != end
    start, end = start[is_edge], end[is_edge]
    keys = pack_pairs(np.stack((np.minimum(start, end), np.maximum(start, end)), axis=1))
    _, edge, counts = np.unique(keys, return_inverse=True, return_counts=True)
    turns = np.bincount(edge, np.where(start < end, 1, -1), len(counts))
    return counts, int(np.count_nonzero((counts == 2) & (turns != 0)))


@kernel
def _mark_flat(first: int, last: int, surface: Surface, flat: Bools) -> None:
    for place in range(first, last):
        a, b, c = triangle_at(surface, place)
        flat[place] = normal_axis(a, b, c) == 3
