"""Searches from file to file in bounded memory: time, memory of all processes, and disk, beside the search in memory.

    python benchmarks/scale.py                              # 10 million boxes, a minute
    python benchmarks/scale.py --boxes 1e8 --skip-memory    # 100 million; takes 7 GB of disk
    python benchmarks/scale.py --peers                      # a 2D join, beside DuckDB, SedonaDB, dask-geopandas
    python benchmarks/scale.py --kills 20                   # a search that is killed 20 times ends with the same bytes

Contenders take turns in one run; the load of the machine and the speed of its disk are printed beside the figures.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import choque

GROUP = 1 << 20
DENSITY, EDGE = 1.0, 0.7  # boxes in a unit of space, and their edges: each overlaps 2.7 others in 3D


def write_boxes(path: Path, count: int, dimension: int, seed: int = 0) -> None:
    """Write random boxes, float32, a row group at a time."""
    generator, side = np.random.default_rng(seed), (count / DENSITY) ** (1 / dimension)
    names = [f"{axis}_{end}" for end in ("lower", "upper") for axis in "xyz"[:dimension]]
    schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, count, GROUP):
            rows = min(GROUP, count - first)
            lower = [generator.random(rows, np.float32) * np.float32(side) for _ in range(dimension)]
            columns = lower + [corner + np.float32(EDGE) for corner in lower]
            writer.write_table(pyarrow.table(dict(zip(names, columns, strict=True))))


class Watch:
    """The resident memory of this process and its descendants, and the bytes in a folder: the most of both."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.memory, self.disk = folder, 0, 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.1):
            self.memory = max(self.memory, sum(map(_resident, _family(os.getpid()))))
            files = [path for path in self.folder.rglob("*") if path.is_file()] if self.folder.exists() else []
            self.disk = max(self.disk, sum(_size(path) for path in files))


def _family(process: int) -> list[int]:
    found = [process]
    for task in Path(f"/proc/{process}/task").glob("*"):
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += _family(int(child))
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def timed(name: str, folder: Path, work: Callable[[], int]) -> float:
    """Run ``work``, which returns a number of pairs, and print what it took."""
    with Watch(folder) as watch:
        begin, busy = time.perf_counter(), sum(os.times()[:4])
        try:
            result = f"{work():,} pairs"
        except Exception as problem:  # peers that run out of memory are shown, not hidden
            result = f"failed: {type(problem).__name__}: {str(problem).splitlines()[0][:90]}"
        seconds, busy = time.perf_counter() - begin, sum(os.times()[:4]) - busy
    print(
        f"{name:<26}{seconds:8.1f} s{busy:8.1f} s of processors{watch.memory / 2**30:7.2f} GiB resident"
        f"{watch.disk / 2**30:7.2f} GiB of disk  {result}  (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )
    return seconds


def disk_speed(folder: Path) -> float:
    """Return how fast a gigabyte is written and reaches the disk [MB/s]."""
    block, begin = os.urandom(1 << 24), time.perf_counter()
    with (folder / "speed").open("wb") as handle:
        for _ in range(32):
            handle.write(block)
        os.fsync(handle.fileno())
    (folder / "speed").unlink()
    return 32 * len(block) / 1e6 / (time.perf_counter() - begin)


def in_memory(path: Path, folder: Path) -> int:
    found = choque.pairs(*choque.files.read_boxes(path))
    folder.mkdir()
    choque.files.write_pairs(folder / "pairs.parquet", found)
    return len(found)


def compare(options: argparse.Namespace, folder: Path) -> None:
    path, count = folder / "boxes.parquet", int(options.boxes)
    write_boxes(path, count, 3)
    print(f"{count:,} boxes in 3D, float32, {_size(path) / 2**30:.2f} GiB; disk {disk_speed(folder):.0f} MB/s")
    write_boxes(folder / "few.parquet", 20_000, 3)
    for workers in {1, *options.workers}:  # kernels are compiled or loaded before the clock starts
        choque.scale.pairs(folder / "few.parquet", folder / f"few-{workers}", workers=workers, tile_rows=5000)
    in_memory(folder / "few.parquet", folder / "few")
    print(choque.scale.plan(path, memory=options.memory, workers=options.workers[-1]), "", sep="\n")
    for turn in range(options.turns):
        if not options.skip_memory:
            timed("choque.pairs", folder / f"whole-{turn}", lambda t=turn: in_memory(path, folder / f"whole-{t}"))
        for workers in options.workers:
            target = folder / f"pairs-{workers}-{turn}"
            timed(
                f"choque.scale, {workers} worker(s)",
                target,
                lambda n=workers, t=target: choque.scale.pairs(path, t, memory=options.memory, workers=n).count,
            )
            shutil.rmtree(target)


# Peers


def compare_peers(options: argparse.Namespace, folder: Path) -> None:
    count = int(options.boxes)
    sides = [folder / "a.parquet", folder / "b.parquet"]
    for seed, path in enumerate(sides):
        write_boxes(path, count, 2, seed)
    print(f"{count:,} x {count:,} boxes in 2D, {options.memory} each")
    target, workers = folder / "joined", options.workers[-1]
    timed(
        "choque.scale.join",
        target,
        lambda: choque.scale.join(*sides, target, memory=options.memory, workers=workers).count,
    )
    for name in PEERS:
        code = PEERS[name].format(
            a=sides[0], b=sides[1], memory=options.memory.replace(" ", "").removesuffix("iB"), folder=folder
        )
        timed(name, folder / "none", lambda code=code: _child(code, options.patience))


DUCKDB = """
import duckdb
database = duckdb.connect("{folder}/duck.db")
try:  # the packages duckdb-extensions and duckdb-extension-spatial bring the extension without a network
    from duckdb_extensions import import_extension
    import_extension("spatial")
except ImportError:
    database.execute("INSTALL spatial")
database.execute("LOAD spatial")
database.execute("SET memory_limit='{memory}B'; SET threads=2")
box = "ST_MakeEnvelope(x_lower, y_lower, x_upper, y_upper)"
sides = [f"(SELECT {{box}} g FROM '{{path}}')" for path in ("{a}", "{b}")]
query = "SELECT count(*) FROM {{}} a JOIN {{}} b ON ST_Intersects(a.g, b.g)".format(*sides)
print(database.execute(query).fetchone()[0])
"""

SEDONA = """
import sedona.db
session = sedona.db.connect()
session.sql("SET datafusion.runtime.memory_limit = '{memory}'").execute()
session.sql("SET datafusion.runtime.temp_directory = '{folder}'").execute()
box = "ST_Envelope(ST_MakeLine(ST_Point(x_lower, y_lower), ST_Point(x_upper, y_upper)))"
for name, path in (("a", "{a}"), ("b", "{b}")):
    session.read_parquet(path).to_view(name)
sides = [f"(SELECT {{box}} g FROM {{name}}) {{name}}" for name in "ab"]
print(session.sql("SELECT count(*) n FROM {{}} JOIN {{}} ON ST_Intersects(a.g, b.g)".format(*sides)).to_pandas().n[0])
"""

DASK_GEOPANDAS = """
import dask.dataframe, dask.utils, dask_geopandas, distributed, geopandas, shapely

def boxes(table):
    return geopandas.GeoDataFrame(geometry=shapely.box(table.x_lower, table.y_lower, table.x_upper, table.y_upper))

if __name__ == "__main__":
    limit = dask.utils.parse_bytes("{memory}iB") // 2
    client = distributed.Client(n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None)
    sides = []
    for path in ("{a}", "{b}"):
        table = dask.dataframe.read_parquet(path, split_row_groups=True)
        frame = dask_geopandas.from_dask_dataframe(table.map_partitions(boxes, meta=boxes(table._meta)))
        sides.append(frame.spatial_shuffle(by="hilbert"))
    print(len(dask_geopandas.sjoin(*sides)))
"""

PEERS = {"duckdb": DUCKDB, "sedonadb": SEDONA, "dask-geopandas": DASK_GEOPANDAS}
"""Programs that print the number of pairs; the memory is as in 4G."""


def _child(code: str, patience: float) -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:  # workers of Dask import the program
        script.write(code)
        script.flush()
        quiet = os.environ | {"DASK_LOGGING__DISTRIBUTED": "critical"}  # the last line tells what went wrong
        command = [sys.executable, script.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, env=quiet)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1])
    return int(done.stdout.split()[-1])


# Kills

SEARCH = "import sys, choque; choque.scale.pairs(sys.argv[1], sys.argv[2], workers=2, tile_rows=4000)"


def kill_often(count: int, folder: Path) -> None:
    """Kill the driver or a worker of one search at random moments, and compare the bytes with those of another."""
    path, moments = folder / "boxes.parquet", random.Random(0)
    write_boxes(path, 400_000, 3)
    choque.scale.pairs(path, folder / "whole", tile_rows=4000, workers=1)
    finished: dict[Path, int] = {}
    kills = {"driver": 0, "worker": 0}
    while sum(kills.values()) < count:
        for name, moment in finished.items():
            assert name.stat().st_mtime_ns == moment, f"{name} was written again"
        driver = subprocess.Popen([sys.executable, "-c", SEARCH, str(path), str(folder / "pairs")])
        time.sleep(moments.uniform(1.5, 5.0))
        children = _family(driver.pid)[1:]
        is_worker = bool(children) and moments.random() < 0.5
        if driver.poll() is not None:
            shutil.rmtree(folder / "pairs")  # it finished before the kill: another search
            finished.clear()
            continue
        os.kill(moments.choice(children) if is_worker else driver.pid, signal.SIGKILL)
        kills["worker" if is_worker else "driver"] += 1
        if is_worker:
            assert driver.wait() == 0, "a search did not survive a killed worker"
            assert _digest(folder / "pairs") == _digest(folder / "whole")
            shutil.rmtree(folder / "pairs")
            finished.clear()
        else:
            driver.wait()
            finished |= {tile: tile.stat().st_mtime_ns for tile in (folder / "pairs").glob("tile-*.parquet")}
    subprocess.run([sys.executable, "-c", SEARCH, str(path), str(folder / "pairs")], check=True)
    assert _digest(folder / "pairs") == _digest(folder / "whole")
    print(f"{kills['driver']} drivers and {kills['worker']} workers were killed; the bytes are the same, no tile twice")


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name != "_plan.json":  # it says how many workers there were
            total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=float, default=1e7)
    parser.add_argument("--memory", default="4 GiB")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--skip-memory", action="store_true", help="do not search in memory too")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--patience", type=float, default=600, help="seconds for each peer")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="a disk with enough room")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.kills:
            kill_often(options.kills, Path(folder))
        elif options.peers:
            compare_peers(options, Path(folder))
        else:
            compare(options, Path(folder))


if __name__ == "__main__":
    main()
