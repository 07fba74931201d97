"""Fourth stop: two solids of voxels that collide, what they share, and how to part them."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from choque._core.types import Progress
from choque.cli.tour._stop import Shown, Stop, drawing

if TYPE_CHECKING:
    from choque.volumes import Volume

SIZE, QUICK = 96, 32
QUESTIONS = 100


def _two(size: int) -> tuple[Volume, Volume]:
    from choque.volumes import phantoms

    shift = np.round(np.array([0.62, 0.35, 0.2]) * size)
    return phantoms.make("gyroid", size), phantoms.make("ball", size).translated(shift)


def ready() -> None:
    """Compile what a collision of solids needs."""
    one, two = _two(16)
    found = one.collision(two)
    assert found is not None
    found.region().volume()
    found.separation()


def show(folder: Path, quick: bool, progress: Progress) -> Shown:
    """Ask whether they collide, where, how much and how to part them; the answer is tried."""
    progress(0, 2, "computing")
    one, two = _two(QUICK if quick else SIZE)
    found = one.collision(two)  # the first question sorts both by sections; they keep them
    assert found is not None
    begin = perf_counter()
    for _ in range(QUESTIONS):
        one.collides(two)
    asked = (perf_counter() - begin) / QUESTIONS
    region, push = found.region(), found.separation()
    parted = not one.collides(two.translated(push))
    progress(1, 2, "drawing")
    picture = folder / "solids.png"
    _draw(picture, one, two, region)
    tried = "they do not collide any more" if parted else "they STILL collide"
    return Shown(
        sentence=(
            f"A labyrinth of {one.voxel_count:,} voxels and a ball of {two.voxel_count:,} collide, told in "
            f"{1e6 * asked:.0f} µs; they share {region.volume():,.0f} voxels. Moving the ball by "
            f"({', '.join(f'{part:g}' for part in push)}) parts them; tried, {tried}."
        ),
        picture=picture,
        try_next="choque volume --help",
        facts={"voxels": [one.voxel_count, two.voxel_count], "shared": region.volume(), "push": push, "seconds": asked},
        is_right=parted,
    )


def _draw(path: Path, one: Volume, two: Volume, region: Volume) -> None:
    """The three planes through the middle of what they share."""
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
        figure.suptitle("A labyrinth (grey), a ball (ochre), and what they share (red)", x=0.01, ha="left", fontsize=10)


def _mask(volume: Volume, origin: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The voxels of a volume in a larger array."""
    full = np.zeros(shape, np.uint8)
    lower = np.round(volume.bounds[0]).astype(int) - origin
    voxels = volume.voxels()
    full[tuple(slice(low, low + count) for low, count in zip(lower, voxels.shape, strict=True))] = voxels
    return full


SOLIDS = Stop("Two solids collide", ready, show)
