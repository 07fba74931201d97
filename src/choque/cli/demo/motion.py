"""Polygons on known paths, followed from event to event instead of frame to frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.demo import _films
from choque.cli.demo._section import Section, Shown

if TYPE_CHECKING:
    from choque.theses.kinetic import Model

OBJECTS, FRAMES_PER_SECOND = 14, 24


def prepare() -> None:
    """Compile the kernels of kinetic sweeps."""
    from choque.cli._warm_up import use_kinetic

    use_kinetic()
    _films.prepare()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Run a random scene by events and by frames, and draw the events of one axis over time."""
    from choque.studio.picture.kinetic import draw_space_time
    from choque.theses.kinetic import create_simulation, scenes

    progress(0, 2, "computing")
    random = scenes.make("random-shapes", n=OBJECTS // 2 if quick else OBJECTS, occupancy=0.1)
    model = replace(random, frames_per_second=FRAMES_PER_SECOND)
    begin = perf_counter()
    result = create_simulation(model, "kinetic").run()
    seconds = perf_counter() - begin
    frames = create_simulation(model, "direct").run().frames
    seen = {tuple(pair) for _, pairs in frames for pair in pairs.tolist()}
    began = {tuple(pair) for _, kind, pair in result.events if kind == "began"}
    missed = len(began - seen)
    unseen = f"misses {missed} of the {len(began)} pairs" if missed else "finds the same pairs, but late"
    progress(1, 2, "drawing")
    chart = folder / "motion.png"
    draw_space_time(chart, model)
    start, end = model.interval
    return Shown(
        sentence=(
            f"{len(model)} moving polygons, {end - start:g} s: the exact times of {len(result.events)} events (an "
            f"overlap begins or ends) in {1e3 * seconds:.1f} ms. Sampling {FRAMES_PER_SECOND} times a second {unseen}."
        ),
        picture=_film(folder / "motion_in_space", model, quick, progress),
        chart=chart,
        try_next="choque kinetic run three-objects --trace",
        facts={"objects": len(model), "events": len(result.events), "seconds": seconds, "missed_by_frames": missed},
    )


def _film(path: Path, model: Model, quick: bool, progress: Progress) -> Path:
    """Film the polygons as plates on their way; those whose boxes overlap glow."""
    begin, end = model.interval
    middles = np.array([polygon.mean(axis=0) for polygon in model.polygons])
    height = 0.15 * float(np.sqrt(model.object_area / len(model)))
    plates = [_films.prism(polygon - middle, height) for polygon, middle in zip(model.polygons, middles, strict=True)]

    def places(time: float) -> np.ndarray:
        x, y = (middles + model.velocity * (time - begin)).T
        return np.column_stack((x, np.zeros(len(model)), -y))

    course = np.array([places(begin), places(end)])
    stage = _films.Stage(plates, np.arange(len(model)), course, quick, pitch=-50.0, yaw=10.0, turn=20.0)
    sweep = model.sweep()

    def draw(share: float) -> _films.Image:
        time = begin + share * (end - begin)
        sweep.advance(time)
        return stage.draw(share, places(time), _films.glowing(np.isin(np.arange(len(model)), sweep.pairs())))

    return _films.write(path, draw, quick, progress)


MOTION = Section("Events instead of frames", prepare, show)
