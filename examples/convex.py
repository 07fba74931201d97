"""Convex bodies: how far apart, how deep, when they meet, and a pile of them."""

# %% Two solids in their poses. A hull is made from points, from a mesh file, or by name.
import numpy as np

import choque
from choque.narrow import Hulls, epa, gjk, time_of_impact

hulls = Hulls.solids("rhombicuboctahedron", "cube")
one, other = hulls.at([0, 0, 0]), hulls.at([3, 0.5, 0], row=1)
near = gjk(one, other)
print(f"{near.distance:.3f} apart, nearest at {near.first.round(3)} and {near.second.round(3)}")

# %% Where they overlap: the shortest way out. Plain vertices will do as well.
cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
overlap = epa(cube, cube + [0.75, 0.25, 0])
print(f"{overlap.depth} deep along {overlap.normal}")

# %% Many at once: ten thousand poses of one solid against another, in one call.
random = np.random.default_rng(0)
many = gjk(one, hulls.at(random.normal(0, 2, (10_000, 3)), row=1))
print(f"{many.collide.sum()} of {len(many.collide)} collide, after {many.iterations.mean():.1f} steps on average")

# %% A bullet and a thin wall. No step is short enough to see them overlap; their meeting is computed instead.
wall = cube * [0.001, 10, 10] + [5, -5, -5]
shot = time_of_impact(cube * 0.01, wall, motion_a=[1000, 0, 0])
print(f"the bullet meets the wall at {shot.time:.6f} of its way, at {shot.point.round(3)}")

# %% A pile: bodies fall on each other and keep their shapes.
world = choque.World(response="shape-matching", threads=1)
world.add_ground()
centres = np.zeros((20, 3))
centres[:, 1] = 6 * np.arange(1, 21)
turns = np.linalg.qr(random.normal(size=(20, 3, 3)))[0]
turns *= np.linalg.det(turns)[:, None, None]
world.add_hulls(Hulls.solids("rhombicuboctahedron"), centres, 2.0, acceleration=[0, -9, 0], rotation=turns)
for _ in range(120):
    report = world.step(0.09)
heights = world.bodies.position[1:, 1]
print(f"after {world.time:.1f} s: {report.pairs} candidates, the highest body at {heights.max():.1f}")
