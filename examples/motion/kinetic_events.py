"""
From event to event
===================

Boxes on known paths in a closed box. There is no frame rate: every event is computed, not
sampled, so no overlap is missed, and time between events costs nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque
from choque.lab.style import COLOURS, SETTINGS

random = np.random.default_rng(1)
lower = random.uniform(0, 95, (200, 2))
upper = lower + random.uniform(1, 5, (200, 2))
sweep = choque.kinetic.Sweep(lower, upper, velocity=random.normal(size=(200, 2)))
sweep.bounce([0, 0], [100, 100])
print(f"t = 0: {len(sweep.pairs())} overlapping pairs")

# %%
# Events have exact times. With ``stop`` the sweep halts at each of them, so that motions can
# change there: here a body is stopped.
for _ in range(40):
    for event in sweep.advance(until=100.0, stop="event"):
        print(f"{event.time:9.6f}  {event.kind}  {event.pair}")
sweep.set_velocity([0], [[0, 0]])

# %%
# Without it, all events come at once, as arrays.
events = sweep.advance(until=100.0)
counters = sweep.counters
print(
    f"t = {sweep.time:g}: {len(events)} events, "
    f"{counters.exchanges:,} exchanges, {sweep.audit().bounces:,} bounces"
)
assert np.array_equal(sweep.pairs(), choque.pairs(*sweep.boxes()))

# %%
# What a kinetic data structure promises, counted: few certificates an exchange, none of them
# stale, order to the last bit.
audit = sweep.audit()
print(
    f"{audit.responsive:.2f} certificates an exchange, "
    f"{audit.stale} stale, disorder {audit.disorder:g}"
)

# %%
# How long overlaps last: a film of 24 frames a second would miss some of them.
starts = dict(
    zip(
        map(tuple, events.pairs[events.began].tolist()),
        events.times[events.began],
        strict=False,
    )
)
lasted = [
    time - starts[pair]
    for time, pair in zip(
        events.times[~events.began],
        map(tuple, events.pairs[~events.began].tolist()),
        strict=True,
    )
    if pair in starts and time > starts[pair]
]
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.hist(lasted, bins=np.geomspace(1e-3, 30, 50), color=COLOURS[2])
axes.axvline(1 / 24, color=COLOURS[1])
axes.text(1 / 26, axes.get_ylim()[1] * 0.9, "one frame", color=COLOURS[1], ha="right")
axes.set(xscale="log", xlabel="duration of an overlap", ylabel="overlaps")
plt.show()
