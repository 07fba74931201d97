"""The study of areas of interest: the 120 cells of the thesis, measured again, and extents up to a million."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choque.errors import InvalidInput
from choque.lab.claims import Finding, found, not_testable
from choque.lab.design import Factor, Level, Parameters
from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.statistics import Estimate
from choque.lab.study import Metric, Study
from choque.theses.interest.methods import CONFIGURATIONS, COUNTS, PAIRS, share_of_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from choque.lab.trial import Trial

THESIS = "L. M. Fraga, master's dissertation, Instituto Militar de Engenharia, 2009"
SCANNED = ("SaP1-legacy", "AoIP1-legacy")
EXHAUSTIVE = "AoIP1-exhaustive"
STARTS = ("dense", "sparse")
EXTENTS = (10_000, 100_000, 1_000_000)
NARROW_COSTS = (0.1, 1.0, 10.0)
"""Microseconds a pair of narrow phases: a test of spheres, of convex shapes, of meshes."""
POLYGONS = ("FB", "GR4x4x4", "SaP3", "AoIP1")
"""Those that are also measured with a narrow phase of polygons."""


def further_cells(levels: Mapping[str, Sequence[Level]], quick: bool) -> Iterable[Parameters]:
    """Linear deduplication where it can be waited for, the areas of the thesis, polygons, and extents matched once."""
    shared: Parameters = {"radii": "equal", "seed": 0, "solids": "spheres"}
    for start in STARTS:
        for n in COUNTS[:2] if quick else COUNTS:
            yield {"start": start, "n": n, "configuration": EXHAUSTIVE, **shared}
    for configuration in (*SCANNED, "SaP1", "AoIP1"):
        for n in (50, 100, 200):
            yield {"start": "dense", "n": n, "configuration": configuration, **shared}
    for configuration in POLYGONS:
        for start in STARTS:
            for n in (300,) if quick else (100, 300, 1000):
                yield {**shared, "start": start, "n": n, "configuration": configuration, "solids": "polygons"}
    if "areas" in levels["configuration"] or set(CONFIGURATIONS) <= set(levels["configuration"]):
        for n in EXTENTS[:1] if quick else EXTENTS:
            yield {"start": "extents", "n": n, "configuration": "areas", **shared}


def is_of_another_kind(parameters: Parameters) -> bool:
    """Extents are matched by areas alone, and only there."""
    return (parameters["start"] == "extents") != (parameters["configuration"] == "areas")


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterable[Parameters]:
    """Every configuration among a few bodies, with polygons where these are measured too."""
    few: Parameters = {"start": "dense", "n": 50, "radii": "equal", "seed": 0}
    for configuration in levels["configuration"]:
        solids = "polygons" if configuration in POLYGONS else "spheres"
        yield {**few, "configuration": configuration, "solids": solids}


def seconds_a_step(row: Row) -> float | None:
    """Update and pairs of one step; all of a match of extents."""
    steps, pairs = row.get("steps"), row.get("pairs")
    if not isinstance(steps, int | float) or not isinstance(pairs, float):
        return None
    spent = row.get("update", row.get("create"))
    return (pairs + spent) / steps if isinstance(spent, float) else None


def seconds_a_frame(row: Row) -> float | None:
    """Update, pairs and narrow phase of one step."""
    step, narrow, steps = seconds_a_step(row), row.get("narrow"), row.get("steps")
    if step is None or not isinstance(narrow, float) or not isinstance(steps, int | float):
        return None
    return step + narrow / steps


def raw_pairs(row: Row) -> float | None:
    """The mean over the steps, repeats included."""
    value = row.get("raw_pairs")
    return float(value) if isinstance(value, int | float) else None


def extents_a_second(row: Row) -> float | None:
    """Return how many extents are matched in a second."""
    seconds, n = seconds_a_step(row), row.get("n")
    return n / seconds if row.get("start") == "extents" and seconds and isinstance(n, int) else None


STUDY = Study(
    name="interest",
    title="Areas of interest against partitions and sweeps",
    about=(
        "Spheres of 0.212 m cross a cube of 4 m. Dense: all start in its middle and stay in the inner cube of 2 m. "
        "Sparse: they go on from there in the whole cube. Fifteen configurations of five methods find candidate pairs, "
        "every fifth of 500 steps is measured, and a cell is right when no colliding pair is missing. Raw pairs count "
        "those that a partition meets again. AoIP1 to AoIP3 search their areas by a sweep, a grid or a tree; "
        "AoIP1-exhaustive tests every area against every body, as the thesis does. Configurations that end in -legacy "
        "search each pair in the list of those before it."
    ),
    factors=(
        Factor("start", STARTS, further=lambda: ["extents"]),
        Factor("n", COUNTS, quick=COUNTS[:2]),
        Factor("configuration", CONFIGURATIONS, further=lambda: [*SCANNED, EXHAUSTIVE, "areas"]),
        Factor("radii", ("equal",), further=lambda: ["varied"]),
        Factor("seed", (0, 1, 2), quick=(0,)),
        Factor("solids", ("spheres",), further=lambda: ["polygons"]),
    ),
    metrics=(
        Metric("step", "s", "seconds a step", seconds_a_step),
        Metric("frame", "s", "seconds a step with the narrow phase", seconds_a_frame),
        Metric("raw", "pairs", "candidate pairs a step", raw_pairs),
        Metric("extents", "1/s", "extents matched a second", extents_a_second),
    ),
    compares="configuration",
    listed=further_cells,
    exclude=is_of_another_kind,
    kernels=small_runs,
    plan=Plan(minimum=3, maximum=5, precision=0.05, budget=5.0, limit=120.0),
    quick_plan=Plan(minimum=7, maximum=20, precision=0.1, budget=1.0, patience=20.0, limit=60.0),
)


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:  # noqa: ARG001
    """A configuration in the arena, or a match of extents."""
    from choque.theses.interest.trials import ArenaTrial, ExtentsTrial

    n, seed = int(parameters["n"] or 0), int(parameters["seed"] or 0)
    if parameters["start"] == "extents":
        return ExtentsTrial(n, seed)
    words = (str(parameters[name]) for name in ("radii", "solids"))
    return ArenaTrial(str(parameters["configuration"]), str(parameters["start"]), n, seed, *words)


def mean(result: Result, start: str, configuration: str, n: int, column: str) -> float | None:
    """A column of a configuration, averaged over seeds; None where it was not measured with spheres."""
    place: Parameters = {"start": start, "configuration": configuration, "n": n, "radii": "equal", "solids": "spheres"}
    rows = result.cells.where(**place, verdict="exact")
    values = rows.numbers(column)
    return float(values.mean()) if len(values) else None


def largest(result: Result, start: str, *configurations: str) -> int | None:
    """The largest n at which all of these were measured."""
    for n in sorted(result.cells.where(start=start).levels("n"), reverse=True):
        if all(mean(result, start, each, n, "raw_pairs") is not None for each in configurations):
            return int(n)
    return None


def reproduced(result: Result, start: str, allowed: float) -> Finding:
    """Pairs over those of brute force, beside the printed ones at n = 1000."""
    names = [name for name in CONFIGURATIONS if not name.startswith(("FB", "BSP"))]
    n = largest(result, start, *names)
    if n is None or n < 1000:
        return not_testable(f"needs all grids, sweeps and areas of the {start} start at n 1000; fewer bodies scatter")
    everyone = n * (n - 1) / 2
    off = {}
    for name in names:
        measured = mean(result, start, name, n, "raw_pairs")
        assert measured is not None
        off[name] = measured / everyone / share_of_all(start, name) - 1
    worst = max(off, key=lambda name: abs(off[name]))
    note = f"shares of all pairs at n {n} beside the printed ones at n 1000; farthest off is {worst}"
    return found(abs(off[worst]) <= allowed, f"within {abs(off[worst]):.1%}", note)


@STUDY.claim("pairs-sparse", source=THESIS, printed="The table of mean pairs of the sparse scenario.")
def pairs_sparse(result: Result) -> Finding:
    """Confirm within 5 %."""
    return reproduced(result, "sparse", 0.05)


@STUDY.claim("pairs-dense", source=THESIS, printed="The table of mean pairs of the dense scenario.")
def pairs_dense(result: Result) -> Finding:
    """Confirm within 12 %."""
    return reproduced(result, "dense", 0.12)


@STUDY.claim("equal-to-sweep", source=THESIS, printed="AoIP1 and SaP3 report the same pairs, fewer than all others.")
def equal_to_sweep(result: Result) -> Finding:
    """Compare at every cell of both starts; holds for box areas, not for the spherical ones that the text describes."""
    cells = result.cells.where(lambda row: row["start"] in STARTS and row["verdict"] == "exact")
    cells = cells.where(lambda row: row["configuration"] in CONFIGURATIONS)
    places = equal = fewest = 0
    for _, rows in cells.groups("start", "n", "seed", "radii", "solids"):
        pairs = {str(row["configuration"]): float(row["raw_pairs"] or 0) for row in rows}
        if {"AoIP1", "SaP3"} <= set(pairs):
            places += 1
            equal += pairs["AoIP1"] == pairs["SaP3"]
            fewest += pairs["AoIP1"] == min(pairs.values())
    if not places:
        return not_testable("needs AoIP1 and SaP3")
    words = f"equal in {equal} and fewest in {fewest} of {places} scenes"
    return found(equal == fewest == places, words, "with box-shaped areas")


@STUDY.claim("granularity", source=THESIS, printed="Dense: more cells are worse. Sparse: more cells are better.")
def granularity(result: Result) -> Finding:
    """Raw pairs of the coarsest and the finest grid."""
    words = []
    holds = True
    for start, is_better in (("dense", False), ("sparse", True)):
        n = largest(result, start, "GR1x2x1", "GR4x4x4")
        if n is None:
            return not_testable("needs GR1x2x1 and GR4x4x4 of both starts")
        coarse, fine = (mean(result, start, name, n, "raw_pairs") or 0.0 for name in ("GR1x2x1", "GR4x4x4"))
        words.append(f"{start}: {fine / coarse:.2f} times the pairs")
        holds &= (fine < coarse) == is_better
    return found(holds, ", ".join(words), "GR4x4x4 over GR1x2x1")


@STUDY.claim("slow-areas", source=THESIS, printed="Brute force and grids are fastest; AoIP takes longer.")
def slow_areas(result: Result) -> Finding:
    """AoIP as the thesis has it, every area against every body."""
    return _slower_than_brute(result, EXHAUSTIVE)


@STUDY.claim("slow-searched-areas", source=THESIS, printed="The same, with areas found by a sweep or a grid.")
def slow_searched_areas(result: Result) -> Finding:
    """AoIP1 as `interest` finds it."""
    return _slower_than_brute(result, "AoIP1")


@STUDY.claim("slow-sweeps", source=THESIS, printed="Brute force and grids are fastest; SaP takes longest.")
def slow_sweeps(result: Result) -> Finding:
    """The sweep over three axes."""
    return _slower_than_brute(result, "SaP3")


def _over_brute(result: Result, name: str) -> dict[str, tuple[int, Estimate]]:
    """The largest n with brute force and a configuration, and its time over that of brute force; by start."""
    ratios = {}
    for start in STARTS:
        n = largest(result, start, "FB", name)
        if n is None:
            raise InvalidInput(f"needs FB and {name} of both starts")
        ratios[start] = n, result.ratio(name, "FB", start=start, n=n, radii="equal", solids="spheres")
    return ratios


def _slower_than_brute(result: Result, name: str) -> Finding:
    """Judge whether a configuration is slower than brute force, at the largest n of both starts."""
    ratios = {start: ratio for start, (_, ratio) in _over_brute(result, name).items()}
    words = ", ".join(f"{start}: {ratio}" for start, ratio in ratios.items())
    words, note = f"{words} times the time of brute force", f"{name}; the printed ratios are 51 to 5,976 at n 1000"
    if all(ratio.upper > 1 for ratio in ratios.values()) and any(ratio.lower <= 1 for ratio in ratios.values()):
        return not_testable(f"this run does not tell: {words}; {note}")
    return found(all(ratio.lower > 1 for ratio in ratios.values()), words, note)


@STUDY.claim(
    "linear-search", source="Fitted to the printed times", printed="SaP1 takes time with the square of its pairs."
)
def linear_search(result: Result) -> Finding:
    """Pairs grow as n², so a linear search among them as n⁴; without it, as n²."""
    places = [n for n in (50, 100, 200) if mean(result, "dense", "SaP1-legacy", n, "raw_pairs") is not None]
    if len(places) < 3:
        return not_testable("needs SaP1-legacy at three sizes")
    exponents = {}
    for name in ("SaP1-legacy", "SaP1"):
        pairs, seconds = (
            np.log([mean(result, "dense", name, n, column) or np.nan for n in places[1:]])
            for column in ("raw_pairs", "pairs")
        )
        exponents[name] = float(np.diff(seconds)[0] / np.diff(pairs)[0])
    words = f"pairs^{exponents['SaP1-legacy']:.2f} with the search, pairs^{exponents['SaP1']:.2f} without"
    return found(exponents["SaP1-legacy"] > 1.6 > exponents["SaP1"], words, f"between n {places[1]} and {places[2]}")


@STUDY.claim("repaid", source=THESIS, printed="What AoIP costs more than brute force is repaid by the narrow phase.")
def repaid(result: Result) -> Finding:
    """The cost of a narrow test above which it is: extra time over pairs saved. Asserted there, never measured."""
    return _repaid_from(result, EXHAUSTIVE)


@STUDY.claim("repaid-searched", source=THESIS, printed="The same, with areas found by a sweep or a grid.")
def repaid_searched(result: Result) -> Finding:
    """The same for areas as `interest` finds them."""
    return _repaid_from(result, "AoIP1")


def _repaid_from(result: Result, name: str) -> Finding:
    """Judge by the interval of the time: a narrow test that costs as much as its ends allow decides nothing."""
    words = []
    least, most = -np.inf, -np.inf
    for start, (n, ratio) in _over_brute(result, name).items():
        seconds, pairs, own_pairs = (
            mean(result, start, each, n, column) or 0.0
            for each, column in (("FB", "median"), ("FB", "unique_pairs"), (name, "unique_pairs"))
        )
        costs = [break_even(each * seconds, seconds, own_pairs, pairs) for each in (ratio.value, *ratio.interval)]
        least, most = max(least, costs[1]), max(most, costs[2])
        middle, lower, upper = (max(cost, 0) * 1e6 for cost in costs)
        words.append(f"{start}: from {middle:.3g} µs a pair on ({lower:.3g} to {upper:.3g})")
    paid = [cost for cost in NARROW_COSTS if cost * 1e-6 > most]
    note = f"{name}: for narrow phases of {', '.join(map(str, paid)) or 'none of'} µs out of {NARROW_COSTS}"
    if any(least < cost * 1e-6 <= most for cost in NARROW_COSTS):
        return not_testable(f"this run does not tell: {'; '.join(words)}; {note}")
    return found(len(paid) == len(NARROW_COSTS), "; ".join(words), note)


def break_even(own_time: float, other_time: float, own_pairs: float, other_pairs: float) -> float:
    """The cost of one narrow test above which fewer pairs repay a slower search; seconds, below 0 if always."""
    return (own_time - other_time) / (other_pairs - own_pairs)


@STUDY.claim(
    "repaid-by-polygons", source=THESIS, printed="The same with a narrow phase of polygons, which the thesis lacks."
)
def repaid_by_polygons(result: Result) -> Finding:
    """Whole steps, measured: AoIP1 against brute force with the 256 triangles of each sphere tested."""
    words, ratios = [], []
    for start in STARTS:
        where = {"start": start, "solids": "polygons"}
        both = [result.right.where(**where, configuration=name).levels("n") for name in ("FB", "AoIP1")]
        shared = set(both[0]) & set(both[1])
        if not shared:
            return not_testable("needs FB and AoIP1 with polygons of both starts")
        ratios.append(result.ratio("FB", "AoIP1", metric="frame", n=max(shared), **where))
        words.append(f"{start}, n {max(shared)}: {ratios[-1]} times faster")
    if any(ratio.lower <= 1 <= ratio.upper for ratio in ratios):
        return not_testable(f"this run does not tell: {'; '.join(words)}")
    note = "update, pairs and narrow phase of a step, against brute force"
    return found(all(ratio.lower > 1 for ratio in ratios), "; ".join(words), note)


@STUDY.claim(
    "larger-areas",
    source=THESIS,
    printed="Rigid bodies gain nothing from areas larger than themselves: pairs only grow.",
)
def larger_areas(result: Result) -> Finding:
    """Pairs for k = 1, 2 and 3."""
    words = []
    for start in STARTS:
        n = largest(result, start, "AoIP1", "AoIP2", "AoIP3")
        if n is None:
            return not_testable("needs AoIP1, AoIP2 and AoIP3 of both starts")
        pairs = [mean(result, start, f"AoIP{k}", n, "raw_pairs") or 0.0 for k in (1, 2, 3)]
        if not pairs[0] < pairs[1] < pairs[2]:
            return found(False, f"{start}: {pairs}")
        words.append(f"{start}: {pairs[1] / pairs[0]:.1f} and {pairs[2] / pairs[0]:.1f} times the pairs")
    return found(True, "; ".join(words), "within one frame; over several, larger areas spare searches")


def in_the_arena(result: Result) -> Result:
    """The cells of the thesis and those with a linear search, without polygons and extents."""
    samples = result.samples.where(lambda row: row["start"] in STARTS and row["solids"] == "spheres")
    return Result(result.study, result.folder, result.record, samples)


def tables(result: Result) -> Records:
    """Return the tables of both starts: candidate pairs a step by n, with the printed ones, and milliseconds a step."""
    rows: list[Row] = []
    for start in STARTS:
        for name in CONFIGURATIONS:
            row: Row = {"start": start, "configuration": name}
            printed = dict(zip(COUNTS, PAIRS[start][name], strict=True))
            for n in sorted(in_the_arena(result).cells.levels("n")):
                pairs, seconds = (mean(result, start, name, n, column) for column in ("raw_pairs", "median"))
                if pairs is not None and seconds is not None:
                    row |= {f"{n} pairs": pairs, f"{n} printed": printed.get(n), f"{n} ms": 1e3 * seconds}
            if len(row) > 2:
                rows.append(row)
    return Records(rows)


@STUDY.figure(
    "tables",
    "Candidate pairs and milliseconds a step, beside the printed pairs",
    "Means over seeds, and of the steps that were measured; milliseconds are of update and pairs, by medians.",
)
def draw_tables(result: Result) -> Figure:
    """Draw a row for each start and configuration, and write tables.csv in the folder of the run."""
    from choque.lab import figures

    return figures.number_table(tables(result), result.folder / "tables.csv")


@STUDY.figure(
    "pairs",
    "Candidate pairs a step by n",
    "Raw: those met again in another cell or leaf are counted again. SaP3 lies under AoIP1.",
)
def pairs_by_n(result: Result) -> Figure:
    """A panel for each start."""
    from choque.lab import figures

    return figures.curves(in_the_arena(result), panels="start", metric="raw", series=CONFIGURATIONS)


@STUDY.figure("times", "Seconds a step by n", "Update and pairs, without the narrow phase.")
def times_by_n(result: Result) -> Figure:
    """A panel for each start."""
    from choque.lab import figures

    return figures.curves(in_the_arena(result), panels="start")


@STUDY.figure("stages", "Where the time goes", "Narrow is a test of two spheres for each candidate.")
def stages(result: Result) -> Figure:
    """A panel for each start."""
    from choque.lab import figures

    return figures.stage_split(in_the_arena(result), panels="start")


@STUDY.figure(
    "by-step",
    "Candidate pairs by step",
    "Means over tenths of the run, at the largest n, as shares of all pairs. SaP3 lies under AoIP1.",
)
def pairs_by_step(result: Result) -> Figure:
    """A line for each configuration."""

    def draw(axis: Axes, start: str, name: str, options: dict[str, Any]) -> None:
        n = largest(result, start, name)
        tenths = [mean(result, start, name, n, f"tenth_{k}") for k in range(10)] if n else []
        if n and None not in tenths:
            axis.plot(np.arange(25, 500, 50), np.array(tenths, np.float64) / (n * (n - 1) / 2), **options)

    def label(axis: Axes) -> None:
        axis.set(yscale="log", xlabel="step", ylabel="share of all pairs")
        axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")

    return _panels(result, draw, label)


@STUDY.figure("time-and-pairs", "Time against pairs", "A point for each n: fewer pairs need not cost less time.")
def time_and_pairs(result: Result) -> Figure:
    """A line for each configuration, along n."""

    def draw(axis: Axes, start: str, name: str, options: dict[str, Any]) -> None:
        sizes = result.cells.where(start=start, configuration=name).levels("n")
        points = [[mean(result, start, name, n, column) for column in ("raw_pairs", "median")] for n in sorted(sizes)]
        measured = [point for point in points if None not in point]
        if measured:
            axis.plot(*np.array(measured, np.float64).T, **options)

    def label(axis: Axes) -> None:
        from choque.lab.figures import format_axis

        axis.set(xscale="log", yscale="log", xlabel="raw pairs a step", ylabel="seconds a step")
        format_axis(axis, "s")

    return _panels(result, draw, label)


@STUDY.figure("extents", "Extents matched a second", "Half of them are areas and half bodies; each area holds three.")
def extents_by_n(result: Result) -> Figure:
    """The figure in which papers on interest management report."""
    from choque.lab import figures

    return figures.curves(result, panels="start", metric="extents", series=["areas"], start="extents")


def _panels(
    result: Result, draw: Callable[[Axes, str, str, dict[str, Any]], None], label: Callable[[Axes], None]
) -> Figure:
    """A panel for each start that was measured, drawn line by line and then labelled, and one legend."""
    from choque.lab.style import empty_figure, marks, new_figure

    right = result.cells.where(verdict="exact")
    starts = [start for start in STARTS if len(right.where(start=start))]
    if not starts:
        return empty_figure()
    figure = new_figure(8, 4.5)
    for place, start in enumerate(starts, 1):
        axis = figure.add_subplot(1, len(starts), place)
        axis.set_title(start)
        for name, mark in marks(CONFIGURATIONS).items():
            draw(axis, start, name, {"label": name, **mark.options()})
        label(axis)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
