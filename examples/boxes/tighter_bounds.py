"""
Volumes tighter than boxes
==========================

Spheres, k-DOPs and oriented boxes are fitted to points in the same way as boxes are, and
drop pairs that only the boxes make. None that touches is lost.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Polygon, Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Rods in all directions, each by its corner points: (bodies, points, 2).
random = np.random.default_rng(0)
angle = random.uniform(0, np.pi, 600)
cosine, sine = np.cos(angle), np.sin(angle)
turn = np.array([[cosine, sine], [-sine, cosine]]).transpose(2, 0, 1)
corners = np.array([[-1.5, -0.1], [1.5, -0.1], [1.5, 0.1], [-1.5, 0.1]])
points = random.uniform(0, 60, (600, 1, 2)) + corners @ turn

# %%
# A pair of boxes is the first, coarse answer; tighter kinds test the pairs listed.
boxes, spheres = choque.bounds.Boxes.fit(points), choque.bounds.Spheres.fit(points)
octagons = choque.bounds.KDops.fit(points, k=8)
oriented = choque.bounds.OrientedBoxes.fit(points)
pairs = choque.pairs(boxes.lower, boxes.upper)
print(f"boxes           {len(pairs)} pairs")
kinds = {"circles": spheres, "8-DOPs": octagons, "oriented boxes": oriented}
for name, volumes in kinds.items():
    print(f"{name:<15} {volumes.overlap(pairs).sum()} of them")

# %%
# A method that uses the bounds it is given does both in one step.
broad = choque.broad.create("sap-obb", oriented)
assert np.array_equal(broad.pairs(), pairs[oriented.overlap(pairs)])

# %%
# One rod and the four volumes around it. An 8-DOP is where the slabs of its four directions
# overlap.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(1, 4, figsize=(9, 2.5), layout="constrained")
row, look = 4, {"facecolor": "#dbe6f4", "edgecolor": COLOURS[2]}
low, high = boxes.lower[row], boxes.upper[row]
grid = np.stack(np.meshgrid(*np.linspace(low - 1, high + 1, 200).T), axis=-1)
reach = grid @ choque.bounds.directions(8).T
inside = ((reach >= octagons.lower[row]) & (reach <= octagons.upper[row])).all(axis=-1)
panels[0].add_patch(Rectangle(low, *(high - low), **look))
panels[1].add_patch(Circle(spheres.center[row], spheres.radius[row], **look))
x, y = grid[..., 0], grid[..., 1]
panels[2].contourf(x, y, inside, levels=[0.5, 2], colors=[look["facecolor"]])
panels[2].contour(x, y, inside, levels=[0.5], colors=[look["edgecolor"]])
frame = oriented.half[row] * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
panels[3].add_patch(Polygon(oriented.center[row] + frame @ oriented.axes[row], **look))
for axes, name in zip(panels, ("box", "circle", "8-DOP", "oriented box"), strict=True):
    axes.add_patch(Polygon(points[row], facecolor=COLOURS[3]))
    axes.set(aspect="equal", xlim=(low[0] - 1, high[0] + 1), ylim=(low[1] - 1, high[1] + 1))
    axes.set_title(name)
    axes.axis("off")
plt.show()
