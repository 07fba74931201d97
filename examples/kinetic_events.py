"""Boxes in motion, from event to event: no frame rate, nothing missed in between."""

# %% Two hundred boxes in a closed room. Their paths are known, so every meeting is computed, not sampled.
import numpy as np

import choque.kinetic

random = np.random.default_rng(1)
lower = random.uniform(0, 95, (200, 2))
sweep = choque.kinetic.Sweep(lower, lower + random.uniform(1, 5, (200, 2)), random.normal(size=(200, 2)))
sweep.bounce([0, 0], [100, 100])
print(f"t = 0: {len(sweep.pairs())} overlapping pairs")

# %% Events come at their exact times; within the loop the future may be planned again.
for number, event in enumerate(sweep.advance(until=100.0)):
    if number < 5:
        print(f"{event.time:9.6f}  {event.kind}  {event.pair}")
    if number == 4:
        sweep.set_velocity([event.pair[0]], [[0, 0]])
        break

# %% In bulk, at compiled speed.
news = sweep.advance_arrays(until=100.0)
counters = sweep.counters
print(f"t = {sweep.time:g}: {len(news)} events, {counters.exchanges:,} exchanges, {counters.bounces:,} bounces")
assert np.array_equal(sweep.pairs(), choque.pairs(*sweep.boxes()))

# %% What a kinetic data structure promises, as numbers of this run.
print(sweep.audit())
