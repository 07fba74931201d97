"""Two sources of volumes on one lattice, the second moved and turned, and whether they collide."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.files.meshes import MeshArrays
from choque.studio.volumes.source import VolumeSource
from choque.theses.evm.triangles import TriangleSearch
from choque.volumes import Volume
from choque.volumes.turning import rotation_matrix

DEFAULT_VOXELS = 32
"""Number of voxels along the longest side of two meshes, if ``voxels_per_unit`` is not given."""

MAX_CELLS = 40_000_000
"""Largest number of voxels in the boxes around both, so that a change takes at most seconds."""


@dataclass(frozen=True)
class PairAnswer:
    """Whether the two collide, and the time of each test."""

    voxels: bool
    """Whether the voxels share space."""
    triangles: bool | None
    """Whether triangles of both meet; None if the voxels are apart and no triangles were tested."""
    triangle_pairs: NDArray[np.int64]
    """(m, 2) triangles that meet."""
    region: Volume | None
    """The intersection of the voxels."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each test [s], by name: ``voxels``, ``triangles``, ``region``."""
    inside: int | None = None
    """Which of the two, 0 or 1, lies inside the other: all its voxels are shared, and no triangles meet."""


class VolumePart:
    """One of the two: its source, the options of voxelising it, and the result."""

    def __init__(self, source: VolumeSource) -> None:
        self.source = source
        self.above = source.first_threshold()
        self.fill = source.can_fill
        self.rotation = np.eye(3)
        """Rotation (3, 3) about the middle of its source."""
        self.volume: Volume = _NOTHING
        self.mesh: MeshArrays = _NO_MESH
        self.seconds = 0.0
        """Time to make the voxels [s]."""

    @property
    def middle(self) -> NDArray[np.float64]:
        """Middle of its source, the fixed point of rotations [world]."""
        lower, upper = self.source.bounds
        return (lower + upper) / 2.0

    @property
    def is_turned(self) -> bool:
        """Whether it is rotated relative to its source."""
        return not np.array_equal(self.rotation, np.eye(3))

    def rebuild(self, like: Volume | None, voxels_per_unit: float | None) -> None:
        """Make the voxels again; nothing changes if the source raises `InvalidInput`.

        A mesh is turned and then voxelised. Scans and models are resampled conservatively, which is exact for quarter
        turns if the voxels are cubes.
        """
        begin = perf_counter()
        source = self.source if not self.is_turned else self.source.turned(self.rotation, self.middle)
        volume = source.volume(like=like, voxels_per_unit=voxels_per_unit, above=self.above, fill=self.fill)
        if self.is_turned and source.mesh is None:
            lattice = volume.lattice
            pivot = lattice.to_world(np.rint(lattice.to_lattice(self.middle)))
            volume = volume.rotated(self.rotation, about=pivot, conservative=True)
        self.seconds = perf_counter() - begin
        self.mesh = source.mesh if source.mesh is not None else MeshArrays(*volume.surface())
        self.volume = volume

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the box around its triangles [world]; if there are none, around its source."""
        if not len(self.mesh.vertices):
            return self.source.bounds
        return self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)


class VolumePair:
    """Two sources on one lattice, the second moved by whole voxels and turned.

    With `voxels_per_unit`, which two meshes need, voxels are cubes of that size; otherwise they are those of the first
    source that is a scan or model. Moving costs nothing. Every other change makes the voxels again from the source, so
    that errors never accumulate.
    """

    def __init__(self, one: VolumeSource, two: VolumeSource, *, voxels_per_unit: float | None = None) -> None:
        self.parts = (VolumePart(one), VolumePart(two))
        self.shift = np.zeros(3)
        """Translation of the second relative to its source [world], in whole voxels."""
        if voxels_per_unit is None and one.kind == two.kind == "mesh":
            voxels_per_unit = self._default_fineness()
        self.voxels_per_unit = voxels_per_unit
        self._searches: tuple[MeshArrays, TriangleSearch] | None = None
        self.set_voxels_per_unit(voxels_per_unit)

    @property
    def spacing(self) -> NDArray[np.float64]:
        """Edges of a voxel [world]."""
        return np.array(self.parts[0].volume.spacing)

    def set_voxels_per_unit(self, voxels_per_unit: float | None) -> None:
        """Set the resolution of the voxels; None for the voxels of the scan or model."""
        if voxels_per_unit is None:
            if all(part.source.kind == "mesh" for part in self.parts):
                raise InvalidInput("voxels_per_unit is None and both are meshes; give a number above 0.")
        else:
            self._check_fineness(voxels_per_unit)
        before = self.voxels_per_unit
        self.voxels_per_unit = voxels_per_unit
        try:
            self.rebuild()
        except InvalidInput:
            self.voxels_per_unit = before
            raise

    def set_threshold(self, which: int, above: float) -> None:
        """Set the grey value above which the voxels of a scan are full."""
        part = self.parts[which]
        if part.source.kind != "scan":
            raise InvalidInput(f"{part.source.name} is a {part.source.kind}; only scans have a threshold.")
        before, part.above = part.above, float(above)
        try:
            self.rebuild()
        except InvalidInput:
            part.above = before
            raise

    def set_fill(self, which: int, fill: bool) -> None:
        """Set whether the inside of a mesh is filled."""
        part = self.parts[which]
        if fill and not part.source.can_fill:
            raise InvalidInput(f"{part.source.name} cannot be filled: only meshes without holes have an inside.")
        part.fill = bool(fill)
        self.rebuild()

    def rebuild(self, *, only_second: bool = False) -> None:
        """Make the voxels of both again, or ``only_second``; the source that has the lattice comes first."""
        first, second = self.parts
        if self.voxels_per_unit is None and first.source.kind == "mesh":
            first, second = second, first
        if not only_second or first is self.parts[1]:
            first.rebuild(None, self.voxels_per_unit)
        if not only_second or second is self.parts[1]:
            second.rebuild(first.volume, None)
        self.move_to(self.shift)

    def move_to(self, shift: ArrayLike) -> NDArray[np.float64]:
        """Move the second to ``shift`` [world], rounded to whole voxels, and return the result."""
        self.shift = np.rint(np.array(check.triple(shift, "shift")) / self.spacing) * self.spacing
        return self.shift

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation (3, 3) of the second about the middle of its source."""
        return self.parts[1].rotation

    def turn_to(self, rotation: ArrayLike) -> None:
        """Turn the second to a rotation, relative to its source, and make its voxels again.

        ``rotation`` is a matrix (3, 3), or a vector (3,) along the axis, as long as the angle [rad].
        """
        part = self.parts[1]
        before, part.rotation = part.rotation, rotation_matrix(rotation)
        try:
            self.rebuild(only_second=True)
        except InvalidInput:
            part.rotation = before
            raise

    def moved(self) -> Volume:
        """Return the second volume where it is now."""
        return self.parts[1].volume.translated(self.shift)

    def moved_mesh(self) -> MeshArrays:
        """Return the triangles of the second where they are now."""
        mesh = self.parts[1].mesh
        return MeshArrays(mesh.vertices + self.shift, mesh.faces)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the box around both where they are now [world]."""
        (lower, upper), (other_lower, other_upper) = (part.bounds() for part in self.parts)
        return np.minimum(lower, other_lower + self.shift), np.maximum(upper, other_upper + self.shift)

    def query(self) -> PairAnswer:
        """Test whether the voxels collide and, only if they do, find the triangles that meet and the intersection."""
        seconds = {}
        one, two = self.parts[0].volume, self.moved()
        begin = perf_counter()
        collide = one.collides(two)
        seconds["voxels"] = perf_counter() - begin
        if not collide:
            return PairAnswer(False, None, np.empty((0, 2), np.int64), None, seconds)
        begin = perf_counter()
        pairs = self._search().meeting(self.moved_mesh())
        seconds["triangles"] = perf_counter() - begin
        begin = perf_counter()
        region = one & two
        seconds["region"] = perf_counter() - begin
        counts = (one.voxel_count, two.voxel_count)
        within = [which for which in (1, 0) if not len(pairs) and region.voxel_count == counts[which]]
        return PairAnswer(True, bool(len(pairs)), pairs, region, seconds, within[0] if within else None)

    def _search(self) -> TriangleSearch:
        mesh = self.parts[0].mesh
        if self._searches is None or self._searches[0] is not mesh:
            self._searches = mesh, TriangleSearch(mesh)
        return self._searches[1]

    def _default_fineness(self) -> float:
        sides = [float((upper - lower).max()) for lower, upper in (part.source.bounds for part in self.parts)]
        longest = max(sides)
        if longest == 0:
            raise InvalidInput("Both meshes are single points; give meshes with triangles that have an area.")
        return float(f"{DEFAULT_VOXELS / longest:.2g}")

    def _check_fineness(self, voxels_per_unit: float) -> None:
        check.positive(voxels_per_unit, "voxels_per_unit")
        cells = sum(
            float(np.prod((upper - lower) * voxels_per_unit + 3))
            for lower, upper in (p.source.bounds for p in self.parts)
        )
        if cells > MAX_CELLS:
            raise InvalidInput(
                f"voxels_per_unit is {voxels_per_unit:g}, which makes {cells:,.0f} voxels in the boxes around both; "
                f"at most {MAX_CELLS:,} are allowed. Give a smaller number."
            )


_NOTHING = Volume.from_voxels(np.zeros((1, 1, 1), np.bool_))
_NO_MESH = MeshArrays(np.empty((0, 3)), np.empty((0, 3), np.int64))
