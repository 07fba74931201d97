"""The study of the Extreme Vertices Model: the three experiments of Ottogalli (2014), and one on phantoms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.lab.claims import Finding, found, not_testable
from choque.lab.design import Factor, Level, Parameters
from choque.lab.fit import Fit
from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.lab.sampling import Plan
from choque.lab.statistics import Estimate
from choque.lab.study import Draw, Metric, Study
from choque.theses.evm.objects import sphere_mesh

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from choque.lab.trial import Trial

THESIS = "Ottogalli, master's thesis, Universidad de Carabobo, 2014"
BLOCKS = ("blocks-overlap", "blocks-interlocked", "blocks-separated")
SPHERES = ("spheres-x", "spheres-y", "spheres-z")
PHANTOMS = ("ball", "gyroid", "menger", "implant", "labyrinth")

EXPERIMENTS = {
    BLOCKS: ("kept", "sorted", "sorted-intersection", "trie", "trie-intersection"),
    SPHERES: ("kept", "sorted", "trie", "boxes", "triangles"),
    PHANTOMS: ("kept", "sorted", "trie", "dense", "dense-early", "runs", "octree", "fcl", "nanovdb"),
}
"""Representations that each kind of scene compares; those of other libraries where these are installed."""
LARGEST = {"fcl": 128, "nanovdb": 256, "trie": 256}
"""Largest edge for slow representations: millions of triangles, of voxels looked up one by one, of linked nodes."""
SIZES: Mapping[tuple[str, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {
    BLOCKS: (tuple(range(500, 6001, 500)), (500, 2000, 6000)),
    SPHERES: (tuple(range(1, 21)), (1, 20)),
    PHANTOMS: ((32, 64, 128, 256, 512, 1024), (32, 64)),
}
"""Levels of n, full and quick: vertices of both, voxels per unit, voxels along an edge."""
QUICK_SCENES = ("blocks-overlap", "blocks-separated", "spheres-z", "ball", "implant")
PLACEMENTS, QUICK_PLACEMENTS = 1000, 100


def sizes(quick: bool) -> list[int]:
    """Return all levels of n."""
    return sorted({n for full, fast in SIZES.values() for n in (fast if quick else full)})


def belongs_elsewhere(parameters: Parameters) -> bool:
    """Return whether a cell combines a scene with sizes or representations of another experiment, or is too slow.

    Only blocks depend on the seed; other scenes have one.
    """
    scene, n, method = str(parameters["scene"]), parameters["n"], str(parameters["method"])
    group = next(each for each in EXPERIMENTS if scene in each)
    if method not in EXPERIMENTS[group] or n not in (*SIZES[group][0], *SIZES[group][1]):
        return True
    if group is PHANTOMS and int(n or 0) > LARGEST.get(method, int(n or 0)):
        return True
    return group is not BLOCKS and bool(parameters.get("seed"))


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterator[Parameters]:
    """Yield every representation of our own, on the smallest objects of each scene, in a few placements."""
    from choque.theses.evm.holders import PEERS

    own = [method for method in levels["method"] if method not in PEERS]
    for scenes, ways in EXPERIMENTS.items():
        smallest: Parameters = {"n": SIZES[scenes][1][0], "seed": 0, "placements": 3}
        for scene in (each for each in levels["scene"] if each in scenes):
            yield from ({**smallest, "scene": scene, "method": method} for method in own if method in ways)


def methods() -> list[str]:
    """Return all representations that are installed."""
    from choque.theses.evm.holders import is_installed

    every = dict.fromkeys(method for some in EXPERIMENTS.values() for method in some)
    return [method for method in every if is_installed(method)]


def seconds_a_query(row: Row) -> float | None:
    """Return the time of one query in one placement [s]."""
    query, placements = row.get("query"), row.get("placements")
    return query / placements if isinstance(query, float) and isinstance(placements, int | float) else None


def bytes_held(row: Row) -> float | None:
    """Return the size of both objects with what is cached for queries [bytes]."""
    held = row.get("bytes")
    return float(held) if isinstance(held, int | float) else None


STUDY = Study(
    name="evm",
    title="How to ask whether two voxel objects collide",
    about=(
        "Two voxel objects in many placements, held as sorted extreme vertices, as a trie, as sections that are kept, "
        "as a mask, as rows of runs and as an octree. The first two experiments of the thesis compare the collision "
        "sweep with the full intersection on random volumes of about n vertices; the third takes two hollow "
        "spheres, by voxels per unit; the last is new: phantoms of n³ voxels. Every answer is compared with the AND of "
        "the masks."
    ),
    factors=(
        Factor("scene", (*BLOCKS, *SPHERES, *PHANTOMS), quick=QUICK_SCENES),
        Factor("n", lambda: sizes(False), quick=lambda: sizes(True)),
        Factor("method", methods),
        Factor("seed", (0, 1, 2), quick=(0,)),
        Factor("placements", (PLACEMENTS,), quick=(QUICK_PLACEMENTS,)),
    ),
    metrics=(
        Metric("question", "s", "seconds a question", seconds_a_query),
        Metric("held", "bytes", "bytes of both objects", bytes_held),
    ),
    exclude=belongs_elsewhere,
    kernels=small_runs,
    copies=25,
    version=2,
    plan=Plan(minimum=3, maximum=5, precision=0.05, budget=2.0, patience=20.0, limit=300.0),
    quick_plan=Plan(minimum=5, maximum=15, precision=0.1, budget=1.0, patience=2.0, limit=60.0),
)


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:
    """Return the trial of a representation on the two objects of a scene."""
    from choque.theses.evm.trial import VolumeTrial, make_instance

    n, seed, placements = (int(parameters[name] or 0) for name in ("n", "seed", "placements"))
    return VolumeTrial(str(parameters["method"]), make_instance(str(parameters["scene"]), n, seed, placements, scratch))


def blend(collides: Fit, apart: Fit, probability: float) -> Callable[[ArrayLike], NDArray[np.float64]]:
    """Return the expected time if a share of the queries finds a collision: h = p·f + (1 − p)·g."""
    return lambda x: np.asarray(probability * collides(x) + (1 - probability) * apart(x))


LAYOUTS = ("sorted", "sorted-intersection", "trie", "trie-intersection")


def power_laws(result: Result) -> dict[str, Fit]:
    """Return the eight power laws of the thesis: time against vertices, by method, colliding (f) and apart (g)."""
    kinds = {"f": "blocks-overlap", "g": "blocks-interlocked"}
    return {
        f"{method} {kind}": result.power(method, scene=scene)
        for method in LAYOUTS
        for kind, scene in kinds.items()
        if len(result.right.where(method=method, scene=scene).levels("n")) >= 4
    }


def _at_least(ratio: Estimate, least: float, measured: object, note: str) -> Finding:
    """Confirm or refute if the whole interval lies on one side; otherwise the run does not decide."""
    if ratio.lower < least <= ratio.upper:
        return not_testable(f"this run does not decide: {ratio} times; {note}")
    return found(ratio.lower >= least, measured, note)


def _gain(result: Result, layout: str, least: float) -> Finding:
    """Return the time that the sweep saves against the full intersection, for overlapping blocks of all sizes."""
    ratio = result.ratio(f"{layout}-intersection", layout, scene="blocks-overlap")
    saved = 1 - 1 / ratio.value
    note = f"the intersection takes {ratio} times as long, over all sizes and placements that overlap"
    return _at_least(ratio, 1 / (1 - least), f"{saved:.0%} saved", note)


@STUDY.claim(
    "collision-beats-intersection-sorted",
    source=f"{THESIS}, table 4",
    printed="The collision sweep takes 74 % (small) to 82 % (large) less than the intersection, sorted layout.",
)
def sorted_gain(result: Result) -> Finding:
    """Sorted layout."""
    return _gain(result, "sorted", 0.74)


@STUDY.claim(
    "collision-beats-intersection-trie",
    source=f"{THESIS}, table 6",
    printed="The same on tries: 73.8 % to 84.6 % less.",
)
def trie_gain(result: Result) -> Finding:
    """Trie layout."""
    return _gain(result, "trie", 0.738)


@STUDY.claim("sorted-beats-trie", source=f"{THESIS}, tables 4 and 6", printed="Sorted beats trie 3.66 to 5.14 times.")
def sorted_beats_trie(result: Result) -> Finding:
    """All blocks."""
    ratio = result.ratio("trie", "sorted", scene=list(BLOCKS))
    return _at_least(ratio, 1.0, ratio, "a trie takes this many times as long; the direction is what is judged")


@STUDY.claim(
    "tie-when-apart", source=f"{THESIS}, table 4", printed="Without overlap, collision and intersection take the same."
)
def tie_when_apart(result: Result) -> Finding:
    """Blocks apart along the first axis, where both stop at once."""
    ratio = result.ratio("sorted-intersection", "sorted", scene="blocks-separated")
    note = "blocks separated along the first axis; within 10 % counts as the same"
    if ratio.lower < 0.9 <= ratio.upper or ratio.lower <= 1.1 < ratio.upper:
        return not_testable(f"this run does not decide: {ratio} times; {note}")
    return found(ratio.lower >= 0.9 and ratio.upper <= 1.1, ratio, note)


@STUDY.claim(
    "power-law", source=f"{THESIS}, table 5", printed="Collision time grows as x^0.724 (sorted layout, overlapping)."
)
def power_law(result: Result) -> Finding:
    """The exponent, with its interval."""
    if len(result.right.where(method="sorted", scene="blocks-overlap").levels("n")) < 4:
        return not_testable("needs four sizes; run without --quick")
    fit = result.power("sorted", scene="blocks-overlap")
    lower, upper = fit.intervals[1]
    laws = "; ".join(
        f"{name}: {each.coefficients[0]:.3g}·x^{each.coefficients[1]:.3f}, R² {each.r2:.2f}"
        for name, each in power_laws(result).items()
    )
    note = f"95 % interval of the exponent {lower:.2f} to {upper:.2f}, R² {fit.r2:.2f}. All laws: {laws}"
    return found(lower <= 0.724 <= upper, f"x^{fit.coefficients[1]:.3f}", note)


def _at_finest(result: Result, slow: str, fast: str, times: float, note: str) -> Finding:
    """Test the ratio of the times of two methods on the finest spheres that were measured."""
    finest = max(result.right.where(scene="spheres-z", method="sorted").levels("n"), default=None)
    if finest is None:
        return not_testable("needs the spheres along z")
    ratio = result.ratio(slow, fast, scene="spheres-z", n=finest)
    return _at_least(ratio, times, ratio, f"at {finest} voxels per unit; {note}")


@STUDY.claim(
    "faster-than-triangles",
    source=f"{THESIS}, tables 8 and 9",
    printed="The sweep is 119 times (20 voxels per unit) to 6,803 times (1) faster than all pairs of triangles.",
)
def faster_than_triangles(result: Result) -> Finding:
    """The finest spheres that were measured, the worst axis."""
    return _at_finest(result, "triangles", "sorted", 119.0, "stacked along the last axis")


@STUDY.claim(
    "slower-than-boxes",
    source=f"{THESIS}, tables 8 and 9",
    printed="An AABB test is 274 to 15,710 times faster than the sweep.",
)
def slower_than_boxes(result: Result) -> Finding:
    """The finest spheres that were measured; the box is tested in plain Python here."""
    return _at_finest(result, "sorted", "boxes", 1.0, "the direction is what is judged")


@STUDY.claim(
    "less-waste-than-a-box",
    source=f"{THESIS}, table 10",
    printed="As a bounding volume the model wastes 86.23 % at 3 voxels per unit and 83.21 % at 4; a box, 93.24 %.",
)
def less_waste(result: Result) -> Finding:  # noqa: ARG001
    """Computed, not measured: volumes of the voxels against a hollow sphere of radii 1 and 0.955."""
    waste = wasted_space()
    table = ", ".join(f"{n}: {share:.2f}" for n, share in waste.items())
    note = f"3.30 % printed at 20: beyond 4 the scan converter of the thesis is not known. By voxels per unit: {table}"
    printed = {1: 97.00, 2: 93.82, 3: 86.23, 4: 83.21}
    return found(all(waste[n] == share for n, share in printed.items()), f"{waste[3]} % and {waste[4]} %", note)


def wasted_space(*, conservative: bool = False) -> dict[int, float]:
    """Return the share of the voxels outside a hollow sphere of radii 1 and 0.955, by voxels per unit from 1 to 20 [%].

    Conservative voxels hold all of the mesh; the layer of the thesis leaves parts of it out.
    """
    from choque.volumes import Volume

    shell = 4 / 3 * np.pi * (1 - 0.955**3)
    mesh = sphere_mesh()
    shares = {}
    for n in range(1, 21):
        volume = Volume.from_mesh(mesh, voxels_per_unit=n, fill="surface", conservative=conservative).volume
        shares[n] = round(100 * (volume - shell) / volume, 2)
    return shares


@STUDY.claim(
    "kept-beats-early-dense",
    source="Choque",
    printed="On large phantoms kept sections are faster than masks that are compared plane by plane from the middle.",
)
def kept_beats_early_dense(result: Result) -> Finding:
    """The largest phantoms that were measured, those that never collide included."""
    met = result.right.where(scene=list(PHANTOMS))
    largest = max(met.where(method="dense-early").levels("n"), default=None)
    if largest is None:
        return not_testable("needs a phantom with kept sections and the mask")
    methods_of = {scene: set(met.where(scene=scene, n=largest).values("method")) for scene in PHANTOMS}
    both = [scene for scene, present in methods_of.items() if {"kept", "dense-early"} <= present]
    if not both:
        return not_testable(f"needs kept sections and the mask of one phantom at {largest}³")
    ratio = result.ratio("dense-early", "kept", scene=both, n=largest)
    return _at_least(ratio, 1.0, ratio, f"at {largest}³, over {', '.join(both)}")


@STUDY.claim(
    "kept-beats-dense",
    source="Choque, step 6",
    printed="On large phantoms kept sections answer at least 20 times faster than the cropped AND of the masks.",
)
def kept_beats_dense(result: Result) -> Finding:
    """The largest phantoms that were measured, those that never collide aside."""
    scenes = [scene for scene in PHANTOMS if scene != "labyrinth"]
    largest = max(result.right.where(scene=scenes, method="dense").levels("n"), default=None)
    if largest is None:
        return not_testable("needs a phantom with kept sections and the mask")
    met = result.right.where(scene=scenes, n=largest)
    both = [scene for scene in scenes if {"kept", "dense"} <= set(met.where(scene=scene).values("method"))]
    if not both:
        return not_testable(f"needs kept sections and the mask of one phantom at {largest}³")
    ratio = result.ratio("dense", "kept", scene=both, n=largest)
    words = f"at {largest}³, over {', '.join(both)}"
    if largest < 512:
        return not_testable(f"needs 512³; {ratio} times {words}")
    return _at_least(ratio, 20.0, ratio, words)


def curves_of(scenes: tuple[str, ...], metric: str | None) -> Draw:
    """Return a function that draws a metric of one experiment, with a panel for each scene."""

    def draw(result: Result) -> Figure:
        from choque.lab import figures

        return figures.curves(result, panels="scene", metric=metric, series=EXPERIMENTS[scenes], scene=list(scenes))

    return draw


# Sizes of one experiment are not those of another, so none shares an axis with the next.
for kind, scenes, sized in (
    ("blocks", BLOCKS, "n is the number of vertices of both"),
    ("spheres", SPHERES, "n is the number of voxels per unit"),
    ("phantoms", PHANTOMS, "n is the number of voxels along an edge"),
):
    STUDY.figure(
        f"questions-{kind}", f"Seconds a question: {kind}", f"Medians with the band of their 95 % interval; {sized}."
    )(curves_of(scenes, None))
    STUDY.figure(f"bytes-{kind}", f"Bytes of both objects: {kind}", f"With all that is kept to answer; {sized}.")(
        curves_of(scenes, "held")
    )


def tables(result: Result) -> Records:
    """Return tables 4, 6 and 7: microseconds a question, by the vertices of both objects.

    I is the intersection and C the collision, n apart and y overlapping; the gain is what the collision saves there.
    Medians over seeds.
    """
    scenes = {"n": "blocks-interlocked", "y": "blocks-overlap"}
    rows: list[Row] = []
    for n in sorted(result.cells.where(scene=list(BLOCKS)).levels("n")):
        row: Row = {"vertices": n}
        for layout in ("sorted", "trie"):
            for letter, method in (("I", f"{layout}-intersection"), ("C", layout)):
                for case, scene in scenes.items():
                    found = result.cells.where(method=method, scene=scene, n=n, verdict="exact").numbers("median")
                    row[f"{layout} {letter}{case}"] = 1e6 * float(np.median(found)) if len(found) else None
            whole, sweep = row[f"{layout} Iy"], row[f"{layout} Cy"]
            are_known = isinstance(whole, float) and isinstance(sweep, float)
            row[f"{layout} gain %"] = 100 * (1 - sweep / whole) if are_known else None  # type: ignore[operator]
        if any(value is not None for value in list(row.values())[1:]):
            rows.append(row)
    return Records(rows)


@STUDY.figure(
    "tables",
    "Tables 4, 6 and 7: microseconds a question",
    "I: the intersection, C: the collision; n: apart, y: overlapping; the gain is what the collision saves of the "
    "intersection where the objects overlap. Medians; spreads are in cells.csv.",
)
def draw_tables(result: Result) -> Figure:
    """Draw the table, and write tables.csv in the folder of the run."""
    from choque.lab import figures

    return figures.number_table(tables(result), result.folder / "tables.csv")


@STUDY.figure(
    "expected",
    "Expected time by the share of collisions",
    "h = p·f + (1 − p)·g of the fitted power laws, for the collision sweep (solid) and the intersection (dashed).",
)
def expected(result: Result) -> Figure:
    """A panel for each layout, a line for each share p."""
    from matplotlib.figure import Figure as NewFigure

    laws = power_laws(result)
    figure = NewFigure(figsize=(9, 4), layout="constrained")
    x = np.linspace(SIZES[BLOCKS][0][0], SIZES[BLOCKS][0][-1], 100)
    for panel, layout in zip(figure.subplots(1, 2, sharey=True), ("sorted", "trie"), strict=True):
        panel.set(title=layout, xlabel="vertices", ylabel="seconds per query")
        for method, style in ((layout, "-"), (f"{layout}-intersection", "--")):
            if {f"{method} f", f"{method} g"} <= laws.keys():
                for at, share in enumerate((0.0, 0.5, 1.0)):
                    curve = blend(laws[f"{method} f"], laws[f"{method} g"], share)
                    panel.plot(x, curve(x), style, color=f"C{at}", label=f"{method}, p = {share:g}")
        if panel.lines:
            panel.legend(fontsize="small")
    return figure


@STUDY.figure("stages", "Where the time goes", "Making both objects, and all questions.")
def stages(result: Result) -> Figure:
    """A panel for each scene."""
    from choque.lab import figures

    return figures.stage_split(result, panels="scene")
