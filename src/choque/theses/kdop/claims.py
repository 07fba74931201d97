"""The claims of the k-DOP thesis, each with what is measured here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.lab.claims import Finding, found, not_testable
from choque.lab.result import Result
from choque.lab.verdict import RIGHT
from choque.theses.kdop.design import (
    BUILD,
    CONVERGENCE,
    EPA_MAX,
    EPA_MEAN,
    FALL,
    FIELD,
    GJK_MAX,
    GJK_MEAN,
    LANDING,
    LANDINGS,
    PILE,
    PRINTED,
    RUNS,
    SCALED,
    STUDY,
    THESIS,
    UNSCALED,
    VOLUMES,
)
from choque.theses.kdop.frames import (
    MAIN,
    TEXT,
    candidates,
    cell_of,
    fewer,
    full_size,
    number,
    pile_size,
    presets_of,
    required_series,
    slower,
    typical_seconds,
)

POINTS = 0.05
"""A share within this of the printed one confirms it: trajectories depend on the order of pairs, and so do means."""


def _share_claim(result: Result, one: str, other: str, printed: float, note: str = "") -> Finding:
    """Judge how many candidates less, scaled; the preset of the text is noted."""
    full_size(result)
    share = fewer(result, SCALED, one, other)
    if TEXT in presets_of(result):
        note = f"{note}{'; ' if note else ''}{fewer(result, SCALED, one, other, TEXT):.1%} by the numbers of the text"
    return found(abs(share - printed) <= POINTS, f"{share:.1%} fewer", note)


@STUDY.claim(
    "pairs-tables",
    source=f"{THESIS}, tables 5.1 and 5.2",
    printed="Mean candidates a frame: 957, 978 and 995 of 18-DOPs, boxes and spheres; scaled 1,040, 1,152 and 1,762.",
)
def pairs_tables(result: Result) -> Finding:
    """Confirm within 15 %; the pile is chaotic and its pairs depend on their order."""
    full_size(result)
    off = {key: candidates(result, *key) / printed.mean_pairs - 1 for key, printed in PRINTED.items()}
    worst = max(off, key=lambda key: abs(off[key]))
    means = ", ".join(f"{candidates(result, *key):,.0f}" for key in PRINTED)
    return found(abs(off[worst]) <= 0.15, means, f"farthest off: {worst[1]}, elongation {worst[0]}, {off[worst]:+.1%}")


@STUDY.claim("order", source=f"{THESIS}, figures 5.6 and 5.7", printed="Scaled, 18-DOPs have clearly the fewest pairs.")
def order(result: Result) -> Finding:
    """Spheres more than boxes, boxes more than 18-DOPs, body with body; small piles differ from run to run."""
    full_size(result)
    words, holds = [], True
    for elongation in (UNSCALED, SCALED):
        pairs = [number(result, elongation, volume, "mean_body_pairs") for volume in VOLUMES]
        holds &= pairs[0] < pairs[1] < pairs[2]
        words.append(", ".join(f"{each:,.0f}" for each in pairs))
    note = f"18-DOPs, boxes, spheres; body with body, without the ground, n {pile_size(result)}"
    return found(holds, f"unscaled {words[0]}; scaled {words[1]}", note)


@STUDY.claim("fewer-than-spheres", source=THESIS, printed="Scaled, 18-DOPs have 59 % fewer candidates than spheres.")
def fewer_than_spheres(result: Result) -> Finding:
    """The printed pairs say 41 %."""
    return _share_claim(result, "18-dop", "sphere", 0.59, "the printed tables themselves say 41.0 %")


@STUDY.claim("fewer-than-spheres-table", source=f"{THESIS}, table 5.2", printed="Scaled, 1,040 of 18-DOPs to 1,762.")
def fewer_by_table(result: Result) -> Finding:
    """41.0 % fewer."""
    return _share_claim(result, "18-dop", "sphere", 0.410)


@STUDY.claim("fewer-than-boxes", source=THESIS, printed="Scaled, 18-DOPs have 9.72 % fewer candidates than boxes.")
def fewer_than_boxes(result: Result) -> Finding:
    """The published program anchors diagonal slabs wrongly, which makes them wider."""
    return _share_claim(result, "18-dop", "6-dop", 0.0972, "slabs of the published program are wider than they need be")


@STUDY.claim("boxes-fewer", source=THESIS, printed="Scaled, boxes have 34.61 % fewer candidates than spheres.")
def boxes_fewer(result: Result) -> Finding:
    """Judge by what the table of the thesis says too."""
    return _share_claim(result, "6-dop", "sphere", 0.3461)


def _faster_claim(result: Result, slow: str, fast: str, elongation: int, printed: float) -> Finding:
    """Throughput, as the thesis counts it, within `POINTS`; where its verdict is on who is faster, the sign decides."""
    full_size(result)
    ratio = slower(result, elongation, slow, fast)
    note = f"{slow} takes this many times as long as {fast}; printed {1 + printed:.2f}, on a card"
    return found(abs(ratio.value - 1 - printed) <= POINTS, ratio, note, unit="x")


@STUDY.claim("faster-than-spheres", source=THESIS, printed="Scaled, 18-DOPs are 22.21 % faster than spheres.")
def faster_than_spheres(result: Result) -> Finding:
    """Frames a second."""
    return _faster_claim(result, "sphere", "18-dop", SCALED, 0.2221)


@STUDY.claim("faster-than-boxes", source=THESIS, printed="Scaled, 18-DOPs are 15.44 % faster than boxes.")
def faster_than_boxes(result: Result) -> Finding:
    """Frames a second."""
    return _faster_claim(result, "6-dop", "18-dop", SCALED, 0.1544)


@STUDY.claim("boxes-faster", source=THESIS, printed="Scaled, boxes are 5.87 % faster than spheres.")
def boxes_faster(result: Result) -> Finding:
    """Frames a second."""
    return _faster_claim(result, "sphere", "6-dop", SCALED, 0.0587)


@STUDY.claim("spheres-faster", source=THESIS, printed="Unscaled, spheres are about 5 % faster than both others.")
def spheres_faster(result: Result) -> Finding:
    """The larger advantage."""
    return _faster_claim(result, "18-dop", "sphere", UNSCALED, 0.05)


@STUDY.claim("superior", source=f"{THESIS}, conclusions", printed="Scaled, 18-DOPs are 61 % superior.")
def superior(result: Result) -> Finding:
    """Judge in time or in pairs, against either; 61 % is what building 18-DOPs costs more than boxes in the thesis."""
    full_size(result)
    gains = [slower(result, SCALED, other, "18-dop").value - 1 for other in ("6-dop", "sphere")]
    gains += [fewer(result, SCALED, "18-dop", other) for other in ("6-dop", "sphere")]
    words = f"{gains[0]:.0%} and {gains[1]:.0%} faster, {gains[2]:.0%} and {gains[3]:.0%} fewer pairs"
    note = "than boxes and spheres; no table of the thesis supports 61 %"
    return found(any(abs(gain - 0.61) <= POINTS for gain in gains), words, note)


@STUDY.claim(
    "competitive",
    source=f"{THESIS}, conclusions",
    printed="18-DOPs are competitive at worst, and preferable for bodies that are not round.",
)
def competitive(result: Result) -> Finding:
    """Ask for at most 10 % behind the fastest unscaled, and for the fastest scaled."""
    full_size(result)
    worst = max(slower(result, UNSCALED, "18-dop", other).value for other in ("6-dop", "sphere"))
    gains = [slower(result, SCALED, other, "18-dop") for other in ("6-dop", "sphere")]
    words = f"unscaled {worst:.2f} times the fastest; scaled {gains[0].value:.2f} and {gains[1].value:.2f} times faster"
    return found(worst <= 1.10 and all(gain.value > 1 for gain in gains), words, f"n {pile_size(result)}")


@STUDY.claim(
    "false-positives",
    source=f"{THESIS}, figures 5.16 and 5.17",
    printed="Scaled, spheres have far more false positives, boxes slightly more than 18-DOPs.",
)
def false_positives(result: Result) -> Finding:
    """Far: twice as many. Slightly: up to half as many again."""
    means = [
        number(result, SCALED, volume, "mean_body_pairs") - number(result, SCALED, volume, "mean_true_body_pairs")
        for volume in VOLUMES
    ]
    holds = means[0] < means[1] <= 1.5 * means[0] and means[2] >= 2 * means[1]
    note = f"18-DOPs, boxes, spheres, body with body, n {pile_size(result)}; slabs of the program are wider than these"
    return found(holds, ", ".join(f"{each:,.0f}" for each in means), note)


@STUDY.claim(
    "gain-from-narrow",
    source=f"{THESIS}, conclusions",
    printed="The gain comes almost wholly from fewer false positives that reach GJK.",
)
def gain_from_narrow(result: Result) -> Finding:
    """Judge the share of GJK, EPA and shape matching in what a frame of spheres takes more than one of 18-DOPs."""
    full_size(result)
    gain, of_pairs = (
        typical_seconds(result, SCALED, "sphere", *stages) - typical_seconds(result, SCALED, "18-dop", *stages)
        for stages in (("frame_time",), ("gjk_epa", "shape_matching"))
    )
    note = f"{1e3 * gain:.3g} ms of a median frame, scaled, n {pile_size(result)}"
    if gain <= 0:
        return found(False, "there is no gain", note)
    share = of_pairs / gain
    return found(share >= 0.9, f"{share:.0%} of it", note)


@STUDY.claim("build-boxes", source=f"{THESIS}, figure 5.20", printed="Building 18-DOPs takes 61 % more than boxes.")
def build_boxes(result: Result) -> Finding:
    """Compare on the processor, a frame; unscaled."""
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
    """Compare the axes of 18-DOPs and of boxes."""
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
    """Return by which share a time falls when the axis leaves the vertical, over like numbers of frames around it."""
    full_size(result)
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
    """Confirm within ten points."""
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
    """Compare on the processor."""
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
    """Judge by the numbers of the text, and by those of the published program."""
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
    """Confirm within a hundredth."""
    cells = result.cells.where(lambda row: row.get("experiment") == FALL and row["verdict"] in RIGHT)
    frames = cells.where(preset=TEXT).numbers("landed") if len(cells) else np.empty(0)
    if not len(frames):
        return not_testable("needs the fall by the text's numbers")
    return found(bool((np.abs(frames / LANDINGS[TEXT] - 1) <= 0.01).all()), f"frame {frames.mean():,.0f}")


@STUDY.claim(
    "same-start", source=f"{THESIS}, section 5", printed="All six runs start from the same positions and turns."
)
def same_start(result: Result) -> Finding:
    """Compare a hash over ids, poses and velocities, preset by preset."""
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
    printed=f"GJK: {GJK_MAX} iterations at most, {GJK_MEAN} on average, over ten million runs.",
)
def gjk_iterations(result: Result) -> Finding:
    """The printed maximum is also the limit of the published program."""
    return _iterations(result, "gjk", GJK_MAX, GJK_MEAN)


@STUDY.claim(
    "epa-iterations",
    source=f"{THESIS}, section 4",
    printed=f"EPA: {EPA_MAX} iterations at most, {EPA_MEAN} on average, over ten million runs.",
)
def epa_iterations(result: Result) -> Finding:
    """Compare iterations: the thesis stops within 10⁻⁴, Choque when no face can move."""
    return _iterations(result, "epa", EPA_MAX, EPA_MEAN)


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
    """Compare in fields, without dynamics: bounds, broad phase and contacts at the largest n that all three have."""
    words, holds, sizes = [], True, set()
    cells = result.cells.where(lambda row: row.get("experiment") == FIELD and row["verdict"] in RIGHT)
    for elongation in sorted(cells.levels("elongation")) if len(cells) else ():
        some = cells.where(elongation=elongation)
        shared = set.intersection(*(set(some.where(volume=volume).levels("n")) for volume in VOLUMES))
        if not shared:
            continue
        times = {volume: some.where(volume=volume, n=max(shared))[0]["median"] for volume in VOLUMES}
        fastest = min(times, key=lambda volume: float(times[volume] or np.inf))
        holds &= fastest == ("sphere" if elongation == 1 else "18-dop" if elongation >= SCALED else fastest)
        sizes.add(max(shared))
        words.append(f"{elongation}: {fastest} at n {max(shared):,}")
    if not words:
        return not_testable("needs fields of 18-DOPs, boxes and spheres")
    if len(sizes) > 1:
        return not_testable(f"needs fields of the same number of bodies; in this run {', '.join(words)}")
    return found(holds, ", ".join(words), "the fastest by elongation")
