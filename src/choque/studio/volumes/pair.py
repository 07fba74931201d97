"""Two volumes, one of which is moved through the other: what they are now, and whether they collide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.files.meshes import Mesh
from choque.studio.volumes.source import VolumeSource
from choque.volumes import TriangleSearch, Volume
from choque.volumes._turning import rotation_matrix

FIRST_VOXELS = 32
"""How many voxels the longest side of two meshes gets where nothing else says how fine they are."""

CELLS_MOST = 40_000_000
"""How many voxels the boxes around both may have together: beyond that a change is no longer live."""


@dataclass(frozen=True)
class Verdict:
    """Whether the two collide, and how long it took to find out."""

    models: bool
    """Whether the voxels share space."""
    triangles: bool | None
    """Whether triangles of both meet; None where the voxels are apart, so that nobody had to ask."""
    triangle_pairs: NDArray[np.int64]
    """(m, 2) triangles that meet."""
    region: Volume | None
    """All that the voxels share."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each question, by name: ``voxels``, ``triangles``, ``region``."""


class VolumePart:
    """One of the two: its source, how it is made into voxels, and the outcome."""

    def __init__(self, source: VolumeSource) -> None:
        self.source = source
        self.above = source.first_threshold()
        self.fill = source.can_fill
        self.rotation = np.eye(3)
        """By which it is turned about the middle of its source."""
        self.volume: Volume = _NOTHING
        self.mesh: Mesh = _NO_MESH
        self.seconds = 0.0
        """How long it took to make the voxels."""

    @property
    def middle(self) -> NDArray[np.float64]:
        """The middle of its source, which turning leaves in place [world]."""
        lower, upper = self.source.bounds
        return (lower + upper) / 2.0

    @property
    def is_turned(self) -> bool:
        """Whether it stands otherwise than in its source."""
        return not np.array_equal(self.rotation, np.eye(3))

    def rebuild(self, like: Volume | None, voxels_per_unit: float | None) -> None:
        """Make the voxels anew; refused, and nothing changed, where the source does not allow it.

        A mesh is turned first, and its voxels are those of the turned one. Voxels that a scan or model brings are asked
        for by the centres of the turned ones; by quarter turns, where they are cubes, each goes to one of them.
        """
        begin = perf_counter()
        source = self.source if not self.is_turned else self.source.turned(self.rotation, self.middle)
        volume = source.volume(like=like, voxels_per_unit=voxels_per_unit, above=self.above, fill=self.fill)
        if self.is_turned and source.mesh is None:
            lattice = volume.lattice
            volume = volume.rotated(self.rotation, about=lattice.to_world(np.rint(lattice.to_lattice(self.middle))))
        self.seconds = perf_counter() - begin
        self.mesh = source.mesh if source.mesh is not None else Mesh(*volume.surface())
        self.volume = volume

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The box around its triangles [world]; where there are none, around its source."""
        if not len(self.mesh.vertices):
            return self.source.bounds
        return self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)


class VolumePair:
    """Two sources on one lattice, the second moved by whole voxels and turned.

    Where neither brings voxels of its own, and wherever `voxels_per_unit` is set, voxels are cubes of that size; else
    they are those of the first that has some. Moving costs nothing. All else makes voxels anew, always from the source,
    so that errors never add up.
    """

    def __init__(self, one: VolumeSource, two: VolumeSource, *, voxels_per_unit: float | None = None) -> None:
        self.parts = (VolumePart(one), VolumePart(two))
        self.shift = np.zeros(3)
        """Where the second is, from where its source has it [world]; whole voxels."""
        if voxels_per_unit is None and one.kind == two.kind == "mesh":
            voxels_per_unit = self._usual_fineness()
        self.voxels_per_unit = voxels_per_unit
        self._searches: tuple[Mesh, TriangleSearch] | None = None
        self.set_voxels_per_unit(voxels_per_unit)

    @property
    def spacing(self) -> NDArray[np.float64]:
        """The edges of a voxel [world]."""
        return np.array(self.parts[0].volume.spacing)

    def set_voxels_per_unit(self, voxels_per_unit: float | None) -> None:
        """Choose how fine the voxels are; None for those that a scan or model brings."""
        if voxels_per_unit is None:
            if all(part.source.kind == "mesh" for part in self.parts):
                raise InvalidInput("Both are meshes; say how many voxels make a unit.")
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
        """Choose the grey value above which the voxels of a scan are full."""
        part = self.parts[which]
        if part.source.kind != "scan":
            raise InvalidInput(f"{part.source.name} is no scan; only scans have a threshold.")
        before, part.above = part.above, float(above)
        try:
            self.rebuild()
        except InvalidInput:
            part.above = before
            raise

    def set_fill(self, which: int, fill: bool) -> None:
        """Choose whether the inside of a mesh is filled."""
        part = self.parts[which]
        if fill and not part.source.can_fill:
            raise InvalidInput(f"{part.source.name} cannot be filled: only meshes without holes have an inside.")
        part.fill = bool(fill)
        self.rebuild()

    def rebuild(self, *, only_second: bool = False) -> None:
        """Make the voxels of both anew, first of the one that brings the lattice; or of the second on its lattice."""
        first, second = self.parts
        if self.voxels_per_unit is None and first.source.kind == "mesh":
            first, second = second, first
        if not only_second or first is self.parts[1]:
            first.rebuild(None, self.voxels_per_unit)
        if not only_second or second is self.parts[1]:
            second.rebuild(first.volume, None)
        self.move_to(self.shift)

    def move_to(self, shift: ArrayLike) -> NDArray[np.float64]:
        """Move the second to the whole number of voxels nearest to ``shift`` [world], and say where that is."""
        wanted = np.asarray(shift, np.float64)
        if wanted.shape != (3,) or not np.isfinite(wanted).all():
            raise InvalidInput(f"The place to move to is {shift!r}; give three finite numbers.")
        self.shift = np.rint(wanted / self.spacing) * self.spacing
        return self.shift

    @property
    def rotation(self) -> NDArray[np.float64]:
        """(3, 3) how the second is turned, about the middle of its source."""
        return self.parts[1].rotation

    def turn_to(self, rotation: ArrayLike) -> None:
        """Turn the second to a rotation, counted from its source; a matrix (3, 3), or an axis times an angle [radians].

        Makes its voxels anew, which `VolumePart.seconds` says the time of.
        """
        part = self.parts[1]
        before, part.rotation = part.rotation, rotation_matrix(rotation)
        try:
            self.rebuild(only_second=True)
        except InvalidInput:
            part.rotation = before
            raise

    def moved(self) -> Volume:
        """The second where it is now."""
        return self.parts[1].volume.translated(self.shift)

    def moved_mesh(self) -> Mesh:
        """The triangles of the second where they are now."""
        mesh = self.parts[1].mesh
        return Mesh(mesh.vertices + self.shift, mesh.faces)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The box around both where they are now [world]."""
        (lower, upper), (other_lower, other_upper) = (part.bounds() for part in self.parts)
        return np.minimum(lower, other_lower + self.shift), np.maximum(upper, other_upper + self.shift)

    def query(self) -> Verdict:
        """Ask whether the voxels collide and, only if they do, whether triangles meet and what the voxels share."""
        seconds = {}
        one, two = self.parts[0].volume, self.moved()
        begin = perf_counter()
        collide = one.collides(two)
        seconds["voxels"] = perf_counter() - begin
        if not collide:
            return Verdict(False, None, np.empty((0, 2), np.int64), None, seconds)
        begin = perf_counter()
        pairs = self._search().meeting(self.moved_mesh())
        seconds["triangles"] = perf_counter() - begin
        begin = perf_counter()
        region = one & two
        seconds["region"] = perf_counter() - begin
        return Verdict(True, bool(len(pairs)), pairs, region, seconds)

    def _search(self) -> TriangleSearch:
        mesh = self.parts[0].mesh
        if self._searches is None or self._searches[0] is not mesh:
            self._searches = mesh, TriangleSearch(mesh)
        return self._searches[1]

    def _usual_fineness(self) -> float:
        sides = [float((upper - lower).max()) for lower, upper in (part.source.bounds for part in self.parts)]
        longest = max(sides)
        if not (math.isfinite(longest) and longest > 0):
            raise InvalidInput("Both meshes are single points; there is nothing to make voxels of.")
        return float(f"{FIRST_VOXELS / longest:.2g}")

    def _check_fineness(self, voxels_per_unit: float) -> None:
        if not (math.isfinite(voxels_per_unit) and voxels_per_unit > 0):
            raise InvalidInput(f"The voxels per unit are {voxels_per_unit!r}; give a number above 0.")
        cells = sum(
            float(np.prod((upper - lower) * voxels_per_unit + 3))
            for lower, upper in (p.source.bounds for p in self.parts)
        )
        if cells > CELLS_MOST:
            raise InvalidInput(
                f"With {voxels_per_unit:g} voxels to the unit the boxes around both would have {cells:,.0f} voxels, "
                f"more than the {CELLS_MOST:,} that can be changed live; choose fewer."
            )


_NOTHING = Volume.from_voxels(np.zeros((1, 1, 1), np.bool_))
_NO_MESH = Mesh(np.empty((0, 3)), np.empty((0, 3), np.int64))
