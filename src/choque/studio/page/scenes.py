"""Entries of the studio for scenes of bodies: built-in scenes, files, and generators with their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from choque import scene
from choque.errors import InvalidInput
from choque.scene import body_scene
from choque.scene.files import body_suffixes, is_generator
from choque.studio.page.entries import Entry
from choque.studio.page.world import WorldView


def _open(things: Sequence[str], parameters: Mapping[str, Any]) -> WorldView:
    _one(things)
    return WorldView(scene.find_bodies(things[0], **parameters))


def _generator_parameters(name: str) -> dict[str, object]:
    return {"n": body_scene.GENERATORS.usual_count(name), "seed": 0, **scene.parameters(name)}


@cache
def _about(name: str) -> str:
    """Return the description of a scene, for which its file is read once."""
    return scene.describe(name)


def _described(names: Sequence[str]) -> dict[str, str]:
    return {name: _about(name) for name in names}


def _one(things: Sequence[str]) -> None:
    if len(things) != 1:
        raise InvalidInput(
            f"{len(things)} scenes were given, {', '.join(things)}; the studio shows one world at a time."
        )


SCENES = Entry(
    title="Built-in scenes",
    about="Small scenes of bodies, part of Choque.",
    things=lambda: _described(scene.names("built-in")),
    open=_open,
    suffixes=body_suffixes(),
    preview=scene.find_bodies,
)
GENERATORS = Entry(
    title="Generators",
    about="Scenes of any number of bodies, from a seed.",
    things=lambda: _described(scene.names("bodies")),
    open=_open,
    parameters=_generator_parameters,
    claims=is_generator,
)
