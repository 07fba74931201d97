"""Volumes: solids of voxels from scans, meshes and masks, with booleans, measures and collisions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64, I64, Bools
from choque.errors import InvalidInput
from choque.files.scans import Triple
from choque.volumes import _distance, _measures, collision, turning
from choque.volumes._lattice import Lattice
from choque.volumes._model import ExtremeVertices
from choque.volumes.collision import Overlap
from choque.volumes.keys import AXES

if TYPE_CHECKING:
    from choque.files.meshes import MeshArrays


class Volume:
    """A solid made of voxels of one size, anywhere in the world.

    Make one with `from_voxels`, `from_mesh`, `from_scan` or `read`. Volumes are immutable: every method returns a new
    one, and a translated volume shares all its arrays with the volume that it comes from. Operations on two volumes
    require voxels of the same size that line up; otherwise the error says how to resample.

    All answers are exact for the voxels. An empty volume is allowed and collides with nothing.
    """

    def __init__(self, model: ExtremeVertices, lattice: Lattice) -> None:
        self.model = model
        self.lattice = lattice

    # Constructors

    @classmethod
    def from_voxels(cls, mask: ArrayLike, *, spacing: ArrayLike = 1.0, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Volume:
        """Return the true voxels of a mask with axes x, y, z.

        Parameters
        ----------
        mask
            (nx, ny, nz) booleans. For arrays with axes z, y, x give ``mask.transpose()``.
        spacing
            The edges of a voxel along x, y, z, or one number for all three [world units].
        origin
            World position of the lower corner (not the centre) of voxel (0, 0, 0).
        """
        try:
            cells = np.asarray(mask)
        except (TypeError, ValueError) as problem:
            raise InvalidInput(f"The mask is not a rectangular array ({problem}).") from None
        if cells.ndim != 3:
            raise InvalidInput(
                f"The mask has {cells.ndim} axes and shape {cells.shape}; a volume needs three: x, y, z. "
                "For one slice give mask[:, :, None]."
            )
        return cls(ExtremeVertices.from_mask(cells), Lattice.make(spacing, origin))

    @classmethod
    def from_mesh(
        cls,
        mesh: str | os.PathLike[str] | MeshArrays | tuple[ArrayLike, ArrayLike],
        *,
        like: Volume | None = None,
        voxels_per_unit: float | None = None,
        fill: str = "solid",
        conservative: bool = False,
    ) -> Volume:
        """Return the voxels of a triangle mesh.

        Parameters
        ----------
        mesh
            Path of an OFF, STL, OBJ or PLY file, or vertices (n, 3) and faces (m, 3).
        like
            A volume whose lattice to use, so that operations on both are possible.
        voxels_per_unit
            Instead of ``like``: the number of voxels in one world unit. Voxel i is centred at i / voxels_per_unit.
        fill
            ``solid``: voxels whose centre is inside; the mesh must be closed. Where shells of the mesh overlap it is
            solid; a shell inside another is a cavity if its triangles face inward. ``surface``: one layer of voxels
            along the triangles, nothing inside.
        conservative
            Also every voxel that a triangle touches, so that no part of the mesh is outside the volume. Without it,
            parts thinner than a voxel can be lost, and `collides` can miss them; a mesh that leaves no voxel is an
            error.
        """
        from choque.volumes.voxelise import voxelise_mesh

        lattice = _lattice_for(like, voxels_per_unit)
        return cls(voxelise_mesh(mesh, lattice, fill=fill, conservative=conservative), lattice)

    @classmethod
    def from_scan(
        cls,
        path: str | os.PathLike[str],
        *,
        above: float | None = None,
        below: float | None = None,
        label: int | None = None,
        axes: str | None = None,
        world: str = "LPS",
        spacing: ArrayLike | None = None,
        straighten: bool = False,
        conservative: bool = False,
        series: str | None = None,
    ) -> Volume:
        """Return voxels of a grey or labelled image: NIfTI, NRRD, TIFF stack, folder of slices or NumPy array.

        Parameters
        ----------
        path
            The file, or the folder of a DICOM series or of TIFF slices.
        above, below, label
            Keep voxels with values > above, < below, or equal to label; without any of them, those that are not 0.
            NaN is never kept.
        axes
            Order of the axes of a TIFF or NumPy array: ``zyx`` or ``xyz``. Default: zyx for TIFF, xyz for NumPy.
        world
            Directions of the world axes: ``LPS`` (left, posterior, superior; as DICOM) or ``RAS`` (as NIfTI).
        spacing
            The edges of a voxel along x, y, z, if the file has none or wrong ones.
        straighten
            Resample an oblique scan, whose axes are not those of the world, as `rotated` does.
        conservative
            For oblique scans: keep every voxel that may share space with the scan's.
        series
            One DICOM series of a folder that holds several, by its description, number or unique identifier.
        """
        from choque.files.scans import read_scan, select

        scan = read_scan(path, axes=axes, world=world, oblique=straighten, series=series)
        mask = select(scan.values, above=above, below=below, label=label, name=os.fspath(path))
        size = scan.spacing if spacing is None else check.triple(spacing, "spacing", single=True)
        found = cls.from_voxels(mask, spacing=size, origin=scan.corner(size))
        if scan.rotation is None:
            return found
        return found.rotated(scan.rotation, about=scan.centre, conservative=conservative)

    @classmethod
    def read(cls, path: str | os.PathLike[str], **options: Any) -> Volume:
        """Read a volume from any supported file; ``options`` are those of `from_mesh` or `from_scan`.

        A word that is not a file can name a phantom (`choque.lab.phantoms`): ``screw``, ``screw:96`` for 96³ voxels.
        """
        from choque.volumes.reading import read_volume

        return read_volume(path, **options)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write ``.evm``, ``.vox``, ``.nii``, ``.nii.gz``, ``.nrrd``, ``.tif``, ``.npy``, ``.npz``, or the surface.

        All formats but ``.npy``, which holds the mask of its box, keep the size and position of the voxels. The
        surface goes to ``.off``, ``.stl`` or ``.ply``.
        """
        from choque.volumes.reading import write_volume

        write_volume(path, self, **options)

    def _with(self, model: ExtremeVertices) -> Volume:
        return Volume(model, self.lattice)

    # Properties

    def _repr_html_(self) -> str:
        from choque._core.notebook import boxes_picture, card

        facts: dict[str, object] = {"volume": self.volume, "voxels of": self.spacing, "vertices": len(self.model)}
        if self.is_empty:
            return card("Volume, empty", facts)
        lower, upper = self.bounds
        picture = boxes_picture(lower[None], upper[None])
        return card("Volume", facts | {"from": lower, "to": upper}, picture)

    def __repr__(self) -> str:
        if self.is_empty:
            return f"<Volume: empty, voxels of {self.spacing}>"
        lower, upper = (tuple(float(f"{value:.9g}") for value in corner) for corner in self.bounds)
        return (
            f"<Volume: {self.volume:.6g} in the box {lower} to {upper}, voxels of {self.spacing}, "
            f"{len(self.model)} vertices>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Volume):
            return NotImplemented
        try:
            return self.model == self._on_this_lattice(other)
        except InvalidInput:
            return False  # their voxels differ in size or do not line up

    __hash__ = None  # type: ignore[assignment]

    @property
    def spacing(self) -> Triple:
        """The edges of a voxel along x, y, z [world units]."""
        return self.lattice.spacing

    @property
    def bounds(self) -> tuple[F64, F64]:
        """Lower and upper corner of the box around it [world]."""
        lower, upper = self.model.bounds
        return self.lattice.to_world(lower), self.lattice.to_world(upper)

    @property
    def voxel_count(self) -> int:
        """Number of full voxels."""
        return _measures.content(self.model)

    @property
    def byte_count(self) -> int:
        """Size of the vertices [bytes]; ``model.cached_byte_count`` is that of the cache for later queries."""
        return self.model.byte_count

    @property
    def is_empty(self) -> bool:
        """Whether no voxel is full."""
        return self.model.is_empty

    @property
    def volume(self) -> float:
        """Volume of its voxels [world units³]."""
        return self.voxel_count * float(np.prod(self.spacing))

    @property
    def surface_area(self) -> float:
        """Area of the voxel faces between full and empty, cavities included [world units²]."""
        return sum(
            count * float(np.prod(self.spacing)) / size
            for count, size in zip(_measures.boundary(self.model), self.spacing, strict=True)
        )

    def voxels(self, lower: tuple[int, int, int] | None = None, upper: tuple[int, int, int] | None = None) -> Bools:
        """Return the mask (x, y, z) between two lattice points; default: of its box, which starts at ``bounds[0]``."""
        return self.model.mask(lower, upper)

    def boxes(self) -> tuple[F64, F64]:
        """Return disjoint boxes that fill it: lower and upper corners (n, 3) [world]."""
        lower, upper = self.model.boxes()
        return self.lattice.to_world(lower), self.lattice.to_world(upper)

    def surface(self) -> tuple[F64, I64]:
        """Return its boundary as a closed triangle mesh, oriented outward: vertices (n, 3) [world], faces (m, 3).

        The mesh is a manifold: every edge is used twice, once in each direction. Where voxels meet in an edge or a
        corner alone, vertices are doubled, at the same place, and the voxels are apart.
        """
        from choque.volumes.surface import manifold_surface

        points, faces = manifold_surface(self.model)
        return self.lattice.to_world(points), faces

    # Operations on two volumes

    def __and__(self, other: Volume) -> Volume:
        return self._with(self.model & self._on_this_lattice(other))

    def __or__(self, other: Volume) -> Volume:
        return self._with(self.model | self._on_this_lattice(other))

    def __sub__(self, other: Volume) -> Volume:
        return self._with(self.model - self._on_this_lattice(other))

    def __xor__(self, other: Volume) -> Volume:
        return self._with(self.model ^ self._on_this_lattice(other))

    def collides(self, other: Volume, *, closed: bool = False) -> bool:
        """Return whether the two volumes share space; with ``closed``, touching faces, edges or corners are enough.

        Compares the sections of both and stops at the first overlap. The first query of a volume computes and caches
        its sections; later queries, also of its translations, take microseconds.
        """
        shift = self._shift_to(other)
        return collision.search(self.model, other.model, shift, closed=closed).overlap is not None

    def collision(self, other: Volume, *, closed: bool = False) -> Overlap | None:
        """Return the first overlap that `collides` finds, or None if the volumes do not collide."""
        shift = self._shift_to(other)
        found = collision.search(self.model, other.model, shift, closed=closed)
        if found.overlap is None:
            return None
        lower, upper = map(self.lattice.to_world, found.overlap)
        return Overlap(self, other, (lower + upper) / 2, lower, upper, found.brinks)

    def clearance(self, other: Volume) -> float:
        """Return the least distance [world units]: 0 if the two touch or collide, inf if one is empty."""
        shift = self._shift_to(other)
        if self.is_empty or other.is_empty:
            return float("inf")
        return _distance.distance(self.model, other.model, shift, self.spacing)

    def nearest_points(self, other: Volume) -> tuple[F64, F64]:
        """Return a point of this volume and a point of the other at the least distance [world]."""
        shift = self._shift_to(other)
        if self.is_empty or other.is_empty:
            raise InvalidInput("One of the volumes is empty and has no points; test `is_empty` first.")
        here, there = _distance.nearest_points(self.model, other.model, shift, self.spacing)
        return self.lattice.to_world(here), self.lattice.to_world(there)

    def slide(self, other: Volume, direction: ArrayLike) -> float:
        """Return how far ``other`` can move along ``direction`` before it hits this one [world units]; inf if never."""
        towards = check.triple(direction, "direction")
        shift = self._shift_to(other)
        if self.is_empty or other.is_empty:
            return float("inf")
        return _distance.travel(self.model, other.model, shift, self.spacing, towards)

    def separation(self, other: Volume) -> F64:
        """Return the shortest push of ``other`` along one axis that ends the collision [world]; zeros if none."""
        push = np.zeros(3)
        shift = self._shift_to(other)
        if self.is_empty or other.is_empty:
            return push
        steps = collision.pushes(self.model, other.model, shift)
        length, name = min((count * self.spacing[AXES.index(name[1])], name) for name, count in steps.items())
        push[AXES.index(name[1])] = length if name[0] == "+" else -length
        return push

    def _shift_to(self, other: Volume) -> tuple[int, int, int]:
        return self.lattice.shift_to(lattice_of(other))

    def _on_this_lattice(self, other: Volume) -> ExtremeVertices:
        shift = self._shift_to(other)  # first: it refuses what is no volume
        return other.model.moved(shift)

    # Transformations

    def translated(self, shift: ArrayLike) -> Volume:
        """Return the volume moved by a whole number of voxels along each axis [world units]; copies nothing."""
        return self._with(self.model.moved(self.lattice.steps(shift)))

    def turned(self, axis: str, quarter_turns: int = 1, *, about: ArrayLike | None = None) -> Volume:
        """Return the volume after exact quarter turns about x, y or z, around ``about``.

        ``about`` is a world point; default: a lattice point in the middle of this volume, for all of the turns.
        """
        first = (AXES.index(check.choice(axis, "axis", AXES)) + 1) % 3
        second = (first + 1) % 3
        letters = list(AXES)
        letters[first], letters[second] = letters[second], letters[first]
        pivot, turned = self._pivot(about), self
        for _ in range(check.whole_number(quarter_turns, "quarter_turns") % 4):
            turned = turned._with_axes("".join(letters), AXES[first], pivot)
        return turned

    def mirrored(self, axis: str, *, about: ArrayLike | None = None) -> Volume:
        """Return the volume mirrored exactly along x, y or z at ``about`` (default: a lattice point in its middle)."""
        return self._with_axes(AXES, check.choice(axis, "axis", AXES), self._pivot(about))

    def scaled(self, factors: int | tuple[int, int, int]) -> Volume:
        """Return the volume enlarged by whole factors from the origin of the lattice; the voxels keep their size."""
        return self._with(self.model.scaled(factors))

    def rotated(self, rotation: ArrayLike, *, about: ArrayLike | None = None, conservative: bool = False) -> Volume:
        """Return the volume turned by any angle, resampled on the same lattice.

        Parameters
        ----------
        rotation
            A matrix (3, 3), or a vector (3,) along the axis, as long as the angle [rad].
        about
            The fixed point [world]; default: a lattice point in the middle of this volume.
        conservative
            Instead of the voxels whose centres are in the turned volume, every voxel that may share space with it: no
            part of the turned volume is lost, and it grows by less than a voxel. Needed wherever a "no" of `collides`
            must be certain, also for volumes without thin parts.
        """
        motion = turning.TurnAbout(turning.rotation_matrix(rotation), self._pivot(about))
        return self._with(turning.resample(self.model, self.lattice, self.lattice, motion, conservative=conservative))

    def resampled(
        self, *, like: Volume | None = None, spacing: ArrayLike | None = None, conservative: bool = False
    ) -> Volume:
        """Return the solid on the lattice of ``like``, or in voxels of ``spacing`` from the same origin.

        A voxel is full if its centre is in this volume; with ``conservative`` if it shares space with it, so that thin
        parts stay. Raises `InvalidInput` if nothing is left.
        """
        if (like is None) == (spacing is None):
            raise InvalidInput("The new voxels are not determined; give either like=volume or spacing=.")
        target = lattice_of(like) if like is not None else Lattice.make(spacing, self.lattice.origin)  # type: ignore[arg-type]
        still = turning.TurnAbout(np.eye(3), np.zeros(3))
        return Volume(turning.resample(self.model, self.lattice, target, still, conservative=conservative), target)

    def dilated(self, voxels: int = 1, *, shape: str = "cube") -> Volume:
        """Return the volume grown by ``voxels``: to the 26 neighbours of each (``cube``) or to the 6 (``diamond``)."""
        return self._with(_measures.dilated(self.model, voxels, shape))

    def eroded(self, voxels: int = 1, *, shape: str = "cube") -> Volume:
        """Return the volume shrunk by ``voxels``; shapes as for `dilated`."""
        return self._with(_measures.eroded(self.model, voxels, shape))

    def skeleton(self, *, shape: str = "cube") -> Volume:
        """Return the morphological skeleton (Lantuéjoul, 1978)."""
        return self._with(_measures.skeleton(self.model, shape))

    def components(self, *, connectivity: int = 26, limit: int | None = None) -> list[Volume]:
        """Return the connected parts, or the ``limit`` largest, largest first; ``connectivity`` is 6, 18 or 26."""
        count = None if limit is None else check.whole_number(limit, "limit", 1)
        return [self._with(part) for part in _measures.components(self.model, connectivity, count)]

    def component_count(self, *, connectivity: int = 26) -> int:
        """Return the number of connected parts, without making them."""
        return _measures.component_count(self.model, connectivity)

    def _pivot(self, about: ArrayLike | None) -> F64:
        if about is not None:
            return np.array(check.triple(about, "about"))
        lower, upper = self.model.bounds
        return self.lattice.to_world([(low + high) // 2 for low, high in zip(lower, upper, strict=True)])

    def _with_axes(self, permutation: str, mirrored: str, pivot: F64) -> Volume:
        columns = [AXES.index(letter) for letter in permutation]
        signs = np.array([-1.0 if letter in mirrored else 1.0 for letter in AXES])
        spacing = np.array(self.spacing)[columns]
        origin = (np.array(self.lattice.origin) - pivot)[columns] * signs + pivot
        return Volume(self.model.with_axes(permutation, mirrored), Lattice.make(spacing, origin))


def lattice_of(volume: Volume) -> Lattice:
    """Return the lattice of a volume; raise `InvalidInput` for anything else."""
    if not isinstance(volume, Volume):
        raise InvalidInput(f"The other operand is of type {type(volume).__name__}; it must be another volume.")
    return volume.lattice


def _lattice_for(like: Volume | None, voxels_per_unit: float | None) -> Lattice:
    if like is not None and voxels_per_unit is None:
        return lattice_of(like)
    if like is not None or voxels_per_unit is None:
        raise InvalidInput("The size of the voxels is not determined; give either like=volume or voxels_per_unit=.")
    size = 1.0 / check.positive(voxels_per_unit, "voxels_per_unit")
    return Lattice.make(size, (-size / 2,) * 3)
