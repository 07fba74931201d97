"""Measure and write the table that ``auto`` uses, or evaluate ``auto`` on scenes that are not in it.

    python benchmarks/auto.py --output src/choque/broad/auto_table.json    # measures the table; about twelve minutes
    python benchmarks/auto.py --output … --up-to 3300                      # measures its small places again; four
    python benchmarks/auto.py --judge                                      # how good the shipped table is; four

Processor time of one thread. Candidates take turns, and what counts is the middle of their ratios within a turn: a busy
machine slows a whole turn, and hardly changes the ratios. `choque lab run comparison` writes a map of
the same form, a process for each cell; this is the shortcut.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import choque
from choque._core.records import pack_records
from choque.bounds import Boxes
from choque.broad import create
from choque.broad.auto import CANDIDATES, COORDINATES, WEIGHTS, survey_numbers
from choque.broad.cost_table import CostTable
from choque.lab import machine
from choque.lab.statistics import turn_medians

Setting = dict[str, Any]

STILL = (("uniform", 3), ("uniform", 2), ("clustered", 3), ("mixed", 3), ("aligned", 3))
MIN_FRAMES, MAX_FRAMES, BOX_FRAMES = 10, 60, 300_000
"""Frames of a moving scene: enough for BOX_FRAMES boxes in all, within limits; trees degrade as boxes move."""
BRUTE_UP_TO, INCREMENTAL_UP_TO = 8_000, 50_000
"""Bodies beyond which a method is not worth waiting for."""
FEWEST, BUDGET = 5, 0.5
"""Turns at a place, and seconds after which no further one begins."""
WITHIN = 0.15


def table_places() -> Iterator[Setting]:
    """What the table is made of: seed 10."""
    sizes = (380, 500, 720, 950, 1_400, 2_100, 3_200, 4_700, 7_000, 11_000, 20_000, 50_000, 100_000)
    yield from _settings(10, STILL, (*sizes, 400_000))
    yield from _settings(10, (("clustered", 2),), sizes[1::3])
    yield from _settings(10, (("uniform", 3),), sizes[1::3], overlaps=0.3)
    yield from _settings(10, (("uniform", 3), ("uniform", 2)), sizes[1::3], overlaps=30.0)
    for step in (0.002, 0.01, 0.05, 0.3):
        yield from _settings(10, (("brownian", 3), ("brownian", 2)), (200, *sizes[::2]), step=step)
    yield from _settings(10, (("free-fall", 3),), (200, *sizes[::2]))


def tuning_places() -> Iterator[Setting]:
    """On which weights and widths of the table were chosen: seed 11; they become part of it."""
    yield from _settings(11, (*STILL, ("free-fall", 3)), (600, 1_200, 2_700, 5_500, 15_000))
    for step in (0.005, 0.02):
        yield from _settings(11, (("brownian", 3), ("brownian", 2)), (600, 1_800, 5_500, 15_000), step=step)


def held_out_places() -> Iterator[Setting]:
    """On which auto is judged, and nothing is chosen: seed 19."""
    sizes = (460, 800, 1_150, 3_000, 9_000, 35_000)
    yield from _settings(19, STILL, sizes)
    yield from _settings(19, (("uniform", 3),), sizes[1::2], overlaps=6.0)
    yield from _settings(19, (("clustered", 2),), sizes[1::2])
    for step in (0.003, 0.017, 0.08):
        yield from _settings(19, (("brownian", 3),), sizes[1::2] + sizes[2:3], step=step)
    yield from _settings(19, (("brownian", 2),), sizes[::2], step=0.009)
    yield from _settings(19, (("free-fall", 3),), sizes[1:])


def _settings(
    seed: int, scenes: Sequence[tuple[str, int]], sizes: Sequence[int], **options: float
) -> Iterator[Setting]:
    for scene, dimension in scenes:
        for n in sizes:
            yield {"scene": scene, "dimension": dimension, "n": n, "seed": seed, **options}


def frames_of(setting: Setting) -> list[Any]:
    """Lower and upper corners of each frame; a scene at rest has one."""
    options = {name: value for name, value in setting.items() if name in ("overlaps", "step")}
    count = max(MIN_FRAMES, min(MAX_FRAMES, BOX_FRAMES // setting["n"]))
    moves = setting["scene"] in ("brownian", "free-fall")
    scene, n, seed, dimension = (setting[name] for name in ("scene", "n", "seed", "dimension"))
    frames = count if moves else 1
    return list(choque.scene.generate(scene, n, seed=seed, dimension=dimension, frames=frames, **options).frames())


def seconds(method: str, frames: Sequence[Any]) -> float:
    """Of the first frame's pairs, or of a later frame's update and pairs in the mean."""
    begin = time.thread_time()
    broad = create(method, Boxes(*frames[0]), threads=1)
    broad.pairs()
    if len(frames) > 1:
        begin = time.thread_time()
        for frame in frames[1:]:
            broad.update(Boxes(*frame))
            broad.pairs()
    return (time.thread_time() - begin) / max(len(frames) - 1, 1)


def measure(setting: Setting, candidates: Sequence[str]) -> dict[str, Any]:
    """One place: where it lies, and what each candidate takes there."""
    frames, n = frames_of(setting), setting["n"]
    previous, records = (pack_records(Boxes(*frame), True, 1) for frame in (*frames[:1], *frames)[-2:])
    where = survey_numbers(records, previous if len(frames) > 1 else None).tolist()
    names = [
        name
        for name in candidates
        if not (name == "brute" and n > BRUTE_UP_TO)
        and not (name == "sap-incremental" and (n > INCREMENTAL_UP_TO or len(frames) == 1))
    ]
    taken = take_turns(names, frames)
    return {
        "setting": setting,
        "coordinates": {name: round(value, 3) for name, value in zip(COORDINATES, where, strict=False)},
        "seconds": {name: float(f"{value:.3g}") for name, value in zip(names, taken, strict=True)},
    }


def take_turns(names: Sequence[str], frames: Sequence[Any]) -> Any:
    """What each candidate takes, from turns in one process."""
    turns: list[list[float]] = []
    order = np.random.default_rng(0)
    for name in names:
        seconds(name, frames)
    gc.collect()
    gc.disable()
    begin = time.thread_time()
    while len(turns) < FEWEST or time.thread_time() - begin < BUDGET:
        turn = [0.0] * len(names)
        for who in order.permutation(len(names)):  # after each of the others in turn, whose code is then in the caches
            turn[who] = min(seconds(names[who], frames) for _ in range(2))  # the first finds the caches of another
        turns.append(turn)
    gc.enable()
    return turn_medians(turns)


def make(output: Path | None, up_to: float) -> None:
    """Measure the table, say how well its first part foresees its second, and write both.

    Places with more boxes than ``up_to`` stay as they are in ``output``.
    """
    before = json.loads(output.read_text())["places"] if output is not None and output.exists() else []
    known = {json.dumps(place["setting"]): place for place in before if place["setting"]["n"] > up_to}

    def place_of(setting: Setting) -> dict[str, Any]:
        return known.get(json.dumps(setting)) or measure(setting, CANDIDATES)

    seen = [place_of(setting) for setting in track(list(table_places()), "the table ")]
    tuning = [place_of(setting) for setting in track(list(tuning_places()), "for tuning")]
    table = CostTable(COORDINATES, CANDIDATES, [(place["coordinates"], place["seconds"]) for place in seen], WEIGHTS)
    print_score("the choice", [(place, table.choose(place["coordinates"]).method) for place in tuning])
    if output is not None:
        lines = ",\n".join(f"  {json.dumps(place)}" for place in (*seen, *tuning))
        head = f'"machine": {json.dumps(machine.describe())},\n "coordinates": {json.dumps(COORDINATES)}'
        output.write_text(f'{{{head},\n "places": [\n{lines}\n]}}\n')


def judge() -> None:
    """Let auto, with the table in use, take turns with its candidates where neither has been before."""
    places = [measure(setting, ("auto", *CANDIDATES)) for setting in track(list(held_out_places()), "held out")]
    print_score("auto", [(place, "auto") for place in places])


def print_score(who: str, choices: Sequence[tuple[dict[str, Any], str]]) -> None:
    """How often a choice is not near the best, where, and how much is lost in the mean."""
    regrets = []
    for place, chosen in choices:
        others = {name: value for name, value in place["seconds"].items() if name != "auto"}
        best = min(others, key=others.__getitem__)
        regrets.append(place["seconds"].get(chosen, np.inf) / others[best] - 1)
        if regrets[-1] > WITHIN:
            print(f"{place['setting']}: {chosen} takes {regrets[-1]:.0%} longer than {best}")
    good = sum(regret <= WITHIN for regret in regrets)
    print(f"{who} is within {WITHIN:.0%} of the best on {good} of {len(regrets)} places", end="; ")
    print(f"{np.mean(regrets):+.1%} in the mean, {max(regrets):+.0%} at worst")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, help="where to write the table")
    parser.add_argument("--up-to", type=float, default=np.inf, help="measure only places with no more boxes than this")
    parser.add_argument("--judge", action="store_true", help="judge the table in use on places held out")
    given = parser.parse_args()
    judge() if given.judge else make(given.output, given.up_to)


if __name__ == "__main__":
    main()
