"""
Larger than memory
==================

`choque.scale` searches boxes in files and writes the pairs to files, in a given amount of
memory: tile by tile, in several processes or on a cluster. Here small tiles stand for the
large ones of a real search.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import choque
from choque.lab.style import COLOURS, SETTINGS

folder = Path(tempfile.mkdtemp())
random = np.random.default_rng(0)
for number in range(3):
    crowd = random.normal(0, 12, (20_000, 2)) + random.uniform(-60, 60, (4, 2)).repeat(
        5_000, 0
    )
    choque.files.write_boxes(folder / f"boxes-{number}.parquet", crowd, crowd + 0.4)

# %%
# What will it take? The plan is made from a sample; nothing is written.
plan = choque.scale.plan(folder / "boxes-*.parquet", memory="1 GiB", tile_rows=2_000)
print(plan)

# %%
# The search. Killed in the middle, the same call would go on where it was.
found = choque.scale.pairs(
    folder / "boxes-*.parquet", folder / "pairs", memory="1 GiB", tile_rows=2_000
)
print(f"{found.count:,} pairs in {len(found.files)} files, such as {found.head(2).tolist()}")
counts = np.zeros(60_000, np.int64)
for pairs in found.scan():  # a piece at a time
    counts += np.bincount(pairs.ravel(), minlength=len(counts))
print(f"the busiest box overlaps {counts.max()} others")

# %%
# The cuts follow the crowd: every tile holds about as many boxes.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
lower, _ = choque.files.read_boxes(folder / "boxes-0.parquet")
axes.plot(*lower[::8].T, ".", color=COLOURS[0], markersize=1)
walls = []
low, high = np.moveaxis(plan.tiling.regions()[:, :, :2], 1, 0)
for (x0, y0), (x1, y1) in zip(
    np.nan_to_num(low, nan=-110), np.nan_to_num(high, nan=110), strict=True
):
    walls.append([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
axes.add_collection(LineCollection(walls, colors=COLOURS[1], linewidths=0.8))
axes.set(xlim=(-110, 110), ylim=(-110, 110), aspect="equal", xticks=[], yticks=[])
axes.set_title(f"{plan.tiling.tile_count} tiles")
plt.show()
