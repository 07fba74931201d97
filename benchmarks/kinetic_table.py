"""The table that `choque.kinetic.recommend` consults: measured, judged on places that it has not seen, and written.

    python benchmarks/kinetic_table.py              # prints the score; some five minutes
    python benchmarks/kinetic_table.py --output src/choque/kinetic/method_table.json

Processor time, in one process; `choque lab run kinetic` writes a map of the same form, a process for each cell.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.progress import track

from choque.broad._cost_table import CostTable
from choque.kinetic._selector import COORDINATES, METHODS, WEIGHTS
from choque.lab.stopwatch import Stopwatch
from choque.lab.studies.kinetic import Following

SIZES, OCCUPANCIES, RATES = (10, 40, 160, 640, 2_500), (0.01, 0.1), (3, 8, 20, 50, 150, 1_000)
BODY_FRAMES_MOST = 700_000
"""Bodies times frames beyond which a method by frames is not worth waiting for."""
HELD_OUT = (
    (20, 0.02, 30, 1.0),
    (50, 0.05, 15, 1.0),
    (50, 0.1, 1_000, 1.0),
    (150, 0.1, 4, 1.0),
    (200, 0.02, 7, 1.0),
    (200, 0.05, 60, 1.0),
    (200, 0.05, 30, 3.0),
    (500, 0.01, 12, 1.0),
    (500, 0.1, 120, 1.0),
    (700, 0.05, 500, 1.0),
    (1_000, 0.02, 100, 0.3),
    (1_500, 0.1, 50, 1.0),
    (2_000, 0.02, 8, 1.0),
    (2_000, 0.05, 25, 1.0),
    (5_000, 0.03, 100, 1.0),
    (6_000, 0.01, 6, 1.0),
)
"""Bodies, occupancy, frames a second, seconds."""
WITHIN = 0.10


def measure(n: int, occupancy: float, rate: float, duration: float, seed: int) -> dict[str, Any]:
    """One place: where it lies, and what each method takes there."""
    setting = {"n": n, "occupancy": occupancy, "frames_per_second": rate, "duration": duration, "seed": seed}
    taken, density = {}, 0.0
    for method in METHODS:
        if method != "kinetic" and n * rate * duration > 2 * BODY_FRAMES_MOST:
            continue
        trial = Following({"scene": "thesis", "method": method, **setting})
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            trial.run(Stopwatch(time.process_time))
            seconds.append(time.process_time() - begin)
        taken[method] = float(f"{min(seconds):.3g}")
        density = float(trial.facts()["density"])
    where = dict(zip(COORDINATES, (float(n), round(density, 4), float(rate), duration), strict=True))
    return {"setting": setting, "coordinates": where, "seconds": taken}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, help="where to write the table")
    output = parser.parse_args().output
    wanted = [(n, share, rate, 1.0) for n in SIZES for share in OCCUPANCIES for rate in RATES]
    wanted += [(n, 0.05, rate, duration) for n in (100, 1_000) for rate in (10, 40, 1_000) for duration in (0.1, 10.0)]
    measure(10, 0.05, 10, 1.0, 0)  # compiles
    small = [place for place in wanted if place[0] * place[2] * place[3] <= BODY_FRAMES_MOST]
    seen = [measure(*place, seed=0) for place in track(small, "measuring")]
    unseen = [measure(*place, seed=1) for place in track(HELD_OUT, "held out ")]
    table = CostTable(COORDINATES, METHODS, [(place["coordinates"], place["seconds"]) for place in seen], WEIGHTS)
    good = 0
    for place in unseen:
        chosen = table.choose(place["coordinates"]).method
        best = min(place["seconds"], key=place["seconds"].__getitem__)
        regret = place["seconds"].get(chosen, float("inf")) / place["seconds"][best] - 1
        good += regret <= WITHIN
        if regret > WITHIN:
            print(f"{place['setting']}: {chosen} takes {regret:.0%} longer than {best}")
    print(f"within {WITHIN:.0%} of the best on {good} of {len(unseen)} places held out")
    if output is not None:
        lines = ",\n".join(f"  {json.dumps(place)}" for place in (*seen, *unseen))
        output.write_text(f'{{"coordinates": {json.dumps(COORDINATES)},\n "places": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
