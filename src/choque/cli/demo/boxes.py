"""Every overlapping pair of a million boxes."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from choque._core.types import Progress
from choque.cli.demo import _films
from choque.cli.demo._section import Section, Shown

COUNT, QUICK = 1_000_000, 20_000
SHOWN = 600
"""Number of boxes in the film."""
SMALL = (5_000, 100_000)
"""Numbers of boxes for which ``auto`` takes the methods that it takes for more."""


def prepare() -> None:
    """Compile the methods that ``auto`` takes for many boxes."""
    import choque

    _films.prepare()
    for count in SMALL:
        choque.pairs(*choque.scene.generate("uniform", count).frame(0))


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Find all pairs, and check a sample of boxes by brute force."""
    import choque
    from choque.lab.table import duration
    from choque.studio import draw_scene

    progress(0, 2, "computing")
    lower, upper = choque.scene.generate("uniform", QUICK if quick else COUNT).frame(0)
    choice = choque.explain(lower, upper)
    times = []
    for _ in range(3):  # the least time: other processes may be compiling during the first call
        begin = perf_counter()
        pairs = choque.pairs(lower, upper)
        times.append(perf_counter() - begin)
    seconds = min(times)
    progress(1, 2, "drawing")
    chart = folder / "boxes.png"
    draw_scene(chart, lower, upper, pairs, title=f"A cut through {len(lower):,} boxes")
    picture = _film(folder / "boxes_in_space", lower, upper, pairs, quick, progress)
    sample = range(0, len(lower), len(lower) // 50)
    met = sum(int(((lower <= upper[row]) & (upper >= lower[row])).all(axis=1).sum()) - 1 for row in sample)
    found = sum(int((pairs == row).sum()) for row in sample)
    check = "equals" if met == found else "DIFFERS from"
    return Shown(
        sentence=(
            f"{len(lower):,} boxes, all {len(pairs):,} overlapping pairs in {duration(seconds)} by {choice.method}; "
            f"for a sample of {len(sample)} boxes the result {check} brute force."
        ),
        picture=picture,
        chart=chart,
        try_next="choque bench uniform mixed",
        facts={"boxes": len(lower), "pairs": len(pairs), "seconds": seconds, "method": choice.method},
        is_right=met == found,
    )


def _film(path: Path, lower: np.ndarray, upper: np.ndarray, pairs: np.ndarray, quick: bool, progress: Progress) -> Path:
    """Film the boxes around the middle: the more others a box overlaps, the more it glows."""
    center = (lower + upper) / 2
    shown = np.argsort(np.abs(center - center.mean(axis=0)).max(axis=1))[: SHOWN // 10 if quick else SHOWN]
    others = np.bincount(pairs.ravel(), minlength=len(lower))[shown]
    position, colors = center[shown], _films.glowing(np.square(others / others.max()))
    which, scale = np.zeros(len(shown), np.int64), (upper - lower)[shown]
    stage = _films.Stage([_films.cube()], which, position[np.newaxis], quick, scale=scale, turn=90.0)
    return _films.write(path, lambda share: stage.draw(share, position, colors), quick, progress)


BOXES = Section("A million boxes", prepare, show)
