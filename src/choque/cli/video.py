"""``choque video``: a film of anything the studio shows, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._looks import Looks, of_bodies
from choque.cli._options import spread
from choque.cli._recordings import as_far_as_it_goes


@spread
def video(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A recording, a scene, a generator with :n, a kinetic scene, or two volumes; then the "
            ".mp4, .webm, .webp or .gif to write, or a .png for one frame.",
            show_default=False,
        ),
    ],
    looks: Looks,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", metavar="S", help="Length; default: 5 for scenes and volumes, the whole interval of a motion."
        ),
    ] = None,
    fps: Annotated[
        int | None,
        typer.Option("--fps", metavar="N", help="25, 30, 60 or 120; default: that of the recording, at most 60."),
    ] = None,
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="0.5 is slow motion.")] = 1.0,
    shot: Annotated[
        float | None,
        of_bodies("--shot", metavar="S", help="Shoot a heavy ball at those of a scene at this time of the film."),
    ] = None,
    orbit: Annotated[
        float, of_bodies("--orbit", metavar="DEGREES", help="Turn the camera by this angle in the course of the film.")
    ] = 0.0,
    since: Annotated[
        float, of_bodies("--since", metavar="T", help="Show boxes, contacts, pairs and the tree from this time on.")
    ] = 0.0,
    frame: Annotated[int, typer.Option("--frame", metavar="K", help="The frame to draw to a .png.")] = 0,
) -> None:
    """Film a scene, a recording, polygons or volumes.

    A scene is simulated while it is filmed. For two volumes the camera orbits both, or, with --option to=[x,y,z], the
    second one moves there from --option shift=[x,y,z].

    Try:
      choque video output/bowling--2024-05-01--12-00-00 bowling.mp4 --follow
      choque video recording.choque slow.gif --speed 0.25 --size 640x360
      choque video mixed-box:1000 box.mp4 --seconds 8
      choque video pyramid:210 pyramid.mp4 --shot 2
      choque video pile:300 pile.webp --tree --caption '{time}, {contacts} contacts' --size 640x360
      choque video --study kinetic three-objects motion.gif
      choque video vertebra-and-screw drive.mp4 --option to=[8,-10,8] --seconds 4
    """
    from choque._core.progress import shown
    from choque.errors import InvalidInput
    from choque.studio.drawing import draw_film, draw_picture
    from choque.studio.request import FilmRequest, PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to film and the .mp4, .webm, .webp, .gif or .png file to write, in this order.")
    *things, output = words
    with as_far_as_it_goes(things):
        if Path(output).suffix.lower() == ".png":
            still = PictureRequest(frame=frame, **looks.request())
            description = draw_picture(Path(output), things, study=looks.study, request=still)
        else:
            shared = looks.request(orbit=orbit, since=since)
            request = FilmRequest(seconds=seconds, frames_per_second=fps, speed=speed, shot=shot, **shared)
            with shown() as report:
                description = draw_film(output, things, study=looks.study, request=request, progress=report)
        looks.report(output, description)
