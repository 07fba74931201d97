"""
From event to event
===================

Boxes on known paths in a closed room. There is no frame rate: every meeting is computed, not
sampled, so nothing is missed in between, and nothing is paid while nothing happens.
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
# Events come at their exact times. Within the loop the future may be planned again: here a
# body is stopped.
for number, event in enumerate(sweep.advance(until=100.0)):
    print(f"{event.time:9.6f}  {event.kind}  {event.pair}")
    if number == 4:
        sweep.set_velocity([event.pair[0]], [[0, 0]])
        break

# %%
# In bulk, at compiled speed.
news = sweep.advance_arrays(until=100.0)
counters = sweep.counters
print(
    f"t = {sweep.time:g}: {len(news)} events, "
    f"{counters.exchanges:,} exchanges, {counters.bounces:,} bounces"
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
        map(tuple, news.pairs[news.began == 1].tolist()),
        news.times[news.began == 1],
        strict=False,
    )
)
lasted = [
    time - starts[pair]
    for time, pair in zip(
        news.times[news.began == 0],
        map(tuple, news.pairs[news.began == 0].tolist()),
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
