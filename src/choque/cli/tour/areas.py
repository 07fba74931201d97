"""Fifth stop: who is near whom among many that move, told as what entered and what left."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.tour._stop import Shown, Stop, drawing

if TYPE_CHECKING:
    from choque.interest import Areas

COUNT, QUICK, SMALL, STEPS = 20_000, 2_000, 200, 50
RADIUS, BODY = 3.0, 0.25


def _crowd(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and headings of a crowd in the plane, denser around three squares."""
    random = np.random.default_rng(0)
    spread = np.sqrt(count / 1_000) * 10
    squares = np.array([[-1.2, -0.6], [0.9, -0.9], [0.2, 1.1]]) * spread
    place = squares[random.integers(0, 3, count)] + random.normal(0, 0.6 * spread, (count, 2))
    return place, random.normal(0, 0.1, (count, 2))


def ready() -> None:
    """Compile what areas in the plane need."""
    _walk(SMALL, 3)


def _walk(count: int, steps: int) -> tuple[Areas, float, int]:
    """Let a crowd walk; gives its areas, seconds a step and how many changes there were."""
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
    """Let a crowd walk, and look at one of them."""
    progress(0, 2, "computing")
    areas, seconds, changes = _walk(QUICK if quick else COUNT, STEPS)
    progress(1, 2, "drawing")
    owner = int(np.argmin(np.square(areas.position - areas.position.mean(axis=0)).sum(axis=1)))
    members = areas.members(owner)
    distance = np.sqrt(np.square(areas.position - areas.position[owner]).sum(axis=1))
    near = np.flatnonzero((distance <= RADIUS + BODY) & (np.arange(len(areas)) != owner))
    picture = folder / "areas.png"
    _draw(picture, areas, owner, members)
    return Shown(
        sentence=(
            f"{len(areas):,} walkers who see {RADIUS:g} m far: {len(areas.pairs()):,} times one sees another, kept up "
            f"in {1e3 * seconds:.1f} ms a step; only the {changes // STEPS:,} changes a step need to be told. "
            f"Walker {owner} sees {len(members)}."
        ),
        picture=picture,
        try_next="choque interest run",
        facts={"walkers": len(areas), "seconds": seconds, "changes": changes // STEPS, "seen": len(members)},
        is_right=np.array_equal(np.sort(members), near),
    )


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


AREAS = Stop("Who is near whom", ready, show)
