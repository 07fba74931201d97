"""The first study: every method on scenes of every kind, from a hundred boxes to a million."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from choque.lab.claims import Finding, found, not_testable
from choque.lab.design import Factor, Level, Parameters
from choque.lab.records import Row
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.study import Metric, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from choque.lab.trial import Trial

STILL = ("uniform", "clustered", "mixed", "aligned")
MOVING = ("brownian", "free-fall")
MIN_FRAMES, MAX_FRAMES, BOX_FRAMES = 10, 60, 300_000
"""Least and greatest number of frames of a moving scene, and the boxes of all its frames together."""

DESIGN_PAGE = "Choque, design page, measurements of the core"


def methods() -> list[Level]:
    """Every method that is compared by default."""
    from choque.lab.candidate import compared_methods

    return [*compared_methods()]


def quick_methods() -> list[Level]:
    """Leave out ``brute-obb``, which on boxes does what ``brute`` does."""
    return [name for name in methods() if name != "brute-obb"]


def further_methods() -> list[Level]:
    """Return further candidates that may be requested by name: `choque.pairs`, ``all``, and every peer."""
    from choque.lab import peers
    from choque.lab.candidate import FACADE

    return [FACADE, "all", *peers.names()]


def growth_of_uniform(levels: Mapping[str, Sequence[Level]], quick: bool) -> Iterable[Parameters]:
    """One scene at a third size, so that a quick run has curves to fit."""
    for method in levels["method"] if quick else ():
        yield {"scene": "uniform", "n": 30_000, "method": method, "seed": 0}


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterable[Parameters]:
    """Yield every method of Choque on the smallest scene of each kind; other libraries have nothing to compile."""
    smallest = min(int(n or 0) for n in levels["n"])
    own = [method for method in levels["method"] if method in methods()]
    yield from (
        {"scene": scene, "n": smallest, "method": method, "seed": 0} for scene in levels["scene"] for method in own
    )


def frame_count(scene: str, n: int) -> int:
    """Return the number of frames: two seconds for few boxes, as methods that adapt need time to detect motion."""
    return max(MIN_FRAMES, min(MAX_FRAMES, BOX_FRAMES // n)) if scene in MOVING else 1


def takes_other_boxes(parameters: Parameters) -> bool:
    """Return whether the method is a library without boxes in 3D."""
    from choque.lab import peers

    method = str(parameters["method"])
    return method in peers.names() and 3 not in peers.get(method).dimensions


def seconds_a_frame(row: Row) -> float | None:
    """Return what a user waits for: create and pairs if nothing moves, otherwise update and pairs of later frames."""
    update, pairs = row.get("update"), row.get("pairs")
    if not isinstance(pairs, float):
        return None
    if isinstance(update, float):
        return (update + pairs) / (frame_count(str(row["scene"]), int(row["n"] or 1)) - 1)
    create = row.get("create")
    return create + pairs if isinstance(create, float) else None


def bytes_a_box(row: Row) -> float | None:
    """Peak memory of the method's structures for each box [bytes]."""
    peak, n = row.get("peak_bytes"), row.get("n")
    return peak / n if isinstance(peak, int | float) and isinstance(n, int) and peak else None


def what_tells_methods_apart() -> Mapping[str, float]:
    """Return the weights of `auto`, which uses the map of this study."""
    from choque.broad.auto import WEIGHTS

    return WEIGHTS


STUDY = Study(
    name="comparison",
    title="Which broad phase is fastest where",
    about=(
        "Every method of Choque finds the overlapping pairs of the same boxes: spread evenly, in clusters, of sizes "
        "that differ a thousandfold, as parallel rods, in Brownian motion, and falling into a heap. Each cell runs in "
        "a process of its own and its pairs are compared with those of an oracle; only right answers are ranked."
    ),
    factors=(
        Factor("scene", (*STILL, *MOVING)),
        Factor("n", (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000), quick=(1_000, 10_000)),
        Factor("method", methods, quick=quick_methods, further=further_methods, takes_peers=True),
        Factor("seed", (0, 1, 2), quick=(0,)),
    ),
    metrics=(
        Metric("frame", "s", "seconds a frame", seconds_a_frame),
        Metric("bytes", "bytes", "peak bytes a box", bytes_a_box),
    ),
    regions=("n", "grid_tests", "sweep_tests", "size_classes", "moving", "passed"),
    region_weights=what_tells_methods_apart,
    listed=growth_of_uniform,
    exclude=takes_other_boxes,
    kernels=small_runs,
    selector="auto",
    plan=Plan(minimum=15, maximum=60, precision=0.03, budget=20.0, limit=60.0),
    quick_plan=Plan(minimum=15, maximum=40, precision=0.05, budget=1.0, patience=1.5, limit=20.0),
)


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:
    """Return a candidate on a scene, with the oracle's pairs."""
    from choque.lab.box_trial import BoxInstance
    from choque.lab.candidate import find_candidate

    scene, n, seed = str(parameters["scene"]), int(parameters["n"] or 0), int(parameters["seed"] or 0)
    instance = BoxInstance(scene, n, seed, frames=frame_count(scene, n))
    return instance.trial(find_candidate(str(parameters["method"])), scratch)


@STUDY.claim(
    "right", source="Choque, design page, the contract", printed="Given boxes, every method equals the box oracle."
)
def every_method_is_right(result: Result) -> Finding:
    """All cells that were finished."""
    cells = result.cells.where(lambda row: row["verdict"] not in ("cut off", "other question", "superset"))
    wrong = cells.where(lambda row: row["verdict"] in ("wrong", "failed"))
    words = f"{len(cells) - len(wrong)} of {len(cells)} finished cells right"
    names = ", ".join(sorted({str(name) for name in wrong.values("method")}))
    return found(
        not len(wrong), words, f"not right: {names}" if names else "cells cut off by the time limit are not counted"
    )


@STUDY.claim(
    "brute-quadratic", source="Definition of the method", printed="Testing all pairs grows with the square of n."
)
def brute_is_quadratic(result: Result) -> Finding:
    """Judge by its counter; the clock, which also sees starting and caches, is only noted."""
    tests = result.power("brute", metric="tests", scene="uniform").coefficients[1]
    seconds = result.power("brute", scene="uniform")
    lower, upper = seconds.intervals[1]
    note = f"tests; its seconds grow as n^{seconds.coefficients[1]:.2f}, 95 % interval {lower:.2f} to {upper:.2f}"
    return found(abs(tests - 2) < 0.05, f"n^{tests:.3f}", note)


@STUDY.claim("grid-on-like-sizes", source=DESIGN_PAGE, printed="A grid wins on like sizes.")
def grid_wins_on_like_sizes(result: Result) -> Finding:
    """Compare on the uniform scene, at the largest size that both it and another finished."""
    return _beats(result, "grid", "bvh", scene="uniform", at_least=10_000)


@STUDY.claim(
    "tree-on-mixed-sizes",
    source=DESIGN_PAGE,
    printed="A grid collapses on mixed sizes, where a wide BVH on Morton order holds.",
)
def tree_wins_on_mixed_sizes(result: Result) -> Finding:
    """Sizes that differ a thousandfold."""
    return _beats(result, "bvh", "grid", scene="mixed", at_least=10_000)


@STUDY.claim("sweep-growth", source=DESIGN_PAGE, printed="A one-axis sweep in 3D grows as n^(5/3).")
def sweep_growth(result: Result) -> Finding:
    """The exponent from 10,000 boxes on, where sorting no longer hides it."""
    large = [n for n in result.right.where(method="sap-direct", scene="uniform").levels("n") if n >= 10_000]
    if len(large) < 3:
        return not_testable("needs three sizes of at least 10,000 boxes; run without --quick")
    fit = result.power("sap-direct", scene="uniform", n=large)
    lower, upper = fit.intervals[1]
    note = (
        f"95 % interval of the exponent {lower:.2f} to {upper:.2f}; sap-direct sweeps tiles when there are many boxes"
    )
    return found(lower <= 5 / 3 <= upper, f"n^{fit.coefficients[1]:.2f}", note)


@STUDY.claim(
    "refreshing-loses",
    source=DESIGN_PAGE,
    printed="An incremental sweep that refreshes every end point loses to a rebuild from 10,000 boxes on.",
)
def refreshing_loses(result: Result) -> Finding:
    """Brownian motion moves every box in every frame."""
    return _beats(result, "sap-direct", "sap-incremental", scene="brownian", at_least=10_000)


@STUDY.claim(
    "auto-within-15", source="Choque, step 2", printed="On held-out cells auto is within 15 % of the best method."
)
def auto_is_good(result: Result) -> Finding:
    """Count the settings where it is not."""
    from choque.lab.head_to_head import judge_selector

    return judge_selector(result)


@STUDY.figure(
    "curves",
    "Seconds a frame by number of boxes",
    "Medians with the band of their 95 % interval. Still scenes: create and pairs. Moving ones: update and pairs of a "
    "frame. A line ends where its method exceeds the time limit.",
)
def curves(result: Result) -> Figure:
    """A panel for each scene."""
    from choque.lab import figures

    return figures.curves(result, panels="scene")


@STUDY.figure(
    "ratios",
    "How many times the best",
    "At the largest size, below the scene's name, that half of the methods or more finished. Bold is the best; a dash: "
    "not finished, or not right.",
)
def ratios(result: Result) -> Figure:
    """A row for each method."""
    from choque.lab import figures

    return figures.ratios(result, columns="scene")


@STUDY.figure(
    "stages",
    "Where the time goes",
    "The share of each stage in the whole run, whose length stands at the right; the fastest on top.",
)
def stages(result: Result) -> Figure:
    """A panel for each scene."""
    from choque.lab import figures

    return figures.stage_split(result, panels="scene")


@STUDY.figure(
    "memory",
    "Peak bytes a box",
    "Peak memory of the structures of a method, by its own count, divided by the number of boxes.",
)
def memory(result: Result) -> Figure:
    """A panel for each scene."""
    from choque.lab import figures

    return figures.curves(result, panels="scene", metric="bytes")


@STUDY.figure(
    "map", "The fastest method by scene and size", "The name of the fastest, auto aside, and its lead over the second."
)
def best_where(result: Result) -> Figure:
    """A row for each scene."""
    from choque.lab.performance_map import draw_map

    return draw_map(result, rows="scene")


def _beats(result: Result, fast: str, slow: str, *, scene: str, at_least: int) -> Finding:
    """Return whether a method is faster than another at the largest size of a scene that both finished."""
    right = result.right.where(scene=scene) if "scene" in result.right.columns else result.right
    shared = set(right.where(method=fast).levels("n")) & set(right.where(method=slow).levels("n"))
    large = max((n for n in shared if n >= at_least), default=None)
    if large is None:
        return not_testable(f"needs {fast} and {slow} on {scene} at {at_least:,} boxes or more")
    ratio = result.ratio(slow, fast, scene=scene, n=large)
    note = f"{slow} takes this many times as long as {fast} on {scene} at {large:,} boxes"
    if ratio.lower <= 1 <= ratio.upper:
        return not_testable(f"this run does not tell: {note}, {ratio}")
    return found(ratio.lower > 1, ratio, note, unit="x")
