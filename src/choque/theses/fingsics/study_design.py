"""The design of the Fingsics study: its factors, and what one cell runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from choque.lab.design import Factor, Level, Parameters
from choque.lab.records import Row
from choque.lab.sampling import Plan
from choque.lab.study import Metric, Study
from choque.theses.fingsics.study_printed import NAMES, SHARED, SLOW_SHARED, expected_log, shared_scene

if TYPE_CHECKING:
    from choque.lab.trial import Trial
    from choque.scene import BodyScene

MIXED = "mixed-box"
RATIOS = (1, 2, 4, 8, 12, 16)
"""Ratios of the full length of a capsule to its diameter."""
QUICK_RATIOS = (1, 4, 16)
ASPECT_COUNT, ASPECT_FRAMES = 5_000, 600
"""Also in a quick run: capsules start upright, and only later do they lie across each other's boxes."""
OWN = ("grid", "bvh", "auto")
"""Methods that the thesis does not have."""
DEFAULT = "auto"
SWEEPS = ("sap-incremental", "sap-obb")
SIZES = (31, 100, 316, 1_000, 3_162, 10_000, 31_622, 100_000)
"""Half decades from 10^1.5, as in the thesis."""
LARGE_SIZES, LARGE_FRAMES = SIZES[-2:], 150
"""Sizes that are followed for a quarter of the frames: 600 of them would take most of the time of the study."""
REPLAYED = (1_000, 10_000, 31_622, 100_000)
ENGINE_COUNT = 3_162
FEW_BODIES = 10
BY_RULES_COUNT = 100
"""Bodies of a generated scene that is also run by the engine's rules."""
OFFLINE_COUNT, OFFLINE_FRAMES = 100_000, 600
QUICK_FRAMES = 60


def capsules(ratio: int) -> str:
    """Return the name of a scene of the aspect series."""
    return f"capsule-box {ratio}:1"


def further_scenes() -> list[Level]:
    """The aspect series, and the engine's own scenes."""
    return [*(capsules(ratio) for ratio in RATIOS), *SHARED]


def further_methods() -> list[Level]:
    """Every other broad phase, and every engine."""
    import choque
    from choque.lab import engines

    return [*(name for name in choque.broad.names() if name not in (*NAMES, *OWN)), *engines.names()]


def beside_the_sweep(levels: Mapping[str, Sequence[Level]], quick: bool) -> Iterator[Parameters]:
    """Large boxes, aspects, rules of the engine, replays, the offline run, ten bodies, another engine."""
    from choque.lab import engines

    methods = [str(name) for name in levels["method"]]
    frames = int(levels["frames"][0] or 0)
    seeds = list(levels["seed"])

    def cells(scene: str, n: int, some: Iterable[str], **changes: Level) -> Iterator[Parameters]:
        for method in some:
            if method in methods or method in engines.installed():
                for seed in seeds:
                    base: dict[str, Level] = {"mode": "live", "frames": frames, "seed": seed, **changes}
                    yield {"scene": scene, "n": n, "method": method, **base}

    for n in () if quick else LARGE_SIZES:
        yield from cells(MIXED, n, (*NAMES, *OWN), frames=LARGE_FRAMES)
    for ratio in QUICK_RATIOS if quick else RATIOS:
        yield from cells(capsules(ratio), ASPECT_COUNT, SWEEPS, frames=ASPECT_FRAMES)
    for ratio in RATIOS[-1:] if quick else RATIOS:
        yield from cells(capsules(ratio), ASPECT_COUNT, SWEEPS, mode="legacy", frames=ASPECT_FRAMES)
    yield from cells(MIXED, BY_RULES_COUNT, NAMES, mode="legacy", frames=600)
    for n in REPLAYED[:2] if quick else REPLAYED:
        yield from cells(MIXED, n, [DEFAULT], mode="replay", frames=LARGE_FRAMES if n in LARGE_SIZES else frames)
    yield from cells(MIXED, FEW_BODIES, [DEFAULT], frames=600)
    yield from cells(MIXED, ENGINE_COUNT, engines.installed())
    if not quick:
        yield from cells(MIXED, OFFLINE_COUNT, [DEFAULT], mode="recorded", frames=OFFLINE_FRAMES, seed=seeds[0])
    for name, shared in SHARED.items():
        if shared_scene(name) is not None and not (quick and name in SLOW_SHARED):
            for method in shared.methods:
                if method in methods:
                    yield {
                        "scene": name, "n": shared.n, "method": method, "mode": "legacy", "frames": shared.frames,
                        "seed": 0,
                    }  # fmt: skip


def small_runs(levels: Mapping[str, Sequence[Level]]) -> Iterator[Parameters]:
    """Every method for three steps, by exact rules and by those of the engine."""
    few: Parameters = {"scene": MIXED, "n": BY_RULES_COUNT, "frames": 4, "seed": 0}
    for method in levels["method"]:
        yield from ({**few, "method": method, "mode": mode} for mode in ("live", "legacy"))


def seconds_a_step(row: Row) -> float | None:
    """The whole run over its steps, or a replay over its frames."""
    return _per_step(row, "total")


def broad_seconds(row: Row) -> float | None:
    """Bounds and broad phase of a step: what the thesis calls the broad phase."""
    parts = [_per_step(row, stage) for stage in ("bounds", "broad")]
    return None if None in parts else float(sum(part for part in parts if part is not None))


def narrow_seconds(row: Row) -> float | None:
    """The narrow phase of a step."""
    return _per_step(row, "narrow")


def exact_tests(row: Row) -> float | None:
    """Candidates of a step."""
    return _per_step(row, "tests")


def _per_step(row: Row, column: str) -> float | None:
    whole, steps = row.get(column), row.get("steps")
    return whole / steps if isinstance(whole, int | float) and isinstance(steps, int | float) and steps else None


STUDY = Study(
    name="fingsics",
    title="Five broad phases for a world of rigid bodies",
    about=(
        "The experiments of the Fingsics thesis, run again: spheres and capsules fly about in a closed box and collide "
        "elastically, without gravity and friction, in steps of 1/60 s. Every broad phase must lead to the same "
        "contacts in every step and to the same state at the end. Beside that sweep over the number of bodies: "
        "capsules from 1:1 to 16:1, where oriented boxes after a sweep should pay; the engine's rules, defects "
        "included, against its printed counts; replays; 100,000 bodies recorded; and Bullet. Nothing is drawn."
    ),
    factors=(
        Factor("scene", (MIXED,), further=further_scenes),
        Factor("n", SIZES[:-2], quick=(100, 1_000, ENGINE_COUNT, 10_000)),
        Factor("method", (*NAMES, *OWN), further=further_methods),
        Factor("mode", ("live",), further=lambda: ["legacy", "recorded", "replay"]),
        Factor("frames", (600,), quick=(QUICK_FRAMES,)),
        Factor("seed", (0, 1, 2), quick=(0,)),
    ),
    metrics=(
        Metric("step", "s", "seconds a step", seconds_a_step),
        Metric("broad phase", "s", "seconds of bounds and broad phase a step", broad_seconds),
        Metric("narrow phase", "s", "seconds of the narrow phase a step", narrow_seconds),
        Metric("exact tests", "tests", "exact tests a step", exact_tests),
    ),
    listed=beside_the_sweep,
    kernels=small_runs,
    # Three seeds, each in a process of its own, tell more than repetitions in one: what takes long is run once.
    plan=Plan(minimum=3, maximum=5, precision=0.05, budget=2.0, patience=300.0, limit=900.0),
    quick_plan=Plan(minimum=3, maximum=15, precision=0.1, budget=10.0, patience=8.0, limit=180.0),
)


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:
    """A method, or an engine, on a scene."""
    from choque.lab import engines
    from choque.theses.fingsics.world_course import course, logged_course
    from choque.theses.fingsics.world_trial import EngineTrial, RecordedTrial, ReplayTrial, WorldTrial

    name, mode, method = str(parameters["scene"]), parameters["mode"], str(parameters["method"])
    scene = make_scene(name, int(parameters["n"] or 0), int(parameters["seed"] or 0))
    steps = int(parameters["frames"] or 0) - 1
    if method in engines.names():
        return EngineTrial(engines.get(method), scene, steps)
    if mode == "replay":
        return ReplayTrial(scene, method, steps)
    if mode == "legacy":
        log = expected_log(name)
        return WorldTrial(
            scene, method, steps, by_engine_rules=True, expected=None if log is None else lambda: logged_course(log)
        )
    kind = RecordedTrial if mode == "recorded" else WorldTrial
    return kind(scene, method, steps, expected=lambda: course(scene, steps, scratch))


def make_scene(name: str, n: int, seed: int) -> BodyScene:
    """A scene of the study by its name: generated, or one of the engine's."""
    import choque
    from choque.errors import UnreadableFile

    if name in SHARED:
        path = shared_scene(name)
        if path is None:
            raise UnreadableFile(
                f"The scene {name!r} of the engine is not here; set CHOQUE_FINGSICS to a folder with its 'scenes'."
            )
        return choque.scene.find_bodies(path)
    kind, _, ratio = name.partition(" ")
    parameters = {"ratio": float(ratio.partition(":")[0])} if ratio else {}
    return choque.scene.bodies(kind, n, seed=seed, **parameters)
