"""Rays, points and nearest neighbours, asked of a tree of boxes."""

# %% A tree over boxes; it is built once and answers many questions.
import numpy as np

import choque

lower, upper = choque.scene.generate("clustered", 20_000, dtype="float64").frame(0)
tree = choque.broad.create("bvh", choque.bounds.Boxes(lower, upper))
random = np.random.default_rng(1)
points = (lower + upper)[random.integers(0, len(lower), 1_000)] / 2

# %% In which boxes do points lie? Rows of (point, box).
inside = tree.query_points(points)
print(f"{len(points)} points lie in {len(inside)} boxes")

# %% Which boxes are nearest? A box that holds the point is at distance 0.
nearest = tree.nearest(points, count=3)
print(
    f"the three boxes nearest to the first point: {nearest.ids[0].tolist()} at {nearest.distance[0].round(3).tolist()}"
)

# %% What does a ray hit first, and what does it pass through?
origin = np.full((1_000, 3), lower.min())
first = tree.cast_rays(origin, points - origin)
through = tree.query_rays(origin, points - origin)
print(f"{(first.ids >= 0).sum()} rays hit something")
print(f"the first one hits box {first.ids[0]} after {first.distance[0]:.3f} of its way")
print(f"all rays together pass through {len(through)} boxes")

# %% Boxes may be asked about too, of every method: which of these windows overlap which bodies?
windows = choque.bounds.Boxes(points[:5] - 2, points[:5] + 2)
print(f"five windows hold {len(tree.query(windows))} bodies")
