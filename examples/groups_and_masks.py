"""Who may meet whom: groups, masks and bodies that rest."""

# %% Groups are bits. Players meet everything but each other, walls meet only what moves.
import numpy as np

import choque

PLAYER, BULLET, WALL = 1, 2, 4
lower, upper = choque.scene.generate("uniform", 6_000).frame(0)
groups = np.resize([PLAYER, BULLET, WALL], len(lower))
masks = np.select([groups == PLAYER, groups == BULLET], [BULLET | WALL, PLAYER | WALL], PLAYER | BULLET)

# %% Filtering happens while pairs are found: those that may not meet are never stored.
everyone = choque.pairs(lower, upper)
allowed = choque.pairs(lower, upper, groups=groups, masks=masks)
print(f"{len(everyone)} pairs overlap, {len(allowed)} of them may meet")
assert (groups[allowed[:, 0]] != groups[allowed[:, 1]]).all()

# %% Two bodies that rest are never a pair, whatever their groups.
moving_only = choque.pairs(lower, upper, static=groups == WALL)
print(f"{len(moving_only)} pairs have at least one body that is no wall")

# %% A ground without end is a box like any other.
ground = choque.bounds.Boxes([[-np.inf, -np.inf, -np.inf]], [[np.inf, np.inf, 0.5]])
world = choque.broad.create("bvh", choque.bounds.Boxes(lower, upper))
ground_id = world.add(ground, static=True)[0]
on_ground = (world.pairs() == ground_id).any(axis=1).sum()
print(f"{on_ground} boxes lie on the ground")
