"""The rules of a world, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, Self

import numpy as np

from choque import broad
from choque._core import threads
from choque.bounds import Boxes
from choque.broad.device import on_device
from choque.dynamics.response import RESPONSES
from choque.errors import InvalidInput, UnknownName
from choque.narrow.rules import RULES
from choque.world.bounds import LEGACY, find_bounds
from choque.world.former import current_settings

DTYPES = ("float32", "float64")

LEGACY_SPEED = 50.0
LEGACY_SPIN = 10.0


def float_name(dtype: object) -> str:
    """The name of a type of numbers: ``"float32"`` of ``numpy.float32`` too."""
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        return str(np.dtype(dtype).name)
    return str(dtype)


@dataclass(frozen=True)
class Settings:
    """Which method does what in a world; see `choque.World` for what each means."""

    broad: str = "auto"
    bounds: str | None = None
    narrow: str = "exact"
    response: str = "impulse"
    dtype: str = "float64"
    threads: int | None = None
    device: str | None = None
    max_speed: float | None = None
    max_spin: float | None = None
    legacy: bool = False
    broad_options: dict[str, Any] = field(default_factory=dict)

    def checked(self) -> Self:
        """The same settings, once each is known to be right; `InvalidInput` names what is unknown or out of range."""
        if self.dtype not in DTYPES:
            raise UnknownName("float type", str(self.dtype), DTYPES)
        threads.resolve_count(self.threads, 0)
        for name in ("max_speed", "max_spin"):
            limit = getattr(self, name)
            if limit is None:
                continue
            if isinstance(limit, bool) or not isinstance(limit, Real) or not 0 < float(limit) < math.inf:
                raise InvalidInput(f"{name} is {limit!r}; it must be a number greater than 0, or None for no limit.")
        find_bounds(self.bounds, self.broad)
        RULES.find(self.narrow)
        RESPONSES.find(self.response)
        # On no bodies at all: a method says at once which of its options it does not know.
        broad.create(self.broad, Boxes(np.empty((0, 3)), np.empty((0, 3))), **self.method_options())
        return self

    @classmethod
    def from_file(cls, stored: Mapping[str, Any]) -> Self:
        """Return the settings that a saved world holds."""
        return cls(**current_settings(stored))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `choque.World` that give these settings."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**own.pop("broad_options"), **own}

    def on_device(self) -> Self:
        """The same settings, with ``"auto"`` as the method that the device has kernels for, if there is one."""
        if self.device is None or self.broad == "sap-kdop":
            return self
        method, options = on_device(self.device, self.broad, {})
        return replace(self, broad=method, device=options.get("device"))

    def method_options(self) -> dict[str, Any]:
        """The options of the broad phase."""
        options = {"threads": self.threads, **self.broad_options}
        return options if self.device is None else {"device": self.device, **options}

    def as_legacy(self) -> Self:
        """The rules of the Fingsics engine in every part; limits and bounds that are given stay."""
        return replace(
            self,
            legacy=True,
            narrow="fingsics",
            response="fingsics",
            bounds=LEGACY if self.bounds is None else self.bounds,
            dtype="float32",
            max_speed=LEGACY_SPEED if self.max_speed is None else self.max_speed,
            max_spin=LEGACY_SPIN if self.max_spin is None else self.max_spin,
        )
