"""
How far apart, how deep
=======================

Two convex bodies by GJK and EPA: their distance and nearest points, or the shortest
translation that separates them.
"""

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# A hull is made from points, from a mesh file, or by name, and posed anywhere.
hulls = choque.narrow.Hulls.solids("rhombicuboctahedron", "cube")
one, other = hulls.at([0, 0, 0]), hulls.at([2.6, 0.7, 0.4], row=1)
near = choque.narrow.gjk(one, other)
print(f"{near.distance:.3f} apart after {near.iterations} steps")
print(f"nearest at {near.first.round(2)} and {near.second.round(2)}")

# %%
# Where they overlap: the shortest translation that separates them. Plain vertices work too.
cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
overlap = choque.narrow.epa(cube, cube + [0.75, 0.25, 0])
print(f"{overlap.depth} deep along {overlap.normal}")

# %%
# Many at once: ten thousand poses in one call. `choque.narrow.collide` says only whether, in
# half the time.
random = np.random.default_rng(0)
many = choque.narrow.gjk(one, hulls.at(random.normal(0, 2, (10_000, 3)), row=1))
print(
    f"{many.collide.sum()} of {len(many.collide)} collide, "
    f"after {many.iterations.mean():.1f} steps on average"
)

# %%
# The two solids and the shortest line between them.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(
    figsize=(5.6, 4), layout="constrained", subplot_kw={"projection": "3d"}
)
for row, (place, colour) in enumerate(
    zip(([0, 0, 0], [2.6, 0.7, 0.4]), (COLOURS[2], COLOURS[3]), strict=True)
):
    points = hulls.points[hulls.first[row] : hulls.first[row + 1]] + place
    faces = hulls.triangles[hulls.triangle_first[row] : hulls.triangle_first[row + 1]]
    axes.add_collection3d(
        Poly3DCollection(points[faces], facecolor=colour, alpha=0.35, edgecolor="#55555540")
    )
axes.plot(*np.stack((near.first, near.second)).T, "o-", color=COLOURS[1])
axes.set(xlim=(-0.8, 3.6), ylim=(-1, 1.6), zlim=(-0.9, 1.3), aspect="equal")
axes.axis("off")
axes.view_init(elev=25, azim=-75)
plt.show()
