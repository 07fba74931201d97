"""Scenes of boxes: a name, what the scene was generated from, and frames that are computed on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from choque._core import check
from choque._core.types import I64
from choque.errors import InvalidInput
from choque.files.box_arrays import BoxArrays, check_frame
from choque.scene.generators import Generators, Request


class Motion(Protocol):
    """The boxes of a scene at each frame."""

    def frame(self, index: int) -> BoxArrays:
        """Return new arrays of bounds, each (n, d), of frame ``index``, independent of earlier calls."""


Generator: TypeAlias = Callable[..., Motion]
Registered = TypeVar("Registered", bound=Generator)

GENERATORS: Generators[Generator] = Generators("scene of boxes", group="choque.box_scenes", listed_by="choque scenes")
"""The generators by name: functions that packages name in entry points, or `generator` registers."""


@dataclass(frozen=True, eq=False)
class BoxScene:
    """Boxes over a number of frames.

    Frames are numbered from 0 and computed on request, in any order; ascending order is never slower. The same name,
    box count, seed and parameters give the same frames, bit for bit, with the same version of NumPy's generators.
    ``seed`` is None for a scene that was read from a file.
    """

    name: str
    box_count: int
    dimension: int
    frame_count: int
    dtype: np.dtype[Any]
    motion: Motion = field(repr=False)
    seed: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    def frame(self, index: int = 0) -> BoxArrays:
        """Return new arrays of the lower and upper bounds of one frame, each (n, d), C-contiguous."""
        check_frame(index, self.frame_count)
        lower, upper = self.motion.frame(int(index))
        return np.ascontiguousarray(lower, dtype=self.dtype), np.ascontiguousarray(upper, dtype=self.dtype)

    def frames(self) -> Iterator[BoxArrays]:
        """Iterate over all frames from the first."""
        return (self.frame(index) for index in range(self.frame_count))

    def moved(self, index: int) -> I64:
        """Return the rows of the boxes that differ between frame ``index`` and the frame before, ascending."""
        before, now = self.frame(max(index - 1, 0)), self.frame(index)
        return np.flatnonzero(((before[0] != now[0]) | (before[1] != now[1])).any(axis=1))


def generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `Request` and keyword-only parameters, all with defaults, under ``name``.

    It returns a `choque.scene.box_scene.Motion`: an object with a method ``frame(index)`` that returns the lower
    and upper bounds, each (n, d).

    Example
    -------
    >>> @generator("line")
    ... def line(request: Request, *, gap: float = 1.0) -> Motion: ...
    """
    return GENERATORS.register(name)


def generate(
    name: str,
    n: int,
    *,
    seed: int = 0,
    dimension: int = 3,
    frames: int = 1,
    dtype: str | type[np.floating] | np.dtype[np.floating] = "float32",
    **parameters: object,
) -> BoxScene:
    """Return the scene ``name`` with ``n`` boxes; ``parameters`` are its own, see `choque.scene.parameters`.

    A scene at rest may have any number of ``frames``, all equal.
    """
    build, completed = GENERATORS.find(name), GENERATORS.completed(name, parameters)
    if dimension not in (2, 3):
        raise InvalidInput(f"dimension is {dimension!r}; it must be 2 or 3.")
    count, start = check.whole_number(n, "n", 0), check.whole_number(seed, "seed", 0)
    frame_count, kind = check.whole_number(frames, "frames", 1), check.float_type(dtype)
    motion = build(Request(name, count, int(dimension), start), **parameters)
    return BoxScene(name, count, int(dimension), frame_count, kind, motion, seed=start, parameters=completed)
