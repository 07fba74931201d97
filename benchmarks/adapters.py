"""The calls of `before_after.py` and `same_answers.py` that are spelled differently in different versions of Choque.

Each adapter looks at what exists and calls that. The oldest version served is commit bd14761.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import choque

SPHERE, CAPSULE, TILE, CONVEX, PLANE = range(5)
"""The kinds of shapes; the numbers are the same in all versions."""


def first_that_exists(*attempts: Callable[[], Any]) -> Any:
    """Return the result of the first attempt whose names and parameters exist."""
    problems: list[Exception] = []
    for attempt in attempts:
        try:
            return attempt()
        except (AttributeError, ImportError, TypeError) as error:
            problems.append(error)
    raise ExceptionGroup("no spelling of this call exists here", problems)


def first_that_is_known(*words: str) -> str:
    """Return the first word that names a built-in scene here."""
    names = choque.scene.names("built-in") if hasattr(choque.scene, "read") else choque.scene.built_in_names()
    return next(word for word in words if word in names)


def value_of(owner: Any, *names: str) -> Any:
    """Return the first of ``names`` that ``owner`` has, whether it is a property or a method without parameters."""
    for name in names:
        if hasattr(owner, name):
            value = getattr(owner, name)
            return value() if callable(value) else value
    raise AttributeError(f"{type(owner).__name__} has none of {names}")


# Boxes


def broad_phase(method: str, lower: Any, upper: Any, **options: Any) -> Any:
    """Return a broad phase over boxes."""
    return choque.broad.create(method, choque.bounds.Boxes(lower, upper), **options)


def box_scene(name: str, count: int, **options: Any) -> Any:
    """Return a generated scene of boxes."""
    return first_that_exists(
        lambda: choque.scene.generate(name, count, **options), lambda: choque.scene.boxes(name, count, **options)
    )


def changes(broad: Any) -> tuple[Any, Any]:
    """Return the pairs that began and ended with the last change."""
    return value_of(broad, "began"), value_of(broad, "ended")


# Bodies


def body_scene(name: str, count: int, **options: Any) -> Any:
    """Return a generated scene of bodies."""
    return choque.scene.bodies(name, count, **options)


def named_scene(word: str) -> Any:
    """Return a built-in scene or a generated one, by its word in the shell, also if it was renamed."""
    if word == "elasticity":
        word = first_that_is_known("restitution", word)
    return choque.scene.find_bodies(word)


def fingsics_world(scene: Any, **options: Any) -> Any:
    """Return a world of ``scene`` by the rules of the Fingsics engine."""

    def by_thesis() -> Any:
        return importlib.import_module("choque.theses.fingsics").world(scene, **options)

    return first_that_exists(by_thesis, lambda: scene.world(legacy=True, **options))


def tower(count: int) -> Any:
    """Return the tower of convex bodies of the k-DOP thesis."""
    return first_that_exists(
        lambda: importlib.import_module("choque.theses.kdop.tower").Tower(count), lambda: choque.scene.Tower(count)
    )


def record(world: Any, path: Path, frames: int, dt: float) -> None:
    """Record ``frames`` frames of a world."""
    with choque.record.Recorder(path, world, dt=dt) as recorder:
        for _ in range(frames - 1):
            world.step(dt)
            recorder.record()


def open_recording(path: Path) -> Any:
    """Return an open recording."""
    return choque.record.Recording(path)


# Exact contacts


def convex_shapes(count: int, seed: int = 0, *, spread: float = 1.0) -> Any:
    """Return solids of 24 vertices in random poses, about three contacts each at a ``spread`` of 1."""
    random = np.random.default_rng(seed)
    hulls = choque.narrow.Hulls.solids("rhombicuboctahedron")
    radius = float(hulls.radius[0])
    side = spread * radius * (count * 4.0) ** (1 / 3)
    return choque.narrow.Shapes(
        kind=np.full(count, CONVEX, np.int8),
        position=random.random((count, 3)) * side,
        rotation=random_rotations(random, count),
        size=np.ones((count, 3)),
        hull=np.zeros(count, np.int32),
        hulls=hulls,
    )


def round_shapes(count: int, seed: int = 0) -> Any:
    """Return spheres and capsules in random poses, with a few contacts each."""
    random = np.random.default_rng(seed)
    kind = np.where(random.random(count) < 0.5, SPHERE, CAPSULE).astype(np.int8)
    size = np.zeros((count, 3))
    size[:, 0] = 0.5
    size[:, 1] = np.where(kind == CAPSULE, 1.0, 0.0)
    return choque.narrow.Shapes(
        kind=kind,
        position=random.random((count, 3)) * count ** (1 / 3) * 1.2,
        rotation=random_rotations(random, count),
        size=size,
    )


def posed_hulls(count: int, seed: int = 0) -> tuple[Any, Any]:
    """Return two batches of a solid of 24 vertices; seven in ten pairs overlap."""
    random = np.random.default_rng(seed)
    hulls = choque.narrow.Hulls.solids("rhombicuboctahedron")
    direction = random.normal(size=(count, 3))
    reach = 2 * hulls.radius[0] * random.random((count, 1)) ** (1 / 3)
    place = reach * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    turns = random_rotations(random, 2 * count).reshape(2, count, 3, 3)
    return hulls.at(np.zeros((count, 3)), turns[0]), hulls.at(place, turns[1])


def random_rotations(random: np.random.Generator, count: int) -> np.ndarray:
    """Return (count, 3, 3) rotations, uniformly distributed."""
    quaternion = random.normal(size=(count, 4))
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.ascontiguousarray(np.stack([np.stack(row, axis=-1) for row in rows], axis=1))


# Motion


def sweep(lower: Any, upper: Any, velocity: Any, **options: Any) -> Any:
    """Return a kinetic sweep."""
    return choque.kinetic.Sweep(lower, upper, velocity=velocity, **options)


def advance(kinetic: Any, until: float) -> Any:
    """Advance a sweep to ``until`` and return its events as one object of arrays."""
    return getattr(kinetic, "advance_arrays", kinetic.advance)(until)


def event_arrays(events: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the times, the flags of what began, and the pairs of events."""
    time, pairs = value_of(events, "times", "time"), value_of(events, "pairs", "pair")
    began = value_of(events, "began", "is_began", "kinds", "kind")
    if began.dtype.kind in "US":
        began = began == "began"
    return np.asarray(time), np.asarray(began, np.bool_), np.asarray(pairs)


def billiards(position: Any, velocity: Any, radius: Any, *, lower: Any, upper: Any) -> Any:
    """Return hard spheres in a box."""

    def home() -> Any:
        from choque.theses.kinetic import Billiards

        return Billiards

    made = first_that_exists(home, lambda: choque.kinetic.Billiards)
    return first_that_exists(
        lambda: made(position, velocity, radius, lower=lower, upper=upper),
        lambda: made(position, velocity=velocity, radius=radius, lower=lower, upper=upper),
    )


def collision_count(advanced: Any) -> int:
    """Return how many collisions an advance of billiards made; older versions return the number itself."""
    return advanced if isinstance(advanced, int) else len(advanced)


# Volumes


def phantom(name: str, size: int) -> Any:
    """Return a volume made by name."""
    phantoms = first_that_exists(
        *(partial(importlib.import_module, f"choque.{room}.phantoms") for room in ("lab", "volumes"))
    )
    return first_that_exists(lambda: phantoms.make(name, size), lambda: choque.volumes.phantom(name, size))


def collides(one: Any, other: Any, *, closed: bool) -> bool:
    """Return whether two volumes collide."""
    return first_that_exists(
        lambda: one.collides(other, closed=closed), lambda: one.collides(other, contact="closed" if closed else "open")
    )


# Areas of interest


def areas(position: Any, radius: Any, **options: Any) -> Any:
    """Return areas of interest around bodies."""
    return choque.interest.Areas(position, radius=radius, **options)
