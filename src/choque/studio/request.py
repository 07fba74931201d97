"""Options of pictures and films."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from choque.errors import InvalidInput
from choque.studio.film import Look
from choque.studio.volumes.look import VolumeLook

KINDS = {
    "bodies": "a scene of bodies",
    "boxes": "a scene of boxes",
    "crowd": "a crowd",
    "kinetic": "a scene of moving polygons",
    "meshes": "a set of meshes",
    "neighbors": "a set of points and their neighbours",
    "recording": "a recording",
    "volumes": "a pair of volumes",
}
"""Kinds of things that can be drawn."""

OF_BODIES = ("bodies", "recording")
APPLIES_TO: dict[str, tuple[str, ...]] = {
    "camera": (*OF_BODIES, "volumes", "crowd", "neighbors"),
    "fit": OF_BODIES,
    "follow": OF_BODIES,
    "orbit": OF_BODIES,
    "quiet": OF_BODIES,
    "boxes": OF_BODIES,
    "oriented_boxes": OF_BODIES,
    "contacts": OF_BODIES,
    "pairs": OF_BODIES,
    "tree": OF_BODIES,
    "since": OF_BODIES,
    "axes": OF_BODIES,
    "shot": ("bodies",),
    "volumes": ("volumes",),
    "time": ("kinetic",),
}
"""The kinds that an option applies to, if not all."""

OF_PICTURES: dict[str, tuple[str, ...]] = {
    "caption": OF_BODIES,
    "frame": tuple(kind for kind in KINDS if kind not in ("meshes", "volumes")),
}
"""The same for options of pictures only: films of all kinds have captions."""


@dataclass(frozen=True, kw_only=True)
class DrawingRequest:
    """Options that pictures and films share.

    Attributes
    ----------
    parameters
        Parameters of a generator or a kinetic scene; for volumes ``voxels_per_unit``, ``threshold``, ``shift`` and
        ``turn``, a rotation vector [degrees].
    look
        Size, camera, and the look of bodies.
    volumes
        The look of volumes.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    look: Look = field(default_factory=Look)
    volumes: VolumeLook = field(default_factory=VolumeLook)
    applies_to: ClassVar[Mapping[str, tuple[str, ...]]] = APPLIES_TO

    def refuse_parameters(self, thing: str) -> None:
        """Raise an error if parameters were given."""
        if self.parameters:
            raise InvalidInput(f"{thing} takes no parameters; {', '.join(self.parameters)} was given.")

    def refuse_others_than(self, kind: str, thing: str) -> None:
        """Raise an error for options that do not apply to a ``kind`` of `KINDS`, instead of ignoring them."""
        default, given = type(self)(), {**vars(self), **vars(self.look)}
        defaults = {**vars(default), **vars(default.look)}
        for name, kinds in self.applies_to.items():
            if kind not in kinds and given.get(name) != defaults.get(name):
                word = "what to show of volumes" if name == "volumes" else name.replace("_", " ")
                allowed = " or ".join(KINDS[each] for each in kinds)
                raise InvalidInput(f"{thing} is {KINDS[kind]}; {word} was given, which applies to {allowed} only.")


@dataclass(frozen=True, kw_only=True)
class PictureRequest(DrawingRequest):
    """Options of a picture."""

    frame: int = 0
    """Frame of a recording or of a scene of boxes; for a scene of bodies, the number of steps."""
    time: float | None = None
    """Time of moving polygons; None for that of ``frame``."""
    applies_to: ClassVar[Mapping[str, tuple[str, ...]]] = APPLIES_TO | OF_PICTURES


@dataclass(frozen=True, kw_only=True)
class FilmRequest(DrawingRequest):
    """Options of a film; volumes have one more parameter, ``to``, the final position of the second one."""

    seconds: float | None = None
    """Length of the film; None for the whole recording or time interval, otherwise a few seconds."""
    frames_per_second: int | None = None
    speed: float = 1.0
    """As in `choque.studio.film.make_film`."""
    shot: float | None = None
    """When in the film a heavy ball is shot at the bodies of a scene [s]; None for no ball."""

    @property
    def options(self) -> dict[str, Any]:
        """The options of `choque.studio.film.make_film`."""
        return {"frames_per_second": self.frames_per_second, "speed": self.speed, "look": self.look}
