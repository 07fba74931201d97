"""
Many parts in one machine
=========================

A broad phase over the boxes of volumes, exact collisions for the rest, and one of them
moving.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab import phantoms
from choque.lab.style import COLOURS, SETTINGS

# %%
# Two hundred parts of four kinds, scattered in a cube. All translations of a kind share its
# arrays.
random = np.random.default_rng(7)
kinds = [phantoms.make(name, 24) for name in ("ball", "gyroid", "menger", "screw")]
parts = [kinds[number % 4].translated(random.integers(0, 150, 3)) for number in range(200)]
scene = choque.volumes.Scene(parts, broad="sap-incremental")
print(
    f"{len(scene.candidates())} pairs of boxes overlap, "
    f"{len(scene.pairs())} pairs of parts collide"
)

# %%
# One part, put into a corner, travels through the crowd; a step costs its own box, not the
# scene.
scene.move(0, kinds[0])
touched = []
for _ in range(75):
    scene.translate(0, (2, 2, 2))
    touched.append(sum(0 in pair for pair in scene.pairs().tolist()))
print(
    f"the traveller touches others in {np.count_nonzero(touched)} of {len(touched)} steps, "
    f"{max(touched)} at most"
)

# %%
# A rotation resamples the voxels, from the unrotated volume each time, so that errors do not
# accumulate.
body = choque.volumes.Body(scene[3])
for angle in np.linspace(0.2, 1.0, 5):
    body.turn_to((0.0, angle, 0.0))
    scene.move(3, body.volume)
print(f"{body.turn_count} turns; {len(scene.pairs())} pairs collide now")

# %%
# The number of parts that the moving one touches.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
axes.step(range(len(touched)), touched, where="mid", color=COLOURS[1])
axes.fill_between(range(len(touched)), touched, step="mid", color=COLOURS[1], alpha=0.2)
axes.set(xlabel="step", ylabel="parts touched", ylim=(0, None))
plt.show()
