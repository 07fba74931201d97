"""A scene of bodies as a recording that is simulated while it is looked at."""

from __future__ import annotations

import numpy as np

from choque.errors import InvalidInput
from choque.record import BodyTable, Poses
from choque.scene import BodyScene


class Simulated:
    """Frames 0 to ``steps`` of a scene, as `choque.record.Frames`: each when it is asked for, none that has gone by."""

    def __init__(self, scene: BodyScene, steps: int) -> None:
        self._dt, self._world = scene.dt, scene.world()
        self._cast = BodyTable.of(self._world.bodies)
        self.name, self.camera = scene.name, scene.camera
        self.frames_per_second = float(scene.steps_per_second)
        self.frame_count = steps + 1

    def bodies(self, index: int) -> BodyTable:  # noqa: ARG002
        """The bodies, which stay the same."""
        return self._cast

    def frame(self, index: int) -> Poses:
        """Where they are in frame ``index``, which cannot be one that has gone by."""
        world = self._world
        if index < world.frame:
            raise InvalidInput(f"Frame {index} has gone by; the world is in frame {world.frame}.")
        while world.frame < index:
            world.step(self._dt)
        return Poses(world.bodies.position.astype(np.float32), world.bodies.rotation.astype(np.float32))
