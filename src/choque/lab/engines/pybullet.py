"""Bullet, through pybullet: no window, one thread, rigid bodies without articulations."""
# ruff: noqa: D102 (the contract documents the methods)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.lab.engines.contract import Engine
from choque.scene import BodyScene
from choque.scene.columns import SPHERE, TILE

THICKNESS = 1.0
"""Half the thickness of a wall behind the face of its tile; Bullet's boxes are solid."""

ITERATIONS = 10
"""Iterations of the solver: the default of the engine; that of its Python package is 50, which is slower."""


class Bullet(Engine):
    """Bullet's discrete world in DIRECT mode.

    Set up for speed: maximal coordinates (rigid bodies, no articulations), the engine's own 10 iterations,
    no substeps, shapes shared by bodies of one size. A tile becomes a box whose face lies where the tile is.
    """

    name = "bullet"
    module = "pybullet"
    distribution = "pybullet"

    def __init__(self, scene: BodyScene) -> None:
        super().__init__(scene)
        self._bullet: Any = self.library()
        self._client = self._bullet.connect(self._bullet.DIRECT)
        self._shapes: dict[tuple[float, ...], int] = {}
        self._call("setPhysicsEngineParameter", fixedTimeStep=scene.dt, numSubSteps=0, numSolverIterations=ITERATIONS)
        self._call("setGravity", 0.0, 0.0, 0.0)
        bodies = scene.bodies
        rotations = quaternions(bodies.rotation)
        middle = bodies.position[bodies.kind != TILE].mean(axis=0) if (bodies.kind != TILE).any() else np.zeros(3)
        self._moving: list[int] = []
        for row, kind in enumerate(bodies.kind.tolist()):
            position = bodies.position[row]
            if kind == TILE:
                position = position + _outward(bodies.rotation[row][:, 1], position - middle) * THICKNESS
            still = bool(bodies.static[row])
            number = self._call(
                "createMultiBody",
                baseMass=0.0 if still else float(bodies.mass[row]),
                baseCollisionShapeIndex=self._shape(kind, bodies.size[row]),
                basePosition=position.tolist(),
                baseOrientation=rotations[row].tolist(),
                useMaximalCoordinates=1,
            )
            self._call(
                "changeDynamics", number, -1, restitution=float(bodies.restitution[row]), lateralFriction=0.0,
                spinningFriction=0.0, rollingFriction=0.0, linearDamping=0.0, angularDamping=0.0,
            )  # fmt: skip
            if not still:
                spin = bodies.angular_velocity[row].tolist()
                self._call("resetBaseVelocity", number, bodies.velocity[row].tolist(), spin)
                self._moving.append(number)

    def step(self) -> None:
        self._bullet.stepSimulation(physicsClientId=self._client)

    def positions(self) -> NDArray[np.float64]:
        return np.array([self._call("getBasePositionAndOrientation", number)[0] for number in self._moving])

    def velocities(self) -> NDArray[np.float64]:
        return np.array([self._call("getBaseVelocity", number)[0] for number in self._moving])

    def contact_count(self) -> int:
        return len(self._call("getContactPoints") or ())

    def close(self) -> None:
        if self._client >= 0:
            self._call("disconnect")
            self._client = -1

    def _shape(self, kind: int, size: NDArray[np.float64]) -> int:
        """Return the number of the shape, which is made at its first use."""
        key = (float(kind), *size.tolist())
        if key not in self._shapes:
            if kind == SPHERE:
                options: dict[str, Any] = {"shapeType": self._bullet.GEOM_SPHERE, "radius": float(size[0])}
            elif kind == TILE:
                half = [float(size[0]) / 2 + THICKNESS, THICKNESS, float(size[1]) / 2 + THICKNESS]
                options = {"shapeType": self._bullet.GEOM_BOX, "halfExtents": half}
            else:
                capsule = self._bullet.GEOM_CAPSULE
                options = {"shapeType": capsule, "radius": float(size[0]), "height": float(size[1])}
            self._shapes[key] = self._call("createCollisionShape", **options)
        return self._shapes[key]

    def _call(self, function: str, *arguments: Any, **options: Any) -> Any:
        return getattr(self._bullet, function)(*arguments, **options, physicsClientId=self._client)


def _outward(normal: NDArray[np.float64], offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit normal of a tile that points away from the bodies between the walls."""
    away: NDArray[np.float64] = normal if normal @ offset >= 0 else -normal
    return away


def quaternions(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rotations (n, 3, 3) as quaternions (n, 4) x, y, z, w: an eigenvector of Bar-Itzhack's symmetric matrix."""
    r = rotation
    symmetric = np.empty((len(r), 4, 4))
    for i in range(3):
        for j in range(3):
            symmetric[:, i, j] = r[:, i, j] + r[:, j, i]
        symmetric[:, i, i] -= np.trace(r, axis1=1, axis2=2)
    turn = np.stack((r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]), axis=1)
    symmetric[:, :3, 3] = symmetric[:, 3, :3] = turn
    symmetric[:, 3, 3] = np.trace(r, axis1=1, axis2=2)
    found: NDArray[np.float64] = np.linalg.eigh(symmetric)[1][:, :, -1]
    return found
