"""``choque join``: pairs of boxes of two files that overlap."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import HalfOpen, Method, Threads

SHOWN = 5
"""Number of pairs in the summary."""

BoxFile = Annotated[
    Path,
    typer.Argument(help="Boxes: .npy, .npz, .csv, .parquet, COCO .json.", show_default=False),
]
Over = Annotated[
    str, typer.Option("--over", metavar="NAME", help="Divide the intersection by 'union' or by the 'smaller' box.")
]


def join(
    a: BoxFile,
    b: BoxFile,
    iou: Annotated[
        float | None,
        typer.Option("--iou", metavar="T", help="Only pairs with this intersection over union.", show_default=False),
    ] = None,
    over: Over = "union",
    method: Method = "auto",
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write pairs to .npy, .csv or .parquet.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    half_open: HalfOpen = False,
    threads: Threads = None,
) -> None:
    """Find every pair of a box of one file and a box of another that overlap.

    Try:
      choque join detections.csv truth.csv --iou 0.5
      choque join buildings.parquet parcels.parquet --output pairs.parquet
    """
    import choque
    from choque.cli._compiling import working_time
    from choque.cli.pairs import check_format

    if output is not None:
        check_format(output)
    one, two = (choque.files.read_detections(file) for file in (a, b))
    begin = working_time()
    corners = (one.lower, one.upper, two.lower, two.upper)
    found = choque.join(*corners, iou=iou, over=over, method=method, closed=not half_open, threads=threads)
    seconds = working_time() - begin
    pairs, values = (found, None) if iou is None else found
    if output is not None:
        choque.files.write_pairs(output, pairs)
    if as_json:
        record: dict[str, Any] = {
            "a": {"file": str(a), "boxes": len(one)},
            "b": {"file": str(b), "boxes": len(two)},
            "iou": iou,
            "over": over,
            "closed": not half_open,
            "seconds": seconds,
            "pair_count": len(pairs),
        }
        record |= {"pairs": pairs} if output is None else {"output": str(output)}
        print_json(record if values is None else record | {"values": values})
    else:
        _summarise((a, b), (len(one), len(two)), pairs, values, seconds, output)


def _summarise(
    files: tuple[Path, Path], counts: tuple[int, int], pairs: Any, values: Any, seconds: float, output: Path | None
) -> None:
    import numpy as np

    from choque.lab.table import duration

    for name, file, count, side in zip("ab", files, counts, range(2), strict=True):
        matched = len(np.unique(pairs[:, side]))
        typer.echo(f"{name:<8}{count:,} boxes from {file}, {matched:,} in a pair")
    typer.echo(f"{'pairs':<8}{len(pairs):,} in {duration(seconds)}")
    if values is not None and len(values):
        low, middle, high = np.percentile(values, (0, 50, 100))
        typer.echo(f"{'overlap':<8}{low:.3f} to {high:.3f}, median {middle:.3f}")
    if output is not None:
        typer.echo(f"{'written':<8}{output}")
    elif len(pairs):
        some = "  ".join(f"{i}-{j}" for i, j in pairs[:SHOWN].tolist())
        typer.echo(f"{'first':<8}{some}" + ("  …" if len(pairs) > SHOWN else ""))
