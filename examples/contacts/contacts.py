"""
Where bodies touch
==================

A sphere, two capsules and a tile, and their contacts as arrays: the point in the middle of
the overlap, the unit normal from the first body toward the second, the depth.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, FancyBboxPatch

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.narrow import Kind

# %%
# Bodies are rows. A capsule lies along its own z, a tile spans its own x and z; sizes are
# explained at `Shapes`.
along_x = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
shapes = choque.narrow.Shapes(
    kind=np.array([Kind.TILE, Kind.CAPSULE, Kind.CAPSULE, Kind.SPHERE], np.int8),
    position=np.array([[0, 0, 0], [-0.5, 0.4, 0], [-0.3, 1.3, 0], [1.3, 0.42, 0]]),
    rotation=np.array([np.eye(3), np.eye(3), along_x, np.eye(3)]),
    size=np.array([[4.0, 4, 0], [0.5, 3, 0], [0.5, 2, 0], [0.5, 0, 0]]),
)

# %%
# All contacts.
found = choque.narrow.contacts(shapes)
for (first, second), point, normal, depth in zip(
    found.pairs, found.point, found.normal, found.depth, strict=True
):
    kinds = [Kind(shapes.kind[row]).name.lower() for row in (first, second)]
    names = f"{kinds[0]} {first} and {kinds[1]} {second}"
    print(f"{names}: {depth:.2f} deep at {point.round(2)}, normal {normal.round(2)}")

# %%
# For many frames, keep one narrow phase and give it the pairs of any broad phase.
phase = choque.narrow.NarrowPhase()
phase.find(shapes, np.array([[0, 1], [1, 2]], np.int32))
print({kinds: (tally.tests, tally.contacts) for kinds, tally in phase.tally.items()})

# %%
# A section through the scene. Arrows are as long as the contacts are deep, five times.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.plot((-2, 2), (0, 0), color=COLOURS[0], linewidth=2)
axes.add_patch(Circle((-0.5, 0.4), 0.5, color=COLOURS[2], alpha=0.4))
axes.add_patch(
    FancyBboxPatch(
        (-1.3, 1.3), 2, 0, boxstyle="round,pad=0.5", color=COLOURS[4], alpha=0.4, linewidth=0
    )
)
axes.add_patch(Circle((1.3, 0.42), 0.5, color=COLOURS[3], alpha=0.5))
arrows = 5 * found.depth[:, None] * found.normal
axes.quiver(
    *found.point[:, :2].T,
    *arrows[:, :2].T,
    color=COLOURS[1],
    angles="xy",
    scale_units="xy",
    scale=1,
    zorder=3,
)
axes.plot(*found.point[:, :2].T, "o", color=COLOURS[1])
axes.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-0.3, 2))
axes.axis("off")
plt.show()
