"""
Users near each other in a shared world
=======================================

Each user has an area of interest. Only what entered and left has to be sent; the
members follow from it.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# A thousand users around three meeting places; each sees 2 m far and is half a metre wide.
random = np.random.default_rng(0)
place = random.normal(0, 4, (1_000, 2)) + random.choice([-15, 0, 15], (1_000, 1))
areas = choque.interest.Areas(place, radius=2.0, body_radius=0.25)
print(f"{areas}: user 7 sees {len(areas.members(7))} others")
# sphinx_gallery_thumbnail_path = 'images/studio_crowd.png'

# %%
# They walk.
seen = set(map(tuple, areas.entered.tolist()))
heading = random.normal(0, 0.15, place.shape)
entered, left = [], []
for _ in range(20):
    place = place + heading
    areas.update(place)
    entered.append(len(areas.entered))
    left.append(len(areas.left))
    seen |= set(map(tuple, areas.entered.tolist()))
    seen -= set(map(tuple, areas.left.tolist()))
print(
    f"in the last second {entered[-1]} came into view and {left[-1]} went out of it, "
    f"of {len(seen)} in all"
)
assert sorted(seen) == list(map(tuple, areas.pairs().tolist()))

# %%
# Seeing is directed: a lighthouse sees far and is seen from nearby; a statue is seen and
# sees nothing.
lighthouse = areas.add([[0.0, 0.0]], radius=9.0, body_radius=1.0)[0]
statue = areas.add([[1.0, 0.0]], body_radius=0.5)[0]
print(
    f"the lighthouse sees {len(areas.members(lighthouse))} bodies, "
    f"the statue {len(areas.members(statue))}"
)

# %%
# The crowd, the area of the lighthouse with its members, and the messages sent in each
# second.
plt.rcParams.update(SETTINGS)
figure, (ground, chart) = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
inside = np.isin(areas.ids, areas.members(lighthouse))
ground.scatter(*areas.position[~inside].T, s=5, color="#aaaaaa", linewidths=0)
ground.scatter(*areas.position[inside].T, s=6, color=COLOURS[1], linewidths=0)
ground.add_patch(plt.Circle((0, 0), 9, fill=False, edgecolor=COLOURS[1]))
ground.set(aspect="equal", xticks=[], yticks=[], title="What the lighthouse sees")
chart.plot(entered, color=COLOURS[4], label="entered")
chart.plot(left, color=COLOURS[1], label="left")
chart.set(xlabel="second", ylabel="messages", ylim=(0, None))
chart.set_title(f"Changes among {len(seen):,} memberships")
chart.legend()
plt.show()
