"""The scenes of the conformance suites: those of `choque.scene`, and those at the edge of what is legal.

>>> from choque.testing import scenes
>>> scene = scenes.make("lattice", dimension=2)
>>> scene.lower.shape
(60, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from choque._core.types import F64, Floats
from choque.bounds import Boxes
from choque.errors import UnknownName
from choque.scene import generate

FloatName: TypeAlias = Literal["float32", "float64"]
Corners: TypeAlias = tuple[Floats, Floats]

GENERATED = (
    "aligned", "brownian", "clustered", "free-fall", "mixed", "moving", "one-moves", "reference", "uniform",
)  # fmt: skip
"""Generators of scenes that the suites use; `choque.lab` registers them."""


@dataclass(frozen=True)
class NamedBoxes:
    """Boxes with a name, and the expression that makes them again."""

    name: str
    lower: Floats
    upper: Floats
    expression: str

    def __str__(self) -> str:
        return f"{self.name!r} ({len(self.lower)} boxes, {self.dimension}D, {self.lower.dtype})"

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.lower.shape[1])

    def boxes(self) -> Boxes:
        """Return the boxes as bounds."""
        return Boxes(self.lower, self.upper)


@dataclass(frozen=True)
class Canvas:
    """The parameters of an edge-case scene."""

    count: int
    dimension: int
    dtype: np.dtype[Any]
    random: np.random.Generator

    def points(self, low: int, high: int) -> F64:
        """Return (count, dimension) random whole numbers from ``low`` to ``high``."""
        return self.random.integers(low, high, (self.count, self.dimension), endpoint=True).astype(np.float64)


def names() -> list[str]:
    """Return every scene that `make` knows, sorted."""
    return sorted([*GENERATED, *EDGE_CASES])


def make(name: str, *, dimension: int = 3, dtype: FloatName = "float64", count: int = 60, seed: int = 0) -> NamedBoxes:
    """Return the scene ``name`` of about ``count`` boxes; some edge cases have only one or two."""
    arguments = f"{name!r}, dimension={dimension}, dtype={dtype!r}, count={count}, seed={seed}"
    if name in GENERATED:
        lower, upper = generate(name, count, seed=seed, dimension=dimension, dtype=dtype).frame(0)
    elif name in EDGE_CASES:
        random = np.random.default_rng([seed, count, dimension])
        corners = EDGE_CASES[name](Canvas(count, dimension, np.dtype(dtype), random))
        lower, upper = (np.ascontiguousarray(corner, dtype) for corner in corners)
    else:
        raise UnknownName("scene of the suite", name, names())
    return NamedBoxes(name, lower, upper, f"choque.testing.scenes.make({arguments})")


def _empty(canvas: Canvas) -> Corners:
    return np.empty((0, canvas.dimension)), np.empty((0, canvas.dimension))


def _one(canvas: Canvas) -> Corners:
    return np.zeros((1, canvas.dimension)), np.ones((1, canvas.dimension))


def _two_identical(canvas: Canvas) -> Corners:
    return np.full((2, canvas.dimension), -3.0), np.full((2, canvas.dimension), 7.5)


def _all_identical(canvas: Canvas) -> Corners:
    shape = (canvas.count, canvas.dimension)
    return np.full(shape, 1.0), np.full(shape, 2.0)


def _one_point(canvas: Canvas) -> Corners:
    shape = (canvas.count, canvas.dimension)
    return np.full(shape, 0.1), np.full(shape, 0.1)


def _lattice(canvas: Canvas) -> Corners:
    """Boxes of no size on a lattice: they meet where they coincide, and only if closed."""
    points = canvas.points(0, 3)
    return points, points.copy()


def _touching(canvas: Canvas) -> Corners:
    """Whole-numbered boxes, some of no size along some axes, that touch at faces, edges and corners."""
    points = canvas.points(-4, 4)
    return points, points + canvas.points(0, 2)


def _ground_plane(canvas: Canvas) -> Corners:
    """Boxes above, on and below a half space and between two infinite walls."""
    lower = canvas.points(-4, 4)
    upper = lower + 1
    lower[:3], upper[:3] = -np.inf, np.inf
    upper[0, -1] = 0
    lower[1, 0] = 2
    lower[2, 0], upper[2, 0] = -3, -3
    return lower, upper


def _infinite(canvas: Canvas) -> Corners:
    """Boxes that are everywhere, at infinity, or end at the largest finite number."""
    largest = float(np.finfo(canvas.dtype).max)
    ends = np.array([-np.inf, -largest, -1.0, 0.0, 1.0, largest, np.inf])
    chosen = np.sort(canvas.random.integers(0, len(ends), (2, canvas.count, canvas.dimension)), axis=0)
    lower, upper = ends[chosen[0]], ends[chosen[1]]
    lower[:4], upper[:4] = -np.inf, np.inf
    return lower, upper


def _huge(canvas: Canvas) -> Corners:
    """Coordinates of about 1e30, 1e300 where they fit: products and squares of them overflow."""
    scale = 1e300 if canvas.dtype == np.float64 else 1e30
    points = canvas.points(-8, 8)
    return points * scale, (points + canvas.points(0, 4)) * scale


def _subnormal(canvas: Canvas) -> Corners:
    """Boxes of a few of the smallest steps there are, around zero."""
    step = float(np.finfo(canvas.dtype).smallest_subnormal)
    points = canvas.points(-8, 8)
    return points * step, (points + canvas.points(0, 4)) * step


def _far_away(canvas: Canvas) -> Corners:
    """Small boxes so far from the origin that one rounding step is as large as they are."""
    digits = np.finfo(canvas.dtype).nmant
    points = canvas.points(-6, 6) + 2.0**digits
    return points, points + canvas.points(0, 2)


def _giant_and_dust(canvas: Canvas) -> Corners:
    """Dust, one box around half of it, and one around everything."""
    lower = canvas.random.uniform(-1000, 1000, (canvas.count, canvas.dimension))
    upper = lower + canvas.random.uniform(0, 1e-3, lower.shape)
    lower[canvas.count // 2], upper[canvas.count // 2] = -2000, 0
    lower[-1], upper[-1] = -1e6, 1e6
    return lower, upper


def _collinear(canvas: Canvas) -> Corners:
    """Return boxes along the last axis, equal on the others."""
    lower = np.zeros((canvas.count, canvas.dimension))
    lower[:, -1] = canvas.random.permutation(canvas.count)
    return lower, lower + 1.25


def _planar(canvas: Canvas) -> Corners:
    """Flat boxes in one plane across the first axis."""
    lower = canvas.points(0, 20)
    upper = lower + canvas.points(0, 5)
    lower[:, 0] = upper[:, 0] = 5
    return lower, upper


def _wide_range(canvas: Canvas) -> Corners:
    """Nested boxes around the origin, each twice the one before: no cell size suits them."""
    size = 2.0 ** (np.arange(canvas.count) - canvas.count // 2)
    offset = canvas.random.uniform(-0.9, 0.9, (canvas.count, canvas.dimension)) * 3
    center = offset * size[:, None]
    return center - size[:, None], center + size[:, None]


EDGE_CASES: dict[str, Callable[[Canvas], Corners]] = {
    build.__name__[1:].replace("_", "-"): build
    for build in (
        *(_empty, _one, _two_identical, _all_identical, _one_point),
        *(_lattice, _touching, _ground_plane, _infinite, _huge),
        *(_subnormal, _far_away, _giant_and_dust, _collinear),
        *(_planar, _wide_range),
    )
}
"""Scenes at the edge of what is legal, by name."""
