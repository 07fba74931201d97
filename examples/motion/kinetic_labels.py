"""
From a microscope to contacts
=============================

A stack of labelled frames, as a segmentation of cells gives it: which cells touch, from when
to when, along which length of their borders?
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import labels

# %%
# Twenty frames of thirty drifting cells. With a file it would be
# ``labels.read_frames("stack.tif")``.
stack = labels.synthetic_stack(frames=20, size=200, objects=30, seed=4)
print(stack.shape, stack.dtype)

# %%
# One frame: pairs of labels and the length of the border they share, here in micrometres.
frame = labels.frame_contacts(stack[10], pixel_size=(0.5, 0.5))
print(f"frame 10: {len(frame.pairs)} contacts, the longest {frame.lengths.max():.1f} µm")

# %%
# The whole stack: one row for each time that two cells touch without a break.
contacts = labels.label_contacts(stack, pixel_size=(0.5, 0.5), frame_interval=2.0)
for each in contacts[:3]:
    print(
        f"cells {each.first_label} and {each.second_label} touch from {each.began:g} s to "
        f"{each.ended:g} s, along {each.mean_length:.1f} µm on average"
    )

# %%
# A frame, and every contact as a bar from its beginning to its end.
plt.rcParams.update(SETTINGS)
figure, (image, chart) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
colours = plt.cm.tab20(np.arange(31) % 20)
colours[0] = 0, 0, 0, 1
image.imshow(colours[stack[10]])
image.set(title="Frame 10")
image.axis("off")
for height, contact in enumerate(contacts):
    chart.plot(
        (contact.began, contact.ended),
        (height, height),
        color=COLOURS[2],
        linewidth=2,
        solid_capstyle="butt",
    )
chart.set(
    xlabel="time [s]", yticks=[], ylabel="pairs of cells", title=f"{len(contacts)} contacts"
)
plt.show()
