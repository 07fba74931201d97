"""What the chooser and the command line know of motion in the plane: kinetic scenes by name, and model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from choque.errors import InvalidInput
from choque.studio.motion.view import MotionView
from choque.studio.page.entries import Entry
from choque.theses.kinetic import Model, scenes

SUFFIXES = (".txt",)
"""Of model files: that of the thesis has no suffix of its own."""


def open_motion(things: Sequence[str], parameters: Mapping[str, Any]) -> MotionView:
    """The view of a kinetic scene by its name, or of a model file."""
    if len(things) != 1:
        raise InvalidInput(f"{len(things)} things were given; the motion view shows one scene or model file.")
    return MotionView(find_model(things[0], parameters))


def find_model(thing: str, parameters: Mapping[str, Any]) -> Model:
    """The kinetic scene called ``thing``, or the model in the file of that name."""
    if scenes.is_known(thing) or not Path(thing).exists():
        return scenes.make(thing, **parameters)
    if parameters:
        raise InvalidInput(f"{thing} is a model file, which takes no parameters.")
    return Model.read(thing)


def _parameters(thing: str) -> Mapping[str, object]:
    return scenes.parameters(thing) if scenes.is_known(thing) else {}


KINETIC = Entry(
    title="Motion in the plane",
    about="Polygons that move, from event to event: the sorted lists, their certificates and the queue.",
    things=lambda: {name: scenes.summary(name) for name in scenes.SCENES},
    open=open_motion,
    parameters=_parameters,
    suffixes=SUFFIXES,
    claims=scenes.ALIASES.__contains__,
    study=True,
)
