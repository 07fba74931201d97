"""Compare the speed of two versions of Choque, line by line.

    python benchmarks/before_after.py ../base .                      # all lines: about an hour
    python benchmarks/before_after.py ../base . --quick              # small sizes, few turns: some minutes
    python benchmarks/before_after.py ../base . --line pairs --line world
    python benchmarks/before_after.py old/bin/python new/bin/python --json result.json
    python benchmarks/before_after.py ../0.1.0 . --any-answer --release benchmarks/releases/0.2.0.csv

Each environment (see `environments.py`) has one process. For every line both processes prepare the same data, and are
then measured in turns (before, after, after, before, …) while the other one sleeps. A turn repeats the call until it
takes 30 ms. The ratio is the median time after over the median time before; its interval comes from resampling the
turns. A line whose interval reaches over the tolerance is measured for more turns.

First calls run in new processes, with an empty folder of compiled kernels and with a full one. Use a quiet machine;
``--clock processor`` compares processor time, which is steadier on a busy one. The exit code is 1 if a line is slower
or failed.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from environments import DEFAULT_FOLDER, WORKER, Environment, TaskFailed, Worker, serve

TOLERANCE = 0.03
SECONDS_OF_A_TURN = 0.03
MAX_REPEATS = 5_000
MAX_SECONDS_OF_A_LINE = 90.0
RESAMPLES = 2_000
LEVEL = 0.95
"""Share of the resampled ratios that lies inside the interval."""

Call = Callable[[], int]
"""What is measured; the number says how much it found, and must be the same in both environments."""


@dataclass(frozen=True)
class Line:
    """A row of the table: a function of a size that prepares a call."""

    make: Callable[[int], Call]
    size: int
    quick_size: int


# The lines. Everything in this section runs inside an environment; only there is Choque imported.

LINES: dict[str, Line] = {}


def line(name: str, size: int, quick_size: int | None = None) -> Callable[[Callable[[int], Call]], Any]:
    """Register a line under ``name``."""

    def register(make: Callable[[int], Call]) -> Callable[[int], Call]:
        LINES[name] = Line(make, size, quick_size or max(size // 10, min(size, 100)))
        return make

    return register


def uniform_boxes(count: int, seed: int = 0, dtype: str = "float64") -> tuple[Any, Any]:
    """Return boxes of mixed sizes in a unit cube, with about four pairs a box."""
    import numpy as np

    generator = np.random.default_rng(seed)
    half = generator.uniform(0.4, 1.0, (count, 3)) * 0.5 * count ** (-1 / 3)
    center = generator.random((count, 3))
    return (center - half).astype(dtype), (center + half).astype(dtype)


def clustered_boxes(count: int, seed: int = 0) -> tuple[Any, Any]:
    """Return boxes crowded around a hundred places."""
    import numpy as np

    generator = np.random.default_rng(seed)
    place = generator.random((100, 3))[generator.integers(0, 100, count)]
    center = place + generator.normal(size=(count, 3)) * 0.02
    half = 0.1 * count ** (-1 / 3)
    return center - half, center + half


def _pairs(count: int, **options: Any) -> Call:
    import choque

    lower, upper = uniform_boxes(count)
    return lambda: len(choque.pairs(lower, upper, **options))


for _count in (100, 1_000, 10_000, 100_000, 1_000_000):
    line(f"pairs {_count}", _count)(_pairs)


@line("pairs 100000 float32", 100_000)
def _pairs_float32(count: int) -> Call:
    import choque

    lower, upper = uniform_boxes(count, dtype="float32")
    return lambda: len(choque.pairs(lower, upper))


@line("pairs 100000 clustered", 100_000)
def _pairs_clustered(count: int) -> Call:
    import choque

    lower, upper = clustered_boxes(count)
    return lambda: len(choque.pairs(lower, upper))


METHODS = {
    "brute": 30_000,
    "brute-obb": 3_000,
    "bsp": 100_000,
    "bvh": 100_000,
    "grid": 100_000,
    "interest": 100_000,
    "kd-tree": 100_000,
    "multi-sap": 100_000,
    "octree": 100_000,
    "sap-direct": 100_000,
    "sap-incremental": 100_000,
    "sap-kdop": 100_000,
    "sap-kinetic": 10_000,
    "sap-obb": 100_000,
}
"""Methods and numbers of boxes; those that test all pairs get fewer."""

for _method, _count in METHODS.items():
    line(f"method {_method} {_count}", _count)(lambda count, method=_method: _pairs(count, method=method))  # type: ignore[misc]


def _moving(method: str, count: int, *, step: float) -> Call:
    """Return an update of all boxes to the next frame with its pairs and what began and ended."""
    import adapters
    import numpy as np

    lower, upper = uniform_boxes(count)
    velocity = np.random.default_rng(1).normal(size=lower.shape) * step * count ** (-1 / 3)
    frames = [choque_boxes(lower + at * velocity, upper + at * velocity) for at in (0, 1, 2, 3, 4, 3, 2, 1)]
    broad = adapters.broad_phase(method, lower, upper)
    number = 0

    def update() -> int:
        nonlocal number
        number += 1
        broad.update(frames[number % len(frames)])
        began, ended = adapters.changes(broad)
        return len(broad.pairs()) + len(began) + len(ended)

    return update


def choque_boxes(lower: Any, upper: Any) -> Any:
    """Return boxes as bounds."""
    import choque

    return choque.bounds.Boxes(lower, upper)


for _method, _count in {
    "auto": 100_000,
    "bvh": 100_000,
    "grid": 100_000,
    "interest": 20_000,
    "sap-direct": 100_000,
    "sap-incremental": 20_000,
    "sap-kdop": 100_000,
    "sap-kinetic": 2_000,
    "sap-obb": 20_000,
}.items():
    line(f"moving {_method} {_count}", _count)(lambda count, method=_method: _moving(method, count, step=0.02))  # type: ignore[misc]


def _few_move(method: str, count: int) -> Call:
    import adapters
    import numpy as np

    lower, upper = uniform_boxes(count)
    broad = adapters.broad_phase(method, lower, upper)
    rows = np.arange(0, count, 100)
    shift = 0.1 * count ** (-1 / 3)
    places = [choque_boxes(lower[rows] + at * shift, upper[rows] + at * shift) for at in (0, 1)]
    number = 0

    def move() -> int:
        nonlocal number
        number += 1
        broad.move(rows, places[number % 2])
        began, ended = adapters.changes(broad)
        return len(began) + len(ended)

    return move


for _method in ("auto", "bvh", "grid", "sap-incremental"):
    line(f"move 1% {_method} 20000", 20_000)(lambda count, method=_method: _few_move(method, count))  # type: ignore[misc]


@line("query bvh 100000", 100_000)
def _query(count: int) -> Call:
    import adapters

    broad = adapters.broad_phase("bvh", *uniform_boxes(count))
    asked = choque_boxes(*uniform_boxes(count // 10, seed=3))
    return lambda: len(broad.query(asked))


def _world(scene: str, count: int, **options: Any) -> Call:
    import adapters

    made = adapters.body_scene(scene, count)
    return _stepping(made.world(threads=1, **options), made.dt)


def _stepping(world: Any, dt: float) -> Call:
    for _ in range(30):
        world.step(dt)

    def step() -> int:
        world.step(dt)
        return int(world.hash() % 1_000_003) if world.frame % 100 == 0 else 0

    return step


line("world mixed-box 10", 10, 10)(lambda count: _world("mixed-box", count))
line("world mixed-box 1000", 1_000)(lambda count: _world("mixed-box", count))
line("world mixed-box 10000", 10_000)(lambda count: _world("mixed-box", count))
line("world mixed-box 10000 sap-incremental", 10_000)(lambda count: _world("mixed-box", count, broad="sap-incremental"))
line("world mixed-box 10000 sap-obb", 10_000)(lambda count: _world("mixed-box", count, broad="sap-obb"))
line("world pile 1000", 1_000)(lambda count: _world("pile", count))


@line("world asleep 10000", 10_000)
def _world_asleep(count: int) -> Call:
    import numpy as np

    import choque

    world = choque.World(gravity=(0, -9.81, 0), threads=1)
    world.add_ground()
    places = np.arange(count)
    world.add_boxes(np.stack([2.0 * (places % 100), np.full(count, 0.5), 2.0 * (places // 100)], 1))
    while not world.asleep[1:].all():
        world.step()
    return lambda: world.step().impulses


@line("world tower 200 shape-matching", 200)
def _world_shape_matching(count: int) -> Call:
    import adapters

    tower = adapters.tower(count)
    return _stepping(tower.world(threads=1), tower.dt)


@line("world mixed-box 1000 fingsics", 1_000)
def _world_fingsics(count: int) -> Call:
    import adapters

    scene = adapters.body_scene("mixed-box", count)
    return _stepping(adapters.fingsics_world(scene, threads=1), scene.dt)


@line("record mixed-box 2000", 2_000)
def _record(count: int) -> Call:
    """Return a run of ten frames that are recorded in a folder that is deleted again."""
    import adapters

    scene = adapters.body_scene("mixed-box", count)

    def record() -> int:
        with tempfile.TemporaryDirectory(prefix="choque-") as folder:
            path = Path(folder) / "run.choque"
            adapters.record(scene.world(threads=1), path, 10, scene.dt)
            return path.stat().st_size // 1_000_000

    return record


@line("narrow collide 100000", 100_000)
def _collide(count: int) -> Call:
    import adapters
    import numpy as np

    import choque.narrow

    one, other = adapters.posed_hulls(count)
    return lambda: int(np.count_nonzero(choque.narrow.collide(one, other)))


@line("narrow gjk 100000", 100_000)
def _gjk(count: int) -> Call:
    import adapters
    import numpy as np

    import choque.narrow

    one, other = adapters.posed_hulls(count)
    return lambda: int(np.count_nonzero(choque.narrow.gjk(one, other).distance > 0))


@line("narrow epa 50000", 50_000)
def _epa(count: int) -> Call:
    import adapters
    import numpy as np

    import choque.narrow

    one, other = adapters.posed_hulls(count)
    return lambda: int(np.count_nonzero(choque.narrow.epa(one, other).depth >= 0))


@line("contacts convex 10000", 10_000)
def _contacts_convex(count: int) -> Call:
    import adapters

    import choque.narrow

    shapes = adapters.convex_shapes(count)
    return lambda: len(choque.narrow.contacts(shapes).pairs)


@line("contacts spheres capsules 50000", 50_000)
def _contacts_round(count: int) -> Call:
    import adapters

    import choque.narrow

    shapes = adapters.round_shapes(count)
    return lambda: len(choque.narrow.contacts(shapes).pairs)


@line("kinetic advance 2000", 2_000)
def _kinetic(count: int) -> Call:
    import adapters
    import numpy as np

    generator = np.random.default_rng(0)
    lower = generator.random((count, 2))
    sweep = adapters.sweep(lower, lower + 0.2 / count**0.5, generator.normal(size=(count, 2)) * 0.05)
    sweep.bounce([-0.5, -0.5], [1.5, 1.5])

    def advance() -> int:
        return len(adapters.advance(sweep, sweep.time + 0.01))

    return advance


@line("kinetic billiards 500", 500)
def _billiards(count: int) -> Call:
    import adapters
    import numpy as np

    generator = np.random.default_rng(0)
    side = math.ceil(count**0.5)
    place = np.stack(np.divmod(np.arange(count), side), axis=1) + 0.5
    game = adapters.billiards(
        place, generator.normal(size=(count, 2)), np.full(count, 0.3), lower=[0, 0], upper=[side, side]
    )
    return lambda: adapters.collision_count(game.advance(game.time + 0.1))


def _two_volumes(size: int) -> tuple[Any, Any]:
    import adapters

    one, other = adapters.phantom("gyroid", size), adapters.phantom("ball", size)
    return one, other.translated((size // 3, size // 4, size // 5))


@line("volume from voxels 128", 128, 32)
def _from_voxels(size: int) -> Call:
    import choque

    voxels = _two_volumes(size)[0].voxels()
    return lambda: choque.Volume.from_voxels(voxels).voxel_count


@line("volume collides 128", 128, 32)
def _volume_collides(size: int) -> Call:
    import adapters

    one, other = _two_volumes(size)
    shifts = [(0, 0, 0), (size, 0, 0), (size // 2, size // 2, 0), (-size // 2, 3, 1)]
    placed = [other.translated(shift) for shift in shifts]
    return lambda: sum(adapters.collides(one, each, closed=False) for each in placed)


@line("volume booleans 128", 128, 32)
def _volume_booleans(size: int) -> Call:
    one, other = _two_volumes(size)
    return lambda: sum(each.voxel_count for each in (one & other, one | other, one - other, one ^ other))


@line("volume clearance 64", 64, 24)
def _volume_clearance(size: int) -> Call:
    one, other = _two_volumes(size)
    far = other.translated((2 * size, 0, 0))
    return lambda: round(one.clearance(far))


@line("interest update 50000", 50_000)
def _interest(count: int) -> Call:
    import adapters
    import numpy as np

    generator = np.random.default_rng(0)
    radius = (10 / (count * 4 / 3 * math.pi)) ** (1 / 3)
    position = generator.random((count, 3))
    step = generator.normal(size=(count, 3)) * 0.02 * radius
    areas = adapters.areas(position, radius)
    number = 0

    def update() -> int:
        nonlocal number
        number += 1
        areas.update(position + (number % 20) * step)
        return len(areas.entered) + len(areas.left)

    return update


@line("interest search 50000", 50_000)
def _interest_search(count: int) -> Call:
    import adapters
    import numpy as np

    position = np.random.default_rng(0).random((count, 3))
    radius = (10 / (count * 4 / 3 * math.pi)) ** (1 / 3)
    return lambda: len(adapters.areas(position, radius).pairs())


# First calls: name, and a function that makes the first call of its process


def _first_pairs() -> None:
    import choque

    choque.pairs(*uniform_boxes(10_000))


def _first_update() -> None:
    _moving("auto", 10_000, step=0.02)()


def _first_world() -> None:
    import adapters

    scene = adapters.body_scene("mixed-box", 500)
    scene.world().step(scene.dt)


def _first_contacts() -> None:
    _contacts_convex(200)()


def _first_sweep() -> None:
    _kinetic(200)()


def _first_volume() -> None:
    _volume_booleans(24)()


def _first_areas() -> None:
    _interest(1_000)()


def _import() -> None:
    import choque  # noqa: F401


FIRST_CALLS: dict[str, Callable[[], None]] = {
    "import": _import,
    "pairs": _first_pairs,
    "update": _first_update,
    "world": _first_world,
    "contacts": _first_contacts,
    "sweep": _first_sweep,
    "volume": _first_volume,
    "areas": _first_areas,
}


class Measured:
    """The tasks of a worker: one prepared line at a time."""

    def __init__(self) -> None:
        self._call: Call = lambda: 0

    def prepare(self, name: str, quick: bool) -> list[float]:
        """Prepare a line and run it twice; return the seconds of both calls."""
        self._call = lambda: 0
        gc.collect()
        chosen = LINES[name]
        self._call = chosen.make(chosen.quick_size if quick else chosen.size)
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            self._call()
            seconds.append(time.perf_counter() - start)
        return seconds

    def measure(self, repeats: int) -> dict[str, Any]:
        """Return the seconds of one call, the mean of ``repeats``, and the sum of what the calls found."""
        gc.collect()
        gc.disable()
        wall, processor, found = time.perf_counter(), time.process_time(), 0
        for _ in range(repeats):
            found += int(self._call())
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        gc.enable()
        return {"wall": wall / repeats, "processor": processor / repeats, "found": found}


def first_call(name: str) -> None:
    """Make a first call in this process and print its seconds, imports of Choque included."""
    import numba  # noqa: F401
    import numpy  # noqa: F401

    start = time.perf_counter()
    FIRST_CALLS[name]()
    print(json.dumps(time.perf_counter() - start))


# The comparison


@dataclass
class Result:
    """What a line gave: seconds of each turn, before and after."""

    name: str
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    found: list[int] = field(default_factory=lambda: [0, 0])
    problem: str = ""

    @property
    def ratio(self) -> float:
        """Median after over median before."""
        return statistics.median(self.after) / statistics.median(self.before)

    def interval(self) -> tuple[float, float]:
        """Return the interval of the ratio, by resampling the turns."""
        generator, turns = random.Random(0), range(len(self.before))
        ratios = []
        for _ in range(RESAMPLES):
            chosen = generator.choices(turns, k=len(turns))
            ratios.append(
                statistics.median([self.after[turn] for turn in chosen])
                / statistics.median([self.before[turn] for turn in chosen])
            )
        ratios.sort()
        return ratios[int((1 - LEVEL) / 2 * RESAMPLES)], ratios[int((1 + LEVEL) / 2 * RESAMPLES) - 1]

    def judgement(self, tolerance: float) -> str:
        """Return ``same``, ``faster``, ``slower`` or ``unclear``, or ``failed``."""
        if self.problem:
            return "failed"
        low, high = self.interval()
        if low > 1 + tolerance:
            return "slower"
        if high < 1 - tolerance:
            return "faster"
        return "same" if high <= 1 + tolerance else "unclear"


def compare_line(name: str, workers: Sequence[Worker], options: argparse.Namespace) -> Result:
    """Measure one line in both environments, in turns."""
    result = Result(name)
    try:
        warm = [worker.call("prepare", name=name, quick=options.quick) for worker in workers]
        repeats = max(1, min(MAX_REPEATS, math.ceil(SECONDS_OF_A_TURN / max(warm[0][1], 1e-9))))
        started, most = time.monotonic(), options.turns
        while len(result.before) < most:
            order = (0, 1) if len(result.before) % 2 == 0 else (1, 0)
            for which in order:
                measured = workers[which].call("measure", repeats=repeats)
                (result.before, result.after)[which].append(measured[options.clock])
                result.found[which] += measured["found"]
            if time.monotonic() - started > MAX_SECONDS_OF_A_LINE and len(result.before) >= 5:
                break
            is_last = len(result.before) == most and most < 8 * options.turns
            if is_last and not options.quick and result.judgement(options.tolerance) in ("unclear", "slower"):
                most += options.turns
    except TaskFailed as problem:
        result.problem = str(problem)
    if not result.problem and result.found[0] != result.found[1] and not options.any_answer:
        result.problem = f"the answers differ: {result.found[0]} before, {result.found[1]} after"
    return result


def compare_first_call(
    name: str, environments: Sequence[Environment], options: argparse.Namespace, *, is_cached: bool
) -> Result:
    """Measure a first call in new processes, with an empty folder of kernels or a full one."""
    result = Result(f"first {name}, kernels {'cached' if is_cached else 'compiled'}")
    turns = (options.turns // 2 if is_cached else options.first_turns) or 1
    with tempfile.TemporaryDirectory(prefix="choque-kernels-") as folder:
        for turn in range(turns + is_cached):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                place = f"{folder}/{which}" if is_cached else f"{folder}/{which}-{turn}"
                ended = environments[which].run(__file__, "--first", name, NUMBA_CACHE_DIR=place)
                if ended.returncode:
                    result.problem = f"{environments[which].name}: {ended.stderr}"
                    return result
                if turn or not is_cached:
                    (result.before, result.after)[which].append(json.loads(ended.stdout.splitlines()[-1]))
    return result


def show(result: Result, tolerance: float) -> None:
    """Print a row."""
    if result.problem:
        print(f"{result.name:40} failed: {result.problem.strip().splitlines()[-1]}", flush=True)
        print(result.problem, file=sys.stderr)
        return
    before, after = (_seconds(statistics.median(times)) for times in (result.before, result.after))
    low, high = result.interval()
    print(
        f"{result.name:40} {before:>10} {after:>10} {result.ratio:7.3f}  {low:6.3f} to {high:6.3f} "
        f"{len(result.before):5}  {result.judgement(tolerance)}",
        flush=True,
    )


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def write_release(results: Sequence[Result], path: Path) -> None:
    """Write a row for each line: what `docs/images/speed_by_version.py` draws."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["line", "before [ms]", "after [ms]", "ratio", "low", "high"])
        for result in results:
            if not result.problem:
                times = [f"{1e3 * statistics.median(seconds):.4g}" for seconds in (result.before, result.after)]
                writer.writerow([result.name, *times, *(f"{part:.3f}" for part in (result.ratio, *result.interval()))])


def chosen_names(names: Sequence[str], words: Sequence[str] | None) -> list[str]:
    """Return the names that contain one of ``words``; all without words."""
    return [name for name in names if not words or any(word in name for word in words)]


def main() -> int:
    """Compare the environments that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a checkout, a Python program, or PYTHON@CHECKOUT")
    parser.add_argument("after", help="likewise")
    parser.add_argument("--line", action="append", metavar="NAME", help="only lines that contain NAME; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the names of the lines and stop")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, five turns, no compiling")
    parser.add_argument("--turns", type=int, help="turns of a line: 15, or 5 with --quick")
    parser.add_argument("--first-turns", type=int, default=2, help="turns of a first call that compiles")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="which time to compare")
    parser.add_argument("--threads", type=int, default=1, help="threads of both environments")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="relative difference that is accepted")
    parser.add_argument("--any-answer", action="store_true", help="judge lines whose answers were changed on purpose")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where compiled kernels are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all turns as JSON")
    parser.add_argument(
        "--release", type=Path, metavar="CSV", help="write the medians of a release beside the last one"
    )
    options = parser.parse_args()
    options.turns = options.turns or (5 if options.quick else 15)
    first = [f"first {name}, kernels {kind}" for name in FIRST_CALLS for kind in ("cached", "compiled")]
    if options.quick and not options.line:
        first = [name for name in first if "cached" in name]
    wanted = chosen_names([*LINES, *first], options.line)
    if not wanted:
        parser.error(f"no line contains {' or '.join(options.line)}; see --list.")
    if options.list:
        print("\n".join(wanted))
        return 0
    environments = [
        Environment.find(name, word, options.folder, options.threads)
        for name, word in (("before", options.before), ("after", options.after))
    ]
    for environment in environments:
        print(f"{environment.name:7} {environment.version()}")
    if options.quick:
        print("quick: about a tenth of the sizes that the names of the lines say")
    print(f"\n{'line':40} {'before':>10} {'after':>10}   ratio        95 %     turns", flush=True)
    workers = [Worker(environment, __file__) for environment in environments]
    results = []
    try:
        for name in wanted:
            if name in LINES:
                result = compare_line(name, workers, options)
            else:
                word = name.removeprefix("first ").partition(",")[0]
                result = compare_first_call(word, environments, options, is_cached=name.endswith("cached"))
            show(result, options.tolerance)
            results.append(result)
    finally:
        for worker in workers:
            worker.close()
        if options.json:
            options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
        if options.release:
            write_release(results, options.release)
    judgements = [result.judgement(options.tolerance) for result in results]
    print(", ".join(f"{judgements.count(word)} {word}" for word in ("faster", "same", "unclear", "slower", "failed")))
    return int(any(word in ("slower", "failed") for word in judgements))


if __name__ == "__main__":
    if sys.argv[1:] == [WORKER]:
        tasks = Measured()
        serve({"prepare": tasks.prepare, "measure": tasks.measure})
    elif sys.argv[1:2] == ["--first"]:
        first_call(sys.argv[2])
    else:
        sys.exit(main())
