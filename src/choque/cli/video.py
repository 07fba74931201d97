"""``choque video``: a film or a picture of a recording, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from choque.scene import Camera


def video(
    recording: Annotated[
        Path,
        typer.Argument(metavar="RECORDING", help="A recording, a scene.dat, or a folder with one.", show_default=False),
    ],
    output: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to: .mp4, .gif, or .png for one frame.", show_default=False)
    ],
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
    fit: Annotated[bool, typer.Option("--fit", help="Stand where the bodies fill the picture.")] = False,
    boxes: Annotated[bool, typer.Option("--boxes", help="Show boxes along the axes.")] = False,
    oriented: Annotated[bool, typer.Option("--oriented-boxes", help="Show oriented boxes.")] = False,
    axes: Annotated[bool, typer.Option("--axes", help="Show the axes.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Faster: no shadows, edges not smoothed.")] = False,
) -> None:
    """Make a film of a recording.

    Try:
      choque video output/bowling--2024-05-01--12-00-00 bowling.mp4 --fit
      choque video recording.choque slow.gif --speed 0.25 --size 640x360
      choque video recording.choque still.png --frame 90 --boxes
    """
    from choque.cli._terminal import progress
    from choque.record import open_frames
    from choque.view.film import Look, draw_frame, make_film

    look = Look(
        size=_size(size),
        fit=fit,
        boxes=boxes,
        oriented_boxes=oriented,
        axes=axes,
        shadows=not draft,
        smoothing=1 if draft else 2,
        camera=_camera(camera),
    )
    frames = open_frames(recording)
    if output.suffix.lower() == ".png":
        draw_frame(output, frames, frame, look=look)
        typer.echo(f"{output}: frame {frame} of {frames.name}")
        return
    with progress() as tell:
        count = make_film(
            output, frames, rate=fps, speed=speed, look=look, tell=lambda done, total: tell(done, total, output.name)
        )
    typer.echo(f"{output}: {count:,} frames of {frames.name}")


def _size(text: str) -> tuple[int, int]:
    from choque.errors import InvalidInput

    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InvalidInput(f"--size is {text!r}; write it as 1280x720.")
    return int(width), int(height)


def _camera(text: str | None) -> Camera | None:
    from choque.errors import InvalidInput
    from choque.scene import Camera

    if text is None:
        return None
    try:
        radius, pitch, yaw = (float(word) for word in text.split(","))
    except ValueError as problem:
        raise InvalidInput(f"--camera is {text!r}; write distance, pitch and yaw as in 40,-25,0.") from problem
    return Camera(radius, pitch, yaw)
