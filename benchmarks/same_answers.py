"""Compare the answers of two versions of Choque, array by array and bit by bit.

    python benchmarks/same_answers.py ../base .                   # all cases: some minutes, more when kernels compile
    python benchmarks/same_answers.py ../base . --case pairs --case world
    python benchmarks/same_answers.py old/bin/python new/bin/python --keep arrays

Both environments (see `environments.py`) compute every case: pairs by every method, pairs that begin and end, contacts,
hashes of worlds and recordings, kinetic events, volumes, areas of interest. A row says how many arrays a case has and
how many differ, and names the first difference. Arrays are equal if their types, shapes and bytes are. The exit code
is 1 if a case differs or failed.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from environments import DEFAULT_FOLDER, WORKER, Environment, TaskFailed, Worker, serve

Answers = Iterator[tuple[str, Any]]
"""Labels, and arrays or numbers."""

CASES: dict[str, Callable[..., Answers]] = {}

METHODS = (
    "all", "auto", "brute", "brute-obb", "bsp", "bvh", "grid", "interest", "kd-tree", "multi-sap", "octree",
    "sap-direct", "sap-incremental", "sap-kdop", "sap-kinetic", "sap-obb",
)  # fmt: skip
FOLLOWING = ("auto", "bvh", "grid", "interest", "sap-direct", "sap-incremental", "sap-kdop", "sap-kinetic", "sap-obb")
"""Methods whose moving frames are compared."""

GENERATORS = (
    "aligned", "brownian", "clustered", "free-fall", "mixed", "moving", "one-moves", "reference", "uniform",
)  # fmt: skip
PHANTOMS = ("ball", "gyroid", "menger", "vertebra", "screw", "shell")
WORLD_FRAMES = 60
FALLING_BOXES = """choque = 1
gravity = [0, -9.8, 0]

[[bodies]]
kind = "ground"

[[bodies]]
kind = "box"
position = [[0, 1.5, 0], [0.3, 4, 0.2], [-0.2, 6.5, 0]]
size = [[2, 2, 2], [3, 1, 1], [1, 2, 3]]
"""
"""A scene of convex bodies alone, which shape matching takes in all versions."""


def case(name: str) -> Callable[[Callable[..., Answers]], Callable[..., Answers]]:
    """Register a case under ``name``."""

    def register(compute: Callable[..., Answers]) -> Callable[..., Answers]:
        CASES[name] = compute
        return compute

    return register


# The cases. Choque is imported inside them, in the process of an environment.


def _pairs_by(method: str) -> Answers:
    import choque
    import choque.testing

    for name in choque.testing.scenes.names():
        for dimension in (2, 3):
            if name == "reference" and dimension == 2:
                continue  # exists in 3D only
            for dtype in ("float32", "float64"):
                made = choque.testing.scenes.make(name, dimension=dimension, dtype=dtype, count=60, seed=1)
                for closed in (True, False):
                    found = choque.pairs(made.lower, made.upper, method=method, closed=closed, threads=1)
                    yield f"{name} {dimension}D {dtype} {'closed' if closed else 'half-open'}", found
    for name in GENERATORS:
        lower, upper = _frame(name, 2_000, 0)
        yield f"{name} 2000", choque.pairs(lower, upper, method=method)


def _frame(name: str, count: int, number: int, **options: Any) -> Any:
    import adapters

    return adapters.box_scene(name, count, **options).frame(number)


for _method in METHODS:
    CASES[f"pairs {_method}"] = lambda method=_method: _pairs_by(method)


@case("pairs large")
def _pairs_large() -> Answers:
    import choque

    for name in ("uniform", "clustered", "mixed"):
        lower, upper = _frame(name, 100_000, 0, seed=2)
        for method in ("auto", "bvh", "grid", "sap-direct", "sap-kdop"):
            for threads in (1, 2):
                yield f"{name} {method} {threads} threads", choque.pairs(lower, upper, method=method, threads=threads)


def _moving_by(method: str) -> Answers:
    import adapters

    import choque

    boxes = choque.bounds.Boxes
    for name in ("brownian", "moving", "free-fall", "one-moves"):
        scene = adapters.box_scene(name, 400, frames=12, seed=3)
        broad = choque.broad.create(method, boxes(*scene.frame(0)))
        for number in range(1, 12):
            broad.update(boxes(*scene.frame(number)))
            began, ended = adapters.changes(broad)
            yield from ((f"{name} pairs {number}", broad.pairs()), (f"{name} began {number}", began))
            yield f"{name} ended {number}", ended
        yield from _edits(name, broad, *scene.frame(0))


def _edits(name: str, broad: Any, lower: np.ndarray, upper: np.ndarray) -> Answers:
    """Move some boxes, remove some, add some, and query."""
    import adapters

    import choque

    boxes, ids = choque.bounds.Boxes, np.arange(0, len(lower), 7, dtype=np.int32)
    edits: dict[str, Callable[[], object]] = {
        "move": lambda: broad.move(ids, boxes(lower[ids], upper[ids])),
        "remove": lambda: broad.remove(ids[::2]),
        "add": lambda: broad.add(boxes(lower[:20] + 0.01, upper[:20] + 0.01)),
    }
    for edit, change in edits.items():
        change()
        for what, pairs in zip(("pairs", "began", "ended"), (broad.pairs(), *adapters.changes(broad)), strict=True):
            yield f"{name} {edit} {what}", pairs
    yield f"{name} query", broad.query(boxes(lower[:50], upper[:50]))


for _method in FOLLOWING:
    CASES[f"moving {_method}"] = lambda method=_method: _moving_by(method)


@case("contacts")
def _contacts() -> Answers:
    import adapters

    import choque.narrow

    for name, shapes in (("convex", adapters.convex_shapes(300)), ("round", adapters.round_shapes(1_000))):
        found = choque.narrow.contacts(shapes)
        for part in ("pairs", "point", "normal", "depth"):
            yield f"{name} {part}", getattr(found, part)
    one, other = adapters.posed_hulls(2_000)
    yield "collide", choque.narrow.collide(one, other)
    closest = choque.narrow.gjk(one, other)
    for part in ("distance", "point_a", "point_b", "normal", "collide"):
        if hasattr(closest, part):
            yield f"gjk {part}", getattr(closest, part)
    deepest = choque.narrow.epa(one, other)
    for part in ("depth", "normal", "point_a", "point_b", "point"):
        if hasattr(deepest, part):
            yield f"epa {part}", getattr(deepest, part)
    motion = np.random.default_rng(4).normal(size=(2_000, 3))
    impact = adapters.first_that_exists(
        lambda: choque.narrow.time_of_impact(one, other, motion_a=motion),
        lambda: choque.narrow.time_of_impact(one, other, motion),
    )
    for part in ("time", "normal", "point"):
        if hasattr(impact, part):
            yield f"impact {part}", getattr(impact, part)


def _world_answers(label: str, world: Any, dt: float, frames: int = WORLD_FRAMES) -> Answers:
    import adapters

    hashes = []
    for number in range(frames):
        world.step(dt)
        hashes.append(adapters.value_of(world, "hash"))
        if number % 20 == 10:
            yield f"{label} pairs {number}", adapters.value_of(world, "pairs")
            found = adapters.value_of(world, "contacts")
            for part in ("pairs", "point", "normal", "depth"):
                yield f"{label} contact {part} {number}", getattr(found, part)
    yield f"{label} hashes", np.array(hashes, np.uint64)
    yield f"{label} position", world.bodies.position


BODY_GENERATORS = (
    "balls-in-box", "bulldozer", "capsule-box", "gas", "logs", "matrix", "mixed-box", "parade", "pile", "pins", "ramp",
    "rockets", "two-waves", "war",
)  # fmt: skip
BUILT_IN = (
    "accelerations", "bounce", "bowling", "boxes", "capsule-box-16", "capsule-pairs", "cradle", "crossing-tiles",
    "elasticity", "empty", "hidden-walls", "launch", "mixed-box-100", "one-of-each", "overlap", "pile-200", "push",
    "rest", "slide", "speed-limit", "spin", "strike", "tile-regions",
)  # fmt: skip


@case("world generators")
def _worlds() -> Answers:
    import adapters

    for name in BODY_GENERATORS:
        scene = adapters.body_scene(name, 80, seed=5)
        yield from _world_answers(name, scene.world(threads=1), scene.dt)


@case("world built-in scenes")
def _built_in_worlds() -> Answers:
    import adapters

    for name in BUILT_IN:
        scene = adapters.named_scene(name)
        yield from _world_answers(name, scene.world(threads=1), scene.dt)


@case("world broad phases")
def _world_methods() -> Answers:
    import adapters

    scene = adapters.body_scene("mixed-box", 300, seed=6)
    for method in ("bvh", "grid", "interest", "sap-direct", "sap-incremental", "sap-kdop", "sap-kinetic", "sap-obb"):
        yield from _world_answers(method, scene.world(broad=method, threads=1), scene.dt, 30)
    for bounds in ("sphere", "oriented", "18-dop"):
        yield from _world_answers(bounds, scene.world(bounds=bounds, threads=1), scene.dt, 30)


@case("world shape matching")
def _world_shape_matching() -> Answers:
    import adapters

    tower = adapters.tower(12)
    for bounds in ("18-dop", "sphere"):
        yield from _world_answers(f"tower {bounds}", tower.world(bounds=bounds, threads=1), tower.dt, 150)


@case("world fingsics")
def _world_fingsics() -> Answers:
    import adapters

    for word in ("mixed-box:60", "bowling", "slide", "launch", "capsule-pairs", "one-of-each", "pile:60"):
        scene = adapters.named_scene(word)
        yield from _world_answers(word, adapters.fingsics_world(scene, threads=1), scene.dt)


@case("recording")
def _recording(folder: str) -> Answers:
    """Record, and leave the files in ``folder`` for the other environment."""
    import adapters

    for word in ("mixed-box:100", "pile:80", "bowling"):
        scene = adapters.named_scene(word)
        path = Path(folder) / f"{word.partition(':')[0]}.choque"
        adapters.record(scene.world(threads=1), path, 40, scene.dt)
        yield from _recorded(word, path)


def _recorded(label: str, path: Path) -> Answers:
    import adapters

    with adapters.open_recording(path) as recording:
        yield f"{label} hashes", adapters.value_of(recording, "hashes")
        yield f"{label} times", adapters.value_of(recording, "times")
        for number in (0, 20, 39):
            yield f"{label} position {number}", recording.frame(number).position


@case("recording of the other version")
def _other_recording(before: str) -> Answers:
    """Read what the environment ``before`` recorded; it must have run the case ``recording``."""
    paths = sorted(Path(before).glob("*.choque"))
    yield "files", len(paths)
    for path in paths:
        yield from _recorded(path.stem, path)


@case("shell run --record")
def _shell(folder: str) -> Answers:
    """Run the command; its words are the same in all versions, but for one."""
    import choque

    boxes = Path(folder) / "falling.toml"
    boxes.write_text(FALLING_BOXES, encoding="utf-8")
    for number, words in enumerate(
        (
            ["mixed-box:60"],
            ["mixed-box:60", "--fingsics"],
            ["bowling", "--fingsics", "--broad", "SAP"],
            [str(boxes), "--broad", "sap-obb", "--response", "shape-matching"],
        )
    ):
        output = Path(folder) / f"shell-{number}"
        was = {"--fingsics": "--legacy"} if choque.__version__.startswith("0.1") else {}
        given = [was.get(word, word) for word in words]
        command = [sys.executable, "-m", "choque", "run", *given, "--frames", "40", "--record"]
        subprocess.run([*command, "--output", str(output)], check=True, stdout=subprocess.DEVNULL)
        (path,) = output.rglob("*.choque")
        yield from _recorded(" ".join([Path(words[0]).name, *words[1:]]), path)


@case("kinetic events")
def _kinetic() -> Answers:
    import adapters

    for dimension in (2, 3):
        for closed in (True, False):
            random = np.random.default_rng(7)
            lower = random.integers(0, 40, (150, dimension)) / 4
            velocity = random.integers(-8, 9, (150, dimension)) / 8
            sweep = adapters.sweep(lower, lower + 0.75, velocity, closed=closed)
            sweep.bounce([-1.0] * dimension, [12.0] * dimension)
            label = f"{dimension}D {'closed' if closed else 'half-open'}"
            for until in (1.0, 2.5, 6.0):
                time, began, pairs = adapters.event_arrays(adapters.advance(sweep, until))
                yield from ((f"{label} time {until}", time), (f"{label} began {until}", began))
                yield from ((f"{label} event pairs {until}", pairs), (f"{label} pairs {until}", sweep.pairs()))
            yield f"{label} order", adapters.value_of(sweep, "order")
            yield f"{label} exchanges", adapters.value_of(sweep.counters, "exchanges", "swaps")


@case("kinetic billiards")
def _billiards() -> Answers:
    import adapters

    random = np.random.default_rng(8)
    place = np.stack(np.divmod(np.arange(100), 10), axis=1) + 0.5
    game = adapters.billiards(place, random.normal(size=(100, 2)), np.full(100, 0.3), lower=[0, 0], upper=[10, 10])
    for until in (0.5, 2.0, 5.0):
        yield f"collisions until {until}", adapters.collision_count(game.advance(until))
        yield f"position at {until}", adapters.value_of(game, "position", "center")
        yield f"velocity at {until}", adapters.value_of(game, "velocity")


@case("kinetic labels")
def _labels() -> Answers:
    import choque.theses.kinetic.labels as labels

    stack = np.random.default_rng(9).integers(0, 5, (6, 8, 8)).repeat(8, axis=1).repeat(8, axis=2)
    for number, row in enumerate(labels.label_contacts(stack)):
        yield f"row {number}", repr(row)


@case("volumes")
def _volumes() -> Answers:
    import adapters

    made = {name: adapters.phantom(name, 27) for name in PHANTOMS}
    for name, volume in made.items():
        yield f"{name} voxels", volume.voxels()
        yield f"{name} volume", float(adapters.value_of(volume, "volume"))
        yield f"{name} area", float(adapters.value_of(volume, "surface_area"))
        for number, part in enumerate((*volume.surface(), *volume.boxes())):
            yield f"{name} surface and boxes {number}", part
        yield f"{name} dilated", volume.dilated(2).voxels()
        yield f"{name} eroded", volume.eroded(1).voxels()
        yield f"{name} components", len(volume.components())
    shifts = ((0, 0, 0), (9, 4, 2), (27, 0, 0), (26, 26, 26), (40, 3, 1))
    for one in PHANTOMS:
        for other in ("ball", "gyroid", "screw"):
            for shift in shifts:
                label = f"{one} {other} {shift}"
                first, second = made[one], made[other].translated(shift)
                for sign, joined in (("&", first & second), ("|", first | second), ("-", first - second)):
                    yield f"{label} {sign}", joined.voxels()
                yield f"{label} ^", (first ^ second).voxels()
                for closed in (True, False):
                    yield f"{label} collides {closed}", adapters.collides(first, second, closed=closed)
                yield f"{label} clearance", float(first.clearance(second))
                yield f"{label} slide", float(first.slide(second, (1.0, 0.0, 0.0)))
                yield f"{label} separation", first.separation(second)


@case("interest areas")
def _areas() -> Answers:
    import adapters

    for dimension in (2, 3):
        for shape in ("sphere", "box"):
            random = np.random.default_rng(10)
            position = random.random((600, dimension))
            areas = adapters.areas(position, random.uniform(0.02, 0.1, 600), shape=shape)
            for number in range(15):
                position = position + random.normal(size=position.shape) * 0.01
                areas.update(position)
                label = f"{dimension}D {shape} {number}"
                yield f"{label} pairs", areas.pairs()
                yield f"{label} entered", adapters.value_of(areas, "entered")
                yield f"{label} left", adapters.value_of(areas, "left")
                for part, members in zip(("starts", "members"), adapters.value_of(areas, "all_members"), strict=True):
                    yield f"{label} {part}", members
            areas.adapt(12)
            yield f"{dimension}D {shape} adapted", areas.radius


@case("polygons")
def _polygons() -> Answers:
    from choque.narrow import polygons

    random = np.random.default_rng(11)
    turn = np.linspace(0, 2 * np.pi, 9)[:-1]
    for number in range(60):
        shapes = [
            np.stack([np.cos(turn), np.sin(turn)], axis=1) * random.uniform(0.5, 1.5, (8, 1)) + random.normal(size=2)
            for _ in range(2)
        ]
        yield f"contact {number}", repr(polygons.contact(*shapes))


# The comparison


def compute(name: str, place: str, **arguments: str) -> list[tuple[str, str]]:
    """Compute a case, keep its arrays in ``place``, and return its labels with digests."""
    arrays = {label: np.asarray(value) for label, value in CASES[name](**arguments)}
    np.savez(Path(place) / f"{name.replace(' ', '_')}.npz", *arrays.values())
    return [(label, _digest(array)) for label, array in arrays.items()]


def _digest(array: np.ndarray) -> str:
    kind = f"{array.dtype.str} {array.shape} "
    return hashlib.sha256(kind.encode() + np.ascontiguousarray(array).tobytes()).hexdigest()


def difference(name: str, folders: list[Path], number: int) -> str:
    """Return what differs between the arrays of one label."""
    before, after = (np.load(folder / f"{name.replace(' ', '_')}.npz")[f"arr_{number}"] for folder in folders)
    if before.dtype != after.dtype or before.shape != after.shape:
        return f"{before.dtype} {before.shape} became {after.dtype} {after.shape}"
    if before.dtype.kind == "f":
        return (
            f"{np.count_nonzero(before != after)} of {before.size} differ by up to {np.abs(before - after).max():.3g}"
        )
    return f"{np.count_nonzero(before != after)} of {before.size} differ"


def compare(name: str, workers: list[Worker], folders: list[Path]) -> bool:
    """Compute a case in both environments, print its row, and return whether all is equal."""
    answers = []
    for worker, folder in zip(workers, folders, strict=True):
        arguments = {"folder": str(folder)} if name in ("recording", "shell run --record") else {}
        if name == "recording of the other version":
            arguments = {"before": str(folders[0])}
        try:
            answers.append(worker.call("compute", name=name, place=str(folder), arguments=arguments))
        except TaskFailed as problem:
            print(f"{name:34} failed {worker.environment.name}: {str(problem).strip().splitlines()[-1]}", flush=True)
            print(problem, file=sys.stderr)
            return False
    before, after = ([tuple(row) for row in answer] for answer in answers)
    if [label for label, _ in before] != [label for label, _ in after]:
        missing = {label for label, _ in before} ^ {label for label, _ in after}
        print(f"{name:34} different: only one version has {', '.join(sorted(missing)[:5])}", flush=True)
        return False
    unequal = [number for number, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    if not unequal:
        print(f"{name:34} equal      {len(before):5} arrays", flush=True)
        return True
    first = f"{before[unequal[0]][0]}: {difference(name, folders, unequal[0])}"
    print(f"{name:34} different  {len(before):5} arrays, {len(unequal)} differ; {first}", flush=True)
    return False


def main() -> int:
    """Compare the environments that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a checkout, a Python program, or PYTHON@CHECKOUT")
    parser.add_argument("after", help="likewise")
    parser.add_argument("--case", action="append", metavar="NAME", help="only cases that contain NAME; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where compiled kernels are kept")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the arrays and recordings here")
    options = parser.parse_args()
    wanted = [name for name in CASES if not options.case or any(word in name for word in options.case)]
    if not wanted:
        parser.error(f"no case contains {' or '.join(options.case)}; see --list.")
    if options.list:
        print("\n".join(wanted))
        return 0
    environments = [
        Environment.find(name, word, options.folder, 2)
        for name, word in (("before", options.before), ("after", options.after))
    ]
    for environment in environments:
        print(f"{environment.name:7} {environment.version()}")
    with tempfile.TemporaryDirectory(prefix="choque-answers-") as temporary:
        place = options.keep or Path(temporary)
        folders = [place / environment.name for environment in environments]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        workers = [Worker(environment, __file__) for environment in environments]
        try:
            equal = [compare(name, workers, folders) for name in wanted]
        finally:
            for worker in workers:
                worker.close()
    print(f"{sum(equal)} of {len(equal)} cases equal")
    return int(not all(equal))


if __name__ == "__main__":
    if sys.argv[1:] == [WORKER]:
        serve({"compute": lambda name, place, arguments: compute(name, place, **arguments)})
    else:
        sys.exit(main())
