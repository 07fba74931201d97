"""Falling bodies, recorded, verified and filmed."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from choque._core.types import Progress
from choque.cli.demo._films import QUICK_SIZE, SIZE
from choque.cli.demo._films import prepare as prepare_films
from choque.cli.demo._section import Section, Shown

if TYPE_CHECKING:
    from choque.record import Recording
    from choque.scene import BodyScene

NAME, COUNT, STEPS = "pile", 70, 150


def _scene(count: int = COUNT) -> BodyScene:
    import choque

    return choque.scene.bodies(NAME, count, seed=0)


def prepare() -> None:
    """Compile the kernels of a step and of a recording."""
    from choque.cli._warm_up import use_recordings
    from choque.lab.warm_up import warm_up

    warm_up(_scene().world())
    use_recordings()
    prepare_films()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Simulate and record falling bodies, and verify the recording by simulating it again."""
    from statistics import median

    from choque.record import Recorder, Recording, verify

    scene, steps = _scene(), STEPS // 4 if quick else STEPS
    world, path = scene.world(), folder / "bodies.choque"
    contacts, times = 0, []
    begin = perf_counter()
    with Recorder(path, world, dt=scene.dt, scene=scene.name, seed=scene.seed, camera=scene.camera) as recorder:
        for _ in range(steps):
            report = world.step(scene.dt)
            contacts += report.contacts
            times.append(report.total_seconds)
            recorder.record()
    seconds = perf_counter() - begin
    with Recording(path) as recording:
        repeats = verify(recording)
        picture = _film(folder, recording, quick, progress)
    same = "simulated again, every frame is the same to the last bit" if repeats.is_equal else str(repeats)
    return Shown(
        sentence=(
            f"{len(world)} spheres, capsules and walls, {steps} steps of {1e3 * median(times):.2g} ms with "
            f"{contacts:,} contacts, recorded in {path.stat().st_size / 1024:.0f} KiB; {same}."
        ),
        picture=picture,
        try_next="choque run bowling --record --video",
        facts={"bodies": len(world), "steps": steps, "seconds": seconds, "contacts": contacts},
        is_right=repeats.is_equal,
    )


def _film(folder: Path, recording: Recording, quick: bool, progress: Progress) -> Path:
    """Make a film of the recording, or a picture of its end where ffmpeg is not installed."""
    from importlib.util import find_spec

    from choque.studio.film import Look, draw_frame, make_film

    path, look = folder / "bodies.webp", Look(size=QUICK_SIZE if quick else SIZE, smoothing=1)
    if find_spec("imageio_ffmpeg") is None:
        path = path.with_suffix(".png")
        draw_frame(path, recording, recording.frame_count - 1, look=look)
    else:
        make_film(path, recording, look=look, progress=progress)
    return path


BODIES = Section("Falling bodies", prepare, show)
