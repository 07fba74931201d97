"""Scenes of bodies in the studio: those that come with the package, files, and generators with their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from choque import scene
from choque.errors import InvalidInput
from choque.scene.body_registry import body_parameters, body_summary
from choque.view.studio_entries import Entry
from choque.view.studio_world import WorldView

SUFFIXES = (".xml", ".toml")

GENERATED = 1_000
"""How many bodies a generator makes where no number is given."""


def _scenes() -> dict[str, str]:
    return {name: scene.load_bodies(name).summary for name in scene.built_in_names()}


def _open_scene(things: Sequence[str], parameters: Mapping[str, Any]) -> WorldView:
    _one(things)
    _refuse(parameters, things[0])
    return WorldView(scene.load_bodies(_built_in(things[0]) or things[0]))


def _built_in(word: str) -> str | None:
    """The built-in scene that a word names, with or without the suffix of its file; a file of that name goes first."""
    path = Path(word)
    if path.exists() or path.name != word:
        return None
    name = path.stem if path.suffix in SUFFIXES else word
    return name if name in scene.built_in_names() else None


def _generators() -> dict[str, str]:
    return {name: body_summary(name) for name in scene.body_names()}


def _open_generator(things: Sequence[str], parameters: Mapping[str, Any]) -> WorldView:
    _one(things)
    name, colon, number = things[0].partition(":")
    given = dict(parameters)
    if colon:
        if not number.isdecimal():
            raise InvalidInput(f"The scene is {things[0]!r}; write the number of bodies as in mixed-box:1000.")
        given["n"] = int(number)
    count, seed = given.pop("n", GENERATED), given.pop("seed", 0)
    return WorldView(scene.bodies(name, count, seed, **given))


def _generator_parameters(name: str) -> dict[str, object]:
    return {"n": GENERATED, "seed": 0, **body_parameters(name)}


def _one(things: Sequence[str]) -> None:
    if len(things) != 1:
        raise InvalidInput(
            f"{len(things)} scenes were given, {', '.join(things)}; the studio shows one world at a time."
        )


def _refuse(parameters: Mapping[str, Any], name: str) -> None:
    if parameters:
        known = ", ".join(scene.body_names())
        raise InvalidInput(
            f"{', '.join(parameters)} was given with {name!r}, which is no generator; these are {known}."
        )


ENTRIES = {
    "scene": Entry(
        title="Built-in scenes",
        about="Small scenes of bodies that come with the package.",
        things=_scenes,
        open=_open_scene,
        suffixes=SUFFIXES,
        claims=lambda word: _built_in(word) is not None,
        preview=scene.load_bodies,
    ),
    "generator": Entry(
        title="Generators",
        about="Scenes of as many bodies as you like, from a seed.",
        things=_generators,
        open=_open_generator,
        parameters=_generator_parameters,
        claims=lambda word: word.partition(":")[0] in scene.body_names() and not Path(word).exists(),
    ),
}
"""What the studio's chooser lists of this."""
