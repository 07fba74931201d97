"""The tower of the k-DOP thesis: convex bodies above one another, each in its own orientation, that fall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.dynamics.response import rotations
from choque.errors import UnknownName
from choque.narrow.solids import solid, solid_names
from choque.scene.generators import BodyRequest

if TYPE_CHECKING:
    from choque.world import World

DAMPING = 0.95
"""Factor of the velocity in each step, the same as in the response ``shape-matching``."""


@dataclass(frozen=True)
class Preset:
    """The parameters of a tower: heights ``spacing · i + lowest`` for i = 1 … n, time step and gravity."""

    spacing: float
    lowest: float
    half_extent: float
    """Of a body that is not elongated, along each axis."""
    dt: float
    mass: float
    acceleration: float

    def height(self, n: int) -> float:
        """Return the initial height of the topmost of ``n`` bodies."""
        return self.spacing * n + self.lowest

    def landing_frame(self, n: int, reach: float | None = None) -> int:
        """Return the number of steps after which the topmost of ``n`` bodies, falling freely, reaches the ground.

        ``reach`` is how far the body goes below its centre; None for its half extent. By the closed form of damped
        velocity Verlet: after s steps it has fallen (v + a dt²/2) s − v (1 − dˢ) / (1 − d), v = a dt² d / (1 − d).
        """
        fall = self.height(n) - (self.half_extent if reach is None else reach)
        push = self.acceleration * self.dt**2
        terminal = push * DAMPING / (1 - DAMPING)
        frame = math.floor(fall / (terminal + push / 2))
        while (terminal + push / 2) * frame - terminal * (1 - DAMPING**frame) / (1 - DAMPING) < fall:
            frame += 1
        return frame


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # As printed: "9.8 per step" times a "physics speed" of 0.003, one unit of time a step, sizes taken for extents.
        "thesis-text": Preset(10.0, 0.0, 1.0, 1.0, 1.0, 9.8 * 0.003),
        # What lands where the thesis says that the last body lands: the numbers of the program that was published.
        "reproduce": Preset(16.0, 10.0, 2.0, 0.09, 1.1, 9.8 / 1.1),
    }
)


@dataclass(frozen=True)
class Tower:
    """Equal convex bodies above one another over the ground at y = 0, turned at random.

    Attributes
    ----------
    n
        How many; the ground, which is body 0 of the world, comes on top.
    seed
        Decides the turns: the same for every preset and elongation.
    preset
        ``"reproduce"`` or ``"thesis-text"``, a key of `PRESETS`.
    elongation
        How many times longer than wide the bodies are, along their own y.
    solid
        Any of `choque.narrow` solids; the one of the thesis has 24 vertices and 26 faces.
    half_extent
        Half the width of a body; None for that of the preset.

    Examples
    --------
    >>> tower = Tower(8, preset="thesis-text")
    >>> tower.heights()[:3].tolist()
    [10.0, 20.0, 30.0]
    >>> world = tower.world(bounds="18-dop")
    >>> world.step(tower.dt).bodies
    9
    """

    n: int = 512
    seed: int = 0
    preset: str = "reproduce"
    elongation: float = 1.0
    solid: str = "rhombicuboctahedron"
    half_extent: float | None = None

    def __post_init__(self) -> None:
        check.whole_number(self.n, "n", 1)
        check.whole_number(self.seed, "seed", 0)
        check.positive(self.elongation, "elongation")
        if self.half_extent is not None:
            check.positive(self.half_extent, "half_extent")
        if self.preset not in PRESETS:
            raise UnknownName("preset of a tower", str(self.preset), PRESETS)
        if self.solid not in solid_names():
            raise UnknownName("solid", str(self.solid), solid_names())

    @property
    def numbers(self) -> Preset:
        """The parameters of the preset."""
        return PRESETS[self.preset]

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return self.numbers.dt

    @property
    def scale(self) -> tuple[float, float, float]:
        """The half extents of a body before it is turned."""
        wide = self.numbers.half_extent if self.half_extent is None else float(self.half_extent)
        return wide, wide * float(self.elongation), wide

    def heights(self) -> NDArray[np.float64]:
        """Return the initial heights (n,), lowest first."""
        return np.arange(1.0, self.n + 1) * self.numbers.spacing + self.numbers.lowest

    def rotation(self) -> NDArray[np.float64]:
        """Return the rotations (n, 3, 3): up to a radian about each axis, as the published program draws them."""
        random = BodyRequest("tower", self.n, self.seed).random()
        return rotations(np.degrees(random.random((self.n, 3))))

    def world(self, **options: Any) -> World:
        """Return a new world with the tower; ``options`` of `World` replace ``sap-kdop`` and shape matching."""
        from choque.narrow.hulls import Hulls
        from choque.world import World

        world = World(**{"broad": "sap-kdop", "response": "shape-matching", **options})
        world.add_ground()
        center = np.zeros((self.n, 3))
        center[:, 1] = self.heights()
        world.add_hulls(
            Hulls.solids(self.solid),
            center,
            self.scale,
            mass=self.numbers.mass,
            acceleration=(0.0, -self.numbers.acceleration, 0.0),
            rotation=self.rotation(),
        )
        return world

    def landing_frame(self) -> int:
        """Return the number of steps after which the topmost body would reach the empty ground."""
        lowest = (self.rotation()[-1] @ (solid(self.solid).points * self.scale).T)[1].min()
        return self.numbers.landing_frame(self.n, -float(lowest))
