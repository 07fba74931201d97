"""
How many steps GJK and EPA take
===============================

Iterations for random pairs of one solid, without a limit. The distribution shows how large
a limit has to be: few steps nearly always, with a long but finite tail.
"""

import matplotlib.pyplot as plt
import numpy as np

import choque.theses.kdop.trials
from choque.lab.style import COLOURS, SETTINGS

# %%
# Means and maxima of many pairs, the same for the same seed.
for solid in ("cube", "rhombicuboctahedron"):
    found = choque.theses.kdop.trials.iteration_statistics(20_000, solid=solid, seed=1)
    print(
        f"{solid}: {found.collisions} of {found.runs} collide; "
        f"GJK {found.gjk_mean:.2f} steps, at most {found.gjk_max}; "
        f"EPA {found.epa_mean:.2f}, at most {found.epa_max}"
    )

# %%
# The distribution: a query row by row says how many steps each pair took.
random = np.random.default_rng(0)
hulls = choque.narrow.Hulls.solids("rhombicuboctahedron")
turns = np.linalg.qr(random.normal(size=(2, 5_000, 3, 3)))[0]
turns *= np.linalg.det(turns)[..., None, None]
one, other = (
    hulls.at(np.zeros((5_000, 3)), turns[0]),
    hulls.at(random.normal(0, 1, (5_000, 3)), turns[1]),
)
gjk, epa = choque.narrow.gjk(one, other), choque.narrow.epa(one, other)

plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
bins = np.arange(0, 30) - 0.5
axes.hist(gjk.iterations, bins, color=COLOURS[2], alpha=0.7, label="GJK")
axes.hist(
    epa.iterations[epa.iterations > 0],
    bins,
    color=COLOURS[3],
    alpha=0.7,
    label="EPA, where they overlap",
)
axes.set(xlabel="steps", ylabel="pairs", title="5,000 pairs of rhombicuboctahedra")
axes.legend()
plt.show()
