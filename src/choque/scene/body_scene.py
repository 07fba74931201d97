"""What a scene of bodies is: columns, a camera, and how the world that they live in is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.scene.body_checks import LARGEST, first_fault
from choque.scene.body_columns import GROUND, KIND_WORDS, TILE, BodyColumns
from choque.scene.checks import positive, whole_number, within

if TYPE_CHECKING:
    from choque.world import World

MOST_STEPS = 1_000_000
"""The most steps a second; a step must not be lost in the rounding of a simulated hour."""


WORLD_SETTINGS = ("broad", "bounds", "narrow", "response", "dtype", "max_speed", "max_spin", "legacy")
"""What a scene may ask of its world; all else that it asks for is an option of its broad phase."""


@dataclass(frozen=True)
class Camera:
    """A camera that looks at the origin: how far off it is, and its pitch and yaw in degrees."""

    radius: float = 40.0
    pitch: float = -25.0
    yaw: float = 0.0

    def __post_init__(self) -> None:
        positive("The radius of the camera", self.radius)
        for name in ("radius", "pitch", "yaw"):
            value = within(f"The {name} of the camera", getattr(self, name), -LARGEST, LARGEST)
            object.__setattr__(self, name, value)

    @classmethod
    def around(cls, bodies: BodyColumns) -> Self:
        """A camera from which all drawn bodies are seen: 45 degrees wide, so 2.6 radii of the scene away."""
        seen = bodies.take(bodies.drawn & (bodies.kind != GROUND))
        if not len(seen):
            return cls()
        reach = np.linalg.norm(seen.position, axis=1) + np.where(seen.kind == TILE, 0.0, seen.size.max(axis=1))
        return cls(radius=round(max(5.0, 2.6 * float(reach.max())), 1))


@dataclass(frozen=True, eq=False)
class BodyScene:
    """Bodies as they start, and how to run them.

    Row k of ``bodies`` becomes body k of the world. Bodies may overlap at the start: `overlapping` lists those that
    do. Numbers that no world could hold are refused here, with the row and the rule.

    Attributes
    ----------
    name
        What it is called in reports and recordings.
    bodies
        One row a body.
    camera, steps_per_second
        From where it is looked at, and how fine time is.
    settings
        Arguments of `choque.world.World` that the scene asks for: `WORLD_SETTINGS`, and options of its broad phase.
    summary
        A sentence that says what it is, or nothing.
    notes
        What a reader of files changed or passed over, in sentences.
    seed, parameters
        What a generator made it from; None and nothing for others.
    """

    name: str
    bodies: BodyColumns = field(repr=False)
    camera: Camera = Camera()
    steps_per_second: int = 60
    settings: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    notes: tuple[str, ...] = field(default=(), repr=False)
    seed: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps_per_second(self.steps_per_second)
        fault = first_fault(self.bodies)
        if fault is not None:
            raise InvalidInput(f"Body {fault.row} of the scene {self.name!r}: {fault.sentence()}")

    def __len__(self) -> int:
        return len(self.bodies)

    @property
    def dt(self) -> float:
        """Seconds of a step."""
        return 1 / self.steps_per_second

    def counts(self) -> dict[str, int]:
        """How many bodies of each kind there are, kinds without any left out; rockets are capsules."""
        found = Counter(self.bodies.kind.tolist())
        return {word: found[number] for number, word in enumerate(KIND_WORDS) if found[number]}

    def world(self, **options: Any) -> World:
        """Put the bodies into a new world; ``options`` are those of `choque.world.World` and go before `settings`.

        Another ``broad`` than the scene's takes none of the scene's options of its broad phase along.
        """
        from choque.scene.body_worlds import make_world

        return make_world(self, options)

    def overlapping(self) -> Pairs:
        """List the pairs of bodies that overlap at the start, two static ones aside: (m, 2), sorted.

        A world takes them as they are, and its response drives them apart; a warning is in place, no refusal.
        """
        from choque.scene.body_worlds import overlapping_pairs

        return overlapping_pairs(self)


def steps_per_second(value: object) -> int:
    """Accept a whole number of steps a second."""
    steps = whole_number("steps_per_second", value, smallest=1)
    if steps > MOST_STEPS:
        raise InvalidInput(f"steps_per_second is {steps}; it must be at most {MOST_STEPS}.")
    return steps
