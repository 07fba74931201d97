"""A volume: what a scan, a mesh or a mask is once it can be cut, joined, measured and asked whether it collides."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.volumes import _collision, _components, _measures, _morphology, _turning
from choque.volumes._keys import AXES
from choque.volumes._lattice import Lattice, Triple, triple, whole_number
from choque.volumes._model import ExtremeVertices

if TYPE_CHECKING:
    from choque.files.meshes import Mesh


class Volume:
    """A solid made of voxels of one size, anywhere in the world.

    Make one with `from_voxels`, `from_mesh`, `from_scan` or `read`. Volumes are never changed: every method returns a
    new one, and a translated volume shares all its arrays with the original. Two volumes work together when their
    voxels have the same size and line up; a message says what to do when they do not.

    All answers are exact for the voxels: nothing is sampled, and an empty volume is legal and collides with nothing.
    """

    def __init__(self, model: ExtremeVertices, lattice: Lattice) -> None:
        self.model = model
        self.lattice = lattice

    # How one is made

    @classmethod
    def from_voxels(
        cls,
        mask: ArrayLike,
        *,
        spacing: ArrayLike = 1.0,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        layout: str = "sorted",
    ) -> Volume:
        """The true voxels of a mask with axes x, y, z.

        Parameters
        ----------
        mask
            (nx, ny, nz) true and false. For arrays with axes z, y, x give ``mask.transpose()``.
        spacing
            The edges of a voxel along x, y, z, or one number for all three [world units].
        origin
            The world position of the lower corner (not the centre) of voxel (0, 0, 0).
        layout
            How the vertices are held: ``sorted``, or ``trie`` for comparison; the answers are the same.
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
        return cls(ExtremeVertices.from_mask(cells, layout=layout), Lattice.make(spacing, origin))

    @classmethod
    def from_mesh(
        cls,
        mesh: str | os.PathLike[str] | Mesh | tuple[ArrayLike, ArrayLike],
        *,
        like: Volume | None = None,
        voxels_per_unit: float | None = None,
        fill: str = "solid",
        conservative: bool = False,
    ) -> Volume:
        """The voxels of a triangle mesh.

        Parameters
        ----------
        mesh
            The name of an OFF, STL, OBJ or PLY file, or vertices (n, 3) and faces (m, 3).
        like
            A volume whose voxels to use, so that the two work together.
        voxels_per_unit
            Otherwise: how many voxels make one world unit. Voxel i is then centred at i / voxels_per_unit.
        fill
            ``solid``: voxels whose centre is inside; the mesh must be closed. ``surface``: one layer of voxels along
            the triangles, nothing inside.
        conservative
            Also every voxel that a triangle touches, so that no part of the mesh is ever outside the volume.
        """
        from choque.volumes._voxelise import voxelise_mesh

        lattice = _lattice_for(like, voxels_per_unit)
        return cls(voxelise_mesh(mesh, lattice, fill, conservative=conservative), lattice)

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
    ) -> Volume:
        """The voxels of a grey or labelled image: NIfTI, NRRD, TIFF stack, DICOM folder or NumPy array.

        Parameters
        ----------
        path
            The file, or the folder of a DICOM series.
        above, below, label
            Keep voxels with values > above, < below, or equal to label; without any, those that are not 0. What is not
            a number is never kept.
        axes
            How the axes of a TIFF or NumPy array are meant: ``zyx`` or ``xyz``. Default: zyx for TIFF, xyz for NumPy.
        world
            Which way the world axes point: ``LPS`` (left, posterior, superior; as DICOM) or ``RAS`` (as NIfTI).
        spacing
            The edges of a voxel along x, y, z, if the file does not say or says it wrongly.
        """
        from choque.files.scans import read_scan, select

        scan = read_scan(path, axes=axes, world=world)
        mask = select(scan.values, above=above, below=below, label=label, name=os.fspath(path))
        size = scan.spacing if spacing is None else triple(spacing, "spacing", single=True)
        return cls.from_voxels(mask, spacing=size, origin=scan.corner(size))

    @classmethod
    def read(cls, path: str | os.PathLike[str], **options: Any) -> Volume:
        """A volume from any file that can hold one; ``options`` as for `from_mesh` or `from_scan`, by what it is.

        A word that is no file may name one of `choque.volumes.phantoms`: ``screw``, or ``screw:96``, of 96³ voxels.
        """
        from choque.volumes._reading import read_volume

        return read_volume(path, **options)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write ``.evm``, ``.vox``, ``.nii``, ``.nii.gz``, ``.nrrd``, ``.tif``, ``.npy``, ``.npz``, or the surface.

        All but ``.npy``, which is the mask of its box alone, keep the size of the voxels and where they lie. The
        surface goes to ``.off``, ``.stl`` or ``.ply``.
        """
        from choque.volumes._reading import write_volume

        write_volume(path, self, **options)

    def _with(self, model: ExtremeVertices) -> Volume:
        return Volume(model, self.lattice)

    # What it is

    def __repr__(self) -> str:
        if self.is_empty():
            return f"<Volume: empty, voxels of {self.spacing}>"
        lower, upper = (tuple(float(f"{value:.9g}") for value in corner) for corner in self.bounds)
        return (
            f"<Volume: {self.volume():.6g} in the box {lower} to {upper}, voxels of {self.spacing}, "
            f"{len(self.model)} vertices>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Volume):
            return NotImplemented
        try:
            return self.model == self._on_this_lattice(other)
        except InvalidInput:
            return False  # voxels of another size, or that do not line up

    __hash__ = None  # type: ignore[assignment]

    @property
    def spacing(self) -> Triple:
        """The edges of a voxel along x, y, z [world units]."""
        return self.lattice.spacing

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and upper corner of the box around it [world]."""
        lower, upper = self.model.bounds
        return self.lattice.to_world(lower), self.lattice.to_world(upper)

    @property
    def voxel_count(self) -> int:
        """How many voxels are full."""
        return _measures.content(self.model)

    @property
    def byte_count(self) -> int:
        """What the vertices hold [bytes]; what is kept beside them to answer faster is in ``model.kept_byte_count``."""
        return self.model.byte_count

    def is_empty(self) -> bool:
        """Whether no voxel is full."""
        return self.model.is_empty()

    def volume(self) -> float:
        """The volume of its voxels [world units³]."""
        return self.voxel_count * float(np.prod(self.spacing))

    def surface_area(self) -> float:
        """The area of the voxel faces between full and empty, cavities included [world units²]."""
        return sum(
            count * float(np.prod(self.spacing)) / size
            for count, size in zip(_measures.boundary(self.model), self.spacing, strict=True)
        )

    def voxels(
        self, lower: tuple[int, int, int] | None = None, upper: tuple[int, int, int] | None = None
    ) -> NDArray[np.bool_]:
        """The mask (x, y, z) between two lattice points; by default of its box, which starts at ``bounds[0]``."""
        return self.model.mask(lower, upper)

    def boxes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Disjoint boxes that fill it: lower and upper corners (n, 3) [world]."""
        lower, upper = self.model.boxes()
        return self.lattice.to_world(lower), self.lattice.to_world(upper)

    def surface(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Its boundary as a closed triangle mesh, looking outward: vertices (n, 3) [world] and faces (m, 3)."""
        from choque.volumes._surface import closed_surface

        points, faces = closed_surface(self.model)
        return self.lattice.to_world(points), faces

    # Together with another

    def __and__(self, other: Volume) -> Volume:
        return self._with(self.model & self._on_this_lattice(other))

    def __or__(self, other: Volume) -> Volume:
        return self._with(self.model | self._on_this_lattice(other))

    def __sub__(self, other: Volume) -> Volume:
        return self._with(self.model - self._on_this_lattice(other))

    def __xor__(self, other: Volume) -> Volume:
        return self._with(self.model ^ self._on_this_lattice(other))

    def collides(self, other: Volume, *, contact: str = "open") -> bool:
        """Whether the two share some space; stops at the first place where they do.

        Touching faces, edges or corners are no collision unless ``contact="closed"``. The first question to a volume
        keeps its sections; later ones, of all its translations too, take microseconds.
        """
        shift = self._shift_to(other)
        return _collision.search(self.model, other.model, shift, contact).overlap is not None

    def collision(self, other: Volume, *, contact: str = "open") -> Collision | None:
        """The same, with a witness and all that follows from it; None when they do not collide."""
        shift = self._shift_to(other)
        found = _collision.search(self.model, other.model, shift, contact)
        if found.overlap is None:
            return None
        lower = self.lattice.to_world(found.overlap.lower)
        upper = self.lattice.to_world(found.overlap.upper)
        return Collision(self, other, (lower + upper) / 2, lower, upper, found.brinks)

    def clearance(self, other: Volume) -> float:
        """The least distance between the two [world units]: 0 when they touch or collide, inf when one is empty."""
        shift = self._shift_to(other)
        if self.is_empty() or other.is_empty():
            return float("inf")
        return _collision.distance(self.model, other.model, shift, self.spacing)[0]

    def nearest_points(self, other: Volume) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A point of this and a point of the other that are as near as any [world]."""
        shift = self._shift_to(other)
        if self.is_empty() or other.is_empty():
            raise InvalidInput("One of the volumes is empty, so it has no nearest point.")
        _, here, there = _collision.distance(self.model, other.model, shift, self.spacing)
        return self.lattice.to_world(here), self.lattice.to_world(there)

    def slide(self, other: Volume, direction: ArrayLike) -> float:
        """How far ``other`` can move along ``direction`` before it runs into this [world units]; inf if never."""
        towards = triple(direction, "direction")
        shift = self._shift_to(other)
        if self.is_empty() or other.is_empty():
            return float("inf")
        return _collision.travel(self.model, other.model, shift, self.spacing, towards)

    def separation(self, other: Volume) -> NDArray[np.float64]:
        """The shortest push of ``other`` along one axis that ends the collision [world]; (0, 0, 0) if there is none."""
        push = np.zeros(3)
        shift = self._shift_to(other)
        if self.is_empty() or other.is_empty():
            return push
        steps = _collision.pushes(self.model, other.model, shift)
        length, name = min((count * self.spacing[AXES.index(name[1])], name) for name, count in steps.items())
        push[AXES.index(name[1])] = length if name[0] == "+" else -length
        return push

    def _shift_to(self, other: Volume) -> tuple[int, int, int]:
        return self.lattice.shift_to(lattice_of(other))

    def _on_this_lattice(self, other: Volume) -> ExtremeVertices:
        shift = self._shift_to(other)
        return other.model.moved(shift)

    # Moved, turned, changed

    def translated(self, shift: ArrayLike) -> Volume:
        """Moved by a whole number of voxels along each axis [world units]; costs nothing."""
        return self._with(self.model.moved(self.lattice.steps(shift)))

    def turned(self, axis: str, quarter_turns: int = 1, *, about: ArrayLike | None = None) -> Volume:
        """Turned by exact quarter turns about x, y or z, through ``about`` (default: a lattice point in the middle)."""
        first = (_axis(axis) + 1) % 3
        second = (first + 1) % 3
        turned = self
        for _ in range(whole_number(quarter_turns, "number of quarter turns") % 4):
            letters = list(AXES)
            letters[first], letters[second] = letters[second], letters[first]
            turned = turned._with_axes("".join(letters), AXES[first], turned._pivot(about))
        return turned

    def mirrored(self, axis: str, *, about: ArrayLike | None = None) -> Volume:
        """Mirrored exactly along x, y or z, through ``about`` (default: a lattice point in its middle)."""
        return self._with_axes(AXES, AXES[_axis(axis)], self._pivot(about))

    def scaled(self, factors: int | tuple[int, int, int]) -> Volume:
        """Enlarged by whole factors away from the lattice's origin; voxels stay as large as they are."""
        return self._with(self.model.scaled(factors))

    def rotated(self, rotation: ArrayLike, *, about: ArrayLike | None = None) -> Volume:
        """Turned by any angle, by voxelising again on the same lattice: full are voxels whose centres were in it.

        ``rotation`` is a matrix (3, 3) or a vector along the axis whose length is the angle [radians].
        """
        matrix = _turning.rotation_matrix(rotation)
        pivot = self._pivot(about)

        def forward(points: NDArray[np.float64]) -> NDArray[np.float64]:
            return (points - pivot) @ matrix.T + pivot

        def backward(points: NDArray[np.float64]) -> NDArray[np.float64]:
            return (points - pivot) @ matrix + pivot

        return self._mapped(self.lattice, forward, backward)

    def resampled(self, *, like: Volume | None = None, spacing: ArrayLike | None = None) -> Volume:
        """The same solid in other voxels: those of ``like``, or of ``spacing`` from the same origin; by centres."""
        if (like is None) == (spacing is None):
            raise InvalidInput("Say which voxels to use: give either like=volume or spacing=.")
        target = lattice_of(like) if like is not None else Lattice.make(spacing, self.lattice.origin)  # type: ignore[arg-type]
        return self._mapped(target, lambda points: points, lambda points: points)

    def dilated(self, voxels: int = 1, shape: str = "cube") -> Volume:
        """Grown by a number of voxels: to the 26 neighbours of each (``cube``) or to the 6 (``diamond``)."""
        return self._with(_morphology.dilated(self.model, voxels, shape))

    def eroded(self, voxels: int = 1, shape: str = "cube") -> Volume:
        """Shrunk by a number of voxels."""
        return self._with(_morphology.eroded(self.model, voxels, shape))

    def skeleton(self, shape: str = "cube") -> Volume:
        """The morphological skeleton."""
        return self._with(_morphology.skeleton(self.model, shape))

    def components(self, connectivity: int = 26) -> list[Volume]:
        """The connected parts, the largest first; ``connectivity`` 6, 18 or 26."""
        return [self._with(part) for part in _components.components(self.model, connectivity)]

    def _pivot(self, about: ArrayLike | None) -> NDArray[np.float64]:
        if about is not None:
            return np.array(triple(about, "point to turn about"))
        lower, upper = self.model.bounds
        return self.lattice.to_world([(low + high) // 2 for low, high in zip(lower, upper, strict=True)])

    def _with_axes(self, permutation: str, mirrored: str, pivot: NDArray[np.float64]) -> Volume:
        columns = [AXES.index(letter) for letter in permutation]
        signs = np.array([-1.0 if letter in mirrored else 1.0 for letter in AXES])
        spacing = np.array(self.spacing)[columns]
        origin = (np.array(self.lattice.origin) - pivot)[columns] * signs + pivot
        return Volume(self.model.with_axes(permutation, mirrored), Lattice.make(spacing, origin))

    def _mapped(
        self,
        target: Lattice,
        forward: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        backward: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> Volume:
        corners = np.stack(np.meshgrid(*np.stack(self.bounds, axis=1), indexing="ij"), axis=-1).reshape(-1, 3)
        moved = forward(corners)
        model = _turning.resample(self.model, self.lattice, target, backward, moved.min(axis=0), moved.max(axis=0))
        return Volume(model, target)


@dataclass(frozen=True)
class Collision:
    """That two volumes collide: a witness, and more on request."""

    one: Volume
    two: Volume
    point: NDArray[np.float64]
    """A point that both share [world]."""
    lower: NDArray[np.float64]
    """The lower corner of a box that both share [world]; a touching contact has a box without thickness."""
    upper: NDArray[np.float64]
    """Its upper corner [world]."""
    brinks: int
    """How many pairs of runs were compared until it was found."""

    def region(self) -> Volume:
        """All that the two share."""
        return self.one & self.two

    def volume(self) -> float:
        """The volume of all that they share [world units³]."""
        return self.region().volume()

    def separation(self) -> NDArray[np.float64]:
        """The shortest push of the second along one axis that parts them [world]."""
        return self.one.separation(self.two)


def _axis(axis: str) -> int:
    if axis not in ("x", "y", "z"):
        raise InvalidInput(f"The axis is {axis!r}; it must be 'x', 'y' or 'z'.")
    return AXES.index(axis)


def lattice_of(volume: Volume) -> Lattice:
    """The lattice of what must be a volume."""
    if not isinstance(volume, Volume):
        raise InvalidInput(f"A volume works together with another volume, not with {type(volume).__name__}.")
    return volume.lattice


def _lattice_for(like: Volume | None, voxels_per_unit: float | None) -> Lattice:
    if (like is None) == (voxels_per_unit is None):
        raise InvalidInput("Say how fine the voxels are: give either like=volume or voxels_per_unit=.")
    if like is not None:
        return lattice_of(like)
    if (
        isinstance(voxels_per_unit, bool)
        or not isinstance(voxels_per_unit, Real)
        or not (0 < voxels_per_unit < math.inf)
    ):
        raise InvalidInput(f"voxels_per_unit is {voxels_per_unit!r}; it must be a number above 0.")
    size = 1.0 / voxels_per_unit
    return Lattice.make(size, (-size / 2,) * 3)
