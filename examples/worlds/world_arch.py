"""
An arch that stands without glue
================================

Wedges lean on each other over a gap. Nothing holds them but friction and their weight; the
forces between them follow the line of thrust. Then rays look at the arch from below.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Half a ring, cut into wedges. Each hull is given by its eight corners, where it stands.
COUNT, INNER, OUTER, DEPTH = 11, 3.0, 4.0, 1.0
cuts = np.linspace(0, np.pi, COUNT + 1)
world = choque.World(gravity=(0, -9.81, 0), response_options={"sleep": False})
world.add_ground(friction=0.8)
for one, other in pairwise(cuts):
    corners = [
        [radius * np.cos(angle), radius * np.sin(angle), z]
        for radius in (INNER, OUTER)
        for angle in (one, other)
        for z in (-DEPTH / 2, DEPTH / 2)
    ]
    hull = choque.narrow.Hulls.from_points(corners)
    world.add_hulls(hull, hull.center, friction=0.8)
# sphinx_gallery_thumbnail_path = 'images/film_arch.webp'

# %%
# Ten seconds later it stands where it stood.
before = world.bodies.position.copy()
for _ in range(600):
    world.step(1 / 60)
sunk = np.linalg.norm(world.bodies.position - before, axis=1).max()
print(f"no wedge moved farther than {1000 * sunk:.0f} mm")

# %%
# The force in each joint: least at the crown, greatest at the feet.
joints = [k for k, pair in enumerate(world.contacts().pairs) if 0 not in pair]
forces = world.forces().sum(axis=1)[joints]
angles = np.linspace(-70, 70, 29)
ways = np.stack([np.sin(np.radians(angles)), np.cos(np.radians(angles)), 0 * angles], axis=1)
hits = world.cast_rays([0, 0.2, 0], ways)
print(f"{(hits.ids >= 0).sum()} of {len(ways)} rays meet a wedge")

# %%
plt.rcParams.update(SETTINGS)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.bar(np.arange(1, COUNT), forces, color=COLOURS[2])
left.set(xlabel="joint", ylabel="normal force")
right.scatter(*hits.point[:, :2].T, color=COLOURS[1], s=12)
right.set(aspect="equal", xlabel="where rays meet the arch")
plt.show()
