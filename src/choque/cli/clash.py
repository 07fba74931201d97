"""``choque clash``: every pair of parts in a folder that clashes or is too close."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Threads

if TYPE_CHECKING:
    from choque.meshes import Clashes, Mesh

COLUMNS = ["first", "second", "kind", "gap", "depth", "x", "y", "z", "face_pairs"]
SHOWN = 20
"""Number of pairs in the terminal."""


def clash(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Parts: .stl, .obj, .ply, .off, .glb and .3mf.", show_default=False)
    ],
    clearance: Annotated[float, typer.Option("--clearance", metavar="C", help="Also report gaps up to this.")] = 0.0,
    depth: Annotated[bool, typer.Option("--depth", help="How far one part must move to be free; slower.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the pairs as .csv.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write one .html page that shows each place.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Find every pair of parts that clashes or is closer than a clearance.

    Parts are solids if they are closed; touching counts.

    Try:
      choque clash assembly/
      choque clash assembly/ --clearance 0.05 --output clashes.csv
      choque clash assembly/ --clearance 0.05 --depth --page clashes.html
    """
    from choque._core.progress import shown
    from choque.errors import InvalidInput
    from choque.files.atomic import check_output
    from choque.lab.csv_rows import write_rows
    from choque.meshes import Scene

    for path, suffix in ((output, ".csv"), (page, ".html")):
        if path is not None:
            if path.suffix.lower() != suffix:
                raise InvalidInput(f"The file {path} ends in {path.suffix!r}; it must end in {suffix}.")
            check_output(path)
    names, meshes = read_parts(folder)
    with shown("clashes") as report:
        found = Scene(meshes).clashes(clearance=clearance, threads=threads, progress=report)
    depths = _depths(found, meshes) if depth else [None] * len(found)
    rows = [
        (names[i], names[j], str(kind), float(gap), deep, *map(float, point), int(count))
        for (i, j), kind, gap, deep, point, count in zip(
            found.pairs.tolist(), found.kinds, found.gap, depths, found.point, found.face_pairs, strict=True
        )
    ]
    notes = unit_notes(names, meshes)
    if output is not None:
        write_rows(output, COLUMNS, rows)
    if page is not None:
        _write_page(page, folder, clearance, meshes, found, rows)
    if as_json:
        clashes = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        head = {"folder": str(folder), "parts": len(names), "clearance": clearance, "notes": notes}
        print_json({**head, "clashes": clashes})
        return
    typer.echo(_sentence(len(names), len(rows), clearance))
    for row in rows[:SHOWN]:
        deep = "" if row[4] is None else f"  depth {row[4]:.6g}"
        x, y, z = row[5:8]
        typer.echo(f"  {row[2]:<9} {row[0]}  {row[1]}  gap {row[3]:.6g}{deep}  at {x:.6g}, {y:.6g}, {z:.6g}")
    if len(rows) > SHOWN:
        typer.echo(f"  … and {len(rows) - SHOWN:,} more; --output FILE.csv has all")
    for note in notes:
        typer.echo(note)
    for path in (output, page):
        if path is not None:
            typer.echo(f"written: {path}")


def read_parts(folder: Path) -> tuple[list[str], list[Mesh]]:
    """Read all meshes of a folder, in the order of their names."""
    from choque._core.progress import shown
    from choque.cli._terminal import counted
    from choque.errors import InvalidInput, UnreadableFile
    from choque.files.meshes import READERS
    from choque.meshes import Mesh

    if not folder.is_dir():
        raise UnreadableFile(f"{folder} is not a folder; give the folder of the parts.")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in READERS and path.is_file())
    if len(paths) < 2:
        kinds, number = ", ".join(sorted(READERS)), counted(len(paths), "mesh", "meshes")
        raise InvalidInput(f"The folder {folder} has {number} ({kinds}); clashes need at least two.")
    meshes = []
    with shown() as tell:
        for done, path in enumerate(paths):
            tell(done, len(paths), f"reading {path.name}")
            meshes.append(Mesh.read(path))
    return [path.name for path in paths], meshes


def unit_notes(names: list[str], meshes: list[Mesh]) -> list[str]:
    """Return a sentence if sizes differ as units do: the largest part is hundreds of times the smallest."""
    import numpy as np

    sizes = [float(np.max(mesh.bounds[1] - mesh.bounds[0])) if len(mesh) else 0.0 for mesh in meshes]
    sized = [(size, name) for size, name in zip(sizes, names, strict=True) if size > 0]
    if not sized:
        return []
    (least, small), (most, large) = min(sized), max(sized)
    if most < 500 * least:
        return []
    return [f"note: {large} is {most / least:,.0f} times as large as {small}; do their units differ?"]


def _depths(found: Clashes, meshes: list[Mesh]) -> list[float | None]:
    from choque.meshes import penetration

    depths: list[float | None] = []
    for (i, j), kind in zip(found.pairs.tolist(), found.kinds, strict=True):
        is_deep = kind in ("crossing", "inside")
        depths.append(float(penetration(meshes[i], meshes[j]).depth[0]) if is_deep else None)
    return depths


def _sentence(parts: int, pairs: int, clearance: float) -> str:
    from choque.cli._terminal import counted

    verb = "clashes or is" if pairs == 1 else "clash or are"
    return f"{counted(parts, 'part')}, {counted(pairs, 'pair')} that {verb} closer than {clearance:g}"


def _write_page(
    page: Path, folder: Path, clearance: float, meshes: list[Mesh], found: Clashes, rows: list[tuple[object, ...]]
) -> None:
    from choque.cli._clash_page import Row, write_page

    lines = []
    for (i, j), row, point in zip(found.pairs.tolist(), rows, found.point, strict=True):
        deep = "" if row[4] is None else f"{row[4]:.6g}"
        words = (str(row[0]), str(row[1]), str(row[2]), f"{row[3]:.6g}", deep)
        lines.append(Row(words, str(row[2]), meshes[i], meshes[j], point))
    sentence = f"{_sentence(len(meshes), len(rows), clearance)}."
    write_page(page, f"Clashes in {folder.name}", sentence, ("first", "second", "kind", "gap", "depth"), lines)
