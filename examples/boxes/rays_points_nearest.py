"""
Rays, points and nearest neighbours
===================================

A tree over boxes is built once and answers many questions.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(1)
lower = random.uniform(0, 95, (140, 2))
upper = lower + random.uniform(1, 5, (140, 2))
tree = choque.broad.create("bvh", choque.bounds.Boxes(lower, upper))

# %%
# In which boxes do points lie? Rows of (point, box).
points = random.uniform(0, 100, (1_000, 2))
print(f"{len(tree.query_points(points))} times a point lies in a box")

# %%
# Which boxes are nearest? One that holds the point is at distance 0.
nearest = tree.nearest([[50, 50]], count=3)
print(
    f"nearest to the middle: {nearest.ids[0].tolist()}, "
    f"{nearest.distance[0].round(2).tolist()} away"
)

# %%
# What does a ray hit first, and what does it pass through? Distances are in lengths of its
# direction.
angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
origin, direction = np.full((48, 2), 50.0), np.stack((np.cos(angles), np.sin(angles)), axis=1)
first = tree.cast_rays(origin, direction, longest=60)
through = tree.query_rays(origin, direction, longest=60)
print(
    f"{(first.ids >= 0).sum()} of 48 rays hit something; "
    f"all together pass through {len(through)} boxes"
)

# %%
# A lidar of 48 rays: each ends at what it hits.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5.4, 5.4), layout="constrained")
for row, (corner, size) in enumerate(zip(lower, upper - lower, strict=True)):
    axes.add_patch(
        Rectangle(corner, *size, facecolor=COLOURS[3] if row in first.ids else "#dddddd")
    )
ends = origin + direction * np.minimum(first.distance, 60)[:, None]
axes.plot(*np.stack((origin, ends)).transpose(2, 0, 1), color=COLOURS[1], linewidth=0.8)
axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal", xticks=[], yticks=[])
plt.show()
