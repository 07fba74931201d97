"""``choque mesh``: check a mesh, and collide two of them in many poses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Threads

if TYPE_CHECKING:
    from choque.meshes import Mesh
    from choque.meshes.poses import Poses

MeshFile = Annotated[Path, typer.Argument(metavar="FILE", help="A mesh: .stl, .obj, .ply or .off.", show_default=False)]
OtherFile = Annotated[
    Path, typer.Argument(metavar="OTHER", help="The mesh that is moved by the poses.", show_default=False)
]


def mesh() -> None:
    """Check triangle meshes, and collide them in any pose.

    Try:
      choque mesh check part.stl
      choque mesh collide part.stl tool.stl --poses poses.csv
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

    from choque.meshes import Mesh

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
    file: MeshFile,
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
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Say for each pose of a mesh whether it collides with another one.

    Closed meshes are solids; touching counts. Without --poses the second mesh is where it is.

    Try:
      choque mesh collide part.stl tool.stl
      choque mesh collide part.stl tool.stl --poses poses.csv --distance --output hits.csv
      choque mesh collide part.stl tool.stl --poses poses.csv --report hits.html
    """
    import numpy as np

    from choque.cli.clash import unit_notes
    from choque.files.atomic import check_output
    from choque.files.csv_table import write_rows
    from choque.meshes import Mesh
    from choque.meshes import collide as find
    from choque.meshes import distance as measure
    from choque.meshes.poses import as_poses, read_poses

    for path in (output, page):
        if path is not None:
            check_output(path)
    one, two = Mesh.read(file), Mesh.read(other)
    where = as_poses(None) if poses is None else read_poses(poses)
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
    first = ", ".join(map(str, np.flatnonzero(hits)[:10].tolist()))
    more = " …" if hits.sum() > 10 else ""
    typer.echo(f"{len(hits):,} poses, {int(hits.sum()):,} collide{': ' if first else ''}{first}{more}")
    if distance:
        typer.echo(f"least distance {gaps.min():.6g} in pose {int(gaps.argmin())}")
    for line in (*notes, *(f"written: {path}" for path in (output, page) if path is not None)):
        typer.echo(line)


def _write_page(page: Path, one: Mesh, two: Mesh, where: Poses, hits: list[int], names: tuple[str, str]) -> None:
    from choque.cli._clash_page import MOST_PICTURES, Row, write_page
    from choque.meshes import distance as measure

    rows = []
    for number in hits[:MOST_PICTURES]:
        pose = (where.rotation[number], where.translation[number])
        found = measure(one, two, pose)
        point = 0.5 * (found.point_a[0] + found.point_b[0])
        words = (str(number), f"{found.distance[0]:.6g}", ", ".join(f"{x:.6g}" for x in point))
        rows.append(Row(words, "crossing", one, two.moved(pose), point))
    shown = "" if len(hits) <= len(rows) else f" The first {len(rows)} are shown."
    sentence = f"{len(where):,} poses of {names[1]}, {len(hits):,} collide with {names[0]}.{shown}"
    write_page(page, f"{names[0]} and {names[1]}", sentence, ("pose", "gap", "point"), rows)


VERBS: dict[str, Callable[..., None]] = {"check": check, "collide": collide}
