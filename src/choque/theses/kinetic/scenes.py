"""The five scenes of the thesis by name, and the random generator behind the last of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from choque._core import check
from choque.errors import UnknownName
from choque.theses.kinetic import shapes
from choque.theses.kinetic.model import Model

DIRECT_CASES = (("square", "hexagon"), ("triangle", "square"), ("star-4", "star-6"), ("arrow-head", "rectangle"))
RANDOM_SHAPES = ("triangle", "square", "pentagon", "hexagon", "star-4", "star-5", "star-6", "boomerang")

MAX_OBJECTS = 1_000_000
"""Maximum number of objects of a scene."""


def direct_pair(*, case: int = 0) -> Model:
    """Two shapes at rest whose boxes overlap.

    Cases 0 to 3: square and hexagon; triangle and square, whose outlines do not meet; two stars, whose do; arrow head
    and rectangle.
    """
    check.whole_number(case, "case", 0, len(DIRECT_CASES) - 1)
    places = (
        (((0.0, 0.0), 0.0, 8.0), ((2.0, 1.0), 0.0, 8.0)),
        (((0.0, 0.0), 0.0, 8.0), ((2.2, 2.2), math.pi / 4, 4.0)),
        (((0.0, 0.0), 0.0, 8.0), ((2.0, 0.5), 0.0, 8.0)),
        (((0.0, 0.0), 0.0, 8.0), ((-1.8, 0.0), 0.0, 1.0)),
    )[case]
    polygons = [
        shapes.shape(name, size=size, turned=turned, at=at)
        for name, (at, turned, size) in zip(DIRECT_CASES[case], places, strict=True)
    ]
    return Model(tuple(polygons), np.zeros((2, 2)), interval=(0.0, 1.0), frames_per_second=10, name="resting-pair")


def concentric(*, count: int = 8) -> Model:
    """Concentric rhombi that move left and right in turn; 1 s at 10 frames a second."""
    check.whole_number(count, "count", 0, MAX_OBJECTS)
    rhombus = shapes.regular(4)
    polygons = tuple(rhombus * (row + 1.0) for row in range(count))
    velocity = np.array([[(-1.0) ** row * (row + 1.0) * 2.0, 0.0] for row in range(count)]).reshape(-1, 2)
    return Model(polygons, velocity, interval=(0.0, 1.0), frames_per_second=10, name="concentric")


def evenly_spread(*, side: int = 10, seed: int = 0) -> Model:
    """Equal triangles on a grid that move slowly for 1 s; nothing ever meets."""
    check.whole_number(side, "side", 1, math.isqrt(MAX_OBJECTS))
    random = np.random.default_rng(check.whole_number(seed, "seed", 0))
    spacing = 20.0 / side
    triangle = shapes.placed(shapes.regular(3), size=(spacing * 0.25) ** 2)
    centers = (np.indices((side, side)).reshape(2, -1).T + 0.5) * spacing - 10.0
    direction = random.uniform(0.0, 2.0 * math.pi, side * side)
    speed = random.uniform(0.0, 0.2 * spacing, side * side)
    velocity = np.stack((np.cos(direction), np.sin(direction)), axis=1) * speed[:, None]
    polygons = tuple(triangle + center for center in centers)
    return Model(polygons, velocity, interval=(0.0, 1.0), frames_per_second=1000, name="evenly-spread", seed=seed)


def three_objects() -> Model:
    """Three polygons, one not convex, for 10 s: 17 events, one of them multiple, at t = 2."""
    polygons = (
        np.array([[-2.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 4.0]]),
        np.array([[-6.0, 7.0], [-4.0, 7.0], [-5.0, 9.0]]),
        np.array([[0.0, 3.0], [5.0, 3.0], [5.0, 8.0], [0.0, 8.0]]),
    )
    return Model(polygons, np.array([[-2.0, 3.0], [1.0, -3.0], [-1.0, -2.0]]), name="three-objects")


def random_objects(
    *,
    n: int = 100,
    occupancy: float = 0.01,
    seed: int = 0,
    speed: str = "side",
    frame: float = 20.0,
    irregular: bool = False,
) -> Model:
    """``n`` random shapes that fill a share ``occupancy`` of the frame; 1 s at 1000 frames a second.

    ``speed`` is ``"side"`` (0.3 to 3.5 times the smaller side of the box, a second) or ``"radius"`` (0.5 to 3.5 radii).
    Objects may overlap at the start.
    """
    check.whole_number(n, "n", 0, MAX_OBJECTS)
    check.positive(occupancy, "occupancy")
    check.positive(frame, "frame")
    if speed not in ("side", "radius"):
        raise UnknownName("speed rule", str(speed), ("side", "radius"))
    random = np.random.default_rng(check.whole_number(seed, "seed", 0))
    wanted = occupancy * frame * frame / max(n, 1)
    half = frame / 2.0
    polygons, velocity = [], np.empty((n, 2))
    for row in range(n):
        unit = (
            shapes.irregular(random, int(random.integers(3, shapes.MAX_VERTICES + 1)))
            if irregular
            else shapes.SHAPES[RANDOM_SHAPES[int(random.integers(len(RANDOM_SHAPES)))]]()
        )
        polygon = shapes.placed(
            unit, size=wanted, turned=random.uniform(0.0, 2.0 * math.pi), at=random.uniform(-half, half, 2)
        )
        side = float((polygon.max(axis=0) - polygon.min(axis=0)).min())
        radius = math.sqrt(wanted / abs(shapes.area(unit)))
        pace = random.uniform(0.3, 3.5) * side if speed == "side" else random.uniform(0.5, 3.5) * radius
        direction = random.uniform(0.0, 2.0 * math.pi)
        velocity[row] = pace * math.cos(direction), pace * math.sin(direction)
        polygons.append(polygon)
    bounds = (-half, half)
    return Model(tuple(polygons), velocity, (bounds, bounds), (0.0, 1.0), 1000, name="random-shapes", seed=seed)


SCENES: dict[str, Callable[..., Model]] = {
    "resting-pair": direct_pair,
    "concentric": concentric,
    "evenly-spread": evenly_spread,
    "three-objects": three_objects,
    "random-shapes": random_objects,
}

ALIASES = {
    "sp-directo": "resting-pair",
    "incremental-sp": "concentric",
    "equidistribucion": "evenly-spread",
    "tres-objetos": "three-objects",
    "aleatorio": "random-shapes",
}
"""The names in the thesis, which are accepted wherever a scene is named."""


def names() -> list[str]:
    """List the names of the scenes."""
    return sorted(SCENES)


def find(name: str) -> Callable[..., Model]:
    """Return the function that makes the scene ``name``, which may be one of the `ALIASES`."""
    known = ALIASES.get(name, name)
    if known not in SCENES:
        raise UnknownName("kinetic scene", str(name), SCENES)
    return SCENES[known]


def is_known(name: str) -> bool:
    """Return whether a scene has this name or alias."""
    return name in SCENES or name in ALIASES


def summary(name: str) -> str:
    """Return one sentence about the scene ``name``."""
    return (inspect.getdoc(find(name)) or "").splitlines()[0].replace("``", "'")


def parameters(name: str) -> dict[str, Any]:
    """Return the parameters of the scene ``name`` with their defaults."""
    return {key: each.default for key, each in inspect.signature(find(name)).parameters.items()}


def make(name: str, **options: Any) -> Model:
    """Return the scene ``name``; ``options`` are its parameters."""
    allowed = parameters(name)
    for key in options:
        if key not in allowed:
            raise UnknownName(f"parameter of the scene {name!r}", key, allowed)
    return find(name)(**options)
