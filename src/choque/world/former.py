"""Settings of worlds in the words of earlier versions, as files and command lines may still say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from choque._core.registry import Registry

FORMER_SETTINGS: Registry[Callable[[Mapping[str, Any]], dict[str, Any]]] = Registry(
    "reader of former settings", group="choque.former_settings"
)
"""How packages read settings written before they renamed something."""


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a world in the words of this version."""
    current = dict(settings)
    for name in FORMER_SETTINGS:
        current = FORMER_SETTINGS.find(name)(current)
    return current
