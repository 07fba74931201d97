"""
A pyramid that is struck
========================

Cubes with friction stand, sleep, are struck by a ball, and come to rest again. Events tell
what happened, as arrays.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Ten rows of cubes on a ground.
world = choque.World(gravity=(0, -9.81, 0))
world.add_ground()
rows = [(row, cube) for row in range(10) for cube in range(10 - row)]
cubes = world.add_boxes(
    [[cube - (9 - row) / 2, row + 0.5, 0] for row, cube in rows], 1.0, friction=0.6
)
for _ in range(120):
    world.step(1 / 60)
print(f"after two seconds {world.asleep.sum()} of {len(cubes)} cubes sleep")
# sphinx_gallery_thumbnail_path = 'images/film_pyramid.webp'

# %%
# A heavy ball. A sleeping world takes one look at its arrays; what is struck wakes.
ball = world.add_spheres([[-9, 4, 0]], 0.8, mass=6, velocity=[14, 2, 0], rolling=0.02)
awake, hits = [], []
for _ in range(360):
    world.step(1 / 60)
    awake.append(len(world) - 1 - world.asleep.sum())
    hits.extend(world.events.speed.tolist())
print(f"{len(hits)} hits, the hardest at {max(hits):.1f} m/s")

# %%
# How many bodies are awake, and how hard they hit each other.
plt.rcParams.update(SETTINGS)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(np.arange(360) / 60, awake, color=COLOURS[2])
left.set(xlabel="seconds", ylabel="bodies awake")
right.hist(hits, bins=24, color=COLOURS[1])
right.set(xlabel="speed of a hit [m/s]")
plt.show()
