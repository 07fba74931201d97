"""A gas of hard disks, from collision to collision: energy is kept, and the rate is that of kinetic theory."""

# %% 144 disks that fill one hundredth of a box.
import math

import numpy as np

from choque.kinetic import Billiards

random = np.random.default_rng(2)
side, share = 12, 0.01
radius = math.sqrt(share / (math.pi * side**2))
centres = (np.indices((side, side)).reshape(2, -1).T + 0.5) / side
gas = Billiards(centres, random.normal(size=centres.shape), radius, lower=[0, 0], upper=[1, 1])
energy = gas.energy()

# %% Ten thousand collisions.
gas.advance(until=1e9, most=10_000)
print(f"{gas.collisions:,} collisions and {gas.bounces:,} bounces in {gas.time:.4g} s")
print(f"energy changed by {gas.energy() / energy - 1:.1e} of itself")

# %% Kinetic theory: n/2 · density · 2 D · mean relative speed, D the diameter. Walls take a little.
temperature = energy / len(gas)
theory = len(gas) / 2 * (len(gas) - 1) / (1 - 2 * radius) ** 2 * 4 * radius * math.sqrt(math.pi * temperature)
print(f"{gas.collisions / gas.time:.0f} collisions a second; kinetic theory says {theory:.0f}")
