"""``choque volume``: solids from scans, meshes and voxel files, measured, compared, cut, joined and converted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._spread import spread
from choque.cli._volume_reading import Reading, Resample, VolumeFile

if TYPE_CHECKING:
    from choque.volumes import Volume

Output = Annotated[
    Path, typer.Argument(metavar="OUTPUT", help="Where to write; the suffix says how.", show_default=False)
]
OPERATIONS = {"and": "__and__", "or": "__or__", "minus": "__sub__", "xor": "__xor__"}


def volume() -> None:
    """Measure, collide and cut solids from scans and meshes.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume collide bone.nrrd implant.stl --above 300 --report
    """


@spread
def info(file: VolumeFile, reading: Reading, as_json: AsJson = False) -> None:
    """Say what a volume is: its size, volume, surface and parts.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume info implant.stl --voxels-per-unit 4 --json
    """
    given = reading.one(file)
    lower, upper = given.bounds
    record: dict[str, Any] = {
        "file": file,
        "voxels": given.voxel_count,
        "spacing": given.spacing,
        "lower": lower,
        "upper": upper,
        "volume": given.volume,
        "surface": given.surface_area,
        "parts": given.component_count(),
        "vertices": len(given.model),
        "bytes": given.byte_count,
    }
    _tell(
        record,
        {
            "file": str(file),
            "voxels": f"{record['voxels']:,} of {_numbers(given.spacing)}",
            "box": f"{_numbers(lower)} to {_numbers(upper)}",
            "volume": f"{record['volume']:.6g}",
            "surface": f"{record['surface']:.6g}",
            "parts": f"{record['parts']:,}",
            "model": f"{record['vertices']:,} extreme vertices, {record['bytes']:,} bytes",
        },
        as_json,
    )


@spread
def collide(
    file: VolumeFile,
    other: VolumeFile,
    reading: Reading,
    resample: Resample = False,
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
      choque volume collide fine.nii.gz coarse.nii.gz --above 300 --resample
    """
    one, two = reading.both(file, other, resample=resample)
    found = one.collision(two, closed=closed)
    record: dict[str, Any] = {"files": [file, other], "collides": found is not None}
    if found is not None:
        record["witness"] = found.point
    if report and found is not None:
        region = found.region()
        record["shared_volume"] = region.volume
        record["shared_box"] = region.bounds
        record["push"] = found.separation()
    elif report:
        empty = one.is_empty or two.is_empty
        record["clearance"] = None if empty else one.clearance(two)
        if not empty:
            record["nearest_points"] = one.nearest_points(two)
    _tell(record, _sentences(record), as_json)


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


@spread
def convert(file: VolumeFile, output: Output, reading: Reading, as_json: AsJson = False) -> None:
    """Write a volume in another format, by the suffix.

    They are .evm, .vox, .nii, .nii.gz, .nrrd, .tif, .npy and .npz; the surface goes to .off, .stl and .ply.

    Try:
      choque volume convert scan.nii.gz bone.nrrd --above 300
      choque volume convert implant.stl implant.evm --voxels-per-unit 4
    """
    _write(reading.one(file), output, as_json)


@spread
def boolean(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="and, or, minus or xor.", show_default=False)],
    file: VolumeFile,
    other: VolumeFile,
    output: Output,
    reading: Reading,
    resample: Resample = False,
    as_json: AsJson = False,
) -> None:
    """Join, intersect or subtract two volumes and write the result.

    Try:
      choque volume boolean minus bone.nrrd implant.stl drilled.nrrd --above 300
    """
    from choque.errors import UnknownName

    if operation not in OPERATIONS:
        raise UnknownName("operation", operation, OPERATIONS)
    one, two = reading.both(file, other, resample=resample)
    _write(getattr(one, OPERATIONS[operation])(two), output, as_json)


@spread
def mesh(file: VolumeFile, output: Output, reading: Reading, as_json: AsJson = False) -> None:
    """Write the surface of a volume as triangles.

    They are closed and look outward; the suffix is .off, .stl or .ply.

    Try:
      choque volume mesh scan.nii.gz bone.stl --above 300
    """
    from choque.errors import UnknownName
    from choque.files.meshes import WRITERS

    if output.suffix.lower() not in WRITERS:
        raise UnknownName("format for meshes", output.suffix, WRITERS)
    _write(reading.one(file), output, as_json)


VERBS: dict[str, Callable[..., None]] = {
    "info": info,
    "collide": collide,
    "convert": convert,
    "boolean": boolean,
    "mesh": mesh,
}


def _write(result: Volume, output: Path, as_json: bool) -> None:
    result.write(output)
    count, content = result.voxel_count, result.volume
    if as_json:
        print_json({"output": output, "voxels": count, "volume": content})
    else:
        typer.echo(f"wrote {output}: {count:,} voxels, a volume of {content:.6g}")


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def _tell(record: dict[str, Any], lines: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(record)
        return
    for word, text in lines.items():
        typer.echo(f"{word:<10}{text}")
