"""``choque volume``: measure, collide, combine and convert solids from scans, meshes and voxel files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import spread

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


def of_scans(*names: str, **more: Any) -> Any:
    """Return an option that the help lists under scans."""
    return typer.Option(*names, rich_help_panel="Scans", **more)


def of_meshes(*names: str, **more: Any) -> Any:
    """Return an option that the help lists under meshes."""
    return typer.Option(*names, rich_help_panel="Meshes", **more)


Above = Annotated[float | None, of_scans("--above", metavar="V", help="Keep voxels above this value.")]
Below = Annotated[float | None, of_scans("--below", metavar="V", help="Keep voxels below this value.")]
Label = Annotated[int | None, of_scans("--label", metavar="N", help="Keep voxels with this value.")]
Axes = Annotated[str | None, of_scans("--axes", metavar="ORDER", help="TIFF and NumPy arrays: zyx or xyz.")]
World = Annotated[str, of_scans("--world", metavar="FRAME", help="World axes: LPS, as DICOM, or RAS, as NIfTI.")]
Spacing = Annotated[str | None, of_scans("--spacing", metavar="X,Y,Z", help="Edges of a voxel, if the file has none.")]
Straighten = Annotated[bool, of_scans("--straighten", help="Resample oblique axes to those of the world.")]
Series = Annotated[
    str | None,
    of_scans("--series", metavar="NAME", help="DICOM folders: a series by description, number or identifier."),
]
PerUnit = Annotated[
    float | None, of_meshes("--voxels-per-unit", metavar="N", help="Resolution, if no other file has voxels.")
]
Fill = Annotated[str, of_meshes("--fill", metavar="HOW", help="solid or surface.")]
Conservative = Annotated[
    bool | None,
    of_meshes(
        "--conservative/--centres",
        help="Every voxel that a triangle touches (default of collide), or those whose centre is inside.",
    ),
]
Largest = Annotated[bool, typer.Option("--largest", help="Keep the largest connected part of each file.")]
Resample = Annotated[bool, typer.Option("--resample", help="Resample the file with larger voxels on the other's.")]


Output = Annotated[
    Path, typer.Argument(metavar="OUTPUT", help="Output file; the suffix selects the format.", show_default=False)
]
OPERATIONS = {"and": "__and__", "or": "__or__", "minus": "__sub__", "xor": "__xor__"}


@dataclass(frozen=True)
class Reading:
    """Options of reading files; each file uses those that apply to its kind."""

    above: Above = None
    below: Below = None
    label: Label = None
    axes: Axes = None
    world: World = "LPS"
    spacing: Spacing = None
    straighten: Straighten = False
    series: Series = None
    voxels_per_unit: PerUnit = None
    fill: Fill = "solid"
    conservative: Conservative = None
    largest: Largest = False

    def one(self, path: Path, like: Volume | None = None) -> Volume:
        """Read the volume of a file; a mesh is voxelised on the lattice of ``like``, if given."""
        from choque._core.progress import shown

        with shown(f"Reading {path} …"):
            found = self._whole(path, like)
            return found.components(limit=1)[0] if self.largest and not found.is_empty else found

    def _whole(self, path: Path, like: Volume | None) -> Volume:
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
                straighten=self.straighten,
                conservative=bool(self.conservative),
                series=self.series,
            )
        if like is None and self.voxels_per_unit is None:
            raise InvalidInput(f"{path} is a mesh and has no voxels; give their resolution with --voxels-per-unit.")
        per_unit = self.voxels_per_unit if like is None else None
        return Volume.from_mesh(
            path, like=like, voxels_per_unit=per_unit, fill=self.fill, conservative=bool(self.conservative)
        )

    def both(self, path: Path, other: Path, *, resample: bool = False) -> tuple[Volume, Volume]:
        """Read the volumes of two files on one lattice: that of the file that is not a mesh, or the finer one.

        With ``resample`` the volume with larger voxels is resampled on the lattice of the other.
        """
        from choque.errors import InvalidInput
        from choque.volumes.reading import kind_of

        if kind_of(path) == "mesh" and kind_of(other) != "mesh":
            two = self.one(other)
            return self.one(path, two), two
        one = self.one(path)
        two = self.one(other, one)
        try:
            one.lattice.shift_to(two.lattice)
        except InvalidInput as problem:
            if resample:
                return self._on_finer_lattice(one, two)
            first, second = one.lattice, two.lattice
            raise InvalidInput(
                f"The voxels of {path} are of {first.spacing} from {first.origin}, those of {other} of "
                f"{second.spacing} from {second.origin}; they must be of one size and line up. Add --resample to use "
                f"the smaller ones for both."
            ) from problem
        return one, two

    def _on_finer_lattice(self, one: Volume, two: Volume) -> tuple[Volume, Volume]:
        """Return both on the lattice of the smaller voxels, whichever file it comes from."""
        conservative = bool(self.conservative)
        if _fineness(one) <= _fineness(two):
            return one, two.resampled(like=one, conservative=conservative)
        return one.resampled(like=two, conservative=conservative), two


def _fineness(volume: Volume) -> tuple[float, ...]:
    """Return what orders lattices: the content of a voxel, then its edges, then the origin."""
    lattice = volume.lattice
    return (prod(lattice.spacing), *lattice.spacing, *lattice.origin)


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


def volume() -> None:
    """Measure, collide and cut solids from scans and meshes.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume collide bone.nrrd implant.stl --above 300 --report
    """


@spread
def info(file: VolumeFile, reading: Reading, as_json: AsJson = False) -> None:
    """Print the size, volume, surface and parts of a volume.

    Try:
      choque volume info scan.nii.gz --above 300
      choque volume info implant.stl --voxels-per-unit 4 --json
    """
    from choque._core.progress import shown

    given = reading.one(file)
    lower, upper = given.bounds
    with shown("Measuring …"):
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
    _print(
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
    closed: Annotated[bool, typer.Option("--closed", help="Touching is a collision.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Also print intersection and separating push, or distance.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Test whether two volumes collide. A mesh is voxelised on the lattice of the other file.

    Meshes, and volumes that are resampled, fill every voxel that they touch: "no" is certain, "yes" within a voxel.

    Try:
      choque volume collide bone.nrrd implant.stl --above 300 --report
      choque volume collide a.off b.off --voxels-per-unit 20 --centres
      choque volume collide fine.nii.gz coarse.nii.gz --above 300 --resample
    """
    from choque._core.progress import shown
    from choque.errors import InvalidInput

    if reading.conservative is None:
        reading = replace(reading, conservative=True)
    one, two = reading.both(file, other, resample=resample)
    for path, given in ((file, one), (other, two)):
        if given.is_empty:
            raise InvalidInput(f"{path} has no full voxel, so nothing can collide with it; give a solid or its label.")
    with shown("Searching …"):
        found = one.collision(two, closed=closed)
        record: dict[str, Any] = {"files": [file, other], "collides": found is not None}
        if found is not None:
            record["witness"] = found.point
        if report and found is not None:
            region = found.region()
            record["shared_volume"] = region.volume
            record["shared_box"] = (found.lower, found.upper) if region.is_empty else region.bounds
            if not region.is_empty:
                record["push"] = found.separation()
        elif report:
            record["clearance"] = one.clearance(two)
            record["nearest_points"] = one.nearest_points(two)
    _print(record, _sentences(record), as_json)


def _sentences(record: dict[str, Any]) -> dict[str, str]:
    lines = {"collides": "yes" if record["collides"] else "no"}
    if "witness" in record:
        lines["witness"] = f"{_numbers(record['witness'])} is in both"
    if "shared_volume" in record:
        lower, upper = record["shared_box"]
        what = f"a volume of {record['shared_volume']:.6g}" if "push" in record else "no volume: they touch"
        lines["shared"] = f"{what}, from {_numbers(lower)} to {_numbers(upper)}"
    if "push" in record:
        lines["push"] = f"moving the second by {_numbers(record['push'])} separates them"
    if "clearance" in record:
        lines["clearance"] = f"{record['clearance']:.6g}"
        one, two = record["nearest_points"]
        lines["nearest"] = f"{_numbers(one)} and {_numbers(two)}"
    return lines


@spread
def convert(file: VolumeFile, output: Output, reading: Reading, as_json: AsJson = False) -> None:
    """Write a volume in another format, by the suffix.

    Formats: .evm, .vox, .nii, .nii.gz, .nrrd, .tif, .npy and .npz; the surface as .off, .stl or .ply.

    Try:
      choque volume convert scan.nii.gz bone.nrrd --above 300
      choque volume convert implant.stl implant.evm --voxels-per-unit 4
    """
    from choque.files.atomic import check_output

    check_output(output)
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
    from choque.files.atomic import check_output

    if operation not in OPERATIONS:
        raise UnknownName("operation", operation, OPERATIONS)
    check_output(output)
    one, two = reading.both(file, other, resample=resample)
    _write(getattr(one, OPERATIONS[operation])(two), output, as_json)


@spread
def mesh(file: VolumeFile, output: Output, reading: Reading, as_json: AsJson = False) -> None:
    """Write the surface of a volume as triangles.

    The mesh is closed and oriented outward; the suffix is .off, .stl or .ply.

    Try:
      choque volume mesh scan.nii.gz bone.stl --above 300
    """
    from choque.errors import UnknownName
    from choque.files.atomic import check_output
    from choque.files.meshes import WRITERS

    if output.suffix.lower() not in WRITERS:
        raise UnknownName("format for meshes", output.suffix, WRITERS)
    check_output(output)
    _write(reading.one(file), output, as_json)


VERBS: dict[str, Callable[..., None]] = {
    "info": info,
    "collide": collide,
    "convert": convert,
    "boolean": boolean,
    "mesh": mesh,
}


def _write(result: Volume, output: Path, as_json: bool) -> None:
    from choque._core.progress import shown

    with shown(f"Writing {output} …"):
        result.write(output)
    count, content = result.voxel_count, result.volume
    if as_json:
        print_json({"output": output, "voxels": count, "volume": content})
    else:
        typer.echo(f"wrote {output}: {count:,} voxels, a volume of {content:.6g}")


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def _print(record: dict[str, Any], lines: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(record)
        return
    for word, text in lines.items():
        typer.echo(f"{word:<10}{text}")
