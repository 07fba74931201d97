"""The study of direct, incremental and kinetic sweep-and-prune: who follows moving bodies fastest, and from when on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choque.lab.claims import Finding, found, not_testable
from choque.lab.design import Factor, Level, Parameters
from choque.lab.head_to_head import CHOSEN, judge_selector
from choque.lab.records import Row
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.stopwatch import Stopwatch
from choque.lab.study import Metric, Study
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THESIS = "Moraga Aros, master's thesis, Universidad de Chile, 2019"
DURATION = 1.0
"""Seconds that the runs of the thesis follow the bodies."""
DURATIONS = (0.1, 10.0)
"""Shorter and longer ones beside it."""
FIXED_AREA, FRAME = 0.04, 20.0
"""Of an object of fixed size, and the edge of the frame: 1,000 of them fill a tenth."""
LARGE = (3_000, 10_000, 30_000, 100_000)
RATES = (10, 30, 100, 300, 3_000)
"""Frames per second beside the thousand of the thesis."""
FRAME_METHODS = {"direct": "sap-direct", "incremental": "sap-incremental", "incremental-recompute": "sap-recompute"}
"""The broad phase of each method that goes from frame to frame."""


def beside_the_matrix(levels: Mapping[str, Sequence[Level]], quick: bool) -> Iterable[Parameters]:
    """Larger numbers, other frame rates, objects of fixed size and speed, and boxes in 3D."""
    base: dict[str, Level] = {
        "scene": "thesis",
        "occupancy": 0.05,
        "frames_per_second": 1_000,
        "duration": DURATION,
        "seed": 0,
    }
    for method in levels["method"]:
        if quick:
            yield from ({**base, "n": 1_000, "method": method, "frames_per_second": rate} for rate in (10, 1_000))
            yield from ({**base, "n": 1_000, "method": method, "scene": scene} for scene in ("fixed", "boxes-3d"))
            yield {**base, "n": 100, "method": method, "duration": 0.1}
            continue
        yield from ({**base, "n": n, "method": method} for n in LARGE)
        yield from (
            {**base, "n": n, "method": method, "frames_per_second": rate, "seed": seed}
            for n in (100, 1_000)
            for rate in RATES
            for seed in range(3)
        )
        yield from (
            {**base, "n": n, "method": method, "duration": duration, "frames_per_second": rate, "seed": seed}
            for n in (100, 1_000)
            for duration in DURATIONS
            for rate in (30, 1_000)
            for seed in range(3)
        )
        yield from (
            {**base, "n": n, "method": method, "scene": scene, "seed": seed}
            for scene in ("fixed", "boxes-3d")
            for n in (10, 100, 1_000, 10_000)
            for seed in range(3)
        )


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterable[Parameters]:
    """Every method for three frames, in 2D and 3D."""
    few: dict[str, Level] = {"n": 1_000, "occupancy": 0.05, "frames_per_second": 30, "duration": 0.1, "seed": 0}
    for method in levels["method"]:
        yield from ({**few, "scene": scene, "method": method} for scene in ("thesis", "boxes-3d"))


def bytes_a_body(row: Row) -> float | None:
    """Return the peak bytes of the structures for each body."""
    peak, n = row.get("peak_bytes"), row.get("n")
    return peak / n if isinstance(peak, int | float) and isinstance(n, int) and n and peak else None


def what_tells_methods_apart() -> Mapping[str, float]:
    """Return the weights of the selector, which uses a map of this study."""
    from choque.theses.kinetic.selector import WEIGHTS

    return WEIGHTS


STUDY = Study(
    name="kinetic",
    title="Direct, incremental or kinetic sweep-and-prune",
    about=(
        "Random polygons of one area move at constant velocity for a second, as in the thesis: the same instance for "
        "every method, by frames for the direct and the incremental ones, from event to event for the kinetic one. "
        "Beside the matrix of the thesis: up to 100,000 objects, other frame rates, objects of fixed size and speed in "
        "a fixed frame, and boxes in 3D. The pairs at the end of each run are compared with those of all-pairs tests."
    ),
    factors=(
        Factor("scene", ("thesis",), further=lambda: ("fixed", "boxes-3d")),
        Factor("n", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000), quick=(10, 100, 1_000)),
        Factor("occupancy", (0.01, 0.02, 0.05, 0.10), quick=(0.01, 0.10)),
        Factor("frames_per_second", (1_000,)),
        Factor("duration", (DURATION,)),
        Factor("method", ("kinetic", *FRAME_METHODS, "auto"), quick=("kinetic", "direct", "incremental", "auto")),
        Factor("seed", tuple(range(10)), quick=(0,)),
    ),
    metrics=(
        Metric("total", "s", "seconds of a run"),
        Metric("bytes", "bytes", "peak bytes a body", bytes_a_body),
        Metric("events", "events", "events of a run"),
    ),
    regions=("n", "density", "frames_per_second", "duration"),
    region_weights=what_tells_methods_apart,
    listed=beside_the_matrix,
    kernels=small_runs,
    selector="auto",
    within=0.10,
    # Ten seeds, each in a process of its own, tell more than many repetitions in one process.
    plan=Plan(minimum=5, maximum=15, precision=0.05, budget=5.0, patience=20.0, limit=240.0),
    quick_plan=Plan(minimum=7, maximum=30, precision=0.1, budget=0.7, patience=5.0, limit=20.0),
)

Corners = NDArray[np.float64]


@lru_cache(maxsize=1)
def instance(scene: str, n: int, occupancy: float, seed: int) -> tuple[Corners, Corners, Corners, float]:
    """Return (lower, upper, velocity, density) of an instance, kept for the next method."""
    from choque.theses.kinetic import scenes

    if scene == "boxes-3d":
        random = np.random.default_rng(seed)
        edge = (occupancy * FRAME**3 / max(n, 1)) ** (1 / 3)
        lower = random.uniform(0.0, FRAME, (n, 3))
        direction = random.normal(size=(n, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return lower, lower + edge, direction * random.uniform(0.3, 3.5, (n, 1)) * edge, occupancy
    share = n * FIXED_AREA / FRAME**2 if scene == "fixed" else occupancy
    model = scenes.make("random-shapes", n=n, occupancy=share, seed=seed, frame=FRAME)
    return *model.boxes(), model.velocity, model.density


class Following(Trial):
    """One method that follows one instance for a while; ``auto`` is the one that is recommended for it."""

    def __init__(self, parameters: Parameters) -> None:
        from choque.theses.kinetic import recommend

        self.name = self._way = str(parameters["method"])
        self._rate = float(parameters["frames_per_second"] or 1)
        self._duration = float(parameters.get("duration") or DURATION)
        self._lower, self._upper, self._velocity, self._density = instance(
            str(parameters["scene"]),
            int(parameters["n"] or 0),
            float(parameters["occupancy"] or 0),
            int(parameters["seed"] or 0),
        )
        if self.name == "auto":
            self._way = recommend(len(self._lower), self._density, self._rate, self._duration).method
        self._counters: dict[str, int | float] = {}
        self._end = self._duration
        self._answer: NDArray[np.int32] = np.empty((0, 2), np.int32)

    def run(self, watch: Stopwatch) -> None:
        """Run all frames, or all events."""
        if self._way == "kinetic":
            self._run_kinetic(watch)
        else:
            self._run_frames(watch, round(self._rate * self._duration))

    def warm_up(self, patience: float) -> None:
        """Run a few frames, which compile everything and give an estimate of the whole run."""
        if self._way == "kinetic":
            super().warm_up(patience)
            return
        few, frames = 3, round(self._rate * self._duration)
        self._run_frames(Stopwatch(self.clock), few)
        begin = self.clock()
        self._run_frames(Stopwatch(self.clock), few)
        expected = (self.clock() - begin) * frames / few
        if expected > patience:
            raise CutOff(f"would take about {expected:.2g} s; {patience:g} s are allowed")

    def check(self) -> Verdict:
        """Compare the pairs at the end with those of all-pairs tests."""
        import choque

        shift = self._velocity * self._end
        lower, upper = self._lower + shift, self._upper + shift
        expected = choque.pairs(lower, upper, method="brute")
        return judge(self._answer, expected, lower, upper, superset=False, rounding=True)

    def counters(self) -> Mapping[str, int | float]:
        """Exchanges, events and bytes."""
        return self._counters

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the coordinates of the map of methods, and the recommended method."""
        return {"density": self._density, **({CHOSEN: self._way} if self.name == STUDY.selector else {})}

    def _run_kinetic(self, watch: Stopwatch) -> None:
        from choque.kinetic import Sweep

        sweep = Sweep(self._lower, self._upper, self._velocity)
        watch.lap("init")
        sweep.advance(self._duration)
        watch.lap("follow")  # not "events", which are counted
        self._end, self._answer = self._duration, sweep.pairs()
        counters, audit = sweep.counters, sweep.audit()
        self._counters = {
            "events": counters.events,
            "exchanges": counters.exchanges,
            "external": audit.external,
            "multiple": audit.multiple,
            "peak_bytes": sweep.byte_count,
        }
        watch.skip()

    def _run_frames(self, watch: Stopwatch, frames: int) -> None:
        from choque.bounds import Boxes
        from choque.broad import create

        broad = create(FRAME_METHODS[self._way], Boxes(self._lower, self._upper), threads=1)
        pairs = broad.pairs()
        watch.lap("init")
        for frame in range(1, frames):
            shift = self._velocity * (frame / self._rate)
            broad.update(Boxes(self._lower + shift, self._upper + shift))
            watch.lap("sort")
            pairs = broad.pairs()
            watch.lap("collision")
        self._end, self._answer = max(frames - 1, 0) / self._rate, pairs
        self._counters = {
            "exchanges": broad.counters.exchanges,
            "tests": broad.counters.tests,
            "recomputed": getattr(broad.index, "recomputations", 0),
            "peak_bytes": broad.counters.peak_bytes,
        }
        watch.skip()


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:  # noqa: ARG001
    """A method on an instance."""
    return Following(parameters)


def _matrix(**where: Any) -> dict[str, Any]:
    """Return the factors of the thesis's own matrix."""
    return {"scene": "thesis", "frames_per_second": 1_000, "duration": DURATION, **where}


def _chosen_from(result: Result) -> list[Any]:
    """Return the methods without the selector, which has no line of its own."""
    return [name for name in result.samples.levels("method") if name != STUDY.selector]


def _lines(result: Result) -> list[Any]:
    """Return the occupancies with more than one number of objects."""
    groups = [(level, rows.levels("n")) for (level,), rows in result.right.where(**_matrix()).groups("occupancy")]
    return sorted(level for level, sizes in groups if len(sizes) > 1) or [level for level, _ in groups]


def _occupied(share: float) -> str:
    return f"occupancy {100 * share:g} %"


def _largest(result: Result, most: int = 1_000) -> int:
    return max((n for n in result.right.where(**_matrix()).levels("n") if n <= most), default=0)


@STUDY.claim(
    "order-of-magnitude-direct",
    source=f"{THESIS}, conclusions",
    printed="Kinetic is an order of magnitude faster than the static ones, whatever the density: against direct.",
)
def ten_times_direct(result: Result) -> Finding:
    """Compare at the largest n of the matrix."""
    return _ten_times(result, "direct")


@STUDY.claim(
    "order-of-magnitude-incremental",
    source=f"{THESIS}, conclusions",
    printed="Kinetic is an order of magnitude faster than the static ones, whatever the density: against incremental.",
)
def ten_times_incremental(result: Result) -> Finding:
    """The thesis's own fits give 3 to 7 times."""
    return _ten_times(result, "incremental")


def _ten_times(result: Result, method: str) -> Finding:
    """Judge at all densities: one that is surely less refutes the claim, and all must surely be more to confirm it."""
    where = _matrix(n=_largest(result))
    shares = sorted(result.right.where(method=method, **where).levels("occupancy"))
    ratios = {share: result.ratio(method, "kinetic", occupancy=share, **where) for share in shares}
    words = ", ".join(f"{100 * share:g} %: {ratio}" for share, ratio in ratios.items())
    note = f"{method} over kinetic at n = {_largest(result):,}, where it is least; by occupancy {words}"
    if not ratios:
        return not_testable(f"needs {method} and kinetic at n = {_largest(result):,}")
    least = min(ratios.values(), key=lambda ratio: ratio.value)
    if any(ratio.upper < 10 for ratio in ratios.values()):
        return found(False, least, note)
    if any(ratio.lower <= 10 for ratio in ratios.values()):
        return not_testable(f"this run does not tell: {note}")
    return found(True, least, note)


@STUDY.claim(
    "sixteen-objects",
    source=f"{THESIS}, conclusions",
    printed="Incremental matches kinetic for up to 16 objects, whatever the density.",
)
def up_to_sixteen(result: Result) -> Finding:
    """Find from how many objects on incremental takes longer."""
    border = result.crossover("incremental", "kinetic", **_matrix())
    if border is None:
        smallest = min(result.right.where(**_matrix()).levels("n"))
        ratio = result.ratio("incremental", "kinetic", **_matrix(n=smallest))
        return found(False, ratio, f"no crossover: incremental over kinetic already at n = {smallest}")
    return found(border.lower <= 16 <= border.upper, border, "objects from which on incremental takes longer")


@STUDY.claim("no-multiple-events", source=f"{THESIS}, results", printed="No multiple event in 400 random experiments.")
def no_multiple_events(result: Result) -> Finding:
    """Random numbers hardly ever meet three at once."""
    cells = result.cells.where(method="kinetic", **_matrix())
    count = int(sum(cells.numbers("multiple")))
    return found(count == 0, f"{count} in {len(cells)} experiments")


@STUDY.claim(
    "events-independent-of-density",
    source=f"{THESIS}, results",
    printed="Events grow with n independently of the occupancy.",
)
def events_and_density(result: Result) -> Finding:
    """Denser objects are larger and, by the generator, faster."""
    n = _largest(result)
    rows = result.right.where(method="kinetic", **_matrix(n=n))
    levels = sorted(rows.levels("occupancy"))
    if len(levels) < 2:
        return not_testable("needs two occupancies")
    low, high = (float(np.mean(rows.where(occupancy=level).numbers("events"))) for level in (levels[0], levels[-1]))
    if not low > 0:
        return not_testable("needs objects that meet")
    note = f"events at {_occupied(levels[-1])} over those at {_occupied(levels[0])}, n = {n:,}"
    return found(0.9 < high / low < 1.1, f"{high / low:.2f}", note)


@STUDY.claim("kinetic-quadratic", source=f"{THESIS}, annex B", printed="The time of kinetic is quadratic in n.")
def kinetic_is_quadratic(result: Result) -> Finding:
    """The exponent from 100 objects on."""
    large = [n for n in result.right.where(method="kinetic", scene="thesis").levels("n") if n >= 100]
    if len(large) < 2:
        return not_testable("needs two sizes of at least 100 objects")
    fit = result.power("kinetic", scene="thesis", n=large)
    lower, upper = fit.intervals[1]
    return found(lower <= 2 <= upper, f"n^{fit.coefficients[1]:.2f}", f"95 % interval {lower:.2f} to {upper:.2f}")


@STUDY.claim(
    "rate-dominates", source=f"{THESIS}, conclusions", printed="The frame rate dominates the cost of static methods."
)
def rate_dominates(result: Result) -> Finding:
    """Compare the factor of the frames with that of the time of direct."""
    rows = result.right.where(method="direct", scene="thesis", n=1_000, occupancy=0.05, duration=DURATION)
    rates = sorted(rows.levels("frames_per_second"))
    if len(rates) < 2:
        return not_testable("needs direct at two frame rates, n = 1,000")
    slow, fast = (
        float(np.median(rows.where(frames_per_second=rate).numbers("total"))) for rate in (rates[0], rates[-1])
    )
    note = f"times the time of direct for {rates[-1] / rates[0]:g} times the frames"
    return found(fast / slow > 0.5 * rates[-1] / rates[0], f"{fast / slow:.3g}", note)


@STUDY.claim(
    "incremental-overtakes",
    source="Choque, step 3",
    printed="There is a frame rate below which incremental is faster than kinetic.",
)
def incremental_overtakes(result: Result) -> Finding:
    """The highest measured rate at which it is, at n = 1,000."""
    where: dict[str, Any] = {"scene": "thesis", "n": 1_000, "occupancy": 0.05, "duration": DURATION}
    rates = sorted(result.right.where(method="incremental", **where).levels("frames_per_second"))
    if len(rates) < 2:
        return not_testable("needs incremental and kinetic at two frame rates, n = 1,000")
    faster = []
    for rate in rates:
        ratio = result.ratio("incremental", "kinetic", frames_per_second=rate, **where)
        if ratio.upper < 1:
            faster.append(rate)
    if not faster and rates[0] > RATES[0]:
        return not_testable(f"needs {RATES[0]} frames a second; the lowest rate of this run is {rates[0]:g}")
    words = f"up to {max(faster):g} frames a second" if faster else f"not at {rates[0]:g} a second or more"
    return found(bool(faster), words, f"of {', '.join(f'{rate:g}' for rate in rates)} frames a second")


@STUDY.claim("bytes", source="Choque, step 3", printed="A kinetic sweep takes under 400 bytes a body.")
def small(result: Result) -> Finding:
    """Judge at the largest n, where what is fixed no longer counts."""
    rows = result.right.where(method="kinetic", **_matrix(n=_largest(result)))
    most = max(rows.numbers("bytes"), default=float("nan"))
    return found(most < 400, f"{most:.0f} bytes")


@STUDY.claim(
    "chosen-within-10",
    source="Choque, step 3",
    printed="The method chosen from n, density, frame rate and duration is within 10 % of the best on held-out cells.",
)
def chosen_well(result: Result) -> Finding:
    """The shipped table, by `choque.theses.kinetic.recommend`: no cell of this study is in it."""
    return judge_selector(result)


@STUDY.figure(
    "curves",
    "Seconds of a run by number of objects",
    "Medians with the band of their 95 % interval: one second of motion, 1,000 frames for the methods with frames.",
)
def curves(result: Result) -> Figure:
    """A panel for each occupancy."""
    from choque.lab import figures

    return figures.curves(
        result, panels="occupancy", series=_chosen_from(result), titled=_occupied, **_matrix(occupancy=_lines(result))
    )


@STUDY.figure(
    "stages", "Where the time goes", "The share of each stage in the whole run, whose length is at the right."
)
def stages(result: Result) -> Figure:
    """A panel for each occupancy."""
    from choque.lab import figures

    return figures.stage_split(
        result, panels="occupancy", titled=_occupied, **_matrix(method=_chosen_from(result), occupancy=_lines(result))
    )


@STUDY.figure(
    "events",
    "Events of a run by number of objects",
    "Instants per axis at which the order changes: a line for each occupancy.",
)
def events(result: Result) -> Figure:
    """All occupancies in one panel: whether they matter is what is asked."""
    from choque.lab.figures import format_axis
    from choque.lab.style import empty_figure, marks, new_figure

    occupancies = _lines(result)
    if not occupancies:
        return empty_figure()
    figure = new_figure(5.0, 3.3)
    axis = figure.subplots()
    for share, mark in marks(occupancies).items():
        places, middle = result.curve("kinetic", metric="events", **_matrix(occupancy=share))
        met = [(place, each.value) for place, each in zip(places, middle, strict=True) if each.value > 0]
        axis.plot(*zip(*met, strict=True), label=_occupied(share), **mark.options())
    axis.set(xscale="log", yscale="log", xlabel="n", ylabel="events of a run")
    format_axis(axis, "events")
    axis.legend(loc="lower right")
    return figure
