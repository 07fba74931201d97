"""``choque kinetic``: motion as a function of time: the scenes of the thesis, model files, contacts in image stacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._options import Settings, read_settings

if TYPE_CHECKING:
    from choque.kinetic import Model
    from choque.kinetic.labels import LabelContact

SceneName = Annotated[
    str, typer.Argument(metavar="SCENE", help="See 'choque kinetic scenes'; or a model file.", show_default=False)
]
Stack = Annotated[Path, typer.Argument(metavar="STACK", help="A TIFF stack of labelled 2D frames.", show_default=False)]


def kinetic() -> None:
    """Follow moving polygons from event to event, without frames.

    Try:
      choque kinetic run tres-objetos --trace
      choque kinetic from-labels stack.tif
    """


def list_scenes() -> None:
    """List the scenes of the thesis, with their parameters.

    Try:
      choque kinetic scenes
    """
    import inspect

    from choque.cli._terminal import console, plain_table
    from choque.kinetic import scenes

    table = plain_table("scene", "what it is", "parameters")
    for name in scenes.names():
        made = scenes.SCENES[name]
        parameters = ", ".join(f"{key}={each.default}" for key, each in inspect.signature(made).parameters.items())
        table.add_row(name, (made.__doc__ or "").splitlines()[0], parameters or "none")
    console().print(table)


def run(
    scene: SceneName,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", help="kinetic, direct, incremental, incremental-recompute or direct-thesis."
        ),
    ] = "kinetic",
    trace: Annotated[bool, typer.Option("--trace", help="Tell every exchange, or every frame.")] = False,
    statistics: Annotated[
        Path | None, typer.Option("--statistics", metavar="FILE", help="Write the statistics file.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="Write the model file.", show_default=False)
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Draw the start: .png, .svg or .pdf; .gif or .mp4 for all of it.",
            show_default=False,
        ),
    ] = None,
    space_time: Annotated[
        Path | None,
        typer.Option("--space-time", metavar="FILE", help="Draw the end points of X over time.", show_default=False),
    ] = None,
    contacts: Annotated[bool, typer.Option("--contacts", help="Also say when the polygons themselves touch.")] = False,
    option: Settings = None,
) -> None:
    """Run a scene, or a model file, and tell which pairs overlap from when to when.

    Try:
      choque kinetic run tres-objetos --trace
      choque kinetic run aleatorio --option n=1000 --option occupancy=0.05 --statistics run.txt
      choque kinetic run tres-objetos --picture scene.gif --contacts
    """
    from choque.kinetic import simulation

    chosen = _model(scene, option)
    if model is not None:
        chosen.write(model)
    found = simulation(chosen, method, trace=typer.echo if trace else None)
    result = found.run()
    if not trace:
        for time, kind, (a, b) in result.events:
            typer.echo(f"{time:<22.15g} {kind} {a}-{b}")
    counts = ", ".join(f"{key} {value:,}" for key, value in result.counts.items())
    typer.echo(
        f"{result.method}: {len(chosen)} objects, density {chosen.density:.4g}, {counts}; {result.total * 1e3:.3g} ms"
    )
    if contacts:
        _tell_contacts(chosen)
    if statistics is not None:
        found.write_statistics(statistics)
    _draw(chosen, picture, space_time)


def from_labels(
    stack: Stack,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="Write the table as CSV; printed unless given.", show_default=False
        ),
    ] = None,
    pixel_size: Annotated[
        str, typer.Option("--pixel-size", metavar="SIZE", help="Of a pixel: one number, or height,width.")
    ] = "1",
    interval: Annotated[float, typer.Option("--interval", metavar="TIME", help="Between two frames.")] = 1.0,
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
) -> None:
    """Tell which labelled objects of an image stack touch, from when to when, along which length.

    Label 0 is background; an object keeps its label from frame to frame.

    Try:
      choque kinetic synthetic-stack stack.tif
      choque kinetic from-labels stack.tif --pixel-size 0.65 --interval 30 --output contacts.csv
    """
    from choque.cli._terminal import waiting
    from choque.kinetic import labels

    size = _pixel_size(pixel_size)
    with waiting(f"Reading {stack} …"):
        found = labels.label_contacts(labels.read_frames(stack), pixel_size=size, frame_interval=interval)
    if output is not None:
        labels.write_table(output, found)
        typer.echo(f"{output}: {len(found):,} contacts")
    else:
        _print_contacts(found)
    if model is not None:
        labels.model_of(labels.read_frames(stack), pixel_size=size, frame_interval=interval).write(model)
        typer.echo(f"{model}: the outlines of the first frame, in motion")
    if outlines is not None:
        with waiting("Tracing outlines …"):
            count = labels.write_outlines(outlines, labels.read_frames(stack), pixel_size=size)
        typer.echo(f"{outlines}: {count:,} outlines")


def synthetic_stack(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: a .tif file.", show_default=False)],
    frames: Annotated[int, typer.Option("--frames", metavar="K", help="How many frames.")] = 20,
    size: Annotated[int, typer.Option("--size", metavar="PIXELS", help="Height and width.")] = 256,
    objects: Annotated[int, typer.Option("--objects", metavar="N", help="How many cells.")] = 30,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="The same seed makes the same stack.")] = 0,
) -> None:
    """Make a stack of labelled frames in which round cells drift and touch.

    Try:
      choque kinetic synthetic-stack stack.tif --frames 50 --objects 60
    """
    from choque.kinetic import labels

    labels.write_stack(output, labels.synthetic_stack(frames=frames, size=size, objects=objects, seed=seed))
    typer.echo(f"{output}: {frames} frames of {size} × {size} with {objects} cells, seed {seed}")


VERBS: dict[str, Callable[..., None]] = {
    "run": run,
    "scenes": list_scenes,
    "from-labels": from_labels,
    "synthetic-stack": synthetic_stack,
}


def _model(scene: str, option: list[str] | None) -> Model:
    from choque.errors import InvalidInput
    from choque.kinetic import Model, scenes

    options = read_settings(option)
    if scene in scenes.SCENES or not Path(scene).exists():
        return scenes.make(scene, **options)
    if options:
        raise InvalidInput(f"{scene} is a model file, which takes no --option.")
    return Model.read(scene)


def _tell_contacts(model: Model) -> None:
    from choque.kinetic import contacts

    for found in contacts(model.polygons, model.velocity, model.interval[1], start=model.interval[0]):
        a, b = found.pair
        inside = "".join(f", one inside the other from {low:.12g} to {high:.12g}" for low, high in found.inside)
        typer.echo(f"polygons {a}-{b} in contact from {found.began:.12g} to {found.ended:.12g}{inside}")


def _draw(model: Model, picture: Path | None, space_time: Path | None) -> None:
    from choque.view import kinetic_pictures

    if picture is not None and picture.suffix.lower() in (".gif", ".mp4"):
        kinetic_pictures.animate(picture, model)
    elif picture is not None:
        kinetic_pictures.draw_still(picture, model)
    if space_time is not None:
        kinetic_pictures.draw_space_time(space_time, model)


def _print_contacts(found: list[LabelContact]) -> None:
    from dataclasses import astuple

    from choque.cli._terminal import console, plain_table

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
