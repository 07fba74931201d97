"""Two colliding voxel solids: their intersection and a separating translation."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.demo import _films
from choque.cli.demo._section import Section, Shown, drawing

if TYPE_CHECKING:
    from choque.volumes import Volume

SIZE, QUICK, FILMED = 96, 32, 36
REPETITIONS, STEPS = 100, 200


def _two(size: int) -> tuple[Volume, Volume]:
    from choque.lab import phantoms

    shift = np.round(np.array([0.62, 0.35, 0.2]) * size)
    return phantoms.make("gyroid", size), phantoms.make("ball", size).translated(shift)


def prepare() -> None:
    """Compile the kernels of a collision of volumes."""
    one, two = _two(16)
    found = one.collision(two)
    assert found is not None
    found.region()
    found.separation()
    _films.prepare()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Collide two volumes, measure their intersection, and check the separating translation."""
    progress(0, 2, "computing")
    one, two = _two(QUICK if quick else SIZE)
    found = one.collision(two)  # the first call builds the sections of both volumes
    assert found is not None
    begin = perf_counter()
    for _ in range(REPETITIONS):
        one.collides(two)
    each = (perf_counter() - begin) / REPETITIONS
    region, push = found.region(), found.separation()
    parted = not one.collides(two.translated(push))
    progress(1, 2, "drawing")
    chart = folder / "solids.png"
    _draw(chart, one, two, region)
    tried = "they no longer collide" if parted else "they STILL collide"
    return Shown(
        sentence=(
            f"A labyrinth of {one.voxel_count:,} voxels and a ball of {two.voxel_count:,} collide, found in "
            f"{1e6 * each:.0f} µs; they share {region.volume:,.0f} voxels. Moving the ball by "
            f"({', '.join(f'{part:g}' for part in push)}) separates them: after it, {tried}."
        ),
        picture=_film(folder / "solids_in_space", quick, progress),
        chart=chart,
        try_next="choque volume --help",
        facts={"voxels": [one.voxel_count, two.voxel_count], "shared": region.volume, "push": push, "seconds": each},
        is_right=parted,
    )


def _film(path: Path, quick: bool, progress: Progress) -> Path:
    """Film a ball of smaller solids on its way until both collide; then it stays, and glows."""
    one, two = _two(QUICK // 2 if quick else FILMED)
    solids = [_films.voxel_faces(each.voxels()) for each in (one, two)]
    start = np.array([each.bounds[0] for each in (one, two)])
    away = np.array([0.9, 0.5, -0.4]) * np.ptp(one.bounds, axis=0)
    way = [np.round(away * (1.0 - share)) for share in np.linspace(0.0, 1.0, STEPS)]
    hits = [one.collides(two.translated(shift)) for shift in way]
    last = hits.index(True)
    course = np.array([start, start + [[0.0], [1.0]] * away])
    stage = _films.Stage(solids, np.arange(2), course, quick, yaw=-20.0, turn=50.0)

    def draw(share: float) -> _films.Image:
        now = min(int(1.6 * share * last), last)
        return stage.draw(share, start + [[0.0], [1.0]] * way[now], _films.glowing(np.array([False, hits[now]])))

    return _films.write(path, draw, quick, progress)


def _draw(path: Path, one: Volume, two: Volume, region: Volume) -> None:
    """Draw the three planes through the middle of the intersection."""
    from matplotlib.colors import ListedColormap

    corners = np.array([one.bounds, two.bounds])
    origin, end = (np.round(each).astype(int) for each in (corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)))
    side = int((end - origin).max())
    shape = np.full(3, side)
    masks = [_mask(each, origin, shape) for each in (one, two)]
    codes = masks[0] + 2 * masks[1]
    middle = np.round(np.mean(region.bounds, axis=0)).astype(int) - origin
    colours = ListedColormap(["#ffffff", "#b9c4d6", "#f2c078", "#c4442d"])
    with drawing(path, 8.4, 3.2, ncols=3) as (figure, panels):
        for axis, panel in enumerate(panels):
            across, up = (each for each in range(3) if each != axis)
            cut = np.take(codes, middle[axis], axis=axis)
            panel.imshow(cut.T, cmap=colours, vmin=0, vmax=3, origin="lower", interpolation="nearest")
            panel.set(title=f"cut at {'xyz'[axis]} = {middle[axis] + origin[axis]}", xticks=[], yticks=[])
            panel.set(xlabel="xyz"[across], ylabel="xyz"[up])
        figure.suptitle("A labyrinth (grey), a ball (ochre), their intersection (red)", x=0.01, ha="left", fontsize=10)


def _mask(volume: Volume, origin: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the voxels of a volume in a larger array."""
    full = np.zeros(shape, np.uint8)
    lower = np.round(volume.bounds[0]).astype(int) - origin
    voxels = volume.voxels()
    full[tuple(slice(low, low + count) for low, count in zip(lower, voxels.shape, strict=True))] = voxels
    return full


SOLIDS = Section("Two solids collide", prepare, show)
