"""Small calls that compile every kernel of the package, for ``choque doctor --warm-up``.

A kernel is compiled at its first call, once for each float type. Each function here uses one package as users do, in
small, on inputs that reach its different branches; `choque.cli._compiling.prepare` makes the calls.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import choque
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres
from choque.cli._compiling import prepare

if TYPE_CHECKING:
    from choque._core.types import Progress
    from choque.broad import BroadPhase

FLOAT_TYPES = ("float32", "float64")

SCENES = (("uniform", 2, 700), ("uniform", 3, 700), ("mixed", 3, 5_000))
"""Generator, dimension and number of boxes: enough of them, of different sizes, that no method takes a short cut."""

BOUNDS: tuple[type[Bounds], ...] = (Boxes, Spheres, OrientedBoxes, KDops)


BACKWARDS = """
from choque.cli._compiling import prepare
from choque.cli._warm_up import calls
prepare(dict(reversed(calls().items())))
"""
"""What a second process runs: the same calls from the last to the first, until both meet in the middle."""


def warm_up(progress: Progress) -> dict[str, str]:
    """Compile everything; return what failed, with the reason."""
    return prepare(calls(), lambda done, total, about: progress(done, total, about and f"compiling {about}"))


def calls() -> dict[str, Callable[[], None]]:
    """Return every call by name: bounds and broad-phase methods in both float types, then the other packages."""
    found: dict[str, Callable[[], None]] = {}
    for dtype in FLOAT_TYPES:
        found |= {f"{kind.__name__} bounds, {dtype}": partial(use_bounds, kind, dtype) for kind in BOUNDS}
    for name in choque.broad.names():
        found |= {f"{name}, {dtype}": partial(use_method, name, dtype) for dtype in FLOAT_TYPES}
    return found | PACKAGES


def use_bounds(kind: type[Bounds], dtype: str) -> None:
    """Fit, move, sweep and test bounds of one kind, in 2D and 3D."""
    for dimension in (2, 3):
        points = np.random.default_rng(0).random((20, 8, dimension)).astype(dtype)
        bounds = kind.fit(points).moved(np.eye(dimension), np.zeros(dimension))
        bounds.boxes()
        bounds.overlap_with(bounds)
        kind.fit(points.reshape(-1, dimension), np.arange(0, 161, 8))
    kind.fit(points).swept([1.0, 0.0, 0.0])


def use_method(name: str, dtype: str) -> None:
    """Use everything that a broad-phase method offers, in 2D and 3D, with and without a filter."""
    for scene, dimension, count in SCENES:
        few = min(count, 200) if name == "all" else count  # it keeps every pair
        lower, upper = choque.scene.generate(scene, few, dimension=dimension, dtype=dtype).frame(0)
        boxes = Boxes(lower, upper)
        choque.pairs(lower[:50], upper[:50])
        _use_all(choque.broad.create(name, boxes), boxes)
        choque.broad.create(name, boxes, groups=1, static=np.arange(len(boxes)) % 2 == 0).pairs()
        if choque.broad.find(name).keeps_bounds:
            choque.broad.create(name, OrientedBoxes.from_boxes(boxes)).pairs()


def _use_all(broad: BroadPhase, boxes: Boxes) -> None:
    rows = np.arange(0, len(boxes), 97)
    some, shift = boxes.take(rows), (boxes.upper - boxes.lower) / 2
    broad.count()
    broad.pairs()
    broad.update(Boxes(boxes.lower + shift, boxes.upper + shift))
    broad.pairs()
    broad.move(rows, some)
    broad.pairs()
    broad.query(some)
    broad.remove(broad.add(some)[:1])
    broad.move(rows[1:], some.take(np.arange(1, len(rows))))
    broad.began, broad.ended, broad.pairs()
    broad.query_points(some.lower)
    broad.nearest(some.lower, count=2)
    broad.query_rays(some.lower, shift[rows])
    broad.cast_rays(some.lower, shift[rows])


def use_narrow() -> None:
    """Test convex bodies, separate and overlapping; times of impact; polygons."""
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
    """Step worlds with every pair of shapes, each kind of bounds, every table of contact rules and every response."""
    from choque.lab.warm_up import warm_up as warm_up_world
    from choque.theses import fingsics
    from choque.world import bounds_names

    places = np.zeros((2, 3))
    for dtype in FLOAT_TYPES:
        for bounds in bounds_names():
            world = choque.World("brute", dtype=dtype, bounds=bounds, response="impulse")
            world.add_spheres(places), world.add_capsules(places), world.add_tiles(places), world.add_boxes(places)
            world.add_ground()
            warm_up_world(world)
    for broad in ("sap-incremental", "sap-obb", "brute-obb"):
        warm_up_world(fingsics.world(choque.scene.bodies("mixed-box", 30), broad=broad))
    boxes = choque.World(response="shape-matching")
    boxes.add_boxes(np.linspace([0, 0, 0], [0, 9, 0], 8), 1.0, acceleration=(0, -9.8, 0))
    boxes.add_ground()
    warm_up_world(boxes)
    use_resting_worlds()


def use_resting_worlds() -> None:
    """Step spheres alone, others alone, and both: the solver has a kernel for what there is."""
    from choque.narrow import Hulls

    for dtype in FLOAT_TYPES:
        for has_spheres, has_others in ((True, False), (False, True), (True, True)):
            resting = choque.World(gravity=(0, -9.81, 0), dtype=dtype)
            if has_spheres:
                resting.add_spheres([[0, 0.5, 0], [0.1, 1.4, 0]], 0.5, rolling=0.1)
            if has_others:
                resting.add_capsules([[3, 0.4, 0], [3.2, 1.1, 0]], 0.4)
                resting.add_boxes([[6, 0.5, 0], [6.1, 1.45, 0], [0.2, 2.2, 0], [3, 1.9, 0]])
                resting.add_hulls(Hulls.solids("octahedron"), [[9, 0.5, 0], [9.1, 1.6, 0]])
            resting.add_ground()
            for _ in range(2):
                resting.step()


def use_recordings() -> None:
    """Write, read and verify a recording, and write and read it as a scene.dat of the Fingsics engine."""
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
    """Advance sweeps, sorted lists and billiards in 2D and 3D, moving polygons and every simulation; compare labels."""
    from choque import kinetic
    from choque.theses.kinetic import Billiards, SortedList, contacts, create_simulation, labels, scenes

    random = np.random.default_rng(0)
    for dimension in (2, 3):
        lower = random.uniform(0, 20, (40, dimension))
        sweep = kinetic.Sweep(lower, lower + 2, velocity=random.normal(size=lower.shape))
        sweep.bounce([0.0] * dimension, [25.0] * dimension)
        sweep.advance(until=2.0, stop="multiple")
        sweep.set_velocity([0], [[1.0] * dimension], acceleration=[[0.1] * dimension])
        sweep.remove(sweep.add(lower[:1], lower[:1] + 1, velocity=[[0.0] * dimension]))
        sweep.advance(until=5.0)
        sweep.pairs(), sweep.audit(), sweep.certificates(), sweep.copy()
        centres = np.indices((3,) * dimension).reshape(dimension, -1).T + 0.5
        box = [0.0] * dimension, [3.0] * dimension
        gas = Billiards(centres, random.normal(size=centres.shape), 0.2, lower=box[0], upper=box[1])
        gas.advance(until=5.0)
    ordered = SortedList(np.arange(20.0), random.normal(size=20))
    ordered.advance(until=1.0, stop="instant")
    ordered.advance(until=5.0)
    ordered.set_motion([0, 1], [0.0, 1.0], acceleration=0.1)
    ordered.audit(), ordered.certificates()
    model = scenes.make("three-objects")
    for method in ("kinetic", "direct", "incremental", "incremental-recompute", "direct-thesis"):
        create_simulation(model, method).run()
    contacts(model.polygons, model.velocity, model.interval[1])
    labels.label_contacts(labels.synthetic_stack(frames=2, size=64, objects=6))


def use_volumes() -> None:
    """Make volumes from voxels and meshes; booleans, collisions, distances, morphology, parts, surfaces, scenes."""
    from choque import volumes
    from choque.files.meshes import MeshArrays
    from choque.lab import phantoms
    from choque.theses.evm.triangles import TriangleSearch
    from choque.theses.evm.two_phase import meshes_collide

    one = phantoms.make("ball", 24)
    two, far = one.translated([9, 4, 3]), one.translated([60, 0, 0])
    one & two, one | two, one - two, one ^ two
    for closed in (False, True):
        for other in (two, far):
            one.collision(other, closed=closed)
            one.collides(other, closed=closed)
    one.separation(two), one.slide(far, [1, 0, 0]), one.clearance(far), one.nearest_points(far)
    one.turned("x"), one.mirrored("y"), one.scaled(2), one.dilated(), one.eroded(), one.skeleton()
    one.rotated(np.eye(3)), one.resampled(spacing=(2.0, 2.0, 2.0), conservative=True)
    one.components(), one.boxes(), one.voxels()
    assert one.volume < one.surface_area * 12
    mesh = one.surface()
    for fill in ("solid", "surface"):
        for conservative in (False, True):
            volumes.Volume.from_mesh(mesh, voxels_per_unit=0.5, fill=fill, conservative=conservative)
    wall, channel = (phantoms.make(name, 32) for name in ("gyroid", "gyroid-channel"))
    wall.collides(channel)
    meshes_collide(mesh, two.surface(), voxels_per_unit=0.5)
    TriangleSearch(MeshArrays(*mesh)).meeting(MeshArrays(*two.surface()))
    volumes.Scene([one, two, far]).pairs()


def use_meshes() -> None:
    """Read a solid as triangles; its report, intersections, and all questions about two of them."""
    from choque import meshes
    from choque.lab import phantoms

    ball = choque.Mesh(phantoms.make("ball", 8))
    poses = np.eye(3), [[4.0, 1, 2], [0.5, 0, 0], [50, 0, 0]]
    ball.report(), meshes.intersections(ball, ball, pose=(np.eye(3), [4.0, 1, 2]))
    meshes.collide(ball, ball, poses), meshes.distance(ball, ball, poses), meshes.clearance(ball, ball)
    meshes.relation(ball, ball), meshes.Scene([ball, ball.moved((np.eye(3), [4.0, 1, 2]))]).clashes()


def use_interest() -> None:
    """Update areas in 2D and 3D, as spheres and boxes: move, resize, adapt; and broad phases with a skin."""
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
    for frame in _frames():
        skinned = interest.Skinned(frame, displacement=0.1, frames=4)
        skinned.update(frame)
        skinned.pairs()


def use_points_and_sets() -> None:
    """Join, suppress and merge boxes in both float types; list neighbours, in free space and in a cell."""
    random = np.random.default_rng(0)
    neighbors: Any = choque.neighbors  # a package that can be called
    for dimension in (2, 3):
        for dtype in FLOAT_TYPES:
            for count in (100, 5_000):
                lower = random.random((count, dimension)).astype(dtype)
                upper = lower + lower.dtype.type(0.04)
                boxes = Boxes(lower, upper)
                choque.join(lower, upper, lower, upper), choque.join(lower, upper, lower[:50], upper[:50], iou=0.5)
                choque.pairs(lower, upper), choque.pairs(lower, upper, iou=0.5)
                choque.boxes.suppress(boxes, lower[:, 0])
                choque.boxes.merge(boxes, lower[:, 0])
            many = random.random((100_000, dimension)).astype(dtype)
            choque.pairs(many, many + many.dtype.type(0.001), threads=2)  # rows are filled by both
        for count in (100, 5_000):
            points = random.random((count, dimension))
            neighbors(points, 0.05)
            neighbors(points, 0.05, cell=np.eye(dimension), quantities="ijSd")
    kept = choque.neighbors.Neighbors(0.05, skin=0.01)
    kept.update(points), kept.update(points + 0.001), kept.find()


def _frames() -> list[Any]:
    return [choque.bounds.Boxes(*choque.scene.generate("uniform", 500, dtype=dtype).frame(0)) for dtype in FLOAT_TYPES]


PACKAGES: dict[str, Callable[[], None]] = {
    "contacts": use_narrow,
    "worlds": use_worlds,
    "recordings": use_recordings,
    "motion": use_kinetic,
    "volumes": use_volumes,
    "meshes": use_meshes,
    "interest": use_interest,
    "joins, suppression and neighbours": use_points_and_sets,
}
"""A call for each package above the broad phase."""
