"""``choque picture``: a picture of anything the studio shows, without a browser or a display."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli._looks import Looks
from choque.cli._options import spread
from choque.cli._recordings import as_far_as_it_goes


@spread
def picture(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A scene, a generator with :n, a recording, a kinetic scene, or two volumes; then the .png to write.",
            show_default=False,
        ),
    ],
    looks: Looks,
    frame: Annotated[
        int, typer.Option("--frame", metavar="K", help="Frame of a recording or of boxes; steps of a scene of bodies.")
    ] = 0,
    time: Annotated[float | None, typer.Option("--time", metavar="T", help="Time of moving polygons.")] = None,
) -> None:
    """Draw a scene, a recording, polygons or volumes to a PNG.

    Try:
      choque picture mixed-box:1000 --frame 60 box.png
      choque picture recording.choque still.png --frame 90
      choque picture --study kinetic three-objects --time 1.7 motion.png
      choque picture scan.nii.gz implant.stl --option threshold=300 collision.png
    """
    from choque._core.progress import shown
    from choque.errors import InvalidInput
    from choque.studio.drawing import draw_picture
    from choque.studio.request import PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to draw and the .png file to write, in this order.")
    *things, output = words
    request = PictureRequest(frame=frame, time=time, **looks.request())
    with as_far_as_it_goes(things):
        with shown(f"Drawing {output} …"):
            description = draw_picture(Path(output), things, study=looks.study, request=request)
        looks.report(output, description)
