"""Every room of the package used once, in small, so that all its kernels are compiled: ``choque doctor --warm-up``.

`choque.lab.warm_up` does so for bounds and broad phases. A station here is a room beyond them; each asks for what
users ask for, in the float types that its kernels are made for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import choque
from choque.bounds import Boxes, KDops, OrientedBoxes, Spheres

if TYPE_CHECKING:
    from choque._core.types import Progress

FLOAT_TYPES = ("float64", "float32")


def warm_up(tell: Progress) -> dict[str, str]:
    """Compile everything; gives what failed, with the reason. One broken room does not keep the others cold."""
    from choque.lab import warm_up as boxes

    names = choque.broad.names()
    box_steps = len(boxes.FLOAT_TYPES) * (len(boxes.KINDS) + len(names))
    total = box_steps + len(STATIONS)
    failed = boxes.warm_up(names, progress=lambda done, _, about: tell(done, total, f"compiling {about}"))
    for done, (about, station) in enumerate(STATIONS.items(), start=box_steps):
        tell(done, total, f"compiling {about}")
        try:
            station()
        except Exception as problem:
            failed[about] = " ".join(f"{type(problem).__name__}: {problem}".split())
    tell(total, total, "")
    return failed


def use_bounds() -> None:
    """Bounds swept along a way, which the rest of `choque.lab.warm_up` leaves out."""
    points = np.random.default_rng(0).random((20, 8, 3))
    for dtype in FLOAT_TYPES:
        for kind in (Boxes, Spheres, OrientedBoxes, KDops):
            kind.fit(points.astype(dtype)).swept([1.0, 0.0, 0.0])


def use_narrow() -> None:
    """Convex bodies near and in each other, impacts, polygons."""
    from choque import narrow

    hulls = narrow.Hulls.solids("rhombicuboctahedron", "cube")
    one, many = hulls.at([0, 0, 0]), hulls.at(np.linspace([-3, 0, 0], [3, 1, 1], 50), row=1)
    for first, second in ((one, many), (one, hulls.at([0.5, 0.2, 0.1], row=1))):
        narrow.gjk(first, second)
        narrow.collide(first, second)
        narrow.epa(first, second)
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    narrow.time_of_impact(cube - [5, 0, 0], cube, motion_a=[10, 0, 0], spin_a=[0, 0, 1])
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
    for shift in (0.5, 5.0):
        narrow.polygons.contact(square, square + shift)


def use_worlds() -> None:
    """Every pair of kinds by every rule and response, each kind of bounds, a state saved and opened."""
    from choque.record.rehearsal import rehearse
    from choque.world import bounds_names

    places = np.zeros((2, 3))
    for dtype in FLOAT_TYPES:
        for bounds in bounds_names():
            world = choque.World("brute", dtype=dtype, bounds=bounds)
            world.add_spheres(places), world.add_capsules(places), world.add_tiles(places), world.add_boxes(places)
            world.add_ground()
            rehearse(world)
    for broad in ("sap-incremental", "sap-obb", "brute-obb"):
        rehearse(choque.scene.bodies("mixed-box", 30).world(legacy=True, broad=broad))
    boxes = choque.World(response="shape-matching")
    boxes.add_boxes(np.linspace([0, 0, 0], [0, 9, 0], 8), 1.0, acceleration=(0, -9.8, 0))
    boxes.add_ground()
    rehearse(boxes)


def use_recordings() -> None:
    """A recording written, read and simulated again, also as the original writes it."""
    from choque.record import Recorder, Recording, verify
    from choque.theses.fingsics.scene_dat import SceneDat, write_scene_dat

    world = choque.scene.bodies("mixed-box", 30).world()
    with tempfile.TemporaryDirectory(prefix="choque-") as folder:
        path, dat = Path(folder) / "a.choque", Path(folder) / "scene.dat"
        with Recorder(path, world) as recorder:
            for _ in range(3):
                world.step()
                recorder.record()
        with Recording(path) as recording:
            verify(recording)
            write_scene_dat(dat, recording)
        SceneDat(dat).frame(1)


def use_kinetic() -> None:
    """Sweeps, sorted lists and billiards in 2D and 3D, polygons in motion, every kind of simulation, labels."""
    from choque import kinetic
    from choque.kinetic import labels
    from choque.theses.kinetic import create_simulation, scenes

    random = np.random.default_rng(0)
    for dimension in (2, 3):
        lower = random.uniform(0, 20, (40, dimension))
        sweep = kinetic.Sweep(lower, lower + 2, velocity=random.normal(size=lower.shape))
        sweep.bounce([0.0] * dimension, [25.0] * dimension)
        next(sweep.advance(until=1.0), None)
        list(sweep.advance_meetings(until=2.0, multiple=True))
        sweep.set_velocity([0], [[1.0] * dimension], [[0.1] * dimension])
        sweep.remove(sweep.add(lower[:1], lower[:1] + 1, velocity=[[0.0] * dimension]))
        sweep.advance_arrays(until=5.0)
        sweep.pairs(), sweep.audit(), sweep.certificates(), sweep.order(), sweep.copy()
        centres = np.indices((3,) * dimension).reshape(dimension, -1).T + 0.5
        room = [0.0] * dimension, [3.0] * dimension
        gas = kinetic.Billiards(centres, random.normal(size=centres.shape), 0.2, lower=room[0], upper=room[1])
        next(gas.collide(until=1.0), None)
        gas.advance(until=5.0)
    ordered = kinetic.SortedList(np.arange(20.0), random.normal(size=20))
    next(ordered.advance(until=1.0), None)
    ordered.advance_all(until=5.0)
    ordered.set_motion([0, 1], [0.0, 1.0], 0.1)
    ordered.audit(), ordered.certificates()
    model = scenes.make("tres-objetos")
    for method in ("kinetic", "direct", "incremental", "incremental-recompute", "direct-thesis"):
        create_simulation(model, method).run()
    kinetic.contacts(model.polygons, model.velocity, model.interval[1])
    labels.label_contacts(labels.synthetic_stack(frames=2, size=64, objects=6))


def use_volumes() -> None:
    """Solids from voxels and meshes; booleans, collisions, distances, changes of shape, parts, surfaces, scenes."""
    from choque import volumes

    one = volumes.phantoms.make("ball", 24)
    two, far = one.translated([9, 4, 3]), one.translated([60, 0, 0])
    one & two, one | two, one - two, one ^ two
    for contact in ("open", "closed"):
        for other in (two, far):
            one.collision(other, contact=contact)
            one.collides(other, contact=contact)
    one.separation(two), one.slide(far, [1, 0, 0]), one.clearance(far), one.nearest_points(far)
    one.turned("x"), one.mirrored("y"), one.scaled(2), one.dilated(), one.eroded(), one.skeleton()
    one.rotated(np.eye(3)), one.resampled(spacing=(2.0, 2.0, 2.0)), one.components(), one.boxes(), one.voxels()
    one.volume(), one.surface_area()
    mesh = one.surface()
    for fill in ("solid", "surface"):
        for conservative in (False, True):
            volumes.Volume.from_mesh(mesh, voxels_per_unit=0.5, fill=fill, conservative=conservative)
    wall, channel = (volumes.phantoms.make(name, 32) for name in ("gyroid", "gyroid-channel"))
    wall.collides(channel)
    volumes.meshes_collide(mesh, two.surface(), voxels_per_unit=0.5)
    volumes.Scene([one, two, far]).pairs()


def use_interest() -> None:
    """Areas in 2D and 3D, as spheres and boxes, moved, resized and adapted; searches that serve several frames."""
    from choque import interest

    random = np.random.default_rng(0)
    for dimension in (2, 3):
        for shape in ("sphere", "box"):
            place = random.uniform(0, 20, (300, dimension))
            areas = interest.Areas(place, radius=2.0, body_radius=random.uniform(0.1, 1.0, 300), shape=shape)
            areas.update(place + 0.1)
            areas.move([0], place[:1] + 5)
            areas.entered, areas.left, areas.pairs(), areas.members(0)
            areas.resize([0], 4.0)
            areas.adapt(8)
            areas.remove(areas.add(place[:1], radius=1.0))
            areas.update(place)
            interest.density(place, np.full(300, 0.5))
    for frame in _frames():
        skinned = interest.Skinned(frame, displacement=0.1, frames=4)
        skinned.update(frame)
        skinned.pairs()


def _frames() -> list[Any]:
    return [choque.bounds.Boxes(*choque.scene.generate("uniform", 500, dtype=dtype).frame(0)) for dtype in FLOAT_TYPES]


STATIONS: dict[str, Callable[[], None]] = {
    "swept bounds": use_bounds,
    "contacts": use_narrow,
    "worlds": use_worlds,
    "recordings": use_recordings,
    "motion": use_kinetic,
    "volumes": use_volumes,
    "interest": use_interest,
}
