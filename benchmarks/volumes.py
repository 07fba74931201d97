"""The figures of the volumes: how fast, how small, and how much is visited, on this machine.

    python benchmarks/volumes.py            all of them, in about two minutes
    python benchmarks/volumes.py --size 256 with smaller phantoms

Every line gives the target and the measured figure, with both tails where there are many
placements. Times are those of the processor, of one thread, so that other work on the machine counts little; candidates
take turns, placement by placement.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable
from time import thread_time

import numpy as np

from choque.lab import phantoms
from choque.theses.evm.baselines import DenseMask, RunRows
from choque.theses.evm.objects import even_count_block
from choque.theses.evm.sweep import SweepCounters, combine
from choque.volumes import Volume
from choque.volumes.collision import search
from choque.volumes.keys import xor_keys

PLACEMENTS = 1000
DENSE_PLACEMENTS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="edge of the large phantoms in voxels")
    size = parser.parse_args().size
    warm_up()
    two_boxes()
    merge_of_a_million()
    six_thousand_vertices()
    large_phantoms(size)


def warm_up() -> None:
    for name in ("ball", "gyroid"):
        one = phantoms.make(name, 16)
        one.collides(one.translated((1.0, 0.0, 0.0)))
        one & one.translated((1.0, 0.0, 0.0))
        rows = RunRows(one.voxels())
        rows.collides(rows, (0, 0, 0))
    xor_keys(np.arange(4), np.arange(2, 6))


def two_boxes() -> None:
    one = Volume.from_voxels(np.ones((4, 5, 6), np.bool_))
    other = one.translated((2.0, 2.0, 2.0))
    report("collides, two boxes", "under 20 µs", times(lambda: one.collides(other), 5000), 1e6, "µs")


def merge_of_a_million() -> None:
    random = np.random.default_rng(0)
    one, two = (np.unique(random.integers(0, 1 << 62, 1_000_000)) for _ in range(2))
    report("XOR of two lists of 1,000,000", "under 15 ms", times(lambda: xor_keys(one, two), 20), 1e3, "ms")


def six_thousand_vertices() -> None:
    """Pairs with 6000 vertices together that overlap: time, and brinks against those of the full intersection."""
    random = np.random.default_rng(1)
    seconds, visited, full = [], 0, 0
    pairs = [_pair_of_blocks(random) for _ in range(10)]
    while len(seconds) < PLACEMENTS:
        one, two = pairs[len(seconds) % len(pairs)]
        size = one.model.bounds[1][0]
        moved = two.translated(tuple(float(step) for step in random.integers(-size // 2, size // 2 + 1, 3)))
        found = search(one.model, moved.model, (0, 0, 0))
        if found.overlap is None:
            continue
        seconds.extend(times(lambda one=one, moved=moved: one.collides(moved), 1))
        counters = SweepCounters()
        combine(one.model, moved.model, "intersection", counters=counters)
        visited, full = visited + found.brinks, full + counters.brinks
    report("collides, 6000 vertices, overlapping", "median under 40 µs", seconds, 1e6, "µs")
    print(f"{'brinks visited / full intersection':<42} {'at most 0.1':<22} {visited / full:.4f} over all placements")


def _pair_of_blocks(random: np.random.Generator) -> tuple[Volume, Volume]:
    share = 2 * int(random.integers(800, 2200))
    one, two = (even_count_block(count, int(random.integers(1 << 30))) for count in (share, 6000 - share))
    return one, two


def large_phantoms(size: int) -> None:
    masks = {
        name: phantoms.PHANTOMS.find(name)(size)
        for name in ("ball", "gyroid", "gyroid-channel", "menger", "vertebra", "screw")
    }
    seconds = times(lambda: Volume.from_voxels(masks["ball"]), 3)
    report(f"{size}³ ball to model", "under 2 s", seconds, 1.0, "s")
    seconds = times(lambda: Volume.from_voxels(masks["gyroid"]), 3)
    report(f"{size}³ gyroid to model", "under 2 s", seconds, 1.0, "s")
    tracemalloc.start()
    Volume.from_voxels(masks["gyroid"])
    peak = (tracemalloc.get_traced_memory()[1] + masks["gyroid"].nbytes) / 2**30
    tracemalloc.stop()
    print(f"{'peak memory, mask included':<42} {'under 3 GB':<22} {peak:.3f} GiB")
    for one, two in (
        ("ball", "ball"),
        ("gyroid", "gyroid"),
        ("menger", "menger"),
        ("vertebra", "screw"),
        ("gyroid", "gyroid-channel"),
    ):
        _placements(one, two, masks[one], masks[two])


def _placements(name: str, other_name: str, mask: np.ndarray, other_mask: np.ndarray) -> None:
    """Kept sections against the cropped AND, the rows of runs, and the sweep over the vertices."""
    one, two = Volume.from_voxels(mask), Volume.from_voxels(other_mask)
    print(f"\n{name} and {other_name}, {mask.shape[0]}³")
    if name == "ball":
        print(f"{'bytes of the model / of the mask':<42} at most 1/15           1/{mask.nbytes / one.byte_count:.1f}")
    start = thread_time()
    for model in (one.model, two.model):
        for order in ("xyz", "yzx", "zxy"):
            model.bundles(order)
    print(f"{'sections and bundles along three axes, once':<42} {'':<22} {thread_time() - start:.3f} s")
    print(f"{'bytes cached for them':<42} {'':<22} {one.model.cached_byte_count + two.model.cached_byte_count:,}")
    random = np.random.default_rng(2)
    shifts = [_shift(one, two, random) for _ in range(PLACEMENTS)]
    if "channel" in other_name:
        shifts = [(0, 0, 0)] * DENSE_PLACEMENTS  # interlocked, and never an overlap: the worst case
    answers = [search(one.model, two.model, shift).overlap is not None for shift in shifts]
    dense, other_dense = DenseMask(mask), DenseMask(other_mask)
    rows, other_rows = RunRows(mask), RunRows(other_mask)
    seconds, dense_seconds, row_seconds = [], [], []
    for number, shift in enumerate(shifts):
        moved = two.translated(tuple(map(float, shift)))
        seconds += warm(lambda moved=moved: one.collides(moved))
        if number % max(1, len(shifts) // DENSE_PLACEMENTS) == 0:
            dense_seconds += warm(lambda shift=shift: dense.collides(other_dense, shift))
            row_seconds += warm(lambda shift=shift: rows.collides(other_rows, shift))
            assert dense.collides(other_dense, shift) == answers[number] == rows.collides(other_rows, shift)
    ratio = np.median(dense_seconds) / np.median(seconds)
    report(f"collides, {sum(answers)} of {len(shifts)} overlap", "", seconds, 1e6, "µs")
    report("cropped dense AND", "", dense_seconds, 1e6, "µs")
    report("rows of runs", "", row_seconds, 1e6, "µs")
    print(f"{'dense / kept sections, medians':<42} {'at least 20':<22} {ratio:,.0f}")


def _shift(one: Volume, two: Volume, random: np.random.Generator) -> tuple[int, int, int]:
    """A placement at which the boxes share at least a quarter of the smaller one."""
    low, high = (np.array(corner) for corner in one.model.bounds)
    other_low, other_high = (np.array(corner) for corner in two.model.bounds)
    smaller = min(np.prod(high - low), np.prod(other_high - other_low))
    while True:
        shift = random.integers(low - other_high, high - other_low + 1)
        shared = np.minimum(high, other_high + shift) - np.maximum(low, other_low + shift)
        if (shared > 0).all() and np.prod(shared) >= smaller / 4:
            return (int(shift[0]), int(shift[1]), int(shift[2]))


def warm(call: Callable[[], object]) -> list[float]:
    """The second of two calls: the first fills the processor's caches."""
    call()
    return times(call, 1)


def times(call: Callable[[], object], count: int) -> list[float]:
    seconds = []
    for _ in range(count):
        start = thread_time()
        call()
        seconds.append(thread_time() - start)
    return seconds


def report(what: str, wanted: str, values: list[float], factor: float, unit: str) -> None:
    low, middle, high = np.percentile(values, (5, 50, 95)) * factor
    print(f"{what:<42} {wanted:<22} {middle:.4g} {unit} (5 % below {low:.4g}, 5 % above {high:.4g})")


if __name__ == "__main__":
    main()
