"""``choque video``: a film of anything that can be watched, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._options import Settings, read_camera, read_settings, read_size
from choque.cli._recordings import as_far_as_it_goes


def video(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A recording, a scene, a generator with :n, a kinetic scene, or two volumes; then the .mp4 or .gif to "
            "write, or a .png for one frame.",
            show_default=False,
        ),
    ],
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="Say outright what it is: kinetic or volumes.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", metavar="S", help="How long; of worlds and volumes 5, all of a motion, unless given."
        ),
    ] = None,
    fps: Annotated[
        int | None,
        typer.Option("--fps", metavar="N", help="25, 30, 60 or 120; the recording's own unless given, 60 at most."),
    ] = None,
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="0.5 is slow motion.")] = 1.0,
    frame: Annotated[int, typer.Option("--frame", metavar="K", help="Which frame, for a .png.")] = 0,
    size: Annotated[str, typer.Option("--size", metavar="WxH", help="Pixels.")] = "1280x720",
    camera: Annotated[
        str | None, typer.Option("--camera", metavar="RAD,PITCH,YAW", help="In the place of the scene's; degrees.")
    ] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Of bodies: stand where they fill the picture.")] = False,
    boxes: Annotated[bool, typer.Option("--boxes", help="Of bodies: show boxes along the axes.")] = False,
    oriented: Annotated[bool, typer.Option("--oriented-boxes", help="Of bodies: show oriented boxes.")] = False,
    axes: Annotated[bool, typer.Option("--axes", help="Of bodies: show the axes.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Faster: no shadows, edges not smoothed.")] = False,
    option: Settings = None,
) -> None:
    """Make a film of anything that can be watched.

    A scene is simulated while it is filmed. Of two volumes the camera goes round both, or, with --option to=[x,y,z],
    the second goes there from --option shift=[x,y,z].

    Try:
      choque video output/bowling--2024-05-01--12-00-00 bowling.mp4 --fit
      choque video recording.choque slow.gif --speed 0.25 --size 640x360
      choque video mixed-box:1000 box.mp4 --seconds 8 --fit
      choque video --study kinetic tres-objetos motion.gif
      choque video vertebra-and-screw drive.mp4 --option to=[8,-10,8] --seconds 4
    """
    from choque.cli._terminal import progress
    from choque.errors import InvalidInput
    from choque.view.film import Look
    from choque.view.film_any import film_anything
    from choque.view.picture import draw_picture
    from choque.view.request import FilmRequest, PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to film and the .mp4, .gif or .png file to write, in this order.")
    *things, output = words
    look = Look(
        size=read_size(size),
        fit=fit,
        boxes=boxes,
        oriented_boxes=oriented,
        axes=axes,
        shadows=not draft,
        smoothing=1 if draft else 2,
        camera=read_camera(camera),
    )
    given = read_settings(option)
    with as_far_as_it_goes(things):
        if Path(output).suffix.lower() == ".png":
            still = PictureRequest(frame=frame, parameters=given, look=look)
            told = draw_picture(Path(output), things, study=study, request=still)
        else:
            request = FilmRequest(seconds=seconds, rate=fps, speed=speed, parameters=given, look=look)
            with progress() as tell:
                told = film_anything(output, things, study=study, request=request, progress=tell)
        typer.echo(f"{output}: {told}")
