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
Spacing = Annotated[
    str | None,
    typer.Option("--spacing", metavar="X,Y,Z", help="Of scans: the edges of a voxel, or one, if the file has none."),
]
PerUnit = Annotated[
    float | None, typer.Option("--voxels-per-unit", metavar="N", help="Of meshes: how fine, unless a scan says it.")
]
Fill = Annotated[str, typer.Option("--fill", metavar="HOW", help="Of meshes: solid or surface.")]
Conservative = Annotated[bool, typer.Option("--conservative", help="Of meshes: every voxel that a triangle touches.")]
Resample = Annotated[bool, typer.Option("--resample", help="Take the voxels of the first for both, by centres.")]


@dataclass(frozen=True)
class Reading:
    """How files become volumes: every file takes those of the options that it understands."""

    above: Above = None
    below: Below = None
    label: Label = None
    axes: Axes = None
    world: World = "LPS"
    spacing: Spacing = None
    voxels_per_unit: PerUnit = None
    fill: Fill = "solid"
    conservative: Conservative = False

    def one(self, path: Path, like: Volume | None = None) -> Volume:
        """The volume of a file; a mesh takes the voxels of ``like``, if that is given."""
        from choque.errors import InvalidInput
        from choque.volumes import Volume
        from choque.volumes.reading import kind_of

        kind = kind_of(path)
        if kind == "model":
            return Volume.read(path)
        if kind == "scan":
            return Volume.from_scan(
                path,
                above=self.above,
                below=self.below,
                label=self.label,
                axes=self.axes,
                world=self.world,
                spacing=_read_spacing(self.spacing),
            )
        if like is None and self.voxels_per_unit is None:
            raise InvalidInput(f"{path} is a mesh; say how fine its voxels are with --voxels-per-unit.")
        per_unit = self.voxels_per_unit if like is None else None
        return Volume.from_mesh(
            path, like=like, voxels_per_unit=per_unit, fill=self.fill, conservative=self.conservative
        )

    def both(self, path: Path, other: Path, *, resample: bool = False) -> tuple[Volume, Volume]:
        """The volumes of two files on one lattice: that of the first which is not a mesh."""
        from choque.errors import InvalidInput
        from choque.volumes.reading import kind_of

        if kind_of(path) == "mesh" and kind_of(other) != "mesh":
            two = self.one(other)
            return self.one(path, two), two
        one = self.one(path)
        two = self.one(other, one)
        if resample:
            return one, two.resampled(like=one)
        try:
            one.lattice.shift_to(two.lattice)
        except InvalidInput as problem:
            first, second = one.lattice, two.lattice
            raise InvalidInput(
                f"The voxels of {path} are of {first.spacing} from {first.origin}, those of {other} of "
                f"{second.spacing} from {second.origin}; they must be of one size and line up. Add --resample to take "
                f"those of {path} for both."
            ) from problem
        return one, two


def _read_spacing(text: str | None) -> list[float] | None:
    """Read the edges of a voxel, such as ``0.5,0.5,1.25``, or one for all three."""
    from choque.errors import InvalidInput

    if text is None:
        return None
    try:
        edges = [float(word) for word in text.split(",")]
    except ValueError as problem:
        raise InvalidInput(f"--spacing is {text!r}; write the edges of a voxel as in 0.5,0.5,1.25.") from problem
    return edges * 3 if len(edges) == 1 else edges
