"""Run every comparison with other libraries, one after the other, each in a process of its own: `make bench`.

    python benchmarks/whole.py                 # all of them: 40 to 90 minutes on two cores
    python benchmarks/whole.py joins meshes    # some of them
    python benchmarks/whole.py --small         # sizes that only show that everything runs, in minutes

Libraries that are not installed are left out. The extra ``peers`` brings most; not torchvision and SAHI, which take
gigabytes, lsnms, which holds Numba back, and DuckDB, SedonaDB and dask-geopandas for the search from file to file:
install these beside it. A script that fails is named at the end, and the others run all the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """A call of a script: the words after its name at full size, and those at a small one."""

    script: str
    full: str
    small: str


ENGINES = "--engines rapier3d pybullet mujoco"
RUNS = (
    Run("figures", "--budget 15", "--scale 0.01 --rounds 3 --budget 5"),
    Run("joins", "", "--boxes 5000 --detections 2000 --rounds 1"),
    Run("neighbors", "", "--atoms 2000 --cutoffs 4 --rounds 1"),
    Run("meshes", "--poses 1000", "--faces 2000 --poses 20 --parts 20 --voxels 48"),
    Run("narrow", "", "--pairs 2000"),
    Run("dynamics", f"spheres 5000 {ENGINES}", f"spheres 100 --settle 10 {ENGINES}"),
    Run("dynamics", f"boxes 2000 {ENGINES}", f"boxes 50 --settle 10 {ENGINES}"),
    Run("dynamics", f"mixed 5000 {ENGINES}", f"mixed 50 --settle 10 {ENGINES}"),
    Run("dynamics", f"pyramid 100 {ENGINES}", f"pyramid 5 --settle 10 {ENGINES}"),
    Run("dynamics", "spheres 5000 --threads 2", "spheres 100 --settle 10 --threads 2"),
    Run("dynamics", "spheres 20000 --threads 2", "spheres 200 --settle 10 --threads 2"),
    Run("dynamics", "boxes 2000 --threads 2", "boxes 50 --settle 10 --threads 2"),
    Run("dynamics", "mixed 5000 --threads 2", "mixed 50 --settle 10 --threads 2"),
    Run("dynamics", "pyramid 100 --threads 2", "pyramid 5 --settle 10 --threads 2"),
    Run("world", "", "--frames 10 --turns 5 --scale 0.01"),
    Run("scale", "--peers --patience 200", "--boxes 20000 --peers --patience 60"),
)
SCRIPTS = tuple(dict.fromkeys(run.script for run in RUNS))


def main() -> None:
    """Run what was asked for, and exit with 1 if a script failed."""
    parser = argparse.ArgumentParser(description="Run every comparison with other libraries.")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=f"some of {', '.join(SCRIPTS)} (default: all)")
    parser.add_argument("--small", action="store_true", help="sizes that only show that everything runs")
    chosen = parser.parse_args()
    if unknown := set(chosen.scripts) - set(SCRIPTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCRIPTS)}")
    failed = []
    for run in RUNS:
        if chosen.scripts and run.script not in chosen.scripts:
            continue
        call = f"{run.script}.py {run.small if chosen.small else run.full}".rstrip()
        print(f"\n== {call}, load {os.getloadavg()[0]:.1f}", flush=True)
        begin = time.perf_counter()
        script, *words = call.split()
        status = subprocess.run([sys.executable, Path(__file__).with_name(script), *words]).returncode
        if status:
            failed.append(call)
        problem = f", FAILED with status {status}" if status else ""
        print(f"== {time.perf_counter() - begin:.0f} s{problem}", flush=True)
    if failed:
        raise SystemExit(f"failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
