"""A picture of anything that can be watched, without a browser or a display.

What is drawn by whom: bodies and recordings by `film`, boxes by `scene_picture`, moving polygons by `motion_picture`,
volumes by `volume_picture`. Here it is found out which of them a name or a file is for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import choque
from choque.errors import InvalidInput
from choque.record import open as open_frames
from choque.studio.film.film import draw_frame
from choque.studio.page.entries import entry_of
from choque.studio.request import PictureRequest
from choque.studio.simulated import Simulated
from choque.studio.stage.stage import check_size


def draw_picture(
    path: str | os.PathLike[str],
    things: Sequence[str],
    *,
    study: str | None = None,
    request: PictureRequest | None = None,
) -> str:
    """Draw ``things``, one name or file or two volumes, to a ``.png`` file; gives a line about what was drawn.

    ``study`` says outright that a kinetic scene or volumes are meant.
    """
    request = request or PictureRequest()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    if not things:
        raise InvalidInput("There is nothing to draw; give a scene, a recording, a model or two volumes.")
    if request.frame < 0:
        raise InvalidInput(f"The frame is {request.frame}; frames are counted from 0.")
    kind = kind_of_things(things, study)
    if kind != "volumes" and len(things) > 1:
        raise InvalidInput(f"{len(things)} things were given; a picture shows one, or two volumes.")
    request.refuse_what_is_not_for(kind, things[0])
    check_size(request.look.size, request.look.smoothing, request.look.definition)
    return _DRAWERS[kind](Path(path), things, request)


def kind_of_things(things: Sequence[str], study: str | None = None) -> str:
    """Which of ``kinetic``, ``volumes``, ``recording``, ``boxes`` and ``bodies`` the things are.

    They are what the studio takes them for; only boxes, which it does not show, can be drawn besides.
    """
    found = entry_of(things, study)
    if found is not None:
        return "bodies" if found in ("scene", "generator") else found
    if len(things) == 2:
        return "volumes"
    path = Path(things[0])
    if path.is_dir():
        return "recording"
    return "boxes" if path.suffix or path.exists() else "bodies"


def _draw_bodies(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    scene = choque.scene.find_bodies(things[0], **request.parameters)
    frames = Simulated(scene, request.frame)
    draw_frame(path, frames, request.frame, look=request.look)
    return f"{scene.name} after {request.frame:,} steps, {len(scene):,} bodies"


def _draw_recording(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    request.refuse_parameters(things[0])
    frames = open_frames(things[0])
    draw_frame(path, frames, request.frame, look=request.look)
    return f"frame {request.frame:,} of {frames.name}"


def _draw_boxes(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    from choque.studio.picture.scene import draw_scene

    request.refuse_parameters(things[0])
    scene = choque.scene.load_boxes(things[0])
    lower, upper = scene.frame(request.frame)
    pairs = choque.pairs(lower, upper)
    draw_scene(path, lower, upper, pairs, title=scene.name)
    return f"frame {request.frame:,} of {scene.name}, {len(lower):,} boxes, {len(pairs):,} pairs"


def _draw_kinetic(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    from choque.studio.motion.entry import find_model
    from choque.studio.motion.picture import draw_motion
    from choque.studio.motion.player import MotionPlayer

    player = MotionPlayer(find_model(things[0], request.parameters))
    if request.time is not None:
        player.seek(request.time)
    else:
        player.to_frame(request.frame)
    draw_motion(path, player, size=request.look.size)
    return f"{player.model.name or things[0]} at t = {player.time:g}, {len(player.model):,} objects"


def _draw_volumes(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    from choque.studio.volumes.picture import draw_volumes, pair_of, viewpoint_of

    pair = pair_of(things, request.parameters)
    viewpoint = None if request.look.camera is None else viewpoint_of(request.look.camera, pair)
    draw_volumes(path, pair, request.volumes, viewpoint=viewpoint, size=request.look.size)
    collide = "collide" if pair.parts[0].volume.collides(pair.moved()) else "are apart"
    return f"{pair.parts[0].source.name} and {pair.parts[1].source.name}, which {collide}"


_DRAWERS = {
    "bodies": _draw_bodies,
    "boxes": _draw_boxes,
    "kinetic": _draw_kinetic,
    "recording": _draw_recording,
    "volumes": _draw_volumes,
}
