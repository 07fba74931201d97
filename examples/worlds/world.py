"""
A box of balls and capsules
===========================

Bodies fall into a box and rebound, and every broad phase gives the same state to the last
bit.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# Five by five by five bodies above a floor with four walls.
random = np.random.default_rng(1)
grid = np.indices((5, 5, 5)).reshape(3, -1).T
center = (grid - [2, 0, 2]) * 1.3 + [0, 1, 0] + random.uniform(-0.1, 0.1, grid.shape)
falling = {"acceleration": (0, -9.8, 0), "restitution": 0.4}
# sphinx_gallery_thumbnail_path = 'images/film_rubble.webp'


def box_of_bodies() -> choque.World:
    world = choque.World(broad="sap-obb", response="impulse")
    world.add_tiles([0, 0, 0], 8, 8)
    world.add_tiles(
        [[-4, 10, 0], [4, 10, 0]], 20, 8, rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    )
    world.add_tiles(
        [[0, 10, -4], [0, 10, 4]], 8, 20, rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    )
    world.add_spheres(center[::2], radius=0.5, **falling)
    world.add_capsules(center[1::2], radius=0.3, length=0.6, **falling)
    return world


# %%
# Two seconds. Observers are called after each frame.
run = choque.studio.Run(box_of_bodies, stop_at=121)
seen = []
run.observers.append(lambda world, report: seen.append((report.contacts, world.energy())))
run.play_to_end()
deepest = run.world.contacts().depth.argmax()
pair, point = run.world.contacts().pairs[deepest], run.world.contacts().point[deepest]
print(
    f"{run.frame} frames, {seen[-1][0]} contacts; "
    f"the deepest is of {pair.tolist()} at {point.round(2)}"
)
ended = run.world.hash()

# %%
# The same again by a uniform grid: other candidates, the same state to the last bit.
run.reset()
run.switch("grid")
run.play_to_end()
print("grid and sap-obb agree:", run.world.hash() == ended)

# %%
# Energy falls with every impact.
plt.rcParams.update(SETTINGS)
contacts, energy = np.array(seen[:120]).T
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.plot(np.arange(120) / 60, energy, color=COLOURS[2])
axes.set(xlabel="seconds", ylabel="kinetic energy")
beside = axes.twinx()
beside.plot(np.arange(120) / 60, contacts, color=COLOURS[1], linewidth=1)
beside.set_ylabel("contacts", color=COLOURS[1])
beside.grid(False)
plt.show()
