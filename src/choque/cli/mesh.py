"""``choque mesh``: check a mesh, collide two of them in many poses, and map the clearance of one around another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Threads
from choque.errors import InvalidInput, UnreadableFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from choque.meshes import Mesh
    from choque.meshes.poses import RigidPoses

MeshFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A mesh: .stl, .obj, .ply, .off, .glb, .3mf …", show_default=False)
]
SolidFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A mesh, or a scan or volume, whose voxels are used.", show_default=False)
]
Above = Annotated[
    float | None, typer.Option("--above", metavar="VALUE", help="Keep voxels of a scan above it.", show_default=False)
]
OtherFile = Annotated[
    Path, typer.Argument(metavar="OTHER", help="The mesh that is moved by the poses.", show_default=False)
]


def mesh() -> None:
    """Check triangle meshes, and collide them in any pose.

    Try:
      choque mesh check part.stl
      choque mesh collide part.stl tool.stl --poses poses.csv
      choque mesh clearance scan.nii.gz implant.stl --above 300 --colors map.ply
    """


def check(file: MeshFile, as_json: AsJson = False) -> None:
    """Say what is wrong with a mesh.

    Open, crowded and flipped edges, degenerate and repeated faces, self-intersections. The exit code is 1 if there is
    anything.

    Try:
      choque mesh check part.stl
      choque mesh check part.stl --json
    """
    from dataclasses import asdict

    from choque._core.progress import shown
    from choque.meshes import Mesh

    with shown(f"Checking {file} …"):
        report = Mesh.read(file).report()
    if as_json:
        values = {**asdict(report), "degenerate_faces": report.degenerate_faces.tolist()}
        print_json({"file": str(file), "is_clean": report.is_clean, **values})
    else:
        typer.echo(str(report))
        typer.echo("clean" if report.is_clean else "not clean")
    if not report.is_clean:
        raise typer.Exit(1)


def collide(
    file: SolidFile,
    other: OtherFile,
    poses: Annotated[
        Path | None,
        typer.Option(
            "--poses",
            metavar="FILE",
            help="Poses, one a line: 3 numbers (translation), 7 (and quaternion w, x, y, z), 12 or 16 (matrix).",
            show_default=False,
        ),
    ] = None,
    distance: Annotated[bool, typer.Option("--distance", help="Also the distance of the surfaces.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write a row a pose as .csv.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write one .html page with the hits.", show_default=False),
    ] = None,
    above: Above = None,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Say in which poses the mesh OTHER collides with FILE.

    Closed meshes and the voxels of scans are solids; touching counts. Without --poses both are where their files put
    them.

    Try:
      choque mesh collide part.stl tool.stl
      choque mesh collide part.stl tool.stl --poses poses.csv --distance --output hits.csv
      choque mesh collide part.stl tool.stl --poses poses.csv --report hits.html
    """
    import numpy as np

    from choque._core.progress import shown
    from choque.cli._terminal import counted
    from choque.cli.clash import unit_notes
    from choque.files.atomic import check_output
    from choque.lab.csv_rows import write_rows
    from choque.meshes import Mesh
    from choque.meshes import collide as find
    from choque.meshes import distance as measure
    from choque.meshes.poses import as_poses

    for path in (output, page):
        if path is not None:
            check_output(path)
    where = as_poses(None) if poses is None else read_poses(poses)
    with shown(f"Reading {file} and {other} …") as tell:
        one, two = _read(file, above), Mesh.read(other)
        tell.show(f"Testing {counted(len(where), 'pose')} …")
        hits = find(one, two, where, threads=threads)
        gaps = measure(one, two, where, threads=threads).distance if distance else np.full(len(hits), np.nan)
    notes = unit_notes([file.name, other.name], [one, two])
    if output is not None:
        rows = zip(range(len(hits)), hits.astype(int).tolist(), gaps.tolist(), strict=True)
        names = ["pose", "collides", "distance"][: 2 + distance]
        write_rows(output, names, [row[: 2 + distance] for row in rows])
    if page is not None:
        _write_page(page, one, two, where, np.flatnonzero(hits).tolist(), (file.name, other.name))
    if as_json:
        record = {"poses": len(hits), "hits": int(hits.sum()), "collides": hits.tolist(), "notes": notes}
        print_json(record | ({"distance": gaps.tolist()} if distance else {}))
        return
    if poses is None:
        typer.echo(f"{file.name} and {other.name} {'collide' if hits[0] else 'do not collide'}")
    else:
        first = ", ".join(map(str, np.flatnonzero(hits)[:10].tolist()))
        more = ", …" if hits.sum() > 10 else ""
        verb = "collides" if hits.sum() == 1 else "collide"
        typer.echo(f"{counted(len(hits), 'pose')}, {int(hits.sum()):,} {verb}{': ' if first else ''}{first}{more}")
    if distance:
        typer.echo(f"least distance {gaps.min():.6g} in pose {int(gaps.argmin())}")
    for line in (*notes, *(f"written: {path}" for path in (output, page) if path is not None)):
        typer.echo(line)


def clearance(
    file: SolidFile,
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="The mesh that is measured.", show_default=False)],
    pose: Annotated[
        Path | None,
        typer.Option("--pose", metavar="FILE", help="Where OTHER is; one line as for collide.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write a row a vertex as .csv.", show_default=False)
    ] = None,
    colors: Annotated[
        Path | None,
        typer.Option("--colors", metavar="FILE", help="Write OTHER in colours as .ply.", show_default=False),
    ] = None,
    above: Above = None,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Measure how far each vertex of the mesh OTHER is from FILE.

    FILE may be a scan, whose voxels count. Numbers are negative inside of it. If both collide, a short move that frees
    OTHER is printed too. Colours go from red, at 0 and inside, over yellow to blue, at the farthest vertex.

    Try:
      choque mesh clearance part.stl tool.stl
      choque mesh clearance scan.nii.gz implant.stl --above 300 --output map.csv --colors map.ply
    """
    import numpy as np

    from choque._core.progress import shown
    from choque.files.atomic import check_output
    from choque.files.meshes import write_mesh
    from choque.lab.csv_rows import write_rows
    from choque.meshes import Mesh, penetration
    from choque.meshes import clearance as measure
    from choque.meshes.poses import as_poses
    from choque.studio.palette import clearance_colors

    for path in (output, colors):
        if path is not None:
            check_output(path)
    where = as_poses(None) if pose is None else read_poses(pose)
    with shown(f"Reading {file} and {other} …") as tell:
        one, two = _read(file, above), Mesh.read(other).moved(where)
        tell.show("Measuring …")
        gaps = measure(one, two, threads=threads)
        if not len(gaps):
            raise InvalidInput(f"The mesh {other} has no vertices; there is nothing to measure.")
        least = int(gaps.argmin())
        free = penetration(one, two, threads=threads)
    move = free.depth[0] * free.direction[0]
    if output is not None:
        rows = np.column_stack((two.vertices, gaps)).tolist()
        write_rows(output, ["vertex", "x", "y", "z", "clearance"], [[k, *row] for k, row in enumerate(rows)])
    if colors is not None:
        share = np.clip(gaps / max(float(gaps.max()), 1e-300), 0, 1)
        write_mesh(colors, two.vertices, two.faces, colors=clearance_colors(share))
    if as_json:
        place = two.vertices[least].tolist()
        record = {"least": float(gaps[least]), "vertex": least, "place": place, "inside": int((gaps < 0).sum())}
        print_json({**record, "vertices": len(gaps), "move": move.tolist(), "clearance": gaps.tolist()})
        return
    typer.echo(f"{len(gaps):,} vertices, {int((gaps < 0).sum()):,} inside; least clearance {gaps[least]:.6g}")
    typer.echo(f"at vertex {least}: {', '.join(f'{x:.6g}' for x in two.vertices[least])}")
    if free.depth[0] > 0:
        typer.echo(f"they collide; free after a move by {', '.join(f'{x:.6g}' for x in move)}")
    for path in (output, colors):
        if path is not None:
            typer.echo(f"written: {path}")


def _read(path: Path, above: float | None) -> Mesh:
    """Return a mesh, or the surface of the voxels of a scan or volume."""
    from choque.meshes import Mesh
    from choque.volumes import Volume
    from choque.volumes.reading import kind_of

    kind = kind_of(path)
    if kind != "scan" and above is not None:
        raise InvalidInput(f"--above chooses voxels of a scan; {path} is a {kind}. Leave it out.")
    if kind == "mesh":
        return Mesh.read(path)
    return Mesh(Volume.read(path) if above is None else Volume.from_scan(path, above=above))


def _write_page(page: Path, one: Mesh, two: Mesh, where: RigidPoses, hits: list[int], names: tuple[str, str]) -> None:
    from choque.cli._clash_page import MAX_PICTURES, Row, write_page
    from choque.meshes import distance as measure

    rows = []
    for number in hits[:MAX_PICTURES]:
        pose = (where.rotation[number], where.translation[number])
        found = measure(one, two, pose)
        point = 0.5 * (found.point_a[0] + found.point_b[0])
        words = (str(number), f"{found.distance[0]:.6g}", ", ".join(f"{x:.6g}" for x in point))
        rows.append(Row(words, "crossing", one, two.moved(pose), point))
    shown = "" if len(hits) <= len(rows) else f" The first {len(rows)} are shown."
    sentence = f"{len(where):,} poses of {names[1]}, {len(hits):,} collide with {names[0]}.{shown}"
    write_page(page, f"{names[0]} and {names[1]}", sentence, ("pose", "gap", "point"), rows)


VERBS: dict[str, Callable[..., None]] = {"check": check, "clearance": clearance, "collide": collide}


_LAYOUTS = "3 numbers (a translation), 7 (a translation, and a quaternion w, x, y, z), 12 or 16 (a matrix, row by row)"


def read_poses(path: Path) -> RigidPoses:
    """Read poses from comma-separated text, one a line; a first line of names and text after ``#`` are ignored.

    A line has 3 numbers, a translation; 7, a translation and a quaternion w, x, y, z; or 12 or 16, a matrix row by row.
    """
    import numpy as np

    from choque.files.source import read_text
    from choque.meshes.poses import as_poses

    lines = [line.partition("#")[0].strip() for line in read_text(path, "comma-separated text").splitlines()]
    rows = [[word.strip() for word in line.replace(";", ",").split(",")] for line in lines if line]
    if rows and not _is_number(rows[0][0]):
        rows = rows[1:]
    if not rows:
        raise UnreadableFile(f"The file {path} has no poses; give one a line: {_LAYOUTS}.")
    width = len(rows[0])
    if width not in (3, 7, 12, 16):
        raise UnreadableFile(f"The file {path} has lines of {width} fields; a pose is {_LAYOUTS}.")
    for number, row in enumerate(rows):
        if len(row) != width or not all(map(_is_number, row)):
            raise UnreadableFile(f"Pose {number} in {path} is {', '.join(row)!r}; it must be {width} numbers.")
    table = np.array(rows, np.float64)
    if width == 3:
        return as_poses((np.eye(3), table), str(path))
    if width == 7:
        return as_poses((_rotations(table[:, 3:], path), table[:, :3]), str(path))
    matrix = np.zeros((len(table), 4, 4))
    matrix[:, 3, 3] = 1
    matrix[:, : width // 4] = table.reshape(len(table), -1, 4)
    return as_poses(matrix, str(path))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _rotations(quaternion: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    import numpy as np

    size = np.linalg.norm(quaternion, axis=1)
    wrong = np.flatnonzero(~(np.abs(size - 1) < 1e-3))
    if len(wrong):
        raise UnreadableFile(
            f"Pose {wrong[0]} in {path} has a quaternion of length {size[wrong[0]]:.6g}; that of a rotation has "
            "length 1."
        )
    w, x, y, z = (quaternion / size[:, None]).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.array(rows).transpose(2, 0, 1))
