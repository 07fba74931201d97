"""Scenes of bodies: columns, a camera, the settings of their world, and generators by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from choque._core import check
from choque._core.types import Pairs
from choque.errors import InvalidInput
from choque.scene.columns import GROUND, KIND_WORDS, MAX_VALUE, TILE, BodyColumns, add_to, first_fault
from choque.scene.generators import BodyRequest, Generators

if TYPE_CHECKING:
    from choque.world import World

MAX_STEPS_PER_SECOND = 1_000_000  # a shorter step would be lost in the rounding of a simulated hour
MAX_GENERATED = 10_000_000  # the columns of this many generated bodies take gigabytes

WORLD_SETTINGS = ("broad", "bounds", "narrow", "response", "response_options", "dtype", "max_speed", "max_spin")
"""Settings of a world that a scene may have; all others are options of its broad phase."""

BodyGenerator: TypeAlias = Callable[..., BodyColumns]
Registered = TypeVar("Registered", bound=BodyGenerator)

GENERATORS: Generators[BodyGenerator] = Generators(
    "generator of bodies", group="choque.body_scenes", listed_by="choque scenes"
)
"""The generators by name: functions that packages name in entry points, or `body_generator` registers."""

ASIDE = 28.0  # yaw of the camera of a generated scene [degrees]: of a box or a row two sides are seen


@dataclass(frozen=True)
class Camera:
    """A camera that looks at the origin: its distance, and its pitch and yaw [degree]."""

    radius: float = 40.0
    pitch: float = -25.0
    yaw: float = 0.0

    def __post_init__(self) -> None:
        check.positive(self.radius, "The radius of the camera")
        for name in ("radius", "pitch", "yaw"):
            value = check.number(getattr(self, name), f"The {name} of the camera", -MAX_VALUE, MAX_VALUE)
            object.__setattr__(self, name, value)

    @classmethod
    def around(cls, bodies: BodyColumns) -> Self:
        """Return a camera that sees all drawn bodies from aside: 45 degrees wide, so 2.6 radii of the scene away."""
        seen = bodies.take(bodies.drawn & (bodies.kind != GROUND))
        if not len(seen):
            return cls()
        reach = np.linalg.norm(seen.position, axis=1) + np.where(seen.kind == TILE, 0.0, seen.size.max(axis=1))
        return cls(radius=round(max(5.0, 2.6 * float(reach.max())), 1), yaw=ASIDE)


@dataclass(frozen=True, eq=False)
class BodyScene:
    """The initial state of bodies, and the settings to simulate them with.

    Row k of ``bodies`` becomes body k of the world. Bodies may overlap at the start: `overlapping` lists the pairs.
    Values that a world cannot hold are refused here, with the row and the rule.

    Attributes
    ----------
    name
        The name in reports and recordings.
    bodies
        One row for each body.
    camera, steps_per_second
        The camera, and the number of steps in a simulated second.
    settings
        Arguments of `choque.World`: `WORLD_SETTINGS`, and options of the broad phase.
    summary
        A sentence that describes the scene; may be empty.
    notes
        Sentences on what a reader of files changed or ignored.
    seed, parameters
        Those of the generator; None and empty for other scenes.
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
        """The length of a step [s]."""
        return 1 / self.steps_per_second

    def counts(self) -> dict[str, int]:
        """Return the number of bodies of each kind that occurs; rockets are capsules."""
        found = Counter(self.bodies.kind.tolist())
        return {word: found[number] for number, word in enumerate(KIND_WORDS) if found[number]}

    def world(self, **options: Any) -> World:
        """Return a new world with these bodies; ``options`` of `choque.World` take precedence over `settings`.

        With another ``broad`` than the scene's, its options of the broad phase are ignored, and so are its bounds
        unless another package registered them; with another ``response``, the options of the response.
        """
        from choque.world import World
        from choque.world.bounds import kept_bounds

        settings = dict(self.settings)
        if options.get("broad", settings.get("broad")) != settings.get("broad"):
            settings = {key: value for key, value in settings.items() if key in WORLD_SETTINGS}
            settings["bounds"] = kept_bounds(settings.get("bounds"))
        if options.get("response", settings.get("response")) != settings.get("response"):
            settings.pop("response_options", None)
        world = World(**{**settings, **options})
        rows = [np.flatnonzero(self.bodies.kind == kind) for kind in range(len(KIND_WORDS))]
        for kind, members in enumerate(rows):
            if len(members):
                add_to(world, kind, self.bodies.take(members))
        # Bodies were added kind by kind, because a call adds thousands of one kind; now each moves to its own row.
        place = np.concatenate(rows)
        if (np.diff(place) != 1).any():
            for name, column in world.bodies.columns().items():
                if name != "ids":
                    column[place] = column.copy()
        return world

    def overlapping(self) -> Pairs:
        """Return the pairs of bodies that overlap at the start, except pairs of static bodies: (m, 2), sorted.

        A world accepts them. Whether they separate depends on its response: shape matching parts them, impulses act on
        pairs that approach each other and leave overlapping bodies at rest where they are.
        """
        world = self.world(broad="auto", bounds=None, narrow="exact", response="impulse")
        world.step(self.dt)  # a step detects contacts before it moves anything
        return world.contacts().pairs


def steps_per_second(value: object) -> int:
    """Return a valid number of steps per second."""
    return check.whole_number(value, "steps_per_second", 1, MAX_STEPS_PER_SECOND)


def body_generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `BodyRequest` and keyword-only parameters, all with defaults, under ``name``.

    It returns as many bodies that are not static as requested, and any number of static ones.

    Example
    -------
    >>> @body_generator("row")
    ... def row(request: BodyRequest, *, gap: float = 3.0) -> BodyColumns: ...
    """
    return GENERATORS.register(name)


def bodies(name: str, n: int, *, seed: int = 0, **parameters: object) -> BodyScene:
    """Return a generated scene with ``n`` bodies; ``parameters`` are its own, see `choque.scene.parameters`.

    Floors, walls and other static bodies are added to ``n``. The same arguments give the same scene, bit for bit, with
    the same version of NumPy's generators.
    """
    build, completed = GENERATORS.find(name), GENERATORS.completed(name, parameters)
    count = check.whole_number(n, "n", 0, MAX_GENERATED)
    request = BodyRequest(name, count, check.whole_number(seed, "seed", 0))
    made = build(request, **parameters)
    return BodyScene(
        name=name,
        bodies=made,
        camera=Camera.around(made),
        settings=_settings_for(made),
        summary=GENERATORS.summary(name),
        seed=request.seed,
        parameters={"n": count, **completed},
    )


def _settings_for(made: BodyColumns) -> dict[str, Any]:
    """Return the settings of a generated scene: only what falls needs to rest; heavy bodies need stiff contacts."""
    moving = ~made.static & (made.kind != TILE)
    falls = bool((made.acceleration[moving] != 0.0).any()) and not moving.all()
    mass = made.mass[moving]
    stiff = {"response_options": {"substeps": 16}} if falls and mass.max() > 20 * mass.min() else {}
    return {"response": "soft-step" if falls else "impulse", **stiff}
