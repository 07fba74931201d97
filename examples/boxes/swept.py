"""
Fast bodies, swept
==================

A bullet may fly through a wall between two frames, and no frame shows them overlapping.
Boxes that are swept along the path contain what happens in between.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# A thin wall, and three bullets.
lower = np.array([[5.0, -1], [0, 0], [0, 3], [0, 6]])
upper = np.array([[5.2, 8], [0.5, 0.5], [0.5, 3.5], [0.5, 6.5]])
way = np.array([[0.0, 0], [9, 1], [3.5, 0.5], [9, -1]])

# %%
# Before and after the step nothing touches: two bullets would tunnel. Swept, they hit the
# wall.
print("before:", choque.pairs(lower, upper).tolist())
print("after: ", choque.pairs(lower + way, upper + way).tolist())
swept = choque.pairs(lower, upper, displacement=way)
print("swept: ", swept.tolist())

# %%
# Every kind of bounds can be swept, and every broad phase takes them.
slabs = choque.bounds.KDops.from_boxes(choque.bounds.Boxes(lower, upper), k=8)
broad = choque.broad.create("sap-kdop", slabs)
broad.update(slabs.swept(way))
print("began: ", broad.began.tolist())

# %%
# The boxes before and after the step, and what they sweep.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 4.6), layout="constrained")
tunnel = choque.bounds.Boxes(lower, upper).swept(way)
for row in range(4):
    colour = COLOURS[0] if row == 0 else COLOURS[1] if row in swept else COLOURS[2]
    axes.add_patch(
        Rectangle(
            tunnel.lower[row],
            *(tunnel.upper - tunnel.lower)[row],
            facecolor=colour,
            alpha=0.15,
        )
    )
    for corner in (lower[row], lower[row] + way[row]):
        axes.add_patch(Rectangle(corner, *(upper - lower)[row], facecolor=colour))
    if row:
        middle = (lower + upper)[row] / 2
        axes.annotate(
            "", middle + way[row], middle, arrowprops={"arrowstyle": "->", "color": colour}
        )
axes.set(xlim=(-0.5, 10), ylim=(-1.2, 8.2), aspect="equal")
axes.axis("off")
plt.show()
