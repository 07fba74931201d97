"""Sources of volumes that can be voxelised repeatedly: a mesh, a grey or labelled scan, a model or a phantom."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.files.meshes import MeshArrays, read_mesh
from choque.files.scans import Scan, read_scan, select
from choque.volumes import Volume
from choque.volumes.reading import find_phantom, is_phantom, kind_of
from choque.volumes.voxelise import check_closed

STATISTICS_VOXELS = 200_000
"""Number of voxels of a scan from which its threshold is estimated."""


@dataclass(frozen=True, eq=False)
class VolumeSource:
    """What a volume is made from: exactly one of ``mesh``, ``scan`` and ``model`` is given."""

    name: str
    mesh: MeshArrays | None = None
    scan: Scan | None = None
    model: Volume | None = None

    @property
    def kind(self) -> str:
        """``mesh``, ``scan`` or ``model``."""
        return "mesh" if self.mesh is not None else "scan" if self.scan is not None else "model"

    @property
    def is_grey(self) -> bool:
        """Whether a threshold applies: a scan with more than two values, or with two of which none is 0."""
        if self.scan is None:
            return False
        values = np.unique(self.scan.values.ravel()[:: self._stride])
        return len(values) > 2 or (len(values) == 2 and bool(values.all()))

    @property
    def can_fill(self) -> bool:
        """Whether it has an inside to fill: a mesh without holes."""
        if self.mesh is None:
            return False
        try:
            check_closed(self.mesh)
        except InvalidInput:
            return False
        return True

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around it [world]."""
        if self.mesh is not None:
            return self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)
        if self.scan is not None:
            corner = np.array(self.scan.corner())
            return corner, corner + np.array(self.scan.values.shape) * self.scan.spacing
        assert self.model is not None
        return self.model.bounds

    def value_range(self) -> tuple[float, float]:
        """Return the least and the greatest finite value of a scan."""
        if self.scan is None:
            raise InvalidInput(f"{self.name} is a {self.kind}; only scans have grey values.")
        values = self.scan.values
        finite = values if values.dtype.kind != "f" else values[np.isfinite(values)]
        if not finite.size:
            raise InvalidInput(f"The scan {self.name} has no finite value; give another one.")
        return float(finite.min()), float(finite.max())

    def first_threshold(self) -> float | None:
        """Return a first threshold for a grey scan, half-way between the means of its dark and bright voxels, or None.

        By the iteration of Ridler and Calvard ("Picture thresholding using an iterative selection method", 1978).
        """
        if not self.is_grey or self.scan is None:
            return None
        values = self.scan.values.ravel()[:: self._stride].astype(np.float64)
        values = values[np.isfinite(values)]
        threshold = float(values.mean())
        for _ in range(50):
            above = values > threshold
            if above.all() or not above.any():
                break
            following = float(values[above].mean() + values[~above].mean()) / 2.0
            if abs(following - threshold) <= 1e-6 * (abs(threshold) + 1.0):
                break
            threshold = following
        return float(round(threshold)) if self.scan.values.dtype.kind in "iu" else threshold

    def turned(self, rotation: NDArray[np.float64], about: NDArray[np.float64]) -> VolumeSource:
        """Return the source with its triangles turned about a point [world]; scans and models are not changed."""
        if self.mesh is None:
            return self
        vertices = (self.mesh.vertices - about) @ rotation.T + about
        return replace(self, mesh=MeshArrays(vertices, self.mesh.faces))

    def volume(self, *, like: Volume | None, voxels_per_unit: float | None, above: float | None, fill: bool) -> Volume:
        """Return its voxels on the lattice of ``like``, or ``voxels_per_unit``; scans and models may keep their own.

        Meshes are voxelised and others resampled conservatively, so that the voxels miss no collision; with ``fill``
        meshes get their inside as well. ``above`` is the threshold of a scan.
        """
        if self.mesh is not None:
            return Volume.from_mesh(
                self.mesh,
                like=like,
                voxels_per_unit=None if like is not None else voxels_per_unit,
                fill="solid" if fill else "surface",
                conservative=True,
            )
        own = self.model if self.model is not None else self._thresholded(above)
        if like is not None:
            return own if _fits(own, like) else own.resampled(like=like, conservative=True)
        return own if voxels_per_unit is None else own.resampled(spacing=1.0 / voxels_per_unit, conservative=True)

    def _thresholded(self, above: float | None) -> Volume:
        assert self.scan is not None
        mask = select(self.scan.values, above=above, name=self.name)
        return Volume.from_voxels(mask, spacing=self.scan.spacing, origin=self.scan.corner())

    @property
    def _stride(self) -> int:
        """Step between the voxels that statistics use."""
        assert self.scan is not None
        return max(self.scan.values.size // STATISTICS_VOXELS, 1)


def open_source(thing: str | os.PathLike[str], *, axes: str | None = None, world: str = "LPS") -> VolumeSource:
    """Open a file by its kind, or make a phantom: ``screw``, or ``screw:96`` for 96³ voxels."""
    path = Path(thing)
    if is_phantom(thing):
        return VolumeSource(path.name.partition(":")[0], model=find_phantom(thing))
    kind = kind_of(path)
    if kind == "mesh":
        mesh = read_mesh(path)
        if not len(mesh.faces):
            raise InvalidInput(f"The mesh {path} has no triangles; give a mesh with at least one.")
        return VolumeSource(path.name, mesh=mesh)
    if kind == "scan":
        return VolumeSource(path.name, scan=read_scan(path, axes=axes, world=world))
    return VolumeSource(path.name, model=Volume.read(path))


def _fits(volume: Volume, like: Volume) -> bool:
    """Return whether the voxels of both line up."""
    try:
        like.lattice.shift_to(volume.lattice)
    except InvalidInput:
        return False
    return True
