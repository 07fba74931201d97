"""``choque kinetic from-labels`` and ``synthetic-stack``: which objects of a labelled image stack touch, and when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._terminal import counted

if TYPE_CHECKING:
    from choque.theses.kinetic.labels import LabelContact

Stack = Annotated[Path, typer.Argument(metavar="STACK", help="A TIFF stack of labelled 2D frames.", show_default=False)]


def from_labels(
    stack: Stack,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="Write the table as CSV instead of printing it.", show_default=False
        ),
    ] = None,
    pixel_size: Annotated[
        str, typer.Option("--pixel-size", metavar="SIZE", help="Size of a pixel: one number, or height,width.")
    ] = "1",
    interval: Annotated[float, typer.Option("--interval", metavar="TIME", help="Time between two frames.")] = 1.0,
    outlines: Annotated[
        Path | None,
        typer.Option(
            "--outlines",
            metavar="FILE",
            help="Trace every outline of every frame into an .npz file.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Write the outlines of the first frame, in motion, as a model file.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print which objects of a labelled stack touch, and when.

    Also along which length. Label 0 is background; an object keeps its label from frame to frame.

    Try:
      choque kinetic synthetic-stack stack.tif
      choque kinetic from-labels stack.tif --pixel-size 0.65 --interval 30 --output contacts.csv
    """
    from choque._core.progress import shown
    from choque.errors import check_installed
    from choque.files.atomic import check_output
    from choque.theses.kinetic import Model, labels

    size = _pixel_size(pixel_size)
    for path in (output, outlines, model):
        if path is not None:
            check_output(path)
    if outlines is not None or model is not None:
        check_installed("skimage", extra="images", purpose="to trace outlines")
    with shown(f"Reading {stack} …"):
        found = labels.label_contacts(labels.read_frames(stack), pixel_size=size, frame_interval=interval)
    written: dict[Path, str] = {}
    if output is not None:
        labels.write_table(output, found)
        written[output] = counted(len(found), "contact")
    if model is not None:
        Model.from_labels(labels.read_frames(stack), pixel_size=size, frame_interval=interval).write(model)
        written[model] = "the outlines of the first frame, in motion"
    if outlines is not None:
        with shown("Tracing outlines …"):
            count = labels.write_outlines(outlines, labels.read_frames(stack), pixel_size=size)
        written[outlines] = f"{count:,} outlines"
    if as_json:
        print_json({"contacts": found, "written": written})
        return
    if output is None:
        _print_contacts(found)
    for path, content in written.items():
        typer.echo(f"{path}: {content}")


def synthetic_stack(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The .tif file to write.", show_default=False)],
    frames: Annotated[int, typer.Option("--frames", metavar="K", help="Number of frames.")] = 20,
    size: Annotated[int, typer.Option("--size", metavar="PIXELS", help="Height and width.")] = 256,
    objects: Annotated[int, typer.Option("--objects", metavar="N", help="Number of cells.")] = 30,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="The same seed makes the same stack.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a labelled stack of round cells that drift.

    Try:
      choque kinetic synthetic-stack stack.tif --frames 50 --objects 60
    """
    from choque.errors import check_installed
    from choque.files.atomic import writable_target
    from choque.theses.kinetic import labels

    writable_target(output)
    check_installed("tifffile", extra="images", purpose="to write image stacks")
    labels.write_stack(output, labels.synthetic_stack(frames=frames, size=size, objects=objects, seed=seed))
    if as_json:
        print_json({"output": output, "frames": frames, "size": size, "objects": objects, "seed": seed})
    else:
        typer.echo(f"{output}: {frames} frames of {size} × {size} with {objects} cells, seed {seed}")


def _print_contacts(found: list[LabelContact]) -> None:
    from dataclasses import astuple

    from choque.cli._terminal import console, plain_table

    if not found:
        typer.echo("No two objects touch in any frame.")
        return
    table = plain_table("objects", "frames", "from>", "to>", "mean length>", "greatest length>")
    for contact in found:
        a, b, first, last, began, ended, mean, greatest = astuple(contact)
        table.add_row(f"{a}-{b}", f"{first}-{last}", f"{began:g}", f"{ended:g}", f"{mean:.4g}", f"{greatest:.4g}")
    console().print(table)


def _pixel_size(text: str) -> tuple[float, float]:
    from choque.errors import InvalidInput

    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise InvalidInput(f"--pixel-size is {text!r}; write one number, or height,width.")
    return numbers[0], numbers[-1]
