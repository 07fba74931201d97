"""Fast bodies: swept boxes see what happens between two frames."""

# %% A thin wall, and three bullets that fly far in one step.
import numpy as np

import choque

lower = np.array([[5.0, -10, -10], [0, 0, 0], [0, 3, 0], [0, 6, 0]])
upper = np.array([[5.1, 10, 10], [0.2, 0.2, 0.2], [0.2, 3.2, 0.2], [0.2, 6.2, 0.2]])
displacement = np.array([[0.0, 0, 0], [12, 0, 0], [4, 0, 0], [12, 0, 0]])

# %% Before and after the step nothing touches: two bullets would tunnel.
print("before:", choque.pairs(lower, upper).tolist())
print("after: ", choque.pairs(lower + displacement, upper + displacement).tolist())

# %% Swept along their way, they meet the wall.
print("swept: ", choque.pairs(lower, upper, displacement=displacement).tolist())

# %% Every kind of bounds can be swept, and every broad phase takes them.
boxes = choque.bounds.Boxes(lower, upper)
slabs = choque.bounds.KDops.from_boxes(boxes, 18)
broad = choque.broad.create("sap-kdop", slabs)
broad.update(slabs.swept(displacement))
print("began: ", broad.began.tolist())
