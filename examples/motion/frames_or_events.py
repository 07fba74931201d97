"""
Frames or events?
=================

The more often a second the pairs are wanted, the more it pays to compute events instead of
frames. :func:`choque.theses.kinetic.recommend` chooses by measured times.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab.style import COLOURS, SETTINGS
from choque.theses.kinetic import create_simulation, recommend, scenes

for rate in (10, 100, 10_000):
    print(f"{rate:>6} frames a second:", recommend(1_000, 0.05, rate, duration=1.0))

# %%
# Both ways are behind one interface, and agree at every frame.
model = scenes.make("random-shapes", n=60, occupancy=0.1, seed=2)
frames = create_simulation(model, "direct").run()
events = create_simulation(model, "kinetic").run()
print(f"{len(frames.frames)} frames looked at, or {events.counts['events']} events")

# %%
# What is expected to be the fastest, by the number of bodies and of frames a second.
counts, rates = np.geomspace(50, 20_000, 40), np.geomspace(5, 20_000, 40)
names = ("direct", "incremental", "kinetic")
best = [
    [names.index(recommend(int(n), 0.05, rate, 1.0).method) for n in counts] for rate in rates
]
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
colours = ["#eeeeee", COLOURS[3], COLOURS[2]]
axes.contourf(counts, rates, best, levels=[-0.5, 0.5, 1.5, 2.5], colors=colours)
for name, colour in zip(names, colours, strict=True):
    axes.fill([], [], color=colour, label=name)
axes.set(xscale="log", yscale="log", xlabel="bodies", ylabel="frames a second")
axes.set_title("Expected to be the fastest")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
