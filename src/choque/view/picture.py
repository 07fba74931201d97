"""A picture of anything that can be watched, without a browser or a display.

What is drawn by whom: bodies and recordings by `film`, boxes by `scene_picture`, moving polygons by `motion_picture`,
volumes by `volume_picture`. Here it is found out which of them a name or a file is for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import choque
from choque.errors import InvalidInput, UnknownName
from choque.files.source import lower_suffix
from choque.kinetic import scenes as kinetic_scenes
from choque.record import Cast, Frames, Poses, open_frames
from choque.scene import BodyScene, Camera
from choque.view.film import Look, draw_frame
from choque.view.volume_look import VolumeLook
from choque.world import World

STUDIES = ("kinetic", "volumes")
"""What a name can be said to be outright."""

GENERATED = 1_000
"""How many bodies a generator makes where no number follows its name."""

_RECORDINGS = (".choque", ".dat")


@dataclass(frozen=True)
class Request:
    """What of a thing is drawn, and how.

    Attributes
    ----------
    frame
        Of a recording, of a scene of boxes, or after so many steps of a scene of bodies.
    time
        Of moving polygons; None for the time of ``frame``.
    parameters
        Of a generator or a kinetic scene; of volumes ``voxels_per_unit``, ``threshold``, ``shift`` and ``turn``, an
        axis as long as the angle in degrees.
    look
        Size and camera; and how bodies are drawn.
    volumes
        What is drawn of two volumes.
    """

    frame: int = 0
    time: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    look: Look = field(default_factory=Look)
    volumes: VolumeLook = field(default_factory=VolumeLook)


def draw_picture(
    path: str | os.PathLike[str],
    things: Sequence[str],
    *,
    study: str | None = None,
    request: Request | None = None,
) -> str:
    """Draw ``things``, one name or file or two volumes, to a ``.png`` file; gives a line about what was drawn.

    ``study`` says outright that a kinetic scene or volumes are meant.
    """
    request = request or Request()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    if not things:
        raise InvalidInput("There is nothing to draw; give a scene, a recording, a model or two volumes.")
    if request.frame < 0:
        raise InvalidInput(f"The frame is {request.frame}; frames are counted from 0.")
    kind = kind_of_things(things, study)
    if kind != "volumes" and len(things) > 1:
        raise InvalidInput(f"{len(things)} things were given; a picture shows one, or two volumes.")
    return _DRAWERS[kind](Path(path), things, request)


def kind_of_things(things: Sequence[str], study: str | None = None) -> str:
    """Which of ``kinetic``, ``volumes``, ``recording``, ``boxes`` and ``bodies`` the things are."""
    if study is not None:
        if study not in STUDIES:
            raise UnknownName("study to draw", study, STUDIES)
        return study
    from choque.view.motion_entry import SUFFIXES as MODEL_SUFFIXES
    from choque.view.volume_entry import EXAMPLES, is_volume

    first = things[0]
    path, suffix = Path(first), lower_suffix(Path(first))
    if len(things) == 2 or first in EXAMPLES or is_volume(first):
        return "volumes"
    if not path.exists() and first in kinetic_scenes.SCENES:
        return "kinetic"
    if path.is_dir() or suffix in _RECORDINGS:
        return "recording"
    if suffix in MODEL_SUFFIXES:
        return "kinetic"
    name = first.partition(":")[0]
    if not path.exists() and (name in choque.scene.body_names() or not suffix):
        return "bodies"
    return "bodies" if suffix in (".xml", ".toml") else "boxes"


@dataclass(frozen=True, eq=False)
class WorldFrame:
    """A world as it is now, as the only frame of a recording."""

    world: World
    name: str
    camera: Camera
    frames_per_second: float = 60.0
    frame_count: int = 1

    def cast(self, index: int) -> Cast:  # noqa: ARG002
        """The bodies."""
        return Cast.of(self.world.bodies)

    def frame(self, index: int) -> Poses:  # noqa: ARG002
        """Where they are."""
        bodies = self.world.bodies
        return Poses(bodies.position.astype(np.float32), bodies.rotation.astype(np.float32))


def _draw_bodies(path: Path, things: Sequence[str], request: Request) -> str:
    scene = body_scene(things[0], request.parameters)
    world = scene.world()
    for _ in range(request.frame):
        world.step(1.0 / scene.steps_per_second)
    frames: Frames = WorldFrame(world, scene.name, scene.camera)
    draw_frame(path, frames, 0, look=request.look)
    return f"{scene.name} after {request.frame:,} steps, {len(world):,} bodies"


def body_scene(word: str, parameters: Mapping[str, Any]) -> BodyScene:
    """The scene of bodies that a word names: a generator with its parameters, a built-in scene or a file."""
    name, colon, number = word.partition(":")
    if name in choque.scene.body_names() and not Path(word).exists():
        if colon and not number.isdecimal():
            raise InvalidInput(f"The scene is {word!r}; write the number of bodies as in mixed-box:1000.")
        given = dict(parameters)
        return choque.scene.bodies(name, int(number) if colon else GENERATED, given.pop("seed", 0), **given)
    refuse_parameters(parameters, word)
    return choque.scene.load_bodies(word)


def _draw_recording(path: Path, things: Sequence[str], request: Request) -> str:
    refuse_parameters(request.parameters, things[0])
    frames = open_frames(things[0])
    draw_frame(path, frames, request.frame, look=request.look)
    return f"frame {request.frame:,} of {frames.name}"


def _draw_boxes(path: Path, things: Sequence[str], request: Request) -> str:
    from choque.view.scene_picture import draw_scene

    refuse_parameters(request.parameters, things[0])
    scene = choque.scene.load_boxes(things[0])
    lower, upper = scene.frame(request.frame)
    pairs = choque.pairs(lower, upper)
    draw_scene(path, lower, upper, pairs, title=scene.name)
    return f"frame {request.frame:,} of {scene.name}, {len(lower):,} boxes, {len(pairs):,} pairs"


def _draw_kinetic(path: Path, things: Sequence[str], request: Request) -> str:
    from choque.view.motion_entry import find_model
    from choque.view.motion_picture import draw_motion
    from choque.view.motion_player import MotionPlayer

    player = MotionPlayer(find_model(things[0], request.parameters))
    if request.time is not None:
        player.seek(request.time)
    else:
        player.to_frame(request.frame)
    draw_motion(path, player, size=request.look.size)
    return f"{player.model.name or things[0]} at t = {player.time:g}, {len(player.model):,} objects"


def _draw_volumes(path: Path, things: Sequence[str], request: Request) -> str:
    from choque.view.volume_picture import draw_volumes, eye_of, pair_of

    pair = pair_of(things, request.parameters)
    eye = None if request.look.camera is None else eye_of(request.look.camera, pair)
    draw_volumes(path, pair, request.volumes, eye=eye, size=request.look.size)
    collide = "collide" if pair.parts[0].volume.collides(pair.moved()) else "are apart"
    return f"{pair.parts[0].source.name} and {pair.parts[1].source.name}, which {collide}"


def refuse_parameters(parameters: Mapping[str, Any], thing: str) -> None:
    """Refuse parameters for something that has none."""
    if parameters:
        raise InvalidInput(f"{thing} takes no parameters, and {', '.join(parameters)} was given.")


_DRAWERS = {
    "bodies": _draw_bodies,
    "boxes": _draw_boxes,
    "kinetic": _draw_kinetic,
    "recording": _draw_recording,
    "volumes": _draw_volumes,
}
