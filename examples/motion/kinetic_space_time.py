"""
A space-time diagram
====================

The end points of three boxes on one axis over time. Each is a line; where two lines cross,
their order changes, and that is an event. Between events the order stays the same, so
there is nothing to compute.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import scenes

# %%
# Three polygons of constant velocity, as models hold them; the sweep is over the boxes
# around them.
model = scenes.make("three-objects")
lower, upper = model.boxes()
sweep = model.sweep()
print(sweep)

# %%
# The meetings of end points, instant by instant. Three or more at one place and time are one
# meeting.
meetings = []
while sweep.next_time <= model.interval[1]:
    sweep.advance(model.interval[1], stop="instant")
    meetings += sweep.meetings
for meeting in meetings[:4]:
    kind = "multiple" if meeting.is_multiple else "simple"
    print(
        f"t = {meeting.time:.4f}, axis {'xy'[meeting.axis]}: "
        f"{kind}, {meeting.before} become {meeting.after}"
    )
multiple = sum(meeting.is_multiple for meeting in meetings)
print(f"{len(meetings)} in all, {multiple} of them multiple")

# %%
# The x axis over time. End point 2·row is the lower end of a box, 2·row + 1 its upper end.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
times = np.array(model.interval)
for row in range(len(model)):
    drift = model.velocity[row, 0] * (times - times[0])
    low, high = lower[row, 0] + drift, upper[row, 0] + drift
    axes.fill_between(times, low, high, color=COLOURS[row + 1], alpha=0.2)
    axes.plot(times, low, times, high, color=COLOURS[row + 1], linewidth=1)
for meeting in meetings:
    if meeting.axis == 0:
        row, side = divmod(meeting.after[0], 2)
        place = (upper if side else lower)[row, 0]
        place += model.velocity[row, 0] * (meeting.time - times[0])
        size = 9 if meeting.is_multiple else 4
        axes.plot(meeting.time, place, "o", color=COLOURS[0], markersize=size)
axes.set(xlabel="time", ylabel="x", xlim=times)
axes.set_title("Bands are boxes, dots are events; the large one is multiple")
plt.show()
