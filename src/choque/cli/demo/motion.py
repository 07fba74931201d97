"""Polygons on known paths, followed from event to event instead of frame to frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from choque._core.types import Progress
from choque.cli.demo._section import Section, Shown

OBJECTS, FRAMES_PER_SECOND = 14, 24


def prepare() -> None:
    """Compile the kernels of kinetic sweeps."""
    from choque.cli._warm_up import use_kinetic

    use_kinetic()


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
    picture = folder / "motion.png"
    draw_space_time(picture, model)
    start, end = model.interval
    return Shown(
        sentence=(
            f"{len(model)} moving polygons, {end - start:g} s: the exact times of {len(result.events)} events (an "
            f"overlap begins or ends) in {1e3 * seconds:.1f} ms. Sampling {FRAMES_PER_SECOND} times a second {unseen}."
        ),
        picture=picture,
        try_next="choque kinetic run three-objects --trace",
        facts={"objects": len(model), "events": len(result.events), "seconds": seconds, "missed_by_frames": missed},
    )


MOTION = Section("Events instead of frames", prepare, show)
