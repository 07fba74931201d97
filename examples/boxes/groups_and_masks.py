"""
Groups and masks
================

Groups, masks and static bodies decide which pairs are wanted. Filtering happens while
pairs are found: unwanted pairs are never stored.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import SETTINGS

PLAYER, BULLET, WALL = 1, 2, 4

# %%
# Groups are bits. Players collide with everything but each other, walls only with what
# moves.
lower, upper = choque.scene.generate("uniform", 6_000).frame(0)
groups = np.resize([PLAYER, BULLET, WALL], len(lower))
masks = np.select(
    [groups == PLAYER, groups == BULLET], [BULLET | WALL, PLAYER | WALL], PLAYER | BULLET
)
everyone = choque.pairs(lower, upper)
allowed = choque.pairs(lower, upper, groups=groups, masks=masks)
print(f"{len(everyone)} pairs overlap, {len(allowed)} of them are wanted")

# %%
# Two static bodies are never a pair, in any groups.
moving = choque.pairs(lower, upper, static=groups == WALL)
print(f"{len(moving)} pairs have at least one body other than a wall")

# %%
# An infinite ground is a box too, and can be added later.
broad = choque.broad.create("bvh", choque.bounds.Boxes(lower, upper))
ground = choque.bounds.Boxes([[-np.inf] * 3], [[np.inf, np.inf, 0.5]])
ground_id = broad.add(ground, static=True)[0]
print(f"{(broad.pairs() == ground_id).any(axis=1).sum()} boxes lie on the ground")

# %%
# How many pairs of each kind there are, with and without the filter.
plt.rcParams.update(SETTINGS)
names = ("player", "bullet", "wall")
figure, panels = plt.subplots(1, 2, figsize=(6.6, 3.2), layout="constrained", sharey=True)
for axes, title, pairs in zip(
    panels, ("all that overlap", "wanted"), (everyone, allowed), strict=True
):
    table = np.zeros((3, 3), int)
    np.add.at(table, tuple(np.sort(np.log2(groups[pairs]).astype(int), axis=1).T), 1)
    axes.imshow(np.ma.masked_equal(table, 0), cmap="Blues", vmin=0, vmax=table.max() * 2)
    for (i, j), count in np.ndenumerate(table):
        if i <= j:
            axes.text(j, i, str(count), ha="center", va="center")
    axes.set(
        title=title, xticks=range(3), yticks=range(3), xticklabels=names, yticklabels=names
    )
    axes.grid(False)
plt.show()
