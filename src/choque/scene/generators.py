"""Generators of scenes by name: functions of a request and of keyword-only parameters, all with defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from choque._core.registry import Registry
from choque.errors import InvalidInput

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_COUNT = 1_000
"""How many boxes or bodies a generator makes if no number is given, unless it was marked by `usually`."""


def usually(count: int) -> Callable[[Function], Function]:
    """Mark a generator whose scene is best seen with ``count`` bodies, the number where none is given."""

    def mark(function: Function) -> Function:
        function.__dict__["usual_count"] = count
        return function

    return mark


class Generators(Registry[Function]):
    """A registry of generators, which also describes their parameters."""

    def parameters(self, name: str) -> dict[str, object]:
        """Return the parameters of ``name`` with their defaults."""
        signature = inspect.signature(self.find(name))
        return {key: entry.default for key, entry in signature.parameters.items() if entry.kind is entry.KEYWORD_ONLY}

    def usual_count(self, name: str) -> int:
        """Return how many ``name`` makes where no number is given."""
        return int(getattr(self.find(name), "usual_count", DEFAULT_COUNT))

    def completed(self, name: str, given: Mapping[str, object]) -> dict[str, object]:
        """Return all parameters of ``name``: those ``given``, and the defaults of the others."""
        allowed = self.parameters(name)
        for key in given:
            if key not in allowed:
                listed = ", ".join(f"{known}={default!r}" for known, default in allowed.items()) or "none"
                raise InvalidInput(f"The {self.kind} {name!r} has no parameter {key!r}. Its parameters: {listed}.")
        return {**allowed, **given}

    def summary(self, name: str) -> str:
        """Return the first sentence of the docstring of ``name``."""
        return " ".join((inspect.getdoc(self.find(name)) or "").partition("\n\n")[0].split()).replace("``", "'")


@dataclass(frozen=True)
class Request:
    """The arguments of a generator of boxes: how many boxes of how many axes, and the seed."""

    name: str
    box_count: int
    dimension: int
    seed: int

    def random(self, stream: int = 0) -> np.random.Generator:
        """Return a random generator of this scene; its streams are independent of each other."""
        return _random(self.name, self.box_count, self.seed, stream)


@dataclass(frozen=True)
class BodyRequest:
    """The arguments of a generator of bodies: how many bodies that are not static, and the seed."""

    name: str
    body_count: int
    seed: int

    def random(self, stream: int = 0) -> np.random.Generator:
        """Return a random generator of this scene; its streams are independent of each other."""
        return _random(self.name, self.body_count, self.seed, stream)


def _random(name: str, count: int, seed: int, stream: int) -> np.random.Generator:
    # The name is part of the seed, so that two kinds of scenes with one seed do not share their positions.
    entropy = [int.from_bytes(name.encode()), count, seed]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=(stream,))))
