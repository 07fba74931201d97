"""
A broad phase from another package
==================================

A method is one class with two functions, `build` and `emit`: a subclass of
:class:`choque.broad.Index`. Ids, filters, began and ended, threads and counters come with
:class:`choque.broad.BroadPhase`, which holds it. The folder
``examples/third_party_method`` is a whole package with such a method, which sorts the boxes
along x and scans each forward. Installed, it is known by its name; here it is registered by
hand.
"""

import inspect
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import choque
from choque.lab.style import COLOURS, SETTINGS

sys.path.insert(0, str(Path(__file__).parents[1] / "third_party_method" / "src"))
from choque_sorted_scan import SortedScan

choque.broad.register(SortedScan)
print(inspect.getsource(SortedScan))

# %%
# From here on it is a method like any other.
lower, upper = choque.scene.generate("uniform", 5_000).frame(0)
pairs = choque.pairs(lower, upper, method="sorted-scan")
broad = choque.broad.create("sorted-scan", choque.bounds.Boxes(lower, upper))
print(f"{len(pairs)} pairs from {broad.count() and broad.counters.tests:,} tests")

# %%
# Is it right? The public suite knows what every method owes: touching and empty boxes,
# filters, motion, ids, threads.
names = [name for name, _ in choque.testing.broad_phase_checks()]
print(f"{len(names)} checks, among them {', '.join(names[:4])}")
choque.testing.check_broad_phase("sorted-scan", checks=names[:4])

# %%
# Is it any good? Counters tell, on any machine. A sweep along one axis has to compare what
# only its shadow has in common.
tests = {}
for name in ("brute", "sorted-scan", "sap-direct", "grid", "bvh"):
    each = choque.broad.create(name, choque.bounds.Boxes(lower, upper))
    tests[name] = each.count() and each.counters.tests
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
colours = [COLOURS[1] if name == "sorted-scan" else "#bbbbbb" for name in tests]
axes.bar(tests.keys(), tests.values(), color=colours)
axes.axhline(len(pairs), color=COLOURS[0], linewidth=1, label=f"{len(pairs):,} pairs")
axes.legend()
axes.set(yscale="log", ylabel="overlap tests", title="Compared to find the same pairs")
axes.grid(axis="x", visible=False)
plt.show()
