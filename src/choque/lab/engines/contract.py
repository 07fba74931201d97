"""The interface of an engine: another library that runs a scene of bodies on one thread without friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, require
from choque.scene import BodyScene
from choque.scene.columns import CAPSULE, KIND_WORDS, SPHERE, TILE

TAKEN = (SPHERE, CAPSULE, TILE)
"""The kinds of bodies that an engine is given; a tile becomes a wall."""


class Engine(ABC):
    """A world of another library, made from a scene and stepped; close it after use, or use it in a ``with`` block.

    Friction, gravity, damping and sleeping are off, and the restitution is that of the scene. The stages of a step are
    not timed separately.

    Parameters
    ----------
    scene
        Spheres and capsules that move, and static tiles.
    """

    name: ClassVar[str]
    """The engine's name in tables and on the command line."""
    module: ClassVar[str]
    """The module that is imported."""
    distribution: ClassVar[str]
    """What pip installs, for the record of versions."""

    def __init__(self, scene: BodyScene) -> None:
        for row, kind in enumerate(scene.bodies.kind.tolist()):
            if kind not in TAKEN:
                raise InvalidInput(
                    f"Body {row} of the scene {scene.name!r} is a {KIND_WORDS[kind]}; {self.name} is given spheres, "
                    "capsules and tiles only."
                )
        if scene.bodies.acceleration.any():
            raise InvalidInput(f"The scene {scene.name!r} has bodies with accelerations; engines run without gravity.")

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether the library can be found, without importing it."""
        return find_spec(cls.module) is not None

    @classmethod
    def library(cls) -> ModuleType:
        """Import the library, or say how to get it."""
        return require(cls.module, extra="peers", purpose=f"to compare with {cls.name}")

    @classmethod
    def version(cls) -> str:
        """Return the library and its version, for reports."""
        return f"{cls.distribution} {version(cls.distribution)}"

    @abstractmethod
    def step(self) -> None:
        """Advance by one step of the scene."""

    @abstractmethod
    def positions(self) -> NDArray[np.float64]:
        """Return the positions of the bodies that move, (n, 3), in the order of the scene."""

    @abstractmethod
    def velocities(self) -> NDArray[np.float64]:
        """Return their velocities, (n, 3)."""

    @abstractmethod
    def contact_count(self) -> int:
        """Return the number of contact points in the latest step, by the engine's own rules."""

    @abstractmethod
    def close(self) -> None:
        """Release the engine's world; closing twice does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
