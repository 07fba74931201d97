"""Settings of worlds written before the rules of the Fingsics engine had its name: they say ``legacy``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMER, NAME = "legacy", "fingsics"


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a world in the present words.

    The response and the integrator were two settings. Without the engine's integrator, the response is the one that
    only has the engine's impulses.
    """
    current = dict(settings)
    integrator = current.pop("integrator", FORMER if current.get(FORMER) else "exact")
    if current.get("narrow") == FORMER:
        current["narrow"] = NAME
    if current.get("response") == FORMER:
        current["response"] = NAME if integrator == FORMER else f"{NAME}-impulse"
    return current
