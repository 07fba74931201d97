"""``choque picture``: a picture of anything that can be watched, without a browser or a display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choque.cli._options import Settings, read_camera, read_settings, read_size
from choque.cli._recordings import as_far_as_it_goes

if TYPE_CHECKING:
    from choque.view.volume_look import VolumeLook


def picture(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A scene, a generator with :n, a recording, a kinetic scene, or two volumes; then the .png to write.",
            show_default=False,
        ),
    ],
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="Say outright what it is: kinetic or volumes.")
    ] = None,
    frame: Annotated[
        int, typer.Option("--frame", metavar="K", help="Of a recording or of boxes; of bodies, after K steps.")
    ] = 0,
    time: Annotated[float | None, typer.Option("--time", metavar="T", help="Of moving polygons.")] = None,
    size: Annotated[str, typer.Option("--size", metavar="WxH", help="Pixels.")] = "1280x720",
    camera: Annotated[
        str | None, typer.Option("--camera", metavar="RAD,PITCH,YAW", help="In the place of the scene's; degrees.")
    ] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Of bodies: stand where they fill the picture.")] = False,
    boxes: Annotated[bool, typer.Option("--boxes", help="Of bodies: show boxes along the axes.")] = False,
    show: Annotated[
        str | None,
        typer.Option(
            "--show", metavar="NAMES", help="Of volumes, such as 'surface,brinks xyz/triangles,box': first/second."
        ),
    ] = None,
    no_region: Annotated[bool, typer.Option("--no-region", help="Of volumes: not what they share.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Faster: no shadows, edges not smoothed.")] = False,
    option: Settings = None,
) -> None:
    """Draw anything that can be watched as one picture.

    Try:
      choque picture mixed-box:1000 --frame 60 --fit box.png
      choque picture recording.choque still.png --frame 90
      choque picture --study kinetic tres-objetos --time 1.7 motion.png
      choque picture scan.nii.gz implant.stl --option threshold=300 collision.png
    """
    from choque.errors import InvalidInput
    from choque.view.film import Look
    from choque.view.picture import draw_picture
    from choque.view.request import PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to draw and the .png file to write, in this order.")
    *things, output = words
    look = Look(
        size=read_size(size),
        fit=fit,
        boxes=boxes,
        shadows=not draft,
        smoothing=1 if draft else 2,
        camera=read_camera(camera),
    )
    request = PictureRequest(
        frame=frame,
        time=time,
        parameters=read_settings(option),
        look=look,
        volumes=_volume_look(show, not no_region),
    )
    with as_far_as_it_goes(things):
        told = draw_picture(Path(output), things, study=study, request=request)
        typer.echo(f"{output}: {told}")


def _volume_look(show: str | None, region: bool) -> VolumeLook:
    from choque.view.volume_look import VolumeLook

    if show is None:
        return VolumeLook(region=region)
    first, slash, second = show.partition("/")
    chosen = [
        {name.strip() for name in part.split(",") if name.strip()} for part in (first, second if slash else first)
    ]
    return VolumeLook((chosen[0], chosen[1]), region)
