"""
One box for each thing
======================

A detector gives several boxes for every object. Suppression keeps the best of those that
overlap; merging keeps the box around them. A join compares the result with the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(2)
center, size = random.uniform(8, 92, (25, 2)), random.uniform(6, 16, (25, 2))
truth = np.concatenate((center - size / 2, center + size / 2), axis=1)
shown = random.integers(0, 25, 160)
boxes = truth[shown] + random.normal(0, 0.8, (160, 4))
scores = random.uniform(0.3, 1, 160)

# %%
# Rows of the boxes that are kept, by descending score, as torchvision's ``nms`` lists them.
kept = choque.boxes.suppress(boxes, scores, iou=0.4)
print(f"{len(boxes)} boxes, {len(kept)} kept; the first are {kept[:5].tolist()}")

# %%
# Merging also says which boxes went to which.
merged = choque.boxes.merge(boxes, scores, iou=0.4)
print(f"{merged}; the best one has {len(merged.lists()[int(merged.kept[0])])} others")

# %%
# Each kept box and the truth that it overlaps by half or more.
pairs, values = choque.join(boxes[kept], truth, iou=0.5)
print(f"{len(np.unique(pairs[:, 1]))} of {len(truth)} objects found, IoU {values.mean():.2f}")

# %%
# All boxes in grey, those kept in colour.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(5.4, 5.4), layout="constrained")
for row, (x0, y0, x1, y1) in enumerate(boxes.tolist()):
    is_kept = row in kept
    axes.add_patch(
        Rectangle(
            (x0, y0),
            x1 - x0,
            y1 - y0,
            fill=False,
            edgecolor=COLOURS[1] if is_kept else "#bbbbbb",
            linewidth=1.6 if is_kept else 0.6,
            zorder=2 if is_kept else 1,
        )
    )
axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal", xticks=[], yticks=[])
axes.set_title(f"{len(boxes)} detections, {len(kept)} kept")
plt.show()
