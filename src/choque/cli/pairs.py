"""``choque pairs``: every overlapping pair of the boxes in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import (
    BoxesFile,
    Device,
    Frame,
    HalfOpen,
    Method,
    Settings,
    Threads,
    checked_boxes,
    read_settings,
)

if TYPE_CHECKING:
    from choque._core.types import Pairs
    from choque.bounds import Boxes
    from choque.broad import BroadPhase

SHOWN = 5
"""Number of pairs in the summary."""

QUICK = 0.5
"""Searches are repeated for their times as long as all of them take no longer than this [s]."""


@dataclass(frozen=True)
class Answer:
    """The pairs, the broad phase that found them, and the times."""

    broad: BroadPhase
    pairs: Pairs
    create: float
    search: float

    @property
    def seconds(self) -> float:
        """The time of both."""
        return self.create + self.search

    @property
    def choice(self) -> tuple[str, str | None]:
        """The method that found the pairs, and why ``auto`` chose it."""
        choice = getattr(self.broad.index, "choice", None)
        return (self.broad.name, None) if choice is None else (choice.method, choice.reason)

    @property
    def device(self) -> str:
        """The device that was used."""
        return str(getattr(self.broad.index, "device", "cpu"))


def pairs(
    file: BoxesFile,
    method: Method = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="Write pairs to .npy, .csv or .parquet; with --memory, to a folder of .parquet.",
            show_default=False,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Search from file to file within this much memory, such as 4GiB.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Processes, with --memory; default: all.", show_default=False),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="With --memory: print the plan, and search nothing.")
    ] = False,
    as_json: AsJson = False,
    half_open: HalfOpen = False,
    threads: Threads = None,
    device: Device = None,
    frame: Frame = 0,
    option: Settings = None,
) -> None:
    """Find every overlapping pair of the boxes in a file.

    Try:
      choque pairs boxes.npy
      choque pairs boxes.csv --output pairs.csv
      choque pairs scene.aabbs --frame 3 --method sap-direct --option tiles=true --json
      choque pairs million.npy --device cuda
      choque pairs 'boxes/*.parquet' --memory 4GiB --explain
      choque pairs 'boxes/*.parquet' --memory 4GiB --output pairs/
    """
    import choque
    from choque._core.progress import shown
    from choque.broad.devices import on_device

    if memory is not None or explain or workers is not None:
        wrong = {"--method": method != "auto", "--threads": threads, "--device": device, "--frame": frame}
        _refuse([name for name, is_given in wrong.items() if is_given] + ["--option"] * bool(option))
        _search_files(str(file), output, explain, as_json, memory=memory, workers=workers, closed=not half_open)
        return
    if output is not None:
        check_format(output)
    options = read_settings(option, reserved=("name", "bounds", "closed", "threads"))
    if device is not None:
        method, options = on_device(device, method, options)
    with shown(f"Reading {file} …") as tell:
        boxes = checked_boxes(file, *choque.files.read_boxes(file, frame=frame))
        tell.show("Searching …")
        answer = _search(boxes, method, closed=not half_open, threads=threads, **options)
        if output is not None:
            tell.show(f"Writing {output} …")
            choque.files.write_pairs(output, answer.pairs)
    if as_json:
        print_json(_record(answer, file, frame, output))
    else:
        _summarise(answer, file, output)


def _refuse(names: list[str]) -> None:
    """Refuse options that a search from file to file does not have."""
    from choque.errors import InvalidInput

    if names:
        raise InvalidInput(f"{names[0]} and --memory do not go together: a search from file to file chooses by itself.")


def _search_files(file: str, output: Path | None, explain: bool, as_json: bool, **options: Any) -> None:
    """Search from file to file in bounded memory, or say what that would take."""
    from dataclasses import asdict

    import choque
    from choque._core.progress import shown
    from choque.cli._compiling import working_time
    from choque.cli._terminal import counted
    from choque.errors import InvalidInput
    from choque.lab.table import duration

    if explain:
        plan = choque.scale.plan(file, **options)
        if as_json:
            facts = {"boxes": plan.box_count, "tiles": plan.tiling.tile_count, "memory": plan.memory}
            print_json({"file": file, **facts, "workers": plan.workers, **asdict(plan.expected)})
        else:
            typer.echo(str(plan))
        return
    if output is None:
        raise InvalidInput(
            "--memory is given without --output; name a new folder for the pairs, as in --output pairs/."
        )
    begin = working_time()
    with shown("tiles") as tell:
        found = choque.scale.pairs(file, output, progress=tell, **options)
    seconds = working_time() - begin
    if as_json:
        names = [path.name for path in found.files]
        print_json({"file": file, "output": str(output), "pair_count": found.count, "seconds": seconds, "files": names})
        return
    typer.echo(f"{'pairs':<8}{found.count:,}, touching boxes {'' if options['closed'] else 'not '}included")
    typer.echo(f"{'time':<8}{duration(seconds)}")
    typer.echo(f"{'written':<8}{counted(len(found.files), 'file')} in {output}")


def check_format(output: Path) -> None:
    """Refuse a format that is unknown, or that a missing library writes, before any work is done."""
    from choque.errors import InvalidInput
    from choque.files.atomic import check_output
    from choque.files.boxes import TABLES

    if output.suffix.lower() not in TABLES:
        raise InvalidInput(f"--output is {output}; pairs are written to {', '.join(sorted(TABLES))}.")
    check_output(output)


def _search(boxes: Boxes, method: str, **options: Any) -> Answer:
    """Find the pairs; if that was quick but for compiling, do it again and take the least times.

    The first search also loads kernels, and other processes may still compile some during the second.
    """
    from choque.cli._compiling import TIMED_AGAIN

    answer = _timed(boxes, method, options)
    spent = answer.seconds
    if spent <= TIMED_AGAIN:
        answer = _timed(boxes, method, options)
    for _ in range(3):
        spent += answer.seconds
        if spent <= QUICK:
            answer = min(answer, _timed(boxes, method, options), key=lambda each: each.seconds)
    return answer


def _timed(boxes: Boxes, method: str, options: dict[str, Any]) -> Answer:
    import choque
    from choque.cli._compiling import working_time

    begin = working_time()
    broad = choque.broad.create(method, boxes, **options)
    created = working_time()
    found = broad.pairs()
    return Answer(broad, found, created - begin, working_time() - created)


def _record(answer: Answer, file: Path, frame: int, output: Path | None) -> dict[str, object]:
    method, reason = answer.choice
    record: dict[str, object] = {
        "file": str(file),
        "frame": frame,
        "boxes": len(answer.broad),
        "dimension": answer.broad.dimension,
        "closed": answer.broad.closed,
        "method": method,
        "reason": reason,
        "device": answer.device,
        "seconds": {"create": answer.create, "pairs": answer.search},
        "pair_count": len(answer.pairs),
    }
    return record | ({"pairs": answer.pairs.tolist()} if output is None else {"output": str(output)})


def _summarise(answer: Answer, file: Path, output: Path | None) -> None:
    from choque.lab.table import duration

    broad, count = answer.broad, len(answer.pairs)
    method, reason = answer.choice
    where = "" if answer.device == "cpu" else f", on {answer.device}"
    lines = {
        "boxes": f"{len(broad):,} in {broad.dimension}D, from {file}",
        "method": (method if reason is None else f"{method}, chosen by auto: {reason}") + where,
        "pairs": f"{count:,}, {'touching boxes included' if broad.closed else 'touching boxes not included'}",
        "time": f"{duration(answer.create)} to create, {duration(answer.search)} to search",
    }
    if output is not None:
        lines["written"] = str(output)
    elif count:
        some = "  ".join(f"{i}-{j}" for i, j in answer.pairs[:SHOWN].tolist())
        lines["first"] = some + ("  …" if count > SHOWN else "")
    for word, text in lines.items():
        typer.echo(f"{word:<8}{text}")
