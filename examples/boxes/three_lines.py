"""
Every overlapping pair, from three lines
========================================

Boxes are two arrays, their lower and their upper corners, one row for each box, in 2D or 3D.
The answer is an array too.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(3)
lower = random.uniform(0, 19, (150, 2))
upper = lower + random.uniform(0.4, 1.6, (150, 2))

# %%
# The pairs come sorted, the smaller row first: the same array on every run and for any
# number of threads.
pairs = choque.pairs(lower, upper)
print(
    f"{len(pairs)} pairs among {len(lower)} boxes; the first three are {pairs[:3].tolist()}"
)

# %%
# Boxes that touch count, unless ``closed=False``.
side_by_side = [[0, 0], [1, 0]], [[1, 1], [2, 1]]
print("closed:   ", choque.pairs(*side_by_side).tolist())
print("half-open:", choque.pairs(*side_by_side, closed=False).tolist())

# %%
# Boxes that overlap another one are coloured, and a line joins the middles of each pair.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
for row, (corner, size) in enumerate(zip(lower, upper - lower, strict=True)):
    fill = COLOURS[3] if row in pairs else "#eeeeee"
    axes.add_patch(
        Rectangle(
            corner, *size, facecolor=fill, edgecolor="#555555", linewidth=0.6, alpha=0.8
        )
    )
middle = (lower + upper) / 2
axes.plot(*middle[pairs].T, color=COLOURS[1], marker="o", markersize=2.5, linewidth=1)
axes.set(aspect="equal", title=f"{len(lower)} boxes, {len(pairs)} pairs")
axes.axis("off")
plt.show()
