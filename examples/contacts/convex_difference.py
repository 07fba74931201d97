"""
The difference of two bodies
============================

GJK and EPA work on the Minkowski difference: the set of all differences of a point of one
body and a point of the other. It contains the origin exactly when the bodies overlap, and
the distance of the origin to its surface is the penetration depth.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Two flat bodies, as prisms so high that the shortest way out is never up or down.
triangle = np.array([[0.0, 0], [3, 0.4], [0.8, 2.4]])
square = np.array([[0.0, 0], [1.6, 0], [1.6, 1.6], [0, 1.6]])


def prism(outline: np.ndarray) -> np.ndarray:
    return np.concatenate(
        [np.column_stack((outline, np.full(len(outline), height))) for height in (-5.0, 5.0)]
    )


# %%
# GJK gives the distance of separate bodies, EPA the depth of overlapping ones. Both are
# distances from the origin to the surface of the difference.
plt.rcParams.update(SETTINGS)
figure, panels = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
for (bodies, difference), shift in zip(panels, ([3.4, 1.6], [1.4, 0.9]), strict=True):
    moved = square + shift
    found = choque.narrow.epa(prism(triangle), prism(moved))
    print(f"depth {found.depth:.4f} along {found.normal[:2].round(3)}")
    bodies.fill(*triangle.T, color=COLOURS[2], alpha=0.5)
    bodies.fill(*moved.T, color=COLOURS[3], alpha=0.6)
    bodies.plot(*np.stack((found.first, found.second))[:, :2].T, "o-", color=COLOURS[1])
    bodies.set(aspect="equal")
    bodies.set_title(f"{'overlap' if found.depth > 0 else 'distance'} {abs(found.depth):.2f}")
    differences = (triangle[:, None] - moved).reshape(-1, 2)
    difference.fill(
        *differences[ConvexHull(differences).vertices].T, color=COLOURS[4], alpha=0.4
    )
    difference.plot(0, 0, "+", color=COLOURS[0], markersize=12)
    difference.plot(
        *np.stack(([0, 0], (found.depth * found.normal)[:2])).T, "-", color=COLOURS[1]
    )
    difference.set(title="first minus second; + is the origin", aspect="equal")
plt.show()
