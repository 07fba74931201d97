"""Further claims of the k-DOP thesis: the parts of a frame, the fall, iterations, and fields of many bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.verdict import RIGHT
from choque.theses.kdop.study_design import CONVERGENCE, FALL, FIELD, PILE, RUNS, STUDY
from choque.theses.kdop.study_printed import (
    BUILD,
    EPA_MEAN,
    EPA_MOST,
    GJK_MEAN,
    GJK_MOST,
    LANDING,
    LANDINGS,
    SCALED,
    THESIS,
    UNSCALED,
    VOLUMES,
)
from choque.theses.kdop.study_runs import MAIN, TEXT, cell_of, pile_size, required_series, typical_seconds


@STUDY.claim("build-boxes", source=f"{THESIS}, figure 5.20", printed="Building 18-DOPs takes 61 % more than boxes.")
def build_boxes(result: Result) -> Finding:
    """On the processor, a frame; unscaled."""
    return _build_claim(result, "18-dop", "6-dop", BUILD["18-dop"] / BUILD["6-dop"])


@STUDY.claim("build-spheres", source=f"{THESIS}, figure 5.20", printed="18-DOPs take 11 times what spheres take.")
def build_spheres(result: Result) -> Finding:
    """The printed milliseconds say 17 times."""
    return _build_claim(result, "18-dop", "sphere", 11.0)


@STUDY.claim("build-boxes-spheres", source=f"{THESIS}, figure 5.20", printed="Boxes take 7 times what spheres take.")
def build_boxes_spheres(result: Result) -> Finding:
    """The printed milliseconds say 10.5 times."""
    return _build_claim(result, "6-dop", "sphere", 7.0)


def _build_claim(result: Result, one: str, other: str, printed: float) -> Finding:
    spent = [typical_seconds(result, UNSCALED, volume, "build") for volume in (one, other)]
    ratio = spent[0] / spent[1]
    note = f"{1e3 * spent[0]:.2g} and {1e3 * spent[1]:.2g} ms, medians of frames on a processor, not on a card"
    return found(0.75 * printed <= ratio <= 1.25 * printed, f"{ratio:.2f} times", note)


@STUDY.claim(
    "axis",
    source=THESIS,
    printed="The axis stays (0, 1, 0) until the last bodies land, then moves into the plane of x and z.",
)
def axis(result: Result) -> Finding:
    """Of 18-DOPs and boxes."""
    words, holds = [], True
    for volume in ("18-dop", "6-dop"):
        frames = required_series(result, UNSCALED, volume)
        vertical = (frames["axis_x"] == 0) & (frames["axis_z"] == 0)
        landed = cell_of(result, UNSCALED, volume).get("landed")
        if vertical.all() or not isinstance(landed, int | float):
            return found(False, f"{volume}: vertical to the end")
        left = int(frames["frame"][np.argmin(vertical)])
        flat = bool((frames["axis_y"][-1:] == 0).all())
        holds &= flat and 0.7 * landed <= left <= 1.1 * landed
        words.append(f"{volume} leaves it in frame {left:,}, the last body lands in {landed:,.0f}")
    return found(holds, "; ".join(words), f"printed: about {LANDING:,}; n {pile_size(result)}")


def _after_the_axis(result: Result, column: str) -> tuple[float, str]:
    """By which share a time falls when the axis leaves the vertical, over frames in like numbers around that one."""
    shares = []
    for elongation in (UNSCALED, SCALED):
        frames = required_series(result, elongation, "18-dop")
        turned = frames["axis_y"] == 0
        if not turned.any():
            continue
        place, width = int(np.argmax(turned)), max(len(turned) // 20, 1)
        before, after = (
            _median(frames[column][max(place - width, 0) : place]),
            _median(frames[column][place : place + width]),
        )
        shares.append(1 - after / before)
    if not shares:
        return 0.0, "the axis never changes"
    return float(np.mean(shares)), f"18-DOPs, medians of a twentieth of the run before and after, n {pile_size(result)}"


def _median(values: NDArray[np.float64]) -> float:
    return float(np.median(values)) if len(values) else float("nan")


@STUDY.claim(
    "prune-after-axis", source=f"{THESIS}, figure 5.23", printed="Pruning takes 23 % less after the axis changes."
)
def prune_after_axis(result: Result) -> Finding:
    """It must at least fall."""
    share, note = _after_the_axis(result, "prune")
    return found(abs(share - 0.23) <= 0.1, f"{share:.0%} less", note)


@STUDY.claim(
    "sap-after-axis", source=f"{THESIS}, figure 5.22", printed="The sweep takes 20 % less after the axis changes."
)
def sap_after_axis(result: Result) -> Finding:
    """Projection, sort and prune."""
    share, note = _after_the_axis(result, "sap")
    return found(abs(share - 0.20) <= 0.1, f"{share:.0%} less", note)


@STUDY.claim(
    "radix-dominates",
    source=f"{THESIS}, figure 5.23",
    printed="Of the sweep, sorting takes most, projection next to nothing.",
)
def radix_dominates(result: Result) -> Finding:
    """On the processor."""
    parts = {stage: typical_seconds(result, UNSCALED, "18-dop", stage) for stage in ("projection", "radix", "prune")}
    whole = sum(parts.values())
    words = ", ".join(f"{stage} {seconds / whole:.0%}" for stage, seconds in parts.items())
    return found(
        parts["radix"] > 0.5 * whole, words, "a hundred launches of tiny kernels make the sort of the thesis slow"
    )


@STUDY.claim(
    "sap-constant",
    source=f"{THESIS}, figures 5.8 to 5.13",
    printed="The sweep takes about 1.5 ms on a GTX 1060, always.",
)
def sap_constant(result: Result) -> Finding:  # noqa: ARG001
    """A time of a card."""
    return not_testable("a time of a card, which no processor can confirm")


@STUDY.claim("landing", source=f"{THESIS}, section 5", printed="The last body lands in about frame 5,500.")
def landing(result: Result) -> Finding:
    """By the numbers of the text, and by those of the published program."""
    landed = {}
    for preset in LANDINGS:
        cells = result.cells.where(lambda row: row.get("experiment") == FALL and row["verdict"] in RIGHT)
        frames = cells.where(preset=preset).numbers("landed") if len(cells) else np.empty(0)
        if not len(frames):
            return not_testable("needs the fall of both presets")
        landed[preset] = float(frames.mean())
    words = f"frame {landed[MAIN]:,.0f} by the published program, {landed[TEXT]:,.0f} by the text"
    return found(
        abs(landed[MAIN] / LANDING - 1) <= 0.1, words, "confirmed by the program's numbers; the text's do not fit"
    )


@STUDY.claim(
    "landing-text",
    source="Section 7 of the specification, derived",
    printed="The numbers of the text land it in frame 8,950.",
)
def landing_text(result: Result) -> Finding:
    """Within a hundredth."""
    cells = result.cells.where(lambda row: row.get("experiment") == FALL and row["verdict"] in RIGHT)
    frames = cells.where(preset=TEXT).numbers("landed") if len(cells) else np.empty(0)
    if not len(frames):
        return not_testable("needs the fall by the text's numbers")
    return found(bool((np.abs(frames / LANDINGS[TEXT] - 1) <= 0.01).all()), f"frame {frames.mean():,.0f}")


@STUDY.claim(
    "same-start", source=f"{THESIS}, section 5", printed="All six runs start from the same positions and turns."
)
def same_start(result: Result) -> Finding:
    """By a hash over ids, poses and velocities, preset by preset."""
    runs = result.cells.where(lambda row: row.get("experiment") == PILE and row.get("start_hash") is not None)
    groups = {key: set(rows.values("start_hash")) for key, rows in runs.groups("preset", "n", "seed")}
    if not groups:
        return not_testable("needs the runs of the pile")
    return found(
        all(len(hashes) == 1 for hashes in groups.values()), f"{len(runs)} runs, {len(groups)} presets and sizes"
    )


def _iterations(result: Result, what: str, printed_most: int, printed_mean: float) -> Finding:
    cells = result.cells.where(lambda row: row.get("experiment") == CONVERGENCE and row["verdict"] in RIGHT)
    if not len(cells):
        return not_testable("needs the trials of convergence")
    most = int(cells.numbers(f"{what}_most").max())
    round_ones = cells.where(elongation=UNSCALED).numbers(f"{what}_mean")
    each = ", ".join(
        f"elongation {row['elongation']}: {row[f'{what}_most']} and {row[f'{what}_mean']:.2f}" for row in cells
    )
    runs = int(cells.numbers("runs").max())
    note = f"most and mean of {runs:,} pairs{'' if runs >= RUNS else f' ({RUNS:,} without --quick)'}; no limit is set"
    holds = most <= printed_most and bool((np.abs(round_ones - printed_mean) <= 1).all())
    return found(holds, each, note)


@STUDY.claim(
    "gjk-iterations",
    source=f"{THESIS}, section 4",
    printed=f"GJK: {GJK_MOST} iterations at most, {GJK_MEAN} on average, over ten million runs.",
)
def gjk_iterations(result: Result) -> Finding:
    """Their most is also the limit of the published program."""
    return _iterations(result, "gjk", GJK_MOST, GJK_MEAN)


@STUDY.claim(
    "epa-iterations",
    source=f"{THESIS}, section 4",
    printed=f"EPA: {EPA_MOST} iterations at most, {EPA_MEAN} on average, over ten million runs.",
)
def epa_iterations(result: Result) -> Finding:
    """Theirs stops within 10⁻⁴, ours when no face can move."""
    return _iterations(result, "epa", EPA_MOST, EPA_MEAN)


@STUDY.claim(
    "volumes-agree", source="Definition of a bounding volume", printed="Whatever the volume, no contact is missed."
)
def volumes_agree(result: Result) -> Finding:
    """Fields of all sizes and elongations, and the last frames of piles."""
    cells = result.cells.where(lambda row: row.get("experiment") in (FIELD, PILE) and row["verdict"] != "cut off")
    wrong = cells.where(lambda row: row["verdict"] not in RIGHT)
    if not len(cells):
        return not_testable("needs fields or piles")
    return found(
        not len(wrong),
        f"{len(cells) - len(wrong)} of {len(cells)} cells",
        "the 18-DOPs of the published program miss 3 %",
    )


@STUDY.claim(
    "pays-when-long",
    source=f"{THESIS}, conclusions",
    printed="18-DOPs are preferable for bodies that are not round, spheres slightly for those that are.",
)
def pays_when_long(result: Result) -> Finding:
    """In fields, without dynamics: bounds, broad phase and contacts at the largest n that all three have."""
    words, holds = [], True
    cells = result.cells.where(lambda row: row.get("experiment") == FIELD and row["verdict"] in RIGHT)
    for elongation in sorted(cells.levels("elongation")) if len(cells) else ():
        some = cells.where(elongation=elongation)
        shared = set.intersection(*(set(some.where(volume=volume).levels("n")) for volume in VOLUMES))
        if not shared:
            continue
        times = {volume: some.where(volume=volume, n=max(shared))[0]["median"] for volume in VOLUMES}
        fastest = min(times, key=lambda volume: float(times[volume] or np.inf))
        holds &= fastest == ("sphere" if elongation == 1 else "18-dop" if elongation >= SCALED else fastest)
        words.append(f"{elongation}: {fastest} at n {max(shared):,}")
    if not words:
        return not_testable("needs fields of 18-DOPs, boxes and spheres")
    return found(holds, ", ".join(words), "the fastest by elongation")
