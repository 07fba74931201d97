"""``choque join``: pairs of boxes of two files that overlap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import HalfOpen, Method, Threads, checked_boxes

if TYPE_CHECKING:
    from choque.files import Detections

SHOWN = 5
"""Number of pairs in the summary."""

BoxFile = Annotated[Path, typer.Argument(help="Boxes: .npy, .npz, .csv, .parquet, COCO .json.", show_default=False)]
Over = Annotated[
    str, typer.Option("--over", metavar="NAME", help="Divide the intersection by 'union' or by the 'smaller' box.")
]


def join(
    a: BoxFile,
    b: BoxFile,
    iou: Annotated[
        float | None,
        typer.Option(
            "--iou", metavar="T", help="Only pairs with at least this intersection over union.", show_default=False
        ),
    ] = None,
    over: Over = "union",
    method: Method = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write pairs to .npy, .csv or .parquet; tables with the overlaps.",
            show_default=False,
        ),
    ] = None,
    all_together: Annotated[bool, typer.Option("--all-together", help="Pair boxes of different images too.")] = False,
    as_json: AsJson = False,
    half_open: HalfOpen = False,
    threads: Threads = None,
) -> None:
    """Find the overlapping pairs between the boxes of two files.

    Where both files name the image of each box, boxes of different images are not paired.

    Try:
      choque join detections.csv truth.csv --iou 0.5
      choque join buildings.parquet parcels.parquet --output pairs.parquet
    """
    import choque
    from choque._core.progress import shown
    from choque.cli._compiling import timed
    from choque.cli.pairs import check_format

    if output is not None:
        check_format(output)
    with shown() as tell:
        tell(0, 3, f"reading {a}")
        one = choque.files.read_detections(a)
        tell(1, 3, f"reading {b}")
        two = choque.files.read_detections(b)
        tell(2, 3, "searching")
        for file, read in ((a, one), (b, two)):
            checked_boxes(file, read.lower, read.upper)
        corners = (one.lower, one.upper, two.lower, two.upper) if all_together else _by_image(one, two)
        options: dict[str, Any] = {
            "iou": iou,
            "over": over,
            "method": method,
            "closed": not half_open,
            "threads": threads,
        }
        found, seconds = timed(lambda: choque.join(*corners, **options))
        pairs, values = (found, None) if iou is None else found
        if output is not None:
            choque.files.write_pairs(output, pairs, values)
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
        if (one.images is None) != (two.images is None) and not all_together:
            named, other = (a, b) if two.images is None else (b, a)
            typer.echo(f"{'images':<8}named in {named} and not in {other}, so boxes of all images were paired")


def _by_image(one: Detections, two: Detections) -> tuple[Any, Any, Any, Any]:
    """Return the corners of both, each image in a layer of its own along z; as they are without images, or in 3D."""
    import numpy as np

    if one.images is None or two.images is None or one.lower.shape[1] == 3:
        return one.lower, one.upper, two.lower, two.upper
    numbers = np.unique(np.concatenate((one.images, two.images)), return_inverse=True)[1].astype(np.float64)
    corners: list[Any] = []
    for boxes, layer in ((one, numbers[: len(one)]), (two, numbers[len(one) :])):
        # Layers of one height, half a layer apart: they do not touch, and overlaps keep their shares exactly.
        corners += [np.column_stack((boxes.lower, layer)), np.column_stack((boxes.upper, layer + 0.5))]
    return corners[0], corners[1], corners[2], corners[3]


def _summarise(
    files: tuple[Path, Path], counts: tuple[int, int], pairs: Any, values: Any, seconds: float, output: Path | None
) -> None:
    import numpy as np

    from choque.cli._terminal import counted
    from choque.lab.table import duration

    for name, file, count, side in zip("ab", files, counts, range(2), strict=True):
        matched = len(np.unique(pairs[:, side]))
        typer.echo(f"{name:<8}{counted(count, 'box', 'boxes')} from {file}, {matched:,} in a pair")
    typer.echo(f"{'pairs':<8}{len(pairs):,} in {duration(seconds)}")
    if values is not None and len(values):
        low, middle, high = np.percentile(values, (0, 50, 100))
        typer.echo(f"{'overlap':<8}{low:.3f} to {high:.3f}, median {middle:.3f}")
    if output is not None:
        typer.echo(f"{'written':<8}{output}")
    elif len(pairs):
        some = "  ".join(f"{i}-{j}" for i, j in pairs[:SHOWN].tolist())
        typer.echo(f"{'first':<8}{some}" + ("  …" if len(pairs) > SHOWN else ""))
