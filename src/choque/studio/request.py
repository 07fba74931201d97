"""What is drawn of a thing, and how: what pictures and films have in common, and what each has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from choque.errors import InvalidInput
from choque.studio.film import Look
from choque.studio.volumes.look import VolumeLook

KINDS = {
    "bodies": "a scene of bodies",
    "boxes": "a scene of boxes",
    "kinetic": "a scene of moving polygons",
    "recording": "a recording",
    "volumes": "a pair of volumes",
}
"""What pictures and films can be of."""

OF_BODIES = ("bodies", "recording")
MEANT_FOR: dict[str, tuple[str, ...]] = {
    "camera": (*OF_BODIES, "volumes"),
    "fit": OF_BODIES,
    "boxes": OF_BODIES,
    "oriented_boxes": OF_BODIES,
    "axes": OF_BODIES,
    "volumes": ("volumes",),
    "time": ("kinetic",),
}
"""For which kinds a wish makes sense, where it does not for all."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What pictures and films have in common.

    Attributes
    ----------
    parameters
        Of a generator or a kinetic scene; of volumes ``voxels_per_unit``, ``threshold``, ``shift`` and ``turn``, an
        axis as long as the angle in degrees.
    look
        Size and camera; and how bodies are drawn.
    volumes
        What is drawn of two volumes.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    look: Look = field(default_factory=Look)
    volumes: VolumeLook = field(default_factory=VolumeLook)

    def refuse_parameters(self, thing: str) -> None:
        """Refuse parameters for something that has none."""
        if self.parameters:
            raise InvalidInput(f"{thing} takes no parameters, and {', '.join(self.parameters)} was given.")

    def refuse_what_is_not_for(self, kind: str, thing: str) -> None:
        """Refuse wishes that mean nothing for a ``kind`` of `KINDS`, rather than passing over them."""
        usual, wishes = type(self)(), {**vars(self), **vars(self.look)}
        usually = {**vars(usual), **vars(usual.look)}
        for name, kinds in MEANT_FOR.items():
            if kind not in kinds and wishes.get(name) != usually.get(name):
                word = "what to show of volumes" if name == "volumes" else name.replace("_", " ")
                meant = " or ".join(KINDS[each] for each in kinds)
                raise InvalidInput(f"{thing} is {KINDS[kind]}; {word} was given, which is for {meant}.")


@dataclass(frozen=True, kw_only=True)
class PictureRequest(Request):
    """A picture.

    Attributes
    ----------
    frame
        Of a recording, of a scene of boxes, or after so many steps of a scene of bodies.
    time
        Of moving polygons; None for the time of ``frame``.
    """

    frame: int = 0
    time: float | None = None


@dataclass(frozen=True, kw_only=True)
class FilmRequest(Request):
    """A film; of volumes there is one more parameter, ``to``, the place that the second goes to.

    Attributes
    ----------
    seconds
        How long the film is; None for all of a recording or of an interval, and for a few seconds elsewhere.
    rate, speed
        Frames a second, and how fast time goes by, as in `choque.studio.film.make_film`.
    """

    seconds: float | None = None
    rate: int | None = None
    speed: float = 1.0
