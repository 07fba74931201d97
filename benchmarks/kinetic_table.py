"""Measure and judge the table that `choque.theses.kinetic.recommend` consults.

    python benchmarks/kinetic_table.py --output src/choque/theses/kinetic/method_table.json    # measures, ten minutes
    python benchmarks/kinetic_table.py --judge                                          # how good the shipped one is

Processor time, in one process; methods take turns, and what counts is the middle of their ratios within a turn.
`choque lab run kinetic` writes a map of the same form, a process for each cell.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from choque.broad.cost_table import CostTable
from choque.lab import machine
from choque.lab.statistics import turn_medians
from choque.lab.stopwatch import Stopwatch
from choque.theses.kinetic.selector import COORDINATES, DEGREE, METHODS, WEIGHTS, recommend
from choque.theses.kinetic.study import Following

Setting = dict[str, Any]

WITHIN = 0.10
MAX_BODY_FRAMES = 5_000_000
"""Bodies times frames beyond which a method by frames is not worth waiting for."""
MIN_TURNS, MAX_TURNS, BUDGET = 3, 30, 0.3
"""Turns at a place, and seconds after which no further one begins."""


def table_places() -> Iterator[Setting]:
    """What the table is made of: a lattice, seed 100."""
    for n in (8, 20, 50, 120, 300, 700, 1_700, 4_000):
        for occupancy in (0.01, 0.03, 0.1):
            for rate in (3, 6, 12, 25, 50, 100, 300, 1_000):
                yield _setting(n, occupancy, rate, 1.0, 100)
    for n in (50, 300, 1_700):
        for rate in (12, 50, 300):
            for duration in (0.1, 0.3, 3.0, 10.0):
                yield _setting(n, 0.03, rate, duration, 100)


def tuning_places() -> Iterator[Setting]:
    """On which weights and widths of the table were chosen: anywhere, seed 101; they become part of it."""
    return _anywhere(30, 101)


def held_out_places() -> Iterator[Setting]:
    """On which the selector is judged, and nothing is chosen: anywhere, seed 102."""
    return _anywhere(40, 102)


def _anywhere(count: int, seed: int) -> Iterator[Setting]:
    """Places drawn evenly by decades; seldom far from where one method overtakes another."""
    random = np.random.default_rng(seed)

    def between(low: float, high: float) -> float:
        return float(np.exp(random.uniform(math.log(low), math.log(high))))

    for _ in range(count):
        setting = (round(between(10, 5_000)), round(between(0.01, 0.1), 3), round(between(3, 200), 1))
        yield _setting(*setting, round(between(0.3, 3.0), 2), seed)


def _setting(n: int, occupancy: float, rate: float, duration: float, seed: int) -> Setting:
    return {"n": n, "occupancy": occupancy, "frames_per_second": rate, "duration": duration, "seed": seed}


def measure(setting: Setting) -> dict[str, Any]:
    """One place: where it lies, and what each method takes there."""
    frames = setting["frames_per_second"] * setting["duration"]
    names = [name for name in METHODS if name == "kinetic" or setting["n"] * frames <= MAX_BODY_FRAMES]
    trials = [Following({"scene": "thesis", "method": name, **setting}) for name in names]
    for trial in trials:
        _seconds(trial)
    turns: list[list[float]] = []
    begin = time.process_time()
    while len(turns) < MIN_TURNS or (len(turns) < MAX_TURNS and time.process_time() - begin < BUDGET):
        shift = len(turns) % len(trials)
        turn = {trial.name: _seconds(trial) for trial in [*trials[shift:], *trials[:shift]]}
        turns.append([turn[name] for name in names])
    density = float(trials[0].facts()["density"])
    where = (setting["n"], round(density, 4), setting["frames_per_second"], setting["duration"])
    return {
        "setting": setting,
        "coordinates": dict(zip(COORDINATES, map(float, where), strict=True)),
        "seconds": {name: float(f"{value:.3g}") for name, value in zip(names, turn_medians(turns), strict=True)},
    }


def _seconds(trial: Following) -> float:
    begin = time.process_time()
    trial.run(Stopwatch(time.process_time))
    return time.process_time() - begin


def make(output: Path | None) -> None:
    """Measure the table, say how well its first part foresees its second, and write both."""
    measure(_setting(10, 0.05, 10, 1.0, 0))  # compiles
    seen = [measure(setting) for setting in track(list(table_places()), "the table ")]
    tuning = [measure(setting) for setting in track(list(tuning_places()), "for tuning")]
    table = CostTable(
        COORDINATES, METHODS, [(place["coordinates"], place["seconds"]) for place in seen], WEIGHTS, DEGREE
    )
    print_score([(place, table.choose(place["coordinates"]).method) for place in tuning])
    if output is not None:
        lines = ",\n".join(f"  {json.dumps(place)}" for place in (*seen, *tuning))
        head = f'"machine": {json.dumps(machine.describe())},\n "coordinates": {json.dumps(COORDINATES)}'
        output.write_text(f'{{{head},\n "places": [\n{lines}\n]}}\n')


def judge() -> None:
    """Ask the shipped table where it has not been."""
    measure(_setting(10, 0.05, 10, 1.0, 0))
    places = [measure(setting) for setting in track(list(held_out_places()), "held out")]
    print_score([(place, recommend(*place["coordinates"].values()).method) for place in places])


def print_score(choices: Sequence[tuple[dict[str, Any], str]]) -> None:
    """How often a choice is not near the best, where, and how much is lost in the mean."""
    regrets = []
    for place, chosen in choices:
        taken = place["seconds"]
        best = min(taken, key=taken.__getitem__)
        regrets.append(taken.get(chosen, math.inf) / taken[best] - 1)
        if regrets[-1] > WITHIN:
            print(f"{place['setting']}: {chosen} takes {regrets[-1]:.0%} longer than {best}")
    good = sum(regret <= WITHIN for regret in regrets)
    firsts = sorted(min(place["seconds"], key=place["seconds"].__getitem__) for place, _ in choices)
    print("fastest:", ", ".join(f"{name} at {firsts.count(name)}" for name in dict.fromkeys(firsts)))
    print(f"the choice is within {WITHIN:.0%} of the best on {good} of {len(regrets)} places", end="; ")
    print(f"{np.mean(regrets):+.1%} in the mean, {max(regrets):+.0%} at worst")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, help="where to write the table")
    parser.add_argument("--judge", action="store_true", help="judge the shipped table on places held out")
    given = parser.parse_args()
    judge() if given.judge else make(given.output)


if __name__ == "__main__":
    main()
