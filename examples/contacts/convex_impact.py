"""
The bullet and the wall
=======================

A wall of a tenth of a millimetre, a bullet at a thousand metres a second: no time step is
short enough to see them overlap. Conservative advancement computes the time of impact
instead, and cannot miss it.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

cube = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
wall = cube * [0.0001, 2, 2]
bullet = cube * [0.03, 0.01, 0.01] + [-5, 0, 0]

# %%
# Times are shares of the motion given: here of a hundredth of a second.
shot = choque.narrow.time_of_impact(bullet, wall, motion_a=[10, 0, 0])
print(
    f"they touch at {shot.time:.6f} of the way, "
    f"at {shot.point.round(4)}, found in {shot.steps} steps"
)
miss = choque.narrow.time_of_impact(bullet, wall, motion_a=[10, 5, 0])
print(f"higher up it misses: {miss.hit}")

# %%
# Bodies may turn meanwhile: a spinning rod touches the floor with a corner.
rod, floor = cube * [2.0, 0.2, 0.2] + [0, 2, 0], cube * [20, 1, 20] - [0, 0.5, 0]
fall, turn = np.array([0, -2.5, 0]), np.array([0, 0, 2.2])
landing = choque.narrow.time_of_impact(rod, floor, motion_a=fall, spin_a=turn)
print(
    f"the rod lands at {landing.time:.4f} on {landing.point.round(3)}, "
    f"found in {landing.steps} steps"
)

# %%
# The rod on its way to the impact.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
outline = np.array([[-1, -0.1], [1, -0.1], [1, 0.1], [-1, 0.1]])
for share in np.linspace(0, landing.time, 7):
    c, s = np.cos(share * turn[2]), np.sin(share * turn[2])
    placed = outline @ [[c, s], [-s, c]] + [0, 2] + share * fall[:2]
    axes.fill(
        *placed.T,
        facecolor=COLOURS[2],
        alpha=0.15 + 0.75 * (share == landing.time),
        edgecolor=COLOURS[2],
    )
axes.axhline(0, color=COLOURS[0], linewidth=2)
axes.plot(*landing.point[:2], "o", color=COLOURS[1])
axes.set(aspect="equal", xlim=(-2.5, 2.5), ylim=(-0.3, 2.4))
axes.axis("off")
plt.show()
