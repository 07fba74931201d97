"""``choque neighbors``: the neighbours of the atoms in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Frame, Threads

if TYPE_CHECKING:
    from choque.files.xyz import Atoms


def neighbors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Atoms: .xyz, extended or plain.", show_default=False)],
    cutoff: Annotated[
        float,
        typer.Option("--cutoff", metavar="LENGTH", help="Pairs closer than this are neighbours.", show_default=False),
    ],
    half: Annotated[bool, typer.Option("--half", help="List every pair once.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write the list to .csv or .parquet.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    threads: Threads = None,
    frame: Frame = 0,
) -> None:
    """Find all pairs of atoms closer than a cut-off.

    They are in free space, or in the periodic cell that the file gives.

    Try:
      choque neighbors water.xyz --cutoff 5 --output neighbors.csv
      choque neighbors trajectory.xyz --frame 3 --cutoff 1.2 --half --json
    """
    import choque
    from choque._core.progress import shown
    from choque.cli._compiling import timed
    from choque.files.boxes import write_columns

    if output is not None:
        _check_output(output)
    with shown() as tell:
        tell(0, 2, f"reading {file}")
        atoms = choque.files.read_atoms(file, frame=frame)
        tell(1, 2, "searching")
        (i, j, shift, distance), seconds = timed(
            lambda: choque.neighbors(  # type: ignore[operator]
                atoms.positions,
                cutoff,
                cell=atoms.cell,
                periodic=atoms.periodic if atoms.cell is not None else None,
                quantities="ijSd",
                full=not half,
                threads=threads,
            )
        )
    if output is not None:
        cells = {f"S_{axis}": shift[:, k] for k, axis in enumerate("abc")}
        write_columns(output, {"i": i, "j": j, **cells, "d": distance})
    if as_json:
        record = {
            "file": str(file),
            "frame": frame,
            "atoms": len(atoms.positions),
            "cell": atoms.cell,
            "periodic": atoms.periodic,
            "cutoff": cutoff,
            "full": not half,
            "seconds": seconds,
            "neighbor_count": len(i),
        }
        found = {"i": i, "j": j, "S": shift, "d": distance} if output is None else {"output": str(output)}
        print_json(record | found)
    else:
        _summarise(file, atoms, i, distance, seconds, half)
        if output is not None:
            typer.echo(f"written    {output}")


def _check_output(output: Path) -> None:
    from choque.errors import InvalidInput
    from choque.files.atomic import check_output

    if output.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(f"--output is {output}; neighbours are written to .csv or .parquet.")
    check_output(output)


def _summarise(file: Path, atoms: Atoms, i: Any, distance: Any, seconds: float, half: bool) -> None:
    import numpy as np

    from choque.lab.table import duration

    axes = "".join(name for name, is_periodic in zip("abc", atoms.periodic, strict=True) if is_periodic)
    typer.echo(f"atoms      {len(atoms.positions):,} from {file}")
    typer.echo(f"cell       {f'periodic along {axes}' if atoms.cell is not None and axes else 'none'}")
    typer.echo(f"neighbours {len(i):,}, every pair {'once' if half else 'from both sides'}, in {duration(seconds)}")
    if not len(i):
        return
    typer.echo("\nkind     atoms   neighbours an atom   nearest")
    for kind in np.unique(atoms.symbols):
        is_own = atoms.symbols == kind
        own = is_own[i]
        nearest = f"{distance[own].min():.4f}" if own.any() else "none"
        typer.echo(f"{kind or 'atom':<6} {is_own.sum():>7,} {own.sum() / is_own.sum():>20.2f} {nearest:>9}")
