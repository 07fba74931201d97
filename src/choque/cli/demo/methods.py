"""Every method on one moving scene, checked and timed as by ``choque bench``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.demo import _films
from choque.cli.demo._section import Section, Shown, drawing

if TYPE_CHECKING:
    from choque.lab.table import Row, Table

COUNT, QUICK, FRAMES, FILMED = 5_000, 700, 4, 300
SMALL = 2_500
"""Number of boxes of the untimed first run, which compiles or loads the kernels."""


def _bench(count: int, progress: Progress | None = None) -> Table:
    import choque
    from choque.lab.bench import bench

    names = [name for name in choque.broad.names() if name != "all"]  # it tests nothing and keeps every pair
    return bench(["moving"], [count], names, frames=FRAMES, repetitions=1, progress=progress)


def prepare() -> None:
    """Compile every method for the float type of the scene."""
    _bench(SMALL)
    _is_in_pair(np.zeros((FILMED, 3)), np.ones((FILMED, 3)))
    _films.prepare()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Update every method frame by frame; its pairs must equal those of brute force."""
    rows = _bench(QUICK if quick else COUNT, progress).rows
    ranked = sorted((row for row in rows if row.total is not None), key=lambda row: row.total or 0.0)
    wrong = [row for row in rows if row.verdict in ("wrong", "failed")]
    chart = folder / "methods.png"
    _draw(chart, ranked)
    verdicts = Counter(row.verdict for row in rows)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    notes = "".join(f" {row.candidate}: {row.note or row.verdict}." for row in wrong)
    return Shown(
        sentence=(
            f"{len(rows)} methods on {rows[0].count:,} moving boxes; compared with brute force: {counts}; the "
            f"fastest here is {ranked[0].candidate}.{notes}"
        ),
        picture=_film(folder / "methods_in_space", quick, progress),
        chart=chart,
        try_next="choque methods",
        facts={
            row.candidate: {"milliseconds": None if row.total is None else 1e3 * row.total, "verdict": row.verdict}
            for row in rows
        },
        is_right=not wrong,
    )


def _film(path: Path, quick: bool, progress: Progress) -> Path:
    """Film fewer such boxes; those that overlap glow."""
    import choque

    scene = choque.scene.generate("moving", FILMED, frames=_films.FRAMES, step=0.2, overlaps=0.5)
    frames = [scene.frame(index) for index in range(_films.FRAMES)]
    lower, upper = frames[0]
    ends = np.array([(low + high) / 2 for low, high in (frames[0], frames[-1])])
    which = np.zeros(len(lower), np.int64)
    stage = _films.Stage([_films.cube()], which, ends, quick, scale=upper - lower, turn=30.0)

    def draw(share: float) -> _films.Image:
        low, high = frames[round(share * (len(frames) - 1))]
        return stage.draw(share, (low + high) / 2, _films.glowing(_is_in_pair(low, high)))

    return _films.write(path, draw, quick, progress)


def _is_in_pair(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    import choque

    return np.isin(np.arange(len(lower)), choque.broad.create("brute", choque.bounds.Boxes(lower, upper)).pairs())


def _draw(path: Path, ranked: list[Row]) -> None:
    """Draw the time of each method that finished, the fastest first."""
    from choque.lab.style import COLOURS

    shown = ranked[::-1]
    totals = [1e3 * (row.total or 0.0) for row in shown]
    with drawing(path, 8.4, 0.26 * len(shown) + 1.2) as (_, axes):
        colours = [COLOURS[1] if row.verdict == "wrong" else COLOURS[2] for row in shown]
        axes.barh([row.candidate for row in shown], totals, color=colours, height=0.65)
        for place, total in enumerate(totals):
            axes.annotate(f"{total:.3g} ms", (total, place), xytext=(4, 0), textcoords="offset points", va="center")
        title = f"{shown[0].count:,} moving boxes"
        axes.set(xscale="log", xlabel="milliseconds per frame: update and search", title=title)
        axes.set_xlim(0.6 * min(totals), 3 * max(totals))
        axes.grid(visible=False, axis="y")


METHODS = Section("Every method, checked", prepare, show)
