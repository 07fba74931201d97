"""
One set of boxes against another
================================

Which boxes of a second set overlap which bodies of the first? A broad phase is built once
and answers many queries; a join gives the same from a single call.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(5)
corner = random.uniform(0, 96, (400, 2))
houses = choque.bounds.Boxes(corner, corner + random.uniform(1, 4, (400, 2)))
flood = choque.bounds.Boxes([[10, 0], [30, 25], [55, 40]], [[35, 30], [60, 45], [80, 100]])

# %%
# Rows of (flooded area, house), sorted.
broad = choque.broad.create("bvh", houses)
wet = broad.query(flood)
print(f"{len(wet)} times a house lies in an area; the first rows are {wet[:3].tolist()}")
print("by area:", np.bincount(wet[:, 0]).tolist())

# %%
# The same as one question about both sets.
assert choque.join(flood, houses).tolist() == wet.tolist()

# %%
# Areas in blue, and the houses that they reach in red.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5.4, 5.4), layout="constrained")
for corner, size in zip(flood.lower, flood.upper - flood.lower, strict=True):
    axes.add_patch(Rectangle(corner, *size, facecolor=COLOURS[2], alpha=0.25))
for row, (corner, size) in enumerate(
    zip(houses.lower, houses.upper - houses.lower, strict=True)
):
    axes.add_patch(
        Rectangle(corner, *size, facecolor=COLOURS[1] if row in wet[:, 1] else "#bbbbbb")
    )
axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal", xticks=[], yticks=[])
axes.set_title("400 houses, three areas")
plt.show()
