"""Every overlapping pair of boxes, from three lines."""

# %% Boxes are two arrays: their lower and their upper corners, one row for each box, in 2D or 3D.
import numpy as np

import choque

random = np.random.default_rng(0)
lower = random.random((10_000, 3))
upper = lower + 0.02

# %% The pairs come sorted, the smaller row first: the same array on every run, for any number of threads.
pairs = choque.pairs(lower, upper)
print(f"{len(pairs)} pairs among {len(lower)} boxes; the first is {tuple(pairs[0].tolist())}")

# %% Which method found them, and why.
print(choque.explain(lower, upper))

# %% Touching counts unless you say otherwise.
side_by_side = [[0, 0], [1, 0]], [[1, 1], [2, 1]]
print("closed:   ", choque.pairs(*side_by_side).tolist())
print("half-open:", choque.pairs(*side_by_side, closed=False).tolist())
