"""
Areas that follow the crowd
===========================

A user can follow only a few others. Each area gets the radius at which it has the wanted
number of members: in a crowd it shrinks, in the open it grows. The radius is found by
search, so one call is enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(3)
place = np.concatenate((random.normal(0, 1.5, (150, 2)), random.uniform(-15, 15, (60, 2))))
areas = choque.interest.Areas(place, radius=3.0)
starts, others = areas.all_members()
print(f"with one radius for all: {np.diff(starts).min()} to {np.diff(starts).max()} members")

# %%
# Eight members each, with radii between 0.3 m and 12 m.
areas.adapt(target=8, smallest=0.3, largest=12.0)
starts, others = areas.all_members()
print(f"adapted: {np.diff(starts).min()} to {np.diff(starts).max()} members")
print(f"radii from {areas.radius.min():.2f} m to {areas.radius.max():.2f} m")

# %%
# Some of the areas.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
for row in range(0, len(place), 7):
    axes.add_patch(
        plt.Circle(place[row], areas.radius[row], facecolor=COLOURS[2], alpha=0.08)
    )
    axes.add_patch(
        plt.Circle(
            place[row], areas.radius[row], fill=False, edgecolor=COLOURS[2], linewidth=0.7
        )
    )
axes.scatter(*place.T, s=8, color=COLOURS[0], linewidths=0, zorder=3)
axes.set(
    aspect="equal", xlim=(-18, 18), ylim=(-18, 18), title="Each circle holds eight others"
)
axes.axis("off")
plt.show()
