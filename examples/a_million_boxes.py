"""A million boxes, of equal sizes and of sizes that differ a thousandfold.

The number is an argument: ``python a_million_boxes.py 1000000``. Without it, a tenth of that, for a quick look.
"""

# %% How many.
import sys
from time import perf_counter

import choque

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000

# %% The first call compiles, or loads what an earlier run compiled: do that before looking at the clock.
choque.pairs(*choque.scene.generate("uniform", 5_000).frame(0))
choque.pairs(*choque.scene.generate("mixed", 5_000).frame(0))

# %% `auto` takes a grid where sizes are alike and whatever suits where they are not.
for name in ("uniform", "mixed"):
    lower, upper = choque.scene.generate(name, count).frame(0)
    begin = perf_counter()
    pairs = choque.pairs(lower, upper)
    seconds = perf_counter() - begin
    print(f"{name}: {len(pairs):,} pairs of {count:,} boxes in {1e3 * seconds:.0f} ms")
    print("  ", choque.explain(lower, upper))
