"""The claims of the k-DOP thesis, each with what is measured here."""

from __future__ import annotations

from choque.lab.claims import Finding, found
from choque.lab.result import Result
from choque.theses.kdop.study_design import STUDY
from choque.theses.kdop.study_printed import (
    PRINTED,
    SCALED,
    THESIS,
    UNSCALED,
    VOLUMES,
)
from choque.theses.kdop.study_runs import (
    TEXT,
    candidates,
    fewer,
    full_size,
    number,
    pile_size,
    presets_of,
    slower,
    typical_seconds,
)

POINTS = 0.05
"""Shares within this of a printed one confirm it: trajectories part with the order of pairs, and means with them."""


def _share_claim(result: Result, one: str, other: str, printed: float, note: str = "") -> Finding:
    """How many candidates less, scaled; the preset of the text is noted."""
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
    """Within 15 %; the pile is chaotic and its pairs depend on their order."""
    full_size(result)
    off = {key: candidates(result, *key) / printed.mean_pairs - 1 for key, printed in PRINTED.items()}
    worst = max(off, key=lambda key: abs(off[key]))
    means = ", ".join(f"{candidates(result, *key):,.0f}" for key in PRINTED)
    return found(abs(off[worst]) <= 0.15, means, f"farthest off: {worst[1]}, elongation {worst[0]}, {off[worst]:+.1%}")


@STUDY.claim("order", source=f"{THESIS}, figures 5.6 and 5.7", printed="Scaled, 18-DOPs have clearly the fewest pairs.")
def order(result: Result) -> Finding:
    """Spheres more than boxes, boxes more than 18-DOPs, body with body, in the same pile of any size."""
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
    """Its own table agrees."""
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
    """In time or in pairs, against either; 61 % is what building 18-DOPs costs more than boxes in the thesis."""
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
    """At most 10 % behind the fastest unscaled, and the fastest scaled."""
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
    """Of what a frame of spheres takes more than one of 18-DOPs, the share of GJK, EPA and shape matching."""
    gain, of_pairs = (
        typical_seconds(result, SCALED, "sphere", *stages) - typical_seconds(result, SCALED, "18-dop", *stages)
        for stages in (("frame_time",), ("gjk_epa", "shape_matching"))
    )
    note = f"{1e3 * gain:.3g} ms of a median frame, scaled, n {pile_size(result)}"
    if gain <= 0:
        return found(False, "there is no gain", note)
    share = of_pairs / gain
    return found(share >= 0.9, f"{share:.0%} of it", note)
