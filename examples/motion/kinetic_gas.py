"""
A gas of hard disks
===================

From collision to collision, without a time step: energy is conserved, and the rate of
collisions is that of kinetic theory.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import Billiards

# %%
# 144 disks that fill one hundredth of a box.
random = np.random.default_rng(2)
side, share = 12, 0.01
radius = math.sqrt(share / (math.pi * side**2))
centres = (np.indices((side, side)).reshape(2, -1).T + 0.5) / side
gas = Billiards(
    centres, random.normal(size=centres.shape), radius, lower=[0, 0], upper=[1, 1]
)
energy = gas.energy()

# %%
# The path of a single disk for a while; then ten thousand collisions at once.
path = []
for time in np.arange(0, 2.5, 0.01):
    gas.advance(until=time)
    path.append(gas.position[70])
gas.advance(until=1e9, limit=10_000)
print(
    f"{gas.collision_count:,} collisions and {gas.bounce_count:,} bounces in {gas.time:.4g} s"
)
print(f"energy changed by {abs(gas.energy() / energy - 1):.0e} of itself")

# %%
# Kinetic theory: n/2 · density · 2 D · mean relative speed, D the diameter.
temperature = energy / len(gas)
density = (len(gas) - 1) / (1 - 2 * radius) ** 2
theory = len(gas) / 2 * density * 4 * radius * math.sqrt(math.pi * temperature)
print(f"{gas.collision_count / gas.time:.0f} collisions a second; theory says {theory:.0f}")

# %%
# The disks now, and the speeds beside the distribution of Maxwell.
plt.rcParams.update(SETTINGS)
figure, (disks_axes, chart) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for centre in gas.position:
    disks_axes.add_patch(plt.Circle(centre, radius, facecolor=COLOURS[2]))
disks_axes.plot(*np.array(path).T, color=COLOURS[1], linewidth=0.8)
disks_axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
disks_axes.set_title("The disks, and the path of one")
speeds = []
for _ in range(20):
    gas.advance(until=1e9, limit=300)
    speeds.append(np.linalg.norm(gas.velocity, axis=1))
chart.hist(np.concatenate(speeds), bins=40, density=True, color="#bbbbbb")
speed = np.linspace(0, 4, 100)
maxwell = speed / temperature * np.exp(-(speed**2) / (2 * temperature))
chart.plot(speed, maxwell, color=COLOURS[1])
chart.set(xlabel="speed", title="Speeds and Maxwell's law")
plt.show()
