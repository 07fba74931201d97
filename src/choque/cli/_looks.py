"""How pictures and films look: the options that both verbs have, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._json import print_json
from choque.cli._options import read_camera, read_size

if TYPE_CHECKING:
    from choque.studio.film import Look
    from choque.studio.volumes.look import VolumeLook

Study = Annotated[
    str | None, typer.Option("--study", metavar="NAME", help="Say outright what it is: kinetic or volumes.")
]
Size = Annotated[str, typer.Option("--size", metavar="WxH", help="Pixels; boxes take as many as they need.")]
CameraPlace = Annotated[
    str | None, typer.Option("--camera", metavar="RAD,PITCH,YAW", help="In the place of the scene's; degrees.")
]
Fit = Annotated[bool, typer.Option("--fit", help="Of bodies: stand where they fill the picture.")]
ShowBoxes = Annotated[bool, typer.Option("--boxes", help="Of bodies: show boxes along the axes.")]
ShowOrientedBoxes = Annotated[bool, typer.Option("--oriented-boxes", help="Of bodies: show oriented boxes.")]
ShowAxes = Annotated[bool, typer.Option("--axes", help="Of bodies: show the axes.")]
Show = Annotated[
    str | None,
    typer.Option(
        "--show", metavar="NAMES", help="Of volumes, such as 'surface,brinks xyz/triangles,box': first/second."
    ),
]
NoRegion = Annotated[bool, typer.Option("--no-region", help="Of volumes: not what they share.")]
Draft = Annotated[bool, typer.Option("--draft", help="Faster: no shadows, edges not smoothed.")]


def read_look(
    size: str, camera: str | None, draft: bool, *, fit: bool, boxes: bool, oriented_boxes: bool, axes: bool
) -> Look:
    """How things are drawn, as the options say."""
    from choque.studio.film import Look

    return Look(
        size=read_size(size),
        camera=read_camera(camera),
        fit=fit,
        boxes=boxes,
        oriented_boxes=oriented_boxes,
        axes=axes,
        shadows=not draft,
        smoothing=1 if draft else 2,
    )


def read_volume_look(show: str | None, region: bool) -> VolumeLook:
    """What is drawn of two volumes: names joined by commas, of the second after a slash, or the same of both."""
    from choque.studio.volumes.look import VolumeLook

    if show is None:
        return VolumeLook(region=region)
    first, slash, second = show.partition("/")
    chosen = [
        {name.strip() for name in part.split(",") if name.strip()} for part in (first, second if slash else first)
    ]
    return VolumeLook((chosen[0], chosen[1]), region)


def tell_written(output: str, told: str, as_json: bool) -> None:
    """Say what was written, and what it shows."""
    if as_json:
        print_json({"file": output, "shows": told})
    else:
        typer.echo(f"{output}: {told}")
