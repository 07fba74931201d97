"""``choque video``: a film of anything that can be watched, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli import _looks as looks
from choque.cli._json import AsJson
from choque.cli._options import Settings, read_settings
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
    study: looks.Study = None,
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
    size: looks.Size = "1280x720",
    camera: looks.CameraPlace = None,
    fit: looks.Fit = False,
    boxes: looks.ShowBoxes = False,
    oriented: looks.ShowOrientedBoxes = False,
    axes: looks.ShowAxes = False,
    show: looks.Show = None,
    no_region: looks.NoRegion = False,
    draft: looks.Draft = False,
    option: Settings = None,
    as_json: AsJson = False,
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
    from choque.studio.drawing import draw_picture, film_anything
    from choque.studio.request import FilmRequest, PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to film and the .mp4, .gif or .png file to write, in this order.")
    *things, output = words
    look = looks.read_look(size, camera, draft, fit=fit, boxes=boxes, oriented_boxes=oriented, axes=axes)
    given, volumes = read_settings(option), looks.read_volume_look(show, not no_region)
    with as_far_as_it_goes(things):
        if Path(output).suffix.lower() == ".png":
            still = PictureRequest(frame=frame, parameters=given, look=look, volumes=volumes)
            told = draw_picture(Path(output), things, study=study, request=still)
        else:
            request = FilmRequest(seconds=seconds, rate=fps, speed=speed, parameters=given, look=look, volumes=volumes)
            with progress() as tell:
                told = film_anything(output, things, study=study, request=request, progress=tell)
        looks.tell_written(output, told, as_json)
