"""The table that auto consults: measured, judged on places that it has not seen, and written.

    python benchmarks/auto.py                       # prints the score; some ten minutes
    python benchmarks/auto.py --output src/choque/broad/auto_table.json

Processor time of one thread, so that a busy machine hardly spoils it. `choque lab run comparison` writes a map of the
same form, a process for each cell; this is the shortcut.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import choque
from choque.bounds import Boxes
from choque.broad import create
from choque.broad._auto_table import CANDIDATES, COORDINATES, WEIGHTS, coordinates
from choque.broad._cost_table import CostTable
from choque.broad._records import pack_records
from choque.broad._survey import survey_boxes

SOLID = ("uniform", "clustered", "mixed", "aligned", "brownian", "free-fall")
SCENES = [(name, 3) for name in SOLID] + [("uniform", 2), ("brownian", 2)]
MOVING = ("brownian", "free-fall")
FRAMES = 10
SEEN = (400, 700, 1_000, 1_500, 2_000, 3_000, 4_500, 6_000, 10_000, 20_000, 40_000, 100_000)
HELD_OUT = (500, 1_200, 2_500, 5_000, 15_000, 60_000)
BRUTE_UP_TO = 6_000
WITHIN = 0.15


def seconds(method: str, frames: list[Any]) -> float:
    """Of the first frame's pairs, or of a later frame's update and pairs in the mean."""
    begin = time.thread_time()
    broad = create(method, Boxes(*frames[0]), threads=1)
    broad.pairs()
    if len(frames) == 1:
        return time.thread_time() - begin
    begin = time.thread_time()
    for frame in frames[1:]:
        broad.update(Boxes(*frame))
        broad.pairs()
    return (time.thread_time() - begin) / (len(frames) - 1)


def measure(scene: str, dimension: int, n: int, seed: int) -> dict[str, Any]:
    """One place: where it lies, and what each candidate takes there."""
    made = choque.scene.generate(scene, n, seed, dimension, FRAMES if scene in MOVING else 1)
    frames = list(made.frames())
    survey = survey_boxes(pack_records(Boxes(*frames[-1]), True, 1))
    repetitions = max(5, min(40, 125_000 // n))
    taken = {
        method: float(np.percentile([seconds(method, frames) for _ in range(repetitions)], 20))
        for method in CANDIDATES
        if method != "brute" or n <= BRUTE_UP_TO
    }
    where = dict(zip(COORDINATES, coordinates(survey, scene in MOVING), strict=True))
    return {
        "setting": {"scene": scene, "dimension": dimension, "n": n, "seed": seed},
        "coordinates": {name: round(float(value), 2) for name, value in where.items()},
        "seconds": {name: float(f"{value:.3g}") for name, value in taken.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, help="where to write the table")
    wanted = [(n, 0) for n in SEEN] + [(n, 1) for n in HELD_OUT]
    output = parser.parse_args().output
    places = [measure(*scene, n, seed) for n, seed in track(wanted, "measuring") for scene in SCENES]
    table = CostTable(
        COORDINATES,
        CANDIDATES,
        [(place["coordinates"], place["seconds"]) for place in places if place["setting"]["seed"] == 0],
        WEIGHTS,
    )
    regrets = []
    for place in places:
        if place["setting"]["seed"] == 1:
            chosen = table.choose(place["coordinates"]).method
            best = min(place["seconds"], key=place["seconds"].__getitem__)
            regret = place["seconds"].get(chosen, np.inf) / place["seconds"][best] - 1
            regrets.append(regret)
            if regret > WITHIN:
                print(f"{place['setting']}: {chosen} takes {regret:.0%} longer than {best}")
    good = sum(regret <= WITHIN for regret in regrets)
    words = f"within {WITHIN:.0%} of the best on {good} of {len(regrets)} places held out"
    print(f"{words}; mean regret {np.mean(regrets):.1%}")
    if output is not None:
        lines = ",\n".join(f"  {json.dumps(place)}" for place in places)
        output.write_text(f'{{"coordinates": {json.dumps(COORDINATES)},\n "places": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
