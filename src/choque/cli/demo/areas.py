"""Areas of interest of a walking crowd: members, and what entered and left."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.demo import _films
from choque.cli.demo._section import Section, Shown, drawing

if TYPE_CHECKING:
    from choque.interest import Areas
    from choque.studio.page.points import PointsView

COUNT, QUICK, SMALL, STEPS, FILMED = 20_000, 2_000, 200, 50, 150
RADIUS, BODY = 3.0, 0.25


def _crowd(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of a crowd in the plane, denser around three squares."""
    random = np.random.default_rng(0)
    spread = np.sqrt(count / 1_000) * 10
    squares = np.array([[-1.2, -0.6], [0.9, -0.9], [0.2, 1.1]]) * spread
    place = squares[random.integers(0, 3, count)] + random.normal(0, 0.6 * spread, (count, 2))
    return place, random.normal(0, 0.1, (count, 2))


def prepare() -> None:
    """Compile the kernels of areas in 2D."""
    _walk(SMALL, 3)
    _filmed(SMALL).image(_films.QUICK_SIZE)


def _walk(count: int, steps: int) -> tuple[Areas, float, int]:
    """Move a crowd; return its areas, seconds per step and the number of changes."""
    import choque

    place, heading = _crowd(count)
    areas = choque.interest.Areas(place, radius=RADIUS, body_radius=BODY)
    areas.update(place)
    changes, begin = 0, perf_counter()
    for _ in range(steps):
        place = place + heading
        areas.update(place)
        changes += len(areas.entered) + len(areas.left)
    return areas, (perf_counter() - begin) / steps, changes


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Move a crowd, and check the members of one walker by distance."""
    progress(0, 2, "computing")
    areas, seconds, changes = _walk(QUICK if quick else COUNT, STEPS)
    progress(1, 2, "drawing")
    owner = int(np.argmin(np.square(areas.position - areas.position.mean(axis=0)).sum(axis=1)))
    members = areas.members(owner)
    distance = np.sqrt(np.square(areas.position - areas.position[owner]).sum(axis=1))
    near = np.flatnonzero((distance <= RADIUS + BODY) & (np.arange(len(areas)) != owner))
    chart = folder / "areas.png"
    _draw(chart, areas, owner, members)
    return Shown(
        sentence=(
            f"{len(areas):,} walkers that see {RADIUS:g} m: {len(areas.pairs()):,} times one sees another, updated in "
            f"{1e3 * seconds:.1f} ms per step, with {changes // STEPS:,} changes per step. "
            f"Walker {owner} sees {len(members)}."
        ),
        picture=_film(folder / "areas_in_space", quick, progress),
        chart=chart,
        try_next="choque interest run",
        facts={"walkers": len(areas), "seconds": seconds, "changes": changes // STEPS, "seen": len(members)},
        is_right=np.array_equal(np.sort(members), near),
    )


def _filmed(count: int) -> PointsView:
    """Return a smaller crowd on a square, of whom few have areas."""
    from choque.studio.page.entries import find_view
    from choque.studio.page.points import PointsView

    view = find_view([f"crowd:{count}"], parameters={"owners": 4})
    assert isinstance(view, PointsView)
    return view


def _film(path: Path, quick: bool, progress: Progress) -> Path:
    """Film the crowd; members of areas light up."""
    view = _filmed(SMALL if quick else FILMED)

    def draw(share: float) -> _films.Image:
        if share:
            view.advance(1.0 / _films.RATE)
        return view.image(_films.QUICK_SIZE if quick else _films.SIZE)

    return _films.write(path, draw, quick, progress)


def _draw(path: Path, areas: Areas, owner: int, members: np.ndarray) -> None:
    from matplotlib.patches import Circle, Rectangle

    from choque.lab.style import COLOURS

    here, reach = areas.position[owner], 3.2 * RADIUS
    with drawing(path, 8.4, 4.2, ncols=2) as (_, (crowd, closer)):
        crowd.scatter(*areas.position.T, s=1.2, color="#8a93a3", linewidths=0)
        crowd.add_patch(Rectangle(here - reach, 2 * reach, 2 * reach, fill=False, edgecolor=COLOURS[1]))
        crowd.set(title=f"{len(areas):,} walkers", aspect="equal")
        inside = np.isin(areas.ids, members)
        for row in np.flatnonzero((np.abs(areas.position - here) < reach + BODY).all(axis=1)):
            colour = COLOURS[0] if row == owner else COLOURS[3] if inside[row] else "#c2c9d6"
            closer.add_patch(Circle(areas.position[row], BODY, facecolor=colour, edgecolor="white", linewidth=0.4))
        closer.add_patch(Circle(here, RADIUS, fill=False, edgecolor=COLOURS[1]))
        x, y = here
        closer.set(
            title=f"What walker {owner} sees", xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), aspect="equal"
        )
        for panel in (crowd, closer):
            panel.set_axis_off()


AREAS = Section("Areas of interest", prepare, show)
