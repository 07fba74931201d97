"""Recording a world while it runs."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from choque import __version__
from choque.errors import InvalidInput
from choque.record._cast import Cast
from choque.record._writer import Writer
from choque.scene.body_scene import Camera
from choque.scene.checks import positive
from choque.world import StepReport, World
from choque.world._saving import write_world

_SLOWER = 3
"""Slow motion divides the step by this."""


class Recorder:
    """Writes every frame of a world to a file: poses in float32, and the hash of the whole state.

    It is an observer: put it into ``run.observers``, or call `record` after each step. The file is written on while
    the world runs, packed by a thread of its own, and holds the whole initial state, so that `choque.record.verify` can
    repeat the run. When bodies come or go, methods are switched or the run is reset, a new segment begins with the
    whole state of that frame. Closing it makes the recording complete; use it in a ``with`` block.

    Parameters
    ----------
    path
        A new file, by habit ending in ``.choque``; one that is there already is refused.
    world
        The world, whose present state becomes frame 0.
    dt
        Seconds of a step.
    scene, seed, camera
        Where the world comes from and how it is looked at, for the header.

    Examples
    --------
    >>> with choque.record.Recorder("drop.choque", world) as recorder:      # doctest: +SKIP
    ...     for _ in range(600):
    ...         world.step()
    ...         recorder.record()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        world: World,
        *,
        dt: float = 1 / 60,
        scene: str = "",
        seed: int | None = None,
        camera: Camera | None = None,
    ) -> None:
        self.dt = positive("dt", dt)
        self._world = world
        self._writer = Writer(path, _header(world, self.dt, scene, seed, camera))
        try:
            self._begin()
            self._add(step=0.0)
        except BaseException:
            self._writer.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._writer.path

    @property
    def frame_count(self) -> int:
        """How many frames were recorded, frame 0 included."""
        return self._writer.frame_count

    def record(self, dt: float | None = None) -> None:
        """Add the present state; ``dt`` is the length of the step that led to it, found from the time if not given."""
        world = self._world
        same_run = world.settings is self._settings and world.frame == self._frame + 1
        if not same_run or not np.array_equal(world.bodies.ids, self._ids):
            self._begin()
            self._add(step=0.0)
        else:
            self._add(step=self._step_length() if dt is None else positive("dt", dt))

    def __call__(self, world: World, report: StepReport) -> None:  # noqa: ARG002
        """Observe a run: record the frame; a run that was reset has another world."""
        if world is not self._world:
            self._world, self._frame = world, -2  # a frame that none follows: a new segment begins
        self.record()

    def close(self) -> None:
        """Make the recording complete; closing twice does nothing."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        bodies = self._world.bodies
        self._writer.begin(Cast.of(bodies), _state_of(self._world))
        self._ids: NDArray[np.int32] = bodies.ids.copy()
        self._settings = self._world.settings

    def _add(self, step: float) -> None:
        world = self._world
        bodies = world.bodies
        self._writer.add(bodies.position, bodies.rotation, hash=world.hash(), time=world.time, step=step)
        self._frame, self._time = world.frame, world.time

    def _step_length(self) -> float:
        """The step that led from the time of the frame before to now, to the last bit wherever a run made it."""
        for step in (self.dt, self.dt / _SLOWER):
            if self._time + step == self._world.time:
                return step
        length = self._world.time - self._time
        if length <= 0:
            raise InvalidInput("A frame was recorded twice: the world has made no step since the frame before.")
        return length


def _header(world: World, dt: float, scene: str, seed: int | None, camera: Camera | None) -> dict[str, Any]:
    settings = asdict(world.settings)
    return {
        "scene": scene,
        "seed": seed,
        "dt": dt,
        "camera": None if camera is None else [camera.radius, camera.pitch, camera.yaw],
        "world": {name: value if _is_plain(value) else repr(value) for name, value in settings.items()},
        "versions": versions(),
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str]:
    """What the hashes of a recording depend on: the versions of the libraries, and the kind of processor."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"choque": __version__, "python": platform.python_version(), "numpy": np.__version__}
    for library in ("numba", "llvmlite"):
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return {**found, "processor": platform.machine()}


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    return value is None or isinstance(value, str | bool | int | float)


def _state_of(world: World) -> bytes:
    """The bytes that `World.save` writes."""
    state = BytesIO()
    write_world(state, world)
    return state.getvalue()
