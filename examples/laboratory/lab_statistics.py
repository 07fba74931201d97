"""
Intervals from seven timings
============================

The laboratory gives medians with intervals that have the stated confidence even for few
samples, and compares methods by ratios on the same instances, whose intervals are far
narrower.
"""

import matplotlib.pyplot as plt
import numpy as np

from choque.lab import statistics
from choque.lab.style import COLOURS, SETTINGS

# %%
# Seven timings with a heavy tail, as machines give them.
random = np.random.default_rng(2)
samples = 10 * random.lognormal(0, 0.15, 7)
estimate = statistics.median_interval(samples)
print(
    f"median {estimate.value:.2f} ms, "
    f"95 % interval {estimate.lower:.2f} to {estimate.upper:.2f}"
)

# %%
# Two methods on five scenes. Scenes differ more than methods do, so the ratio is taken scene
# by scene.
difficulty = 10 ** random.uniform(0, 2, 5)
slow = {scene: 1.3 * difficulty[scene] * random.lognormal(0, 0.05, 7) for scene in range(5)}
fast = {scene: 1.0 * difficulty[scene] * random.lognormal(0, 0.05, 7) for scene in range(5)}
ratio = statistics.paired_ratio(slow, fast)
print(
    f"{ratio.value:.3f} times as long, {ratio.lower:.3f} to {ratio.upper:.3f}; made with 1.3"
)

# %%
# Are the intervals right? A hundred experiments of seven samples each: about 95 intervals
# must contain the true median.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
missed = 0
for number in range(100):
    found = statistics.median_interval(10 * random.lognormal(0, 0.15, 7), resamples=500)
    holds = found.lower <= 10 <= found.upper
    missed += not holds
    axes.plot(
        (number, number),
        found.interval,
        color=COLOURS[2] if holds else COLOURS[1],
        linewidth=1.5,
    )
axes.axhline(10, color=COLOURS[0], linewidth=0.8)
axes.set(xlabel="experiment", ylabel="milliseconds")
axes.set_title(f"{100 - missed} of 100 intervals hold the true median")
plt.show()
