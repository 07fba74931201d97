"""Films and pictures of recordings, without a window.

Frames are drawn on the processor, by `RasterStage`, and sent to ffmpeg one at a time; none is kept. The film is written
beside its target and replaces it once it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.progress import reporting
from choque._core.types import Progress
from choque.errors import ChoqueError, InvalidInput, require
from choque.files.atomic import beside, replacing
from choque.record import BodyTable, Frames, Poses
from choque.scene import Camera
from choque.studio.glow import Glow, glow_of
from choque.studio.page.findings import Findings, bodies_of
from choque.studio.page.overlays import OVERLAYS, Options
from choque.studio.palette import quiet
from choque.studio.png import png_bytes
from choque.studio.stage.camera import Course, Follower, around_moving
from choque.studio.stage.extents import axis_boxes, oriented_boxes
from choque.studio.stage.graphics import check_size
from choque.studio.stage.raster import RasterStage
from choque.studio.stage.stage import BOX_COLOR, ORIENTED_COLOR
from choque.world.detection import Detection
from choque.world.settings import Settings

RATES = (25, 30, 60, 120)
"""Allowed frame rates of a film."""

GIF_RATE = 25
"""Frame rate of GIF files: they count hundredths of a second, and viewers slow down faster ones."""

Place = tuple[Camera, tuple[float, float, float]]
"""A camera and its target."""

ONE = {"bodies": "body", "contacts": "contact"}
"""What follows a 1 in captions, where the plural follows the placeholder."""

SUFFIXES = (".mp4", ".gif", ".webm", ".webp")


@dataclass(frozen=True)
class Look:
    """How a recording is drawn.

    Attributes
    ----------
    size
        Width and height in pixels.
    fit
        Whether to keep only the viewing direction of the scene, and let the moving bodies and where they go fill the
        picture.
    follow
        Whether the camera follows the moving bodies, from frame to frame.
    orbit
        By how much the camera turns about its target in the course of a film [degrees].
    boxes, oriented_boxes
        Whether boxes of bodies are drawn as wireframes: axis-aligned ones in magenta, oriented ones in yellow.
    contacts, pairs
        Whether contacts, with their normals, and candidate pairs are drawn.
    tree
        Whether the boxes of the tree that finds the candidates are drawn, the levels in different colours.
    since
        The time of the scene from which boxes, contacts, pairs and the tree are drawn [s].
    axes, shadows
        Whether they are drawn.
    smoothing
        Supersampling: how many times as large pictures are drawn before they are reduced; 1 is fast, 2 is smooth.
    definition
        Latitudes of round bodies as meshes; None for bodies that are round at any size.
    camera
        Instead of the camera of the scene.
    quiet
        Whether colours are toned down and colliding bodies glow and spark, as on the page; otherwise colours are those
        of the scene.
    lit_since
        The time of the scene from which colliding bodies glow [s].
    caption
        A line of text at the bottom; ``{time}``, ``{frame}``, ``{bodies}`` and ``{contacts}`` stand for their values.
    """

    size: tuple[int, int] = (1280, 720)
    fit: bool = True
    follow: bool = False
    orbit: float = 0.0
    boxes: bool = False
    oriented_boxes: bool = False
    contacts: bool = False
    pairs: bool = False
    tree: bool = False
    since: float = 0.0
    axes: bool = False
    shadows: bool = True
    smoothing: int = 2
    definition: int | None = None
    camera: Camera | None = None
    quiet: bool = True
    lit_since: float = 0.0
    caption: str | None = None


def film_frames(frames: Frames, rate: int, speed: float = 1.0) -> list[int]:
    """Return the frames of a recording that a film at ``rate`` frames per second shows: the last one before each time.

    A film at 60 of a recording at 120 shows every second frame. A ``speed`` of 0.5 is slow motion.
    """
    stride = frames.frames_per_second * speed / rate
    count = max(1, ceil((frames.frame_count - 1) / stride - 1e-9) + 1) if frames.frame_count else 0
    return [min(int(k * stride + 1e-9), frames.frame_count - 1) for k in range(count)]


def make_film(
    path: str | os.PathLike[str],
    frames: Frames,
    *,
    frames_per_second: int | None = None,
    speed: float = 1.0,
    look: Look | None = None,
    progress: Progress | bool | None = None,
) -> int:
    """Make a film, ``.mp4`` (H.264), ``.webm`` (VP9), ``.webp`` or ``.gif``; return the number of its frames.

    Parameters
    ----------
    frames_per_second
        25, 30, 60 or 120. None for that of the recording, at most 60. A GIF has 25.
    speed
        Recorded seconds per second of the film.
    progress
        A function, called after each frame, or True for a line with the time left.
    """
    target, look = Path(path), look or Look()
    check_film(target, frames_per_second, speed)
    _check_frames(frames)
    if frames.frame_count < 1:
        raise InvalidInput(f"The recording {frames.name!r} has no frames to show.")
    chosen = rate_of(frames.frames_per_second, frames_per_second, target)
    require_film(look, target)
    shown = film_frames(frames, chosen, speed)
    placed = _placed(frames, look)
    with _stage(look, placed(0.0)) as stage:
        painter = _Painter(stage, frames, look, placed)
        images = (painter.draw(index) for index in shown)
        write_film(target, images, look.size, chosen, len(shown), progress)
    return len(shown)


def require_film(look: Look, target: Path) -> None:
    """Check that a film with this look can be made on this machine."""
    check_size(look.size, look.smoothing, look.definition)
    if target.suffix.lower() == ".mp4" and (look.size[0] % 2 or look.size[1] % 2):
        raise InvalidInput(
            f"The film size is {look.size[0]} × {look.size[1]}; .mp4 (H.264) needs even numbers, .webp takes any."
        )
    ffmpeg = require("imageio_ffmpeg", extra="video", purpose="to make films")
    try:
        ffmpeg.get_ffmpeg_exe()
    except RuntimeError as problem:
        raise ChoqueError(
            "ffmpeg, which makes films, was not found. Install imageio-ffmpeg, which includes it, or set the "
            "environment variable IMAGEIO_FFMPEG_EXE to its path."
        ) from problem


def draw_frame(path: str | os.PathLike[str], frames: Frames, index: int = 0, *, look: Look | None = None) -> None:
    """Draw one frame of a recording to a ``.png`` file."""
    target, look = Path(path), look or Look()
    if target.suffix.lower() != ".png":
        raise InvalidInput(f"The picture {path} must end in .png.")
    _check_frames(frames)
    place = _placed(frames, look)(index / max(frames.frame_count - 1, 1))
    if look.camera is None and (look.fit or look.follow):  # one frame may be seen from nearer
        nearer = around_moving(frames.bodies(index), frames.frame(index), frames.camera, look.size)
        place = min(place, nearer, key=lambda each: each[0].radius)
    with _stage(look, place) as stage:
        image = _Painter(stage, frames, look, lambda _: place).draw(index)
    with replacing(target) as handle:
        handle.write(png_bytes(image))


def _check_frames(frames: Frames) -> None:
    if not hasattr(frames, "frame_count"):
        raise InvalidInput(
            f"What to draw is of type {type(frames).__name__}; give a recording, such as choque.record.open(path)."
        )


def check_film(target: Path, rate: int | None, speed: float) -> None:
    """Check the suffix, the frame rate and the speed of a film."""
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"The film {target} must end in {' or '.join(SUFFIXES)}.")
    if not isfinite(speed) or speed <= 0:
        raise InvalidInput(f"The speed is {speed!r}; it must be a number above 0.")
    if rate is not None and rate not in RATES:
        raise InvalidInput(f"The rate is {rate} frames per second; it must be 25, 30, 60 or 120.")


def rate_of(own: float, rate: int | None, target: Path) -> int:
    """Return the frame rate of a film: ``rate``, or for None the own one, at most 60, for .webp 25; a GIF has 25."""
    if target.suffix.lower() == ".gif":
        return GIF_RATE
    if rate is not None:
        return rate
    if target.suffix.lower() == ".webp":
        return GIF_RATE  # a page shows it as it does a GIF, and every frame is a picture
    return max((allowed for allowed in RATES[:3] if allowed <= own + 1e-9), default=RATES[0])


def _placed(frames: Frames, look: Look) -> Callable[[float], Place]:
    """Return the camera and its target as a function of the share of the film that was shown."""
    if look.camera is None and (look.fit or look.follow):
        return Course(frames, frames.camera, look.size).at
    place: Place = look.camera or frames.camera, (0.0, 0.0, 0.0)
    return lambda _: place


def _stage(look: Look, place: Place) -> RasterStage:
    return RasterStage(
        place[0],
        size=look.size,
        definition=look.definition,
        shadows=look.shadows,
        smoothing=look.smoothing,
        axes=look.axes,
        target=place[1],
    )


class _Painter:
    """Draws frames in order: quiet colours, and light for what collided since the frame before."""

    def __init__(self, stage: RasterStage, frames: Frames, look: Look, placed: Callable[[float], Place]) -> None:
        self._stage, self._frames, self._look, self._placed = stage, frames, look, placed
        self._cast: BodyTable | None = None
        self._glow: Glow | None = None
        self._follower: Follower | None = None
        self._plain = replace(look, boxes=False, oriented_boxes=False, contacts=False, pairs=False, tree=False)
        self._detection = Detection(Settings(broad="bvh" if look.tree else "auto").checked())

    def draw(self, index: int) -> NDArray[np.uint8]:
        """Draw a frame."""
        stage, frames, look = self._stage, self._frames, self._look
        cast, poses = frames.bodies(index), frames.frame(index)
        if self._glow is None or cast is not self._cast:
            self._glow, self._cast = glow_of(cast), cast
            self._shown = replace(cast, color=quiet(cast.color, cast.static)) if look.quiet else cast
        time = index / frames.frames_per_second
        if time >= look.lit_since:
            self._glow.advance(time, poses.position)
        stage.aim(*self._aimed(index, cast, poses))
        stage.show(cast, poses)
        stage.set_colors(self._glow.colors(self._shown.color) if look.quiet else cast.color)
        findings, now = Findings(bodies_of(cast, poses), self._detection), look if time >= look.since else self._plain
        _show_boxes(stage, cast, poses, now)
        self._show_findings(time, findings, now)
        if look.caption is None:
            return stage.picture()
        values = {"time": f"{time:.2f} s", "frame": f"{index:,}", "bodies": f"{np.count_nonzero(~cast.static):,}"}
        if "{contacts}" in look.caption:
            values["contacts"] = f"{len(findings.detected.contacts):,}"
        return captioned(stage.picture(), look.caption, values)

    def _aimed(self, index: int, cast: BodyTable, poses: Poses) -> Place:
        """Return the camera and its target in a frame."""
        frames, look = self._frames, self._look
        share = index / max(frames.frame_count - 1, 1)
        camera, target = self._placed(share)
        if look.follow:
            self._follower = self._follower or Follower(look.camera or frames.camera, look.size)
            camera, target = self._follower.place(index / frames.frames_per_second, cast, poses)
        eased = share * share * (3.0 - 2.0 * share) - 0.5
        return replace(camera, yaw=camera.yaw + look.orbit * eased), target

    def _show_findings(self, time: float, findings: Findings, look: Look) -> None:
        """Draw contacts and candidates of the frame, in front of the bodies, the tree, and sparks."""
        for name, is_shown in (("contacts", look.contacts), ("pairs", look.pairs)):
            if is_shown:
                drawing = OVERLAYS[name].draw(findings, Options())
                self._stage.show_segments(name, drawing.lines, OVERLAYS[name].color, in_front=True)
        if look.tree:
            drawing = OVERLAYS["structure"].draw(findings, Options())
            color = OVERLAYS["structure"].color if drawing.colors is None else drawing.colors
            self._stage.show_segments("tree", drawing.lines, color)
        if look.quiet and self._glow is not None and time >= look.lit_since:
            self._glow.touch(time, findings.detected.contacts)
            self._stage.show_segments("sparks", *self._glow.sparks())


def _show_boxes(stage: RasterStage, cast: BodyTable, poses: Poses, look: Look) -> None:
    if look.boxes:
        stage.show_boxes("boxes", axis_boxes(cast, poses), BOX_COLOR)
    if look.oriented_boxes:
        stage.show_boxes("oriented", oriented_boxes(cast, poses), ORIENTED_COLOR)


def captioned(image: NDArray[np.uint8], caption: str, values: Mapping[str, str]) -> NDArray[np.uint8]:
    """Return a picture with a line of text at its bottom; ``{name}`` in it stands for a value."""
    pillow: Any = require("PIL.Image", extra="video", purpose="to write captions")
    draw: Any = require("PIL.ImageDraw", extra="video", purpose="to write captions")
    font: Any = require("PIL.ImageFont", extra="video", purpose="to write captions")
    for name, value in values.items():
        if value == "1" and name in ONE:
            caption = caption.replace(f"{{{name}}} {name}", f"1 {ONE[name]}")
        caption = caption.replace(f"{{{name}}}", value)
    size = max(11, image.shape[0] // 22)
    shown = pillow.fromarray(image)
    place = (size, image.shape[0] - size)
    look = {"font": font.load_default(size), "anchor": "ls", "stroke_width": max(1, size // 10)}
    draw.Draw(shown).text(place, caption, fill=(236, 240, 247), stroke_fill=(22, 28, 40), **look)
    return np.asarray(shown)


def write_film(
    target: Path,
    images: Iterable[NDArray[np.uint8]],
    size: tuple[int, int],
    rate: int,
    total: int,
    progress: Progress | bool | None = None,
) -> None:
    """Send ``images`` (height, width, 3) to ffmpeg; the film replaces ``target`` once it is complete."""
    writer = require("imageio_ffmpeg", extra="video", purpose="to make films")
    options: dict[str, Any] = {"codec": "libx264", "output_params": ["-crf", "18", "-preset", "veryfast"]}
    if target.suffix.lower() == ".gif":
        palette = "[0:v]split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"
        options = {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-filter_complex", palette]}
    elif target.suffix.lower() == ".webm":
        speed = ["-crf", "30", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1"]
        options = {"codec": "libvpx-vp9", "output_params": speed}
    elif target.suffix.lower() == ".webp":
        # Whole frames: libwebp_anim leaves pixels as they were that hardly changed, and smooth bodies show blocks.
        options = {"codec": "libwebp", "output_params": ["-loop", "0", "-quality", "50", "-compression_level", "4"]}
    with beside(target) as partial, reporting(progress) as report:
        film = writer.write_frames(
            str(partial), size, fps=rate, quality=None, macro_block_size=1, ffmpeg_log_level="error", **options
        )
        try:
            film.send(None)
            for done, image in enumerate(images, start=1):
                film.send(image)
                report(done, total, target.name)
        except OSError as problem:
            reason = " ".join(str(problem).split())[:300]
            raise ChoqueError(f"ffmpeg could not write the film {target}: {reason}.") from problem
        finally:
            film.close()
