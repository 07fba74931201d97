"""Worlds by the rules of the Fingsics engine, made of parts registered through public entry points.

The engine is a set of registered parts under the name ``fingsics``: contact rules (`contact_rules`), a response with
its own integration (`response`), a maker of bounds (`boxes`), and three broad phases (`METHODS`). All compute in
float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from choque.scene import BodyScene
from choque.world import World

NAME = "fingsics"

MAX_SPEED, MAX_SPIN = 50.0, 10.0
"""The engine's limits [unit/s, rad/s]."""

METHODS = {"brute-obb": "fingsics-brute-obb", "sap-incremental": "fingsics-sap", "sap-obb": "fingsics-sap-obb"}
"""The broad phases in which the engine departs from an exact answer, by the exact method that they replace."""

FORMER = "legacy"
"""The setting that stood for all of these rules in earlier versions, and the name of its parts."""

_KEPT = ("broad", "bounds", "max_speed", "max_spin")
"""Settings of a scene that stay in force under the rules of the engine."""


def world(scene: BodyScene | None = None, *, broad: str | None = None, **options: Any) -> World:
    """Return a world by the rules of the Fingsics engine; with a ``scene``, its bodies are in it.

    Parameters
    ----------
    scene
        The bodies to start with; its settings of limits, bounds and broad phase stay in force.
    broad
        The broad phase; a method in `METHODS` is replaced by the engine's own. None for that of the scene, or
        ``"auto"``.
    options
        Further options of `choque.World`: ``bounds``, ``max_speed`` and ``max_spin`` other than the engine's,
        ``threads``.

    Examples
    --------
    >>> import choque
    >>> from choque.theses import fingsics
    >>> scene = choque.scene.find_bodies("mixed-box:31")
    >>> world = fingsics.world(scene, broad="sap-obb")
    >>> world.settings.broad, world.bodies.dtype.name
    ('fingsics-sap-obb', 'float32')
    """
    given = {} if scene is None else {name: value for name, value in scene.settings.items() if name in _KEPT}
    if broad is not None:
        given["broad"] = broad
    arguments = settings({**given, **options})
    return World(**arguments) if scene is None else scene.world(**arguments)


def settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `choque.World` for the rules of the engine; limits and bounds that are ``given`` stay."""
    kept = {name: value for name, value in given.items() if value is not None}
    if "broad" in kept:
        kept["broad"] = METHODS.get(kept["broad"], kept["broad"])
    if kept.get("bounds") == FORMER:
        kept["bounds"] = NAME
    fixed = {"narrow": NAME, "response": NAME, "dtype": "float32"}
    return {"bounds": NAME, "max_speed": MAX_SPEED, "max_spin": MAX_SPIN, **kept, **fixed}


def current_settings(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a world in the present words, where they say ``legacy`` as earlier versions did.

    The response and the integrator were two settings. Without the engine's integrator, the response is the one that
    only has the engine's impulses.
    """
    current = dict(written)
    is_engine = bool(current.pop(FORMER, False))
    integrator = current.pop("integrator", FORMER if is_engine else "exact")
    if current.get("narrow") == FORMER:
        current["narrow"] = NAME
    if current.get("response") == FORMER:
        current["response"] = NAME if integrator == FORMER else f"{NAME}-impulse"
    if current.get("bounds") == FORMER:
        current["bounds"] = NAME
    return settings(current) if is_engine else current
