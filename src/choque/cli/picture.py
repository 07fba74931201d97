"""``choque picture``: a picture of anything that can be watched, without a browser or a display."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choque.cli import _looks as looks
from choque.cli._json import AsJson
from choque.cli._options import Settings, read_settings
from choque.cli._recordings import as_far_as_it_goes


def picture(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="THING... FILE",
            help="A scene, a generator with :n, a recording, a kinetic scene, or two volumes; then the .png to write.",
            show_default=False,
        ),
    ],
    study: looks.Study = None,
    frame: Annotated[
        int, typer.Option("--frame", metavar="K", help="Of a recording or of boxes; of bodies, after K steps.")
    ] = 0,
    time: Annotated[float | None, typer.Option("--time", metavar="T", help="Of moving polygons.")] = None,
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
    """Draw anything that can be watched as one picture.

    Try:
      choque picture mixed-box:1000 --frame 60 --fit box.png
      choque picture recording.choque still.png --frame 90
      choque picture --study kinetic tres-objetos --time 1.7 motion.png
      choque picture scan.nii.gz implant.stl --option threshold=300 collision.png
    """
    from choque.errors import InvalidInput
    from choque.studio.drawing import draw_picture
    from choque.studio.request import PictureRequest

    if len(words) < 2:
        raise InvalidInput("Give what to draw and the .png file to write, in this order.")
    *things, output = words
    request = PictureRequest(
        frame=frame,
        time=time,
        parameters=read_settings(option),
        look=looks.read_look(size, camera, draft, fit=fit, boxes=boxes, oriented_boxes=oriented, axes=axes),
        volumes=looks.read_volume_look(show, not no_region),
    )
    with as_far_as_it_goes(things):
        told = draw_picture(Path(output), things, study=study, request=request)
        looks.tell_written(output, told, as_json)
