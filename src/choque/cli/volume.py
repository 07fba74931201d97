"""``choque volume``: solids from scans, meshes and voxel files, measured, compared, cut, joined and converted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._options import AsJson

if TYPE_CHECKING:
    from choque.volumes import Volume

VolumeFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A scan (.nii, .nrrd, .tif, .npy, .npz, DICOM folder), a mesh (.off, .stl, .obj, .ply), .evm or .vox.",
        show_default=False,
    ),
]
Output = Annotated[
    Path, typer.Argument(metavar="OUTPUT", help="Where to write; the suffix says how.", show_default=False)
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

    above: float | None
    below: float | None
    label: int | None
    axes: str | None
    world: str
    voxels_per_unit: float | None
    fill: str
    conservative: bool

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


def volume() -> None:
    """Measure, collide and cut solids from scans and meshes.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume collide bone.nrrd implant.stl --above 300 --report
    """


def info(
    file: VolumeFile,
    above: Above = None,
    below: Below = None,
    label: Label = None,
    axes: Axes = None,
    world: World = "LPS",
    voxels_per_unit: PerUnit = None,
    fill: Fill = "solid",
    conservative: Conservative = False,
    as_json: AsJson = False,
) -> None:
    """Say what a volume is: its size, volume, surface and parts.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume info implant.stl --voxels-per-unit 4 --json
    """
    given = Reading(above, below, label, axes, world, voxels_per_unit, fill, conservative).one(file)
    lower, upper = given.bounds
    record: dict[str, Any] = {
        "file": str(file),
        "voxels": given.voxel_count,
        "spacing": list(given.spacing),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
        "volume": given.volume(),
        "surface": given.surface_area(),
        "parts": len(given.components()),
        "vertices": len(given.model),
        "bytes": given.byte_count,
    }
    if as_json:
        typer.echo(json.dumps(record))
        return
    _show(
        {
            "file": str(file),
            "voxels": f"{record['voxels']:,} of {_numbers(given.spacing)}",
            "box": f"{_numbers(lower)} to {_numbers(upper)}",
            "volume": f"{record['volume']:.6g}",
            "surface": f"{record['surface']:.6g}",
            "parts": f"{record['parts']:,}",
            "model": f"{record['vertices']:,} extreme vertices, {record['bytes']:,} bytes",
        }
    )


def collide(
    file: VolumeFile,
    other: VolumeFile,
    above: Above = None,
    below: Below = None,
    label: Label = None,
    axes: Axes = None,
    world: World = "LPS",
    voxels_per_unit: PerUnit = None,
    fill: Fill = "solid",
    conservative: Conservative = False,
    closed: Annotated[bool, typer.Option("--closed", help="Touching counts as colliding.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Also where, how much, how near, and how to part them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether two volumes collide. A mesh takes its voxels from the other file.

    Try:
      choque volume collide bone.nrrd implant.stl --above 300 --report
      choque volume collide a.off b.off --voxels-per-unit 20 --conservative
    """
    one, two = Reading(above, below, label, axes, world, voxels_per_unit, fill, conservative).both(file, other)
    found = one.collision(two, contact="closed" if closed else "open")
    record: dict[str, Any] = {"files": [str(file), str(other)], "collides": found is not None}
    if found is not None:
        record["witness"] = found.point.tolist()
    if report and found is not None:
        region = found.region()
        record["shared_volume"] = region.volume()
        record["shared_box"] = [corner.tolist() for corner in region.bounds]
        record["push"] = found.separation().tolist()
    elif report:
        clearance = one.clearance(two)
        record["clearance"] = clearance if math.isfinite(clearance) else None  # JSON knows no infinity
        if not one.is_empty() and not two.is_empty():
            record["nearest_points"] = [point.tolist() for point in one.nearest_points(two)]
    if as_json:
        typer.echo(json.dumps(record))
    else:
        _show(_sentences(record))


def _sentences(record: dict[str, Any]) -> dict[str, str]:
    lines = {"collides": "yes" if record["collides"] else "no"}
    if "witness" in record:
        lines["witness"] = f"{_numbers(record['witness'])} is in both"
    if "shared_volume" in record:
        lower, upper = record["shared_box"]
        lines["shared"] = f"a volume of {record['shared_volume']:.6g}, from {_numbers(lower)} to {_numbers(upper)}"
        lines["push"] = f"moving the second by {_numbers(record['push'])} parts them"
    if "clearance" in record:
        clearance = record["clearance"]
        lines["clearance"] = "none: one of them is empty" if clearance is None else f"{clearance:.6g}"
    if "nearest_points" in record:
        one, two = record["nearest_points"]
        lines["nearest"] = f"{_numbers(one)} and {_numbers(two)}"
    return lines


def convert(
    file: VolumeFile,
    output: Output,
    above: Above = None,
    below: Below = None,
    label: Label = None,
    axes: Axes = None,
    world: World = "LPS",
    voxels_per_unit: PerUnit = None,
    fill: Fill = "solid",
    conservative: Conservative = False,
) -> None:
    """Write a volume in another format: .evm, .vox, .nii, .nii.gz, .nrrd, .tif, .npy, .npz, or as a surface.

    Try:
      choque volume convert scan.nii.gz bone.nrrd --above 300
      choque volume convert implant.stl implant.evm --voxels-per-unit 4
    """
    _write(Reading(above, below, label, axes, world, voxels_per_unit, fill, conservative).one(file), output)


def boolean(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="and, or, minus or xor.", show_default=False)],
    file: VolumeFile,
    other: VolumeFile,
    output: Output,
    above: Above = None,
    below: Below = None,
    label: Label = None,
    axes: Axes = None,
    world: World = "LPS",
    voxels_per_unit: PerUnit = None,
    fill: Fill = "solid",
    conservative: Conservative = False,
) -> None:
    """Join, intersect or subtract two volumes and write the result.

    Try:
      choque volume boolean minus bone.nrrd implant.stl drilled.nrrd --above 300
    """
    from choque.errors import UnknownName

    operations = {"and": "__and__", "or": "__or__", "minus": "__sub__", "xor": "__xor__"}
    if operation not in operations:
        raise UnknownName("operation", operation, operations)
    one, two = Reading(above, below, label, axes, world, voxels_per_unit, fill, conservative).both(file, other)
    _write(getattr(one, operations[operation])(two), output)


def mesh(
    file: VolumeFile,
    output: Output,
    above: Above = None,
    below: Below = None,
    label: Label = None,
    axes: Axes = None,
    world: World = "LPS",
    voxels_per_unit: PerUnit = None,
    fill: Fill = "solid",
    conservative: Conservative = False,
) -> None:
    """Write the surface of a volume as triangles: .off, .stl or .ply; closed and looking outward.

    Try:
      choque volume mesh scan.nii.gz bone.stl --above 300
    """
    from choque.errors import UnknownName
    from choque.files.meshes import WRITERS

    if output.suffix.lower() not in WRITERS:
        raise UnknownName("format for meshes", output.suffix, WRITERS)
    _write(Reading(above, below, label, axes, world, voxels_per_unit, fill, conservative).one(file), output)


VERBS: dict[str, Callable[..., None]] = {
    "info": info,
    "collide": collide,
    "convert": convert,
    "boolean": boolean,
    "mesh": mesh,
}


def _write(result: Volume, output: Path) -> None:
    result.write(output)
    typer.echo(f"wrote {output}: {result.voxel_count:,} voxels, a volume of {result.volume():.6g}")


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def _show(lines: dict[str, str]) -> None:
    for word, text in lines.items():
        typer.echo(f"{word:<10}{text}")
