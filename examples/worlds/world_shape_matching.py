"""
A pile by shape matching
========================

Convex bodies as clouds of particles that keep their shape: where two overlap their particles
are moved apart, and each body takes the rigid motion that fits its particles best. It gives
piles that come to rest, but no physically correct rebounds.
"""

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Sixteen solids above the ground, each turned at random.
random = np.random.default_rng(0)
world = choque.World(response="shape-matching", threads=1)
world.add_ground()
centres = np.column_stack(
    (random.uniform(-2, 2, 16), 3.0 * np.arange(1, 17), random.uniform(-2, 2, 16))
)
turns = np.linalg.qr(random.normal(size=(16, 3, 3)))[0]
turns *= np.linalg.det(turns)[:, None, None]
hulls = choque.narrow.Hulls.solids("rhombicuboctahedron", "cube")
ids = world.add_hulls(
    hulls, centres, 1.2, row=np.arange(16) % 2, acceleration=[0, -9, 0], rotation=turns
)

# %%
# Eight seconds.
highest = []
for _ in range(200):
    report = world.step(0.04)
    highest.append(world.bodies.position[1:, 1].max())
print(
    f"after {world.time:.1f} s: {report.pairs} candidates, "
    f"the highest body at {highest[-1]:.2f}"
)

# %%
# The pile.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(
    figsize=(5.6, 4.4), layout="constrained", subplot_kw={"projection": "3d"}
)
bodies = world.bodies
for row in range(1, len(bodies)):
    hull = (row - 1) % 2
    points = hulls.points[hulls.first[hull] : hulls.first[hull + 1]]
    faces = hulls.triangles[hulls.triangle_first[hull] : hulls.triangle_first[hull + 1]]
    placed = (1.2 * points) @ bodies.rotation[row].T + bodies.position[row]
    colour = COLOURS[2 + hull]
    axes.add_collection3d(
        Poly3DCollection(
            placed[faces][..., [0, 2, 1]], facecolors=colour, shade=True, linewidths=0
        )
    )
axes.set(xlim=(-7, 7), ylim=(-7, 7), zlim=(0, 7), aspect="equal")
axes.axis("off")
plt.show()
