"""``choque suppress``: the boxes of a file of detections that no better box covers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Threads, checked_boxes
from choque.cli.join import Over

if TYPE_CHECKING:
    from choque.files import Detections

MAX_CLASSES = 12
"""Number of classes in the table."""


def suppress(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Boxes with scores: COCO .json, .csv or .parquet.", show_default=False),
    ],
    iou: Annotated[float, typer.Option("--iou", metavar="T", help="Overlaps above this are suppressed.")] = 0.5,
    over: Over = "union",
    merge: Annotated[bool, typer.Option("--merge", help="Merge boxes with at least this overlap, instead.")] = False,
    score: Annotated[
        str | None, typer.Option("--score", metavar="COLUMN", help="Column of the scores.", show_default=False)
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="COLUMN", help="Column of the classes.", show_default=False)
    ] = None,
    all_together: Annotated[
        bool, typer.Option("--all-together", help="Boxes of all classes and images suppress each other.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Kept entries in the format of FILE, or their rows as .npy.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Keep the best of the boxes that overlap: non-maximum suppression.

    Boxes of different classes or images do not suppress each other.

    Try:
      choque suppress results.json --iou 0.5 --output kept.json
      choque suppress detections.csv --score confidence --group label --json
    """
    import choque
    from choque._core.progress import shown
    from choque.cli._compiling import timed
    from choque.errors import InvalidInput

    if output is not None:
        _check_output(file, output)
    lists: dict[int, list[int]] | None = None
    with shown() as tell:
        tell(0, 2, f"reading {file}")
        found = choque.files.read_detections(file, score=score, group=group)
        scores = found.scores
        if scores is None:
            hint = "give the results of a detector" if file.suffix == ".json" else "name their column with --score"
            raise InvalidInput(f"The file {file} has no scores; {hint}.")
        tell(1, 2, "searching")
        boxes = checked_boxes(file, found.lower, found.upper)
        options: dict[str, Any] = {"iou": iou, "groups": None if all_together else found.groups, "over": over}
        if merge:
            merged, seconds = timed(lambda: choque.boxes.merge(boxes, scores, **options))
            kept, lists = merged.kept, merged.lists()
        else:
            kept, seconds = timed(lambda: choque.boxes.suppress(boxes, scores, threads=threads, **options))
    if output is not None:
        _write(file, output, kept)
    if as_json:
        record = {
            "file": str(file),
            "boxes": len(found),
            "iou": iou,
            "over": over,
            "seconds": seconds,
            "kept_count": len(kept),
        }
        record |= {"kept": kept} if output is None else {"output": str(output)}
        print_json(record if lists is None else record | {"merged": lists})
    else:
        _summarise(file, found, kept, seconds, output, by_class=not all_together)


def _check_output(file: Path, output: Path) -> None:
    from choque.errors import InvalidInput
    from choque.files.atomic import check_output

    own = file.suffix.lower()
    if output.suffix.lower() not in (own, ".npy"):
        raise InvalidInput(f"--output is {output}; kept entries are written in the format of {file}, rows to .npy.")
    check_output(output)


def _write(file: Path, output: Path, kept: Any) -> None:
    import numpy as np

    from choque.files.atomic import replacing
    from choque.files.detections import write_kept

    if output.suffix.lower() != ".npy":
        write_kept(output, file, kept)
        return
    with replacing(output) as handle:
        np.save(handle, kept, allow_pickle=False)


def _summarise(
    file: Path, found: Detections, kept: Any, seconds: float, output: Path | None, *, by_class: bool
) -> None:
    import numpy as np

    from choque.cli._terminal import counted
    from choque.lab.table import duration

    images = "" if found.images is None else f" of {counted(len(np.unique(found.images)), 'image')}"
    typer.echo(f"boxes  {len(found):,}{images} from {file}")
    typer.echo(f"kept   {len(kept):,} in {duration(seconds)}")
    if by_class and found.images is None:
        typer.echo("images none are named, so all boxes are taken as those of one image")
    if by_class and not found.labels.astype(bool).any() and len(found):
        hint = "" if file.suffix.lower() == ".json" else "; name their column with --group"
        typer.echo(f"class  none is named, so boxes of all kinds suppress each other{hint}")
    if output is not None:
        typer.echo(f"written {output}")
    names, counts = np.unique(found.labels, return_counts=True)
    if not len(names) or (len(names) == 1 and not names[0]):
        return
    typer.echo(f"\n{'class':<20} {'boxes':>9} {'kept':>9}")
    order = np.argsort(-counts, kind="stable")
    for place in order[:MAX_CLASSES].tolist():
        own = int((found.labels[kept] == names[place]).sum())
        typer.echo(f"{names[place][:20]:<20} {counts[place]:>9,} {own:>9,}")
    if len(order) > MAX_CLASSES:
        typer.echo(f"… and {len(order) - MAX_CLASSES} more")
