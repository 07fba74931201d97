"""The settings of a world, checked once, and settings in the words of earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any, Self

from choque._core import check, threads
from choque._core.registry import Registry
from choque.broad.devices import on_device
from choque.broad.index import SHARED_OPTIONS
from choque.broad.index import find as find_method
from choque.dynamics.response import create_response
from choque.errors import UnknownName
from choque.narrow.rules import RULES
from choque.world.bounds import find_bounds, kept_bounds

FORMER_SETTINGS: Registry[Callable[[Mapping[str, Any]], dict[str, Any]]] = Registry(
    "former setting", group="choque.former_settings"
)
"""Flags that are no longer settings, by name; each is a function from settings of earlier versions to present ones."""


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a world, as written by any version, in the words of this version."""
    current = dict(settings)
    for name in FORMER_SETTINGS:
        current = FORMER_SETTINGS.find(name)(current)
    return current


@dataclass(frozen=True)
class Settings:
    """The methods and limits of a world; see `choque.World`."""

    broad: str = "auto"
    bounds: str | None = None
    narrow: str = "exact"
    response: str = "soft-step"
    gravity: tuple[float, ...] = (0.0, 0.0, 0.0)
    dtype: str = "float64"
    threads: int | None = None
    device: str | None = None
    max_speed: float | None = None
    max_spin: float | None = None
    broad_options: dict[str, Any] = field(default_factory=dict)
    response_options: dict[str, Any] = field(default_factory=dict)

    def checked(self, call: Callable[..., Any] | None = None) -> Self:
        """Return the settings if all are valid; else the error suggests what an option given to ``call`` may mean."""
        check.float_type(self.dtype)
        threads.resolve_count(self.threads, 0)
        for name in ("max_speed", "max_spin"):
            if getattr(self, name) is not None:
                check.positive(getattr(self, name), name, otherwise="None for no limit")
        find_bounds(self.bounds, self.broad)
        RULES.find(self.narrow)
        create_response(self.response, **self.response_options)
        method = find_method(self.broad)
        try:
            method.with_options(self.method_options())
        except UnknownName:
            own = signature(call).parameters.keys() - {"broad_options"} if call else set()
            for name in self.broad_options:
                check.choice(name, f"argument or option of {self.broad!r}", {*own, *method.options(), *SHARED_OPTIONS})
            raise
        return self

    def changed(self, broad: str | None, bounds: str | None, narrow: str | None, broad_options: dict[str, Any]) -> Self:
        """Return the settings with what is not None in the place of what is there."""
        return replace(
            self,
            broad=self.broad if broad is None else broad,
            bounds=bounds or (self.bounds if broad is None else kept_bounds(self.bounds)),
            narrow=self.narrow if narrow is None else narrow,
            broad_options=broad_options if broad is not None else {**self.broad_options, **broad_options},
        )

    @classmethod
    def from_file(cls, stored: Mapping[str, Any]) -> Self:
        """Return the settings that a saved world holds."""
        current = current_settings(stored)
        if "gravity" in current:
            current["gravity"] = check.triple(current["gravity"], "gravity")
        return cls(**current)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `choque.World` that give these settings."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**own.pop("broad_options"), **own}

    def on_device(self) -> Self:
        """Return the settings with ``"auto"`` replaced by the method that runs on the device, if there is one."""
        if self.device is None or self.broad == "sap-kdop":
            return self
        method, options = on_device(self.device, self.broad, {})
        return replace(self, broad=method, device=options.get("device"))

    def method_options(self) -> dict[str, Any]:
        """Return the options of the broad phase."""
        options = {"threads": self.threads, **self.broad_options}
        return options if self.device is None else {"device": self.device, **options}
