"""A study whose times, answers and troubles are planted: every figure in its report is known beforehand."""
# ruff: noqa: ARG002

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from choque.lab import Factor, Finding, Metric, Plan, Study, Trial, Verdict
from choque.lab.claims import found
from choque.lab.design import Parameters
from choque.lab.result import Result
from choque.lab.stopwatch import Stopwatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = {"fast": 1e-3, "slow": 3e-3, "wrong": 1e-4, "late": 1.0, "broken": 1e-3, "fatal": 1e-3, "sleepy": 1e-3}
"""For 100 bodies; ``slow`` takes three times as long as ``fast``, on any machine."""

STUDY = Study(
    name="planted",
    title="A planted study",
    about="What is found is what was put there.",
    factors=(
        Factor("scene", ("still", "moving")),
        Factor("n", (100, 200, 400, 800), quick=(100, 200)),
        Factor("method", ("fast", "slow", "wrong"), further=lambda: ["late", "broken", "fatal", "sleepy"]),
        Factor("seed", (0, 1), quick=(0,)),
    ),
    metrics=(Metric("total", "s", "seconds"),),
    regions=("n", "density"),
    plan=Plan(minimum=5, maximum=5, precision=None, budget=5.0, limit=5.0),
    quick_plan=Plan(minimum=3, maximum=3, precision=None, budget=5.0, limit=5.0),
)


class Planted(Trial):
    """Time passes on a clock of its own: by its method, in proportion to n, with noise that the seed decides."""

    def __init__(self, scene: str, n: int, method: str, seed: int) -> None:
        self.name, self.n, self.scene = method, n, scene
        self.noise = np.random.default_rng([n, seed, len(method)])
        self.now = 0.0
        self.clock = lambda: self.now

    def warm_up(self, patience: float) -> None:
        from choque.lab.trial import CutOff

        if self.name == "late" and self.n >= 200:
            raise CutOff(f"would take about {self.n} s")

    def run(self, watch: Stopwatch) -> None:
        if self.name == "broken":
            raise RuntimeError("planted trouble")
        if self.name == "fatal":
            os._exit(7)
        if self.name == "sleepy":
            time.sleep(60)
        total = SECONDS[self.name] * self.n / 100 * (1 + 0.02 * self.noise.standard_normal())
        for stage, share in (("create", 0.25), ("pairs", 0.75)):
            self.now += total * share
            watch.lap(stage)

    def check(self) -> Verdict:
        return Verdict("wrong", "1 missing, 0 too many") if self.name == "wrong" else Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        return {"tests": 7 * self.n, "peak_bytes": 64 * self.n}

    def facts(self) -> Mapping[str, int | float | str]:
        return {"density": 3.0 if self.scene == "still" else 5.0}


@STUDY.trial
def prepare(parameters: Parameters, scratch: Path | None) -> Trial:
    if os.environ.get("PLANTED_HANGING") == parameters["method"]:
        time.sleep(600)
    return Planted(**parameters)  # type: ignore[arg-type]


@STUDY.claim("threefold", source="This file", printed="slow takes three times as long as fast")
def threefold(result: Result) -> Finding:
    ratio = result.ratio("slow", "fast")
    return found(ratio.lower <= 3.05 and ratio.upper >= 2.95, ratio)


@STUDY.figure("curves", "Time by n")
def curves(result: Result) -> Figure:
    from choque.lab import figures

    return figures.curves(result, panels="scene")


@STUDY.figure("stages", "Where the time goes")
def stages(result: Result) -> Figure:
    from choque.lab import figures

    return figures.stage_split(result, panels="scene")


@STUDY.figure("ratios", "How many times the best")
def ratios(result: Result) -> Figure:
    from choque.lab import figures

    return figures.ratios(result, columns="scene")
