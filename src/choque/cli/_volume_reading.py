"""How ``choque volume`` reads files: the options of scans and meshes, and one lattice for both files of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from choque.volumes import Volume

VolumeFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A scan (.nii, .nrrd, .tif, .npy, .npz, DICOM folder), a mesh (.off, .stl, .obj, .ply), .evm, .vox, or a "
        "phantom such as screw:64.",
        show_default=False,
    ),
]
Above = Annotated[float | None, typer.Option("--above", metavar="V", help="Of scans: voxels with larger values.")]
Below = Annotated[float | None, typer.Option("--below", metavar="V", help="Of scans: voxels with smaller values.")]
Label = Annotated[int | None, typer.Option("--label", metavar="N", help="Of scans: voxels with this value.")]
Axes = Annotated[str | None, typer.Option("--axes", metavar="ORDER", help="Of TIFF and NumPy arrays: zyx or xyz.")]
World = Annotated[str, typer.Option("--world", metavar="FRAME", help="LPS, as DICOM, or RAS, as NIfTI.")]
PerUnit = Annotated[
    float | None, typer.Option("--voxels-per-unit", metavar="N", help="Of meshes: how fine, unless a scan says it.")
]
Fill = Annotated[str, typer.Option("--fill", metavar="HOW", help="Of meshes: solid or surface.")]
Conservative = Annotated[bool, typer.Option("--conservative", help="Of meshes: every voxel that a triangle touches.")]


@dataclass(frozen=True)
class Reading:
    """How files become volumes: every file takes those of the options that it understands."""

    above: Above = None
    below: Below = None
    label: Label = None
    axes: Axes = None
    world: World = "LPS"
    voxels_per_unit: PerUnit = None
    fill: Fill = "solid"
    conservative: Conservative = False

    def one(self, path: Path, like: Volume | None = None) -> Volume:
        """The volume of a file; a mesh takes the voxels of ``like``, if that is given."""
        from choque.errors import InvalidInput
        from choque.volumes import Volume
        from choque.volumes._reading import kind_of

        kind = kind_of(path)
        if kind == "model":
            return Volume.read(path)
        if kind == "scan":
            return Volume.from_scan(
                path, above=self.above, below=self.below, label=self.label, axes=self.axes, world=self.world
            )
        if like is None and self.voxels_per_unit is None:
            raise InvalidInput(f"{path} is a mesh; say how fine its voxels are with --voxels-per-unit.")
        per_unit = self.voxels_per_unit if like is None else None
        return Volume.from_mesh(
            path, like=like, voxels_per_unit=per_unit, fill=self.fill, conservative=self.conservative
        )

    def both(self, path: Path, other: Path) -> tuple[Volume, Volume]:
        """The volumes of two files on one lattice: that of the first which is not a mesh."""
        from choque.volumes._reading import kind_of

        if kind_of(path) == "mesh" and kind_of(other) != "mesh":
            two = self.one(other)
            return self.one(path, two), two
        one = self.one(path)
        return one, self.one(other, one)
