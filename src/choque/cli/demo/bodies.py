"""Falling bodies, recorded, verified and filmed."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from choque._core.types import Progress
from choque.cli.demo._section import Section, Shown

if TYPE_CHECKING:
    from choque.record import Recording
    from choque.scene import BodyScene

NAME, COUNT, STEPS = "pile", 70, 130
RATE, SIDE = 25, 400


def _scene(count: int = COUNT) -> BodyScene:
    import choque

    return choque.scene.bodies(NAME, count, seed=0)


def prepare() -> None:
    """Compile the kernels of a step and of a recording."""
    from choque.cli._warm_up import use_recordings
    from choque.lab.warm_up import warm_up

    warm_up(_scene().world())
    use_recordings()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Simulate and record falling bodies, and verify the recording by simulating it again."""
    from choque.record import Recorder, Recording, verify

    scene, steps = _scene(), STEPS // 4 if quick else STEPS
    world, path = scene.world(), folder / "bodies.choque"
    contacts = 0
    begin = perf_counter()
    with Recorder(path, world, dt=scene.dt, scene=scene.name, seed=scene.seed, camera=scene.camera) as recorder:
        for _ in range(steps):
            contacts += world.step(scene.dt).contacts
            recorder.record()
    seconds = perf_counter() - begin
    with Recording(path) as recording:
        repeats = verify(recording)
        picture = _film(folder, recording, quick, progress)
    same = "simulated again, every frame is the same to the last bit" if repeats.is_equal else str(repeats)
    return Shown(
        sentence=(
            f"{len(world)} spheres, capsules and walls, {steps} steps in {1e3 * seconds:.0f} ms with {contacts:,} "
            f"contacts, recorded in {path.stat().st_size / 1024:.0f} KiB; {same}."
        ),
        picture=picture,
        try_next="choque run bowling --record --video",
        facts={"bodies": len(world), "steps": steps, "seconds": seconds, "contacts": contacts},
        is_right=repeats.is_equal,
    )


def _film(folder: Path, recording: Recording, quick: bool, progress: Progress) -> Path:
    """Make a film in perspective if this machine can draw one, otherwise a flat one from the front."""
    from choque.errors import ChoqueError
    from choque.studio.film import Look, make_film

    path = folder / "bodies.gif"
    side = SIDE // 2 if quick else SIDE
    try:
        look = Look(size=(side, side), smoothing=1, shadows=False)
        make_film(path, recording, frames_per_second=RATE, look=look, progress=progress)
    except ChoqueError:  # the extra `video` or OpenGL is missing
        _film_flat(path, recording, RATE // 4 if quick else RATE, progress)
    return path


def _film_flat(path: Path, recording: Recording, rate: int, progress: Progress) -> None:
    from choque.errors import require

    animation = require("matplotlib.animation", extra="lab", purpose="to draw pictures")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 4), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))  # automatic layout would run for every frame
    shown = range(0, recording.frame_count, max(1, round(recording.frames_per_second / rate)))
    writer = animation.PillowWriter(fps=rate)
    with writer.saving(figure, str(path), 100):
        for done, index in enumerate(shown, start=1):
            axes.clear()
            _paint(axes, recording, index)
            writer.grab_frame()
            progress(done, len(shown), path.name)


def _paint(axes: Any, recording: Recording, index: int) -> None:
    """Draw spheres and capsules from the front, far ones first."""
    import numpy as np
    from matplotlib.patches import Circle, Polygon

    from choque.narrow.shapes import CAPSULE, SPHERE

    cast, poses = recording.bodies(index), recording.frame(index)
    moving = np.flatnonzero((cast.kind == SPHERE) | (cast.kind == CAPSULE))
    for row in moving[np.argsort(poses.position[moving, 2])]:
        center, radius, colour = poses.position[row, :2], float(cast.size[row, 0]), cast.color[row] / 255
        if cast.kind[row] == CAPSULE:
            half = poses.rotation[row, :2, 2] * float(cast.size[row, 1]) / 2
            side = np.array([-half[1], half[0]]) / max(float(np.hypot(*half)), 1e-9) * radius
            corners = [center + half + side, center - half + side, center - half - side, center + half - side]
            axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="none"))
            for end in (center + half, center - half):
                axes.add_patch(Circle((float(end[0]), float(end[1])), radius, facecolor=colour, edgecolor="none"))
        else:
            axes.add_patch(
                Circle((float(center[0]), float(center[1])), radius, facecolor=colour, edgecolor="#00000033")
            )
    first = recording.frame(0).position[moving]
    low, high = first.min(axis=0) - 1, first.max(axis=0) + 1
    axes.set(xlim=(low[0], high[0]), ylim=(min(low[1], 0), high[1]), aspect="equal", xticks=[], yticks=[])


BODIES = Section("Falling bodies", prepare, show)
