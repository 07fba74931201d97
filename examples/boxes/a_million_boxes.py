"""
A million boxes
===============

Of equal sizes, and of sizes that differ a thousandfold. The number is an argument, ``python
a_million_boxes.py 1000000``; without it there are a tenth of that. Times are those of the
machine that drew this page.
"""

import sys
from time import perf_counter

import matplotlib.pyplot as plt

import choque
from choque.lab.style import SETTINGS, marks

largest = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
counts = [largest // 64, largest // 16, largest // 4, largest]
names = ("uniform", "mixed")

# %%
# The first call compiles kernels, or loads those that an earlier run compiled, so it is not
# timed.
for name in names:
    choque.pairs(*choque.scene.generate(name, 5_000).frame(0))

# %%
# ``auto`` takes a grid where sizes are alike, and another method where they are not.
seconds = {}
for name in names:
    for count in counts:
        lower, upper = choque.scene.generate(name, count).frame(0)
        turns = []
        for _ in range(3):
            begin = perf_counter()
            pairs = choque.pairs(lower, upper)
            turns.append(perf_counter() - begin)
        seconds[name, count] = min(turns)
    print(
        f"{name}: {len(pairs):,} pairs of {count:,} boxes\n   {choque.explain(lower, upper)}"
    )

# %%
# Twice the boxes take about twice the time.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, mark in marks(names).items():
    axes.loglog(
        counts, [1e3 * seconds[name, count] for count in counts], label=name, **mark.options()
    )
axes.set(xlabel="boxes", ylabel="milliseconds", title="All pairs, one call")
axes.legend()
plt.show()
