"""Pictures and films of anything the studio shows, without a browser or a display.

A word or a file is looked up as the studio does; then `choque.studio.film` draws bodies and recordings,
`choque.studio.picture.scene` boxes, `choque.studio.motion.picture` moving polygons and
`choque.studio.volumes.picture` volumes; crowds, neighbours and meshes are drawn by their views. A scene of bodies is
simulated while it is filmed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import choque
from choque._core.types import Progress
from choque.errors import InvalidInput, check_installed
from choque.files.atomic import check_output, replacing
from choque.narrow.shapes import PLANE, TILE
from choque.record import BodyTable, Poses
from choque.record import open as open_frames
from choque.scene import BodyScene, Camera
from choque.studio.film import captioned, check_film, draw_frame, make_film, rate_of, require_film, write_film
from choque.studio.named_boxes import find_boxes
from choque.studio.page.entries import entry_of, find_view
from choque.studio.page.points import PointsView
from choque.studio.page.stage import FRAMES_A_SECOND
from choque.studio.png import png_bytes
from choque.studio.request import KINDS, DrawingRequest, FilmRequest, PictureRequest
from choque.studio.stage.extents import typical_size
from choque.studio.stage.graphics import check_size
from choque.studio.viewpoint import Viewpoint
from choque.world import World

FLIGHT, FROM = 0.7, 50.0
"""How long a ball that is shot flies before it strikes [s], and how far to the right of the camera it comes from
[degrees]."""


class Simulated:
    """Frames 0 to ``steps`` of a scene, as `choque.record.Frames`, simulated on demand; to go back, again.

    After ``shot`` steps a heavy ball is shot at the bodies.
    """

    def __init__(self, scene: BodyScene, steps: int, shot: int | None = None) -> None:
        self._dt, self._start = scene.dt, scene.world()
        self._world = self._start.copy()
        self._cast = self._cast_with_ball = BodyTable.of(self._world.bodies)
        self.name, self.camera = scene.name, scene.camera
        self.frames_per_second = float(scene.steps_per_second)
        self.frame_count = steps + 1
        self._shot, self._shoot = steps, _shooter(self._start, scene.camera)
        if shot is not None:
            self._shot, later = shot, self._start.copy()
            self._shoot(later)
            self._cast_with_ball = BodyTable.of(later.bodies)

    @property
    def has_moved(self) -> bool:
        """Whether a body has moved from its place by a tenth of its size, in the frames that were asked for."""
        start, now = self._start.bodies, self._world.bodies
        apart = np.abs(now.position[: len(start)] - start.position).max(initial=0.0)
        return bool(apart > 0.1 * typical_size(self._cast))

    def bodies(self, index: int) -> BodyTable:
        """Return the bodies, which are the same in every frame but for the ball."""
        return self._cast if index <= self._shot else self._cast_with_ball

    def frame(self, index: int) -> Poses:
        """Return the poses in frame ``index``."""
        if index < self._world.frame:
            self._world = self._start.copy()
        world = self._world
        while world.frame < index:
            if world.frame == self._shot:
                self._shoot(world)
            world.step(self._dt)
        return Poses(world.bodies.position.astype(np.float32), world.bodies.rotation.astype(np.float32))


def _shooter(start: World, camera: Camera) -> Callable[[World], object]:
    """Return what adds a heavy ball to a world that flies to the body in the middle of all, as they are at the start.

    It comes from the right of the camera, from beyond the picture, as high as what it strikes.
    """
    bodies = start.bodies
    moving = ~bodies.static & ~np.isin(bodies.kind, (TILE, PLANE))
    if not moving.any():
        return lambda _: None
    place = bodies.position[moving].astype(np.float64)
    lowest, highest = place.min(axis=0), place.max(axis=0)
    middle = lowest + (highest - lowest) * (0.5, 0.6, 0.5)
    aim = place[np.argmin(np.linalg.norm(place - middle, axis=1))]
    across = float(np.linalg.norm(highest - lowest))
    size = min(1.5 * typical_size(BodyTable.of(bodies)), max(0.12 * across, 0.1))
    yaw = np.radians(camera.yaw + FROM)
    way = (0.9 * across + 4.0 * size) * np.array([np.sin(yaw), 0.0, np.cos(yaw)])
    fall = np.median(bodies.acceleration[moving], axis=0)
    options: dict[str, Any] = {
        "velocity": -way / FLIGHT - fall * FLIGHT / 2,
        "acceleration": fall,
        "mass": 10.0 * float(np.median(bodies.mass[moving])),
        "friction": float(np.median(bodies.friction[moving])),
        "color": (220, 60, 40),
    }
    return lambda world: world.add_spheres([aim + way], size, **options)


def draw_picture(
    path: str | os.PathLike[str],
    things: Sequence[str],
    *,
    study: str | None = None,
    request: PictureRequest | None = None,
) -> str:
    """Draw ``things``, one name or file or two volumes, to a ``.png`` file; return a description of the picture.

    ``study`` says explicitly that ``things`` are a kinetic scene or volumes.
    """
    request = request or PictureRequest()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    if not things:
        raise InvalidInput("Nothing was given to draw; give a scene, a recording, a model or two volumes.")
    if request.frame < 0:
        raise InvalidInput(f"The frame is {request.frame}; frames are counted from 0.")
    kind = kind_of_things(things, study)
    if kind not in ("volumes", "meshes") and len(things) > 1:
        raise InvalidInput(f"{len(things)} things were given; a picture shows one, two volumes, or meshes.")
    request.refuse_others_than(kind, things[0])
    check_size(request.look.size, request.look.smoothing, request.look.definition)
    _check_libraries(path, kind)
    return _DRAWERS[kind](Path(path), things, request)


def _check_libraries(path: str | os.PathLike[str], kind: str) -> None:
    """Raise if things of a kind cannot be drawn, or the result not be written, before anything is computed."""
    check_output(path)
    if kind in ("boxes", "kinetic"):
        check_installed("matplotlib", extra="lab", purpose="to draw pictures")


def kind_of_things(things: Sequence[str], study: str | None = None) -> str:
    """Return a kind of `choque.studio.request.KINDS`.

    Decided as by the studio; in addition, scenes of boxes can be drawn.
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

    scene = find_boxes(things[0], frame=request.frame, **request.parameters)
    lower, upper = scene.frame(request.frame)
    pairs = choque.pairs(lower, upper)
    draw_scene(path, lower, upper, pairs, title=scene.name)
    return f"frame {request.frame:,} of {scene.name}, {len(lower):,} boxes, {len(pairs):,} pairs"


def _draw_kinetic(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    from choque.studio.motion.entry import find_model
    from choque.studio.motion.picture import draw_motion
    from choque.studio.motion.player import MotionPlayer

    player = MotionPlayer(find_model(things[0], request.parameters))
    begin, end = player.model.interval
    if request.time is not None:
        if not begin <= request.time <= end:
            raise InvalidInput(f"The time is {request.time!r}; {things[0]} moves from {begin:g} to {end:g}.")
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


def _points_view(things: Sequence[str], request: DrawingRequest) -> PointsView:
    """Return the view of a crowd or of neighbours."""
    view = find_view(things, parameters=request.parameters)
    assert isinstance(view, PointsView)
    return view


def _draw_points(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    view = _points_view(things, request)
    for _ in range(request.frame):
        view.advance(1.0 / FRAMES_A_SECOND)
    _write_png(path, png_bytes(view.image(request.look.size, request.look.camera)))
    return f"{view.title} after {request.frame:,} frames, {len(view.cast()):,} points"


def _draw_meshes(path: Path, things: Sequence[str], request: PictureRequest) -> str:
    view = find_view(things, study="meshes", parameters=request.parameters)
    _write_png(path, view.picture(None, request.look.size))
    return view.title


def _write_png(path: Path, content: bytes) -> None:
    with replacing(path) as handle:
        handle.write(content)


_DRAWERS = {
    "bodies": _draw_bodies,
    "boxes": _draw_boxes,
    "crowd": _draw_points,
    "kinetic": _draw_kinetic,
    "meshes": _draw_meshes,
    "neighbors": _draw_points,
    "recording": _draw_recording,
    "volumes": _draw_volumes,
}


SECONDS = 5.0
"""Default length of films of scenes and volumes."""

TURN = 40.0
"""By how much the camera turns about a volume that moves [degrees]."""

AFTERWARDS = 0.5
"""How long the film of a motion goes on after its last event [s]."""

STILL_RATE = 25
"""Default frame rate of films of motion and volumes."""

Image = NDArray[np.uint8]


def draw_film(
    path: str | os.PathLike[str],
    things: Sequence[str],
    *,
    study: str | None = None,
    request: FilmRequest | None = None,
    progress: Progress | bool | None = None,
) -> str:
    """Make a film of ``things``, one name or file or two volumes; return a description of the film."""
    request, target = request or FilmRequest(), Path(path)
    check_film(target, request.frames_per_second, request.speed)
    if not things:
        raise InvalidInput("Nothing was given to film; give a scene, a recording, a model or two volumes.")
    if request.seconds is not None and not (isfinite(request.seconds) and request.seconds > 0):
        raise InvalidInput(f"The length of the film is {request.seconds!r} s; it must be a number above 0.")
    if request.shot is not None and not (isfinite(request.shot) and request.shot >= 0):
        raise InvalidInput(f"The time of the shot is {request.shot!r} s; it must be a number from 0 on.")
    kind = kind_of_things(things, study)
    if kind not in _MAKERS:
        raise InvalidInput(f"{things[0]} is {KINDS[kind]}, which cannot be filmed; use 'choque picture'.")
    if kind != "volumes" and len(things) > 1:
        raise InvalidInput(f"{len(things)} things were given; a film shows one, or two volumes.")
    request.refuse_others_than(kind, things[0])
    check_size(request.look.size, request.look.smoothing, request.look.definition)
    _check_libraries(target, kind)
    check_installed("imageio_ffmpeg", extra="video", purpose="to make films")
    return _MAKERS[kind](target, things, request, progress)


def _film_bodies(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    scene = choque.scene.find_bodies(things[0], **request.parameters)
    require_film(request.look, target)
    seconds = (SECONDS if request.seconds is None else request.seconds) * request.speed
    shot = None if request.shot is None else round(request.shot * request.speed * scene.steps_per_second)
    frames = Simulated(scene, max(1, round(seconds * scene.steps_per_second)), shot)
    options = request.options
    if shot is not None:  # what stands settles at first, and should not seem to be struck
        options["look"] = replace(request.look, lit_since=shot / scene.steps_per_second)
    count = make_film(target, frames, **options, progress=progress)
    is_still = shot is None and not frames.has_moved
    still = f"; nothing moved: --shot {seconds / 3:.2g} shoots a ball at it" if is_still else ""
    return f"{count:,} frames of {scene.name}, {len(frames.bodies(0)):,} bodies{still}"


def _film_recording(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    request.refuse_parameters(things[0])
    if request.seconds is not None:
        raise InvalidInput("A length was given for the film of a recording, which is filmed whole; leave it out.")
    frames = open_frames(things[0])
    count = make_film(target, frames, **request.options, progress=progress)
    return f"{count:,} frames of {frames.name}"


def _film_points(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    view, seconds = _points_view(things, request), SECONDS if request.seconds is None else request.seconds
    rate = rate_of(STILL_RATE, request.frames_per_second, target)

    def draw(share: float) -> Image:
        if share > 0.0:
            view.advance(request.speed / rate)
        return view.image(request.look.size, request.look.camera)

    count = _write(target, draw, seconds, request, progress)
    return f"{count:,} frames of {view.title}, {len(view.cast()):,} points"


def _film_boxes(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    from choque.studio.page.boxes import BoxesView

    seconds, rate = SECONDS if request.seconds is None else request.seconds, rate_of(STILL_RATE, None, target)
    last = max(1, round(seconds * rate * request.speed))
    scene = find_boxes(things[0], frame=last, **request.parameters)
    if scene.frame_count < 2:
        raise InvalidInput(f"{things[0]} has one frame, which does not move; use 'choque picture'.")
    last = min(last, scene.frame_count - 1)
    seen = BoxesView(*scene.frame(0)).viewpoint(request.look.size)

    def draw(share: float) -> Image:
        return BoxesView(*scene.frame(round(share * last))).image(request.look.size, seen)

    count = _write(target, draw, last / rate / request.speed, request, progress)
    return f"{count:,} frames of {scene.name}, {scene.box_count:,} boxes"


def _film_kinetic(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    from choque.studio.motion.entry import find_model
    from choque.studio.motion.picture import motion_image
    from choque.studio.motion.player import MotionPlayer

    player = MotionPlayer(find_model(things[0], request.parameters))
    begin, end = player.model.interval
    if request.seconds is not None:
        end = min(end, begin + request.seconds * request.speed)
    else:  # nothing happens after the last event
        player.seek(end)
        last = player.previous_event()
        end = min(end, (begin if last is None else last.time) + AFTERWARDS * request.speed)
    player.seek(end)
    reached = player.sweep.boxes()
    player.seek(begin)
    started = player.sweep.boxes()
    # Boxes move straight ahead, so that they reach farthest at the start or at the end.
    lower, upper = (
        np.concatenate((started[0], reached[0])).min(axis=0),
        np.concatenate((started[1], reached[1])).max(axis=0),
    )
    margin = 0.04 * float((upper - lower).max())
    (left, right), (bottom, top) = np.stack((lower - margin, upper + margin)).T.tolist()

    def draw(share: float) -> Image:
        player.seek(begin + share * (end - begin))
        return motion_image(player, size=request.look.size, window=((left, right), (bottom, top)))

    count = _write(target, draw, (end - begin) / request.speed, request, progress)
    return f"{count:,} frames of {player.model.name or things[0]} from t = {begin:g} to {end:g}"


def _film_volumes(target: Path, things: Sequence[str], request: FilmRequest, progress: Progress | bool | None) -> str:
    from choque.studio.volumes.picture import default_viewpoint, pair_of, viewpoint_of, volume_image

    parameters, size = dict(request.parameters), request.look.size
    goal = parameters.pop("to", None)
    pair = pair_of(things, parameters)
    begin, end = pair.shift.copy(), _goal(goal)
    default = default_viewpoint(pair, size) if end is None else _viewpoint_of_both(pair, begin, end, size)
    viewpoint = default if request.look.camera is None else viewpoint_of(request.look.camera, pair)

    def draw(share: float) -> Image:
        if end is not None:
            pair.move_to(begin + share * (end - begin))
        seen = orbited(viewpoint, share if end is None else TURN / 360.0 * (share - 0.5))
        return volume_image(pair, request.volumes, viewpoint=seen, size=size)

    seconds = (SECONDS if request.seconds is None else request.seconds) / request.speed
    count = _write(target, draw, seconds, request, progress)
    names = " and ".join(part.source.name for part in pair.parts)
    return f"{count:,} frames {'around' if end is None else 'of'} {names}"


def _viewpoint_of_both(
    pair: Any, begin: NDArray[np.float64], end: NDArray[np.float64], size: tuple[int, int]
) -> Viewpoint:
    """Return a viewpoint that shows the whole path, as far away as the farther of both ends needs."""
    from choque.studio.volumes.picture import default_viewpoint

    viewpoints = []
    for place in (end, begin):
        pair.move_to(place)
        viewpoints.append(default_viewpoint(pair, size))
    middle = (np.asarray(viewpoints[0].target) + np.asarray(viewpoints[1].target)) / 2.0
    farther = max(viewpoints, key=lambda viewpoint: float(np.linalg.norm(viewpoint.away)))
    factor = 1.0 + np.linalg.norm(np.asarray(viewpoints[0].target) - middle) / np.linalg.norm(farther.away)
    return Viewpoint(middle + factor * farther.away, middle)


def orbited(viewpoint: Viewpoint, share: float) -> Viewpoint:
    """Return the viewpoint after a ``share`` of one orbit about the third axis through its target."""
    cosine, sine = np.cos(2 * np.pi * share), np.sin(2 * np.pi * share)
    x, y, z = viewpoint.away
    target = np.asarray(viewpoint.target, np.float64)
    return Viewpoint(target + np.array([cosine * x - sine * y, sine * x + cosine * y, z]), target)


def _goal(place: ArrayLike | None) -> NDArray[np.float64] | None:
    if place is None:
        return None
    try:
        goal = np.asarray(place, np.float64)
    except (TypeError, ValueError):
        goal = np.empty(0)
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise InvalidInput(f"The end of the motion is {place!r}; give three finite numbers, as in to=[0,0,12].")
    return goal


def _write(
    target: Path, draw: Callable[[float], Image], seconds: float, request: FilmRequest, progress: Progress | bool | None
) -> int:
    """Make a film by calling ``draw`` with times from 0 to 1; return the number of frames."""
    require_film(request.look, target)
    rate = rate_of(STILL_RATE, request.frames_per_second, target)
    count = max(2, round(seconds * rate) + 1)

    def images() -> Iterator[Image]:
        for number in range(count):
            image, caption = draw(number / (count - 1)), request.look.caption
            time = f"{number / rate * request.speed:.2f} s"
            yield image if caption is None else captioned(image, caption, {"time": time, "frame": f"{number:,}"})

    write_film(target, images(), request.look.size, rate, count, progress)
    return count


_MAKERS = {
    "bodies": _film_bodies,
    "boxes": _film_boxes,
    "crowd": _film_points,
    "kinetic": _film_kinetic,
    "neighbors": _film_points,
    "recording": _film_recording,
    "volumes": _film_volumes,
}
