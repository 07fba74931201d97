"""
A list that stays sorted
========================

Points on a line, each with its own motion. Two neighbours have a certificate,
"left is not behind right", with the time at which it fails. The cost of
keeping the list sorted is proportional to the changes of its order.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import SortedList

# %%
# Seven runners, the slower the further ahead; one accelerates.
start = np.array([0.0, 1, 2, 3, 4, 5, 6])
speed = np.array([2.0, 1.2, 1.5, 0.8, 0.9, 0.3, 0.4])
push = np.array([0.0, 0.0, 0, 0.5, 0, 0, 0])
runners = SortedList(start, velocity=speed, acceleration=push)
for certificate in runners.certificates()[:3]:
    print(certificate)

# %%
# All meetings until a time, as arrays; they iterate as single meetings.
overtakings = []
for meeting in runners.advance(until=6.0):
    overtakings.append((meeting.time, runners.position_at(meeting.time)[meeting.after[0]]))
    if len(overtakings) <= 3:
        print(f"t = {meeting.time:.4f}: {meeting.before} become {meeting.after}")
print(f"{runners.counters.exchanges} exchanges until t = {runners.time:g}")
print(f"final order {runners.order.tolist()}")

# %%
# The four criteria of a kinetic data structure as numbers: it is responsive, efficient,
# local and compact.
audit = runners.audit()
print(
    f"{audit.responsive:.2f} certificates an exchange; "
    f"an element is in at most {audit.local}; {audit.stale} are stale"
)

# %%
# The paths and the meetings.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
time = np.linspace(0, 6, 100)[:, None]
for row, path in enumerate((start + speed * time + push * time**2 / 2).T):
    axes.plot(time, path, color=COLOURS[row + 1], label=str(row))
axes.plot(*np.array(overtakings).T, "o", color=COLOURS[0], zorder=3)
axes.set(xlabel="time", ylabel="place", title=f"{len(overtakings)} meetings")
axes.legend(ncols=7, loc="upper left")
plt.show()
