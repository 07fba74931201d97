"""Time the response `soft-step` beside other engines on the same scenes, in turns in one process.

    python benchmarks/dynamics.py spheres 5000
    python benchmarks/dynamics.py pyramid 100 --threads 2
    python benchmarks/dynamics.py boxes 2000 --engines rapier3d pybullet mujoco
    python benchmarks/dynamics.py bowl 100000 --engines choque --settle 0

Scenes: ``spheres``, ``boxes`` and ``mixed`` (spheres, capsules, boxes and octahedra in turn) fall together in an open
box, ``bowl`` are spheres over four slopes, ``pyramid`` is a wall of boxes with N in the lowest row. The engine
``choque`` is ours once more, with two threads.
Unit bodies, gravity 9.81, steps of 1/60 s, friction 0.5, no rebound, no sleep; every engine with its own settings.
Beside the times: how far bodies moved in the second after, and the mean overlap of ours. An engine that is not
installed is left out. Times are medians of chunks of steps, by the clock and of the processor; the machine may be
shared, so compare ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import choque

Triple = tuple[float, float, float]


class Scene(NamedTuple):
    """Unit bodies, and static boxes by their centres and half edges, which may be turned; y is up."""

    position: np.ndarray
    turn: np.ndarray
    shape: str
    """``sphere``, ``box``, or ``mixed``: sphere, capsule, box and octahedron in turn."""
    walls: list[tuple[Triple, Triple]]
    slopes: list[Triple] | None = None
    """Rotation vectors of the walls."""

    def kinds(self) -> np.ndarray:
        """0 for spheres, 1 for capsules, 2 for boxes, 3 for octahedra."""
        number = np.arange(len(self.position))
        return number % 4 if self.shape == "mixed" else 0 * number + 2 * (self.shape == "box")


EDGE = {"sphere": 1.0, "box": 1.0, "mixed": 0.9}
"""Edges of boxes; spheres have a radius of 0.5, capsules of 0.35 and a length of 0.6, octahedra a width of 1.2."""


def _walls(side: float, top: float) -> list[tuple[Triple, Triple]]:
    middle, half = side / 2, side / 2 + 2
    return [
        ((middle, -1.0, middle), (half, 1.0, half)),
        ((-1.0, top / 2, middle), (1.0, top / 2, half)),
        ((side + 1.0, top / 2, middle), (1.0, top / 2, half)),
        ((middle, top / 2, -1.0), (half, top / 2, 1.0)),
        ((middle, top / 2, side + 1.0), (half, top / 2, 1.0)),
    ]


def pile(count: int, shape: str) -> Scene:
    """Spheres with gaps of 5 %, or boxes with gaps of 25 % and a little tilt, over the floor of an open box."""
    random = np.random.default_rng(3)
    gap, side = {"sphere": 1.05, "box": 1.25, "mixed": 1.4}[shape], int(np.ceil(count ** (1 / 3)))
    place = np.arange(count)
    cells = np.stack((place % side, place // side**2, place // side % side), axis=1)
    position = (cells + 0.5) * gap + random.uniform(-0.02, 0.02, (count, 3)) + [0, 0.02, 0]
    turn = random.uniform(-0.15, 0.15, (count, 3)) * {"sphere": 0.0, "box": 1.0, "mixed": 10.0}[shape]
    return Scene(position, turn, shape, _walls(side * gap + 0.05, float(position[:, 1].max()) + 4))


def bowl(count: int) -> Scene:
    """Spheres over four slopes that meet in a point."""
    falling = pile(count, "sphere")
    reach = float(np.ptp(falling.position[:, 0])) + 8.0
    position = falling.position - falling.position.mean(axis=0)
    position[:, 1] += reach * 0.6 - position[:, 1].min()
    sides, tilt = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)], np.pi / 6
    walls = [((x * reach / 2, reach * 0.23, z * reach / 2), (reach, 0.5, reach)) for x, z in sides]
    return Scene(position, falling.turn, "sphere", walls, [(-z * tilt, 0.0, x * tilt) for x, z in sides])


def pyramid(base: int) -> Scene:
    """Boxes in one plane, ``base`` of them in the lowest row."""
    position = [(j - i + i * 0.5 - base / 2 + 0.5, i + 0.5, 0.0) for i in range(base) for j in range(i, base)]
    floor = [((0.0, -1.0, 0.0), (float(base), 1.0, float(base)))]
    return Scene(np.array(position), np.zeros((len(position), 3)), "box", floor)


SCENES = {
    "spheres": lambda n: pile(n, "sphere"),
    "boxes": lambda n: pile(n, "box"),
    "mixed": lambda n: pile(n, "mixed"),
    "bowl": bowl,
    "pyramid": pyramid,
}


def rotations(turn: np.ndarray) -> np.ndarray:
    """Return the matrices (n, 3, 3) of rotation vectors (n, 3)."""
    angle = np.linalg.norm(turn, axis=1)[:, None, None]
    x, y, z = (turn / np.maximum(angle[:, 0], 1e-300)).T
    none = np.zeros_like(x)
    k = np.stack((none, -z, y, z, none, -x, -y, x, none), axis=1).reshape(-1, 3, 3)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


class Ours:
    """`soft-step`."""

    def __init__(self, scene: Scene, threads: int) -> None:
        self.name = f"choque, {threads}"
        world = self.world = choque.World(
            response="soft-step", response_options={"sleep": False}, gravity=(0, -9.81, 0), threads=threads
        )
        for row, (center, half) in enumerate(scene.walls):
            turn = rotations(np.array([scene.slopes[row] if scene.slopes else (0, 0, 0)], float))
            world.add_boxes([center], [2 * np.array(half)], static=True, friction=0.5, rotation=turn)
        kinds, turns, octahedron = scene.kinds(), rotations(scene.turn), choque.narrow.Hulls.solids("octahedron")
        add = {
            0: lambda place, turn: world.add_spheres(place, 0.5, friction=0.5, rotation=turn),
            1: lambda place, turn: world.add_capsules(place, 0.35, 0.6, friction=0.5, rotation=turn),
            2: lambda place, turn: world.add_boxes(place, EDGE[scene.shape], friction=0.5, rotation=turn),
            3: lambda place, turn: world.add_hulls(octahedron, place, 0.6, friction=0.5, rotation=turn),
        }
        for kind in np.unique(kinds).tolist():
            add[kind](scene.position[kinds == kind], turns[kinds == kind])
        self.order = np.argsort(np.argsort(kinds, kind="stable")) + len(scene.walls)

        # Not the reports: each keeps the contacts of its step, and the next step would need other memory.
        self.seconds: list[Mapping[str, float]] = []

    def step(self) -> None:
        self.seconds.append(self.world.step(1 / 60).seconds)

    def stages(self, steps: int) -> dict[str, float]:
        """Return the mean time of each stage in the latest ``steps`` [ms]: one in several searches candidates."""
        latest = self.seconds[-steps:]
        return {name: round(1e3 * statistics.fmean(each[name] for each in latest), 3) for name in latest[0]}

    def positions(self) -> np.ndarray:
        return self.world.bodies.position[self.order].copy()


class Rapier:
    """rapier3d."""

    def __init__(self, scene: Scene, threads: int) -> None:
        import rapier3d

        self.name = f"rapier3d, {threads}"
        world = self.world = rapier3d.PhysicsWorld(gravity=(0, -9.81, 0))
        world.integration_parameters.dt = 1 / 60
        world.set_num_threads(threads)
        made = rapier3d.Collider
        for row, (center, half) in enumerate(scene.walls):
            turn = tuple(scene.slopes[row]) if scene.slopes else (0.0, 0.0, 0.0)
            world.add_collider(made.cuboid(*half).translation(center).rotation(turn).friction(0.5))
        half, tips = EDGE[scene.shape] / 2, [tuple(tip) for tip in np.concatenate((np.eye(3), -np.eye(3))) * 0.6]
        shapes = (
            lambda: made.ball(0.5),
            lambda: made.capsule_z(0.3, 0.35),
            lambda: made.cuboid(half, half, half),
            lambda: made.convex_hull(tips),
        )
        self.handles = [
            world.add_body(
                rapier3d.RigidBody.dynamic(translation=tuple(place), rotation=tuple(turn)).can_sleep(False),
                colliders=[shapes[kind]().mass(1.0).friction(0.5).restitution(0.0)],
            )
            for place, turn, kind in zip(
                scene.position.tolist(), scene.turn.tolist(), scene.kinds().tolist(), strict=True
            )
        ]
        self.step = world.step

    def positions(self) -> np.ndarray:
        return np.array([tuple(self.world.rigid_bodies[handle].translation) for handle in self.handles])


class Bullet:
    """pybullet."""

    def __init__(self, scene: Scene, threads: int) -> None:
        import pybullet

        self.name, self.engine = "pybullet, 1", pybullet
        if threads != 1 or scene.slopes or scene.shape == "mixed":
            raise ImportError("its wheels have one thread, and this script gives it spheres and boxes only")
        pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, -9.81, 0)
        pybullet.setTimeStep(1 / 60)
        boxes = {}
        for center, half in scene.walls:
            boxes[half] = boxes.get(half) or pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half)
            body = pybullet.createMultiBody(0, boxes[half], basePosition=center)
            pybullet.changeDynamics(body, -1, lateralFriction=0.5)
        kind = {"radius": 0.5} if scene.shape == "sphere" else {"halfExtents": (0.5, 0.5, 0.5)}
        shape = pybullet.GEOM_SPHERE if scene.shape == "sphere" else pybullet.GEOM_BOX
        shape = pybullet.createCollisionShape(shape, **kind)
        self.bodies = []
        for place, turn in zip(scene.position.tolist(), scene.turn.tolist(), strict=True):
            around = pybullet.getQuaternionFromEuler(turn)
            body = pybullet.createMultiBody(
                1, shape, basePosition=place, baseOrientation=around, useMaximalCoordinates=True
            )
            self.bodies.append(body)
        self.step = pybullet.stepSimulation

    def positions(self) -> np.ndarray:
        return np.array([self.engine.getBasePositionAndOrientation(body)[0] for body in self.bodies])


class Mujoco:
    """mujoco, by conjugate gradients: Newton's method takes far longer for thousands of free bodies."""

    def __init__(self, scene: Scene, threads: int) -> None:
        import mujoco

        self.name = "mujoco, 1"
        if threads != 1 or scene.slopes or scene.shape == "mixed":
            raise ImportError("this script gives it one thread, spheres and boxes only")
        shape = 'type="sphere" size="0.5"' if scene.shape == "sphere" else 'type="box" size="0.5 0.5 0.5"'
        walls = [f'<geom type="box" pos="{_words(at)}" size="{_words(half)}"/>' for at, half in scene.walls]
        bodies = [
            f'<body pos="{_words(at)}" axisangle="{_words(_axis(turn))}"><freejoint/><geom {shape} mass="1"/></body>'
            for at, turn in zip(scene.position.tolist(), scene.turn, strict=True)
        ]
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><compiler angle="radian"/><option timestep="0.0166666667" solver="CG" gravity="0 -9.81 0"/>'
            '<size memory="2G"/><default><geom friction="0.5 0 0" condim="3"/></default>'
            f"<worldbody>{''.join(walls)}{''.join(bodies)}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(model)
        self.step = lambda: mujoco.mj_step(model, self.data)

    def positions(self) -> np.ndarray:
        return self.data.xpos[1:].copy()


def _words(numbers: Any) -> str:
    return " ".join(f"{number:.9g}" for number in numbers)


def _axis(turn: np.ndarray) -> tuple[float, ...]:
    angle = float(np.linalg.norm(turn))
    return (*(turn / angle), angle) if angle > 0 else (0.0, 0.0, 1.0, 0.0)


ENGINES = {"rapier3d": Rapier, "pybullet": Bullet, "mujoco": Mujoco, "choque": lambda scene, _: Ours(scene, 2)}


def warm_up(shape: str) -> None:
    """Load every kernel that a pile needs, so that none is loaded within a measurement."""
    small = Ours(pile(64, shape), 1)
    for _ in range(90):
        small.step()


def measure(engines: list[Any], label: str, chunks: int, steps: int) -> None:
    """Print the median time of a step of each engine, chunk by chunk in turns, and its ratio to the others."""
    found: dict[str, list[tuple[float, float]]] = {engine.name: [] for engine in engines}
    for _ in range(chunks):
        for engine in engines:
            began, busy = time.perf_counter(), time.process_time()
            for _ in range(steps):
                engine.step()
            spent = time.perf_counter() - began, time.process_time() - busy
            found[engine.name].append((spent[0] / steps * 1e3, spent[1] / steps * 1e3))
    medians = {name: [statistics.median(times) for times in zip(*spans, strict=True)] for name, spans in found.items()}
    ours = medians[engines[0].name]
    print(f"{label} (load {os.getloadavg()[0]:.1f}); ms a step, and our part of it")
    for name, (clock, processor) in medians.items():
        print(
            f"  {name:14} clock {clock:8.3f} ({ours[0] / clock:.2f}), least {min(found[name])[0]:8.3f}; "
            f"processor {processor:8.3f} ({ours[1] / processor:.2f})"
        )


def main() -> None:
    """Measure one scene."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", choices=list(SCENES))
    parser.add_argument("size", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--engines", nargs="*", default=["rapier3d"], choices=list(ENGINES))
    parser.add_argument("--settle", type=int, default=200, help="steps between the two measurements")
    wanted = parser.parse_args()
    scene = SCENES[wanted.scene](wanted.size)
    warm_up(scene.shape)
    engines: list[Any] = [Ours(scene, wanted.threads)]
    for name in wanted.engines:
        try:
            engines.append(ENGINES[name](scene, wanted.threads))
        except ImportError as problem:
            print(f"{name} is left out: {problem}")
    for engine in engines:
        engine.step()
    measure(engines, f"{wanted.scene} {wanted.size}, settling", 5, 8)
    for engine in engines:
        for _ in range(wanted.settle):
            engine.step()
    measure(engines, f"{wanted.scene} {wanted.size}, settled", 7, 6)
    print("  stages:", engines[0].stages(42), "ms")
    overlap = -np.minimum(engines[0].world.contacts().separations, 0)
    print(f"  our overlap: mean {overlap[overlap > 0].mean() * 1e3:.2f} mm, greatest {overlap.max() * 1e3:.1f} mm")
    for engine in engines:
        before = engine.positions()
        for _ in range(60):
            engine.step()
        drift = np.linalg.norm(engine.positions() - before, axis=1)
        across = np.abs(engine.positions() - scene.position).max(axis=0)
        print(
            f"  {engine.name:14} drift in a second: mean {drift.mean() * 1e3:.2f} mm, most {drift.max() * 1e3:.1f} mm"
        )
        print(f"  {'':14} farthest from the start along x, y, z: {across.round(3).tolist()} m")


if __name__ == "__main__":
    main()
