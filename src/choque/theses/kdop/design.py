"""The k-DOP study: what is varied, what one cell runs, and what the thesis prints, to compare with.

The k-DOP thesis (Amaral 2021) compares 18-DOPs, boxes and spheres as bounding volumes of convex bodies that fall on a
heap, with a sweep along one axis on a graphics card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from choque.lab.design import Factor, Level, Parameters
from choque.lab.records import Row
from choque.lab.sampling import Plan
from choque.lab.study import Metric, Study

if TYPE_CHECKING:
    from choque.lab.trial import Trial


THESIS = "B. G. S. do Amaral, master's dissertation, COPPE/UFRJ, 2021"

VOLUMES = ("18-dop", "6-dop", "sphere")
"""The volumes of the thesis; its AABB is a 6-DOP."""
TITLES = {"18-dop": "18-DOP", "6-dop": "AABB", "sphere": "sphere"}
UNSCALED, SCALED = 1, 3
"""Elongations of the bodies: (2, 2, 2) and (2, 6, 2)."""
SHAPES = {UNSCALED: "unscaled", SCALED: "scaled"}

BODIES = 512
FRAMES = 7_000
LANDING = 5_500
"""About this frame the last body lands."""
LANDINGS = {"reproduce": LANDING, "thesis-text": 8_950}
"""The frame of landing by the numbers of each preset; those of the text contradict the frame that it gives."""


class PrintedRun(NamedTuple):
    """One of the six runs: candidate pairs (tables 5.1 and 5.2), milliseconds a frame (table 5.3)."""

    mean_pairs: int
    most_pairs: int
    frame: float


PRINTED = {
    (UNSCALED, "18-dop"): PrintedRun(957, 1_683, 26.24),
    (UNSCALED, "6-dop"): PrintedRun(978, 1_717, 26.13),
    (UNSCALED, "sphere"): PrintedRun(995, 1_744, 24.98),
    (SCALED, "18-dop"): PrintedRun(1_040, 1_834, 38.22),
    (SCALED, "6-dop"): PrintedRun(1_152, 2_012, 44.12),
    (SCALED, "sphere"): PrintedRun(1_762, 2_993, 46.71),
}

BUILD = {"18-dop": 0.34, "6-dop": 0.21, "sphere": 0.02}
"""Milliseconds to build all volumes, on a GTX 1060."""

GJK_MAX, GJK_MEAN = 17, 4
EPA_MAX, EPA_MEAN = 29, 3
"""Iterations over ten million executions; the largest of GJK is the limit of the published program as well."""


PILE, FALL, CONVERGENCE, FIELD, SORTING = "pile", "landing", "convergence", "field", "sorting"
PRESETS = ("reproduce", "thesis-text")

FIELD_VOLUMES = ("sphere", "6-dop", "14-dop", "18-dop", "26-dop")
FIELD_SIZES = (1_000, 10_000, 100_000, 1_000_000)
FIELD_ELONGATIONS = (1, 2, 4, 8, 16)
RUNS, QUICK_RUNS = 10_000_000, 100_000
"""Pairs of the convergence trials."""
SORT_SIZES = (512, 10_000, 100_000, 1_000_000)
DEVICE_SORTS = ("decimal", "library", "bitonic")
CPU_SORTS = ("radix-cpu", "numpy")


def frames_of(preset: str, n: int) -> int:
    """Return the frames of a pile of ``n`` bodies: the 7,000 of the thesis, in proportion to the landing."""
    return round(FRAMES * LANDINGS[preset] / LANDING * n / BODIES)


def beside_the_runs(levels: Mapping[str, Sequence[Level]], quick: bool) -> Iterator[Parameters]:
    """Yield the cells of landing, convergence, fields and sorts, for the volumes of the run."""
    everything = set(VOLUMES) <= set(levels["volume"])
    for preset in levels["preset"]:
        for elongation in levels["elongation"] if everything else ():
            yield _cell(FALL, BODIES, "fall", preset=preset, elongation=elongation)
    for elongation in (UNSCALED, SCALED) if everything else ():
        yield _cell(CONVERGENCE, QUICK_RUNS if quick else RUNS, "gjk-epa", elongation=elongation)
    for volume in FIELD_VOLUMES if everything else [each for each in FIELD_VOLUMES if each in levels["volume"]]:
        for elongation in FIELD_ELONGATIONS[::2] if quick else FIELD_ELONGATIONS:
            for n in FIELD_SIZES[:2] if quick else FIELD_SIZES:
                yield _cell(FIELD, n, volume, elongation=elongation)
    sorts = (*(DEVICE_SORTS if find_spec("warp") else ()), *CPU_SORTS)
    for sort in sorts if everything else ():
        for n in SORT_SIZES[:2] if quick else SORT_SIZES:
            yield _cell(SORTING, n, sort)


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterator[Parameters]:
    """Yield a run of two bodies for each volume; its warm-up compiles what landings, fields and GJK call."""
    for volume in levels["volume"]:
        yield _cell(PILE, 2, str(volume), preset=PRESETS[0], elongation=SCALED)


def _cell(experiment: str, n: int, volume: str, **further: Level) -> Parameters:
    return {"experiment": experiment, "n": n, "volume": volume, "seed": 0, **further}


def further_volumes() -> list[Level]:
    """Return the other levels of the factor volume: other k, sorts, and experiments without a volume."""
    return [*(each for each in FIELD_VOLUMES if each not in VOLUMES), *DEVICE_SORTS, *CPU_SORTS, "gjk-epa", "fall"]


def seconds_a_frame(row: Row) -> float | None:
    """Return the seconds of a frame of a pile without counting true pairs, or of a whole run elsewhere."""
    total, frames, counting = row.get("total"), row.get("frames"), row.get("narrow")
    if not isinstance(total, float):
        return None
    if row.get("experiment") == PILE and isinstance(frames, int | float) and isinstance(counting, float):
        return (total - counting) / frames
    return total


def candidates(row: Row) -> float | None:
    """Return the candidate pairs, of a pile those of a frame."""
    value = row.get("mean_pairs", row.get("pairs"))
    return float(value) if isinstance(value, int | float) else None


STUDY = Study(
    name="kdop",
    title="Which bounding volume for convex bodies: 18-DOPs, boxes or spheres",
    about=(
        "The six runs of the thesis, by its own numbers and by those of the published program: 512 convex bodies of 24 "
        "vertices, as wide as long or three times longer, fall one after the other and are driven apart by shape "
        "matching; candidates are found by a sweep along one axis. Here all of it runs on one thread of the processor, "
        "nothing is drawn, and no time of a card is given. A step also counts true pairs, which is in no time of a "
        "frame. The time of GJK and EPA is that of the response without its matches, each timed separately. Also: "
        "up to a million bodies, other k, bodies up to sixteen times longer than wide, iterations of GJK and EPA, and "
        "sorts, those of a card on Warp's CPU device."
    ),
    factors=(
        Factor("experiment", (PILE,), further=lambda: [FALL, CONVERGENCE, FIELD, SORTING]),
        Factor("preset", PRESETS),
        Factor("n", (BODIES,), quick=(64,)),
        Factor("elongation", (UNSCALED, SCALED)),
        Factor("volume", VOLUMES, further=further_volumes),
        Factor("seed", (0,)),
    ),
    metrics=(
        Metric("frame", "s", "seconds a frame", seconds_a_frame),
        Metric("candidates", "pairs", "candidate pairs", candidates),
    ),
    compares="volume",
    regions=("n", "elongation", "density"),
    listed=beside_the_runs,
    kernels=small_runs,
    plan=Plan(minimum=3, maximum=5, precision=0.05, budget=5.0, patience=900.0, limit=3_000.0),
    quick_plan=Plan(minimum=5, maximum=15, precision=0.1, budget=1.0, patience=20.0, limit=120.0),
)


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:
    """Return the trial of a cell."""
    from choque.theses.kdop import trials
    from choque.theses.kdop.frames import FOLDER
    from choque.theses.kdop.pile import PileTrial
    from choque.theses.kdop.tower import Tower

    volume, preset = str(parameters["volume"]), str(parameters.get("preset"))
    n, elongation, seed = (int(parameters.get(name) or 0) for name in ("n", "elongation", "seed"))
    match parameters["experiment"]:
        case "landing":
            return trials.LandingTrial(Tower(n, seed, preset, elongation))
        case "convergence":
            return trials.ConvergenceTrial(n, elongation, seed)
        case "field":
            return trials.FieldTrial(volume, n, elongation, seed)
        case "sorting":
            return trials.SortTrial(volume, n, seed)
        case _:
            # The folder of scenes is deleted after the run; the tables of frames, beside it, are kept.
            folder = None if scratch is None else scratch.parent / FOLDER
            return PileTrial(Tower(n, seed, preset, elongation), volume, frames_of(preset, n), folder)
