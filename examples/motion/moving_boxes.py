"""
What began and what ended
=========================

A broad phase keeps its structure from frame to frame, and reports which pairs began and which
ended. These changes alone give all pairs at every frame.
"""

import matplotlib.pyplot as plt

import choque
from choque.lab.style import COLOURS, SETTINGS

# %%
# A scene made by name and seed: every box travels 5 % of its size a frame. The incremental
# sweep repairs its order.
scene = choque.scene.generate("moving", 5_000, frames=30, step=0.05)
broad = choque.broad.create("sap-incremental", choque.bounds.Boxes(*scene.frame(0)))
touching = set(map(tuple, broad.began.tolist()))
print(f"frame  0: {len(touching)} pairs")

began, ended = [], []
for index in range(1, scene.frame_count):
    broad.update(choque.bounds.Boxes(*scene.frame(index)))
    touching |= set(map(tuple, broad.began.tolist()))
    touching -= set(map(tuple, broad.ended.tolist()))
    began.append(len(broad.began))
    ended.append(len(broad.ended))
print(
    f"frame {index}: {len(touching)} pairs, "
    f"after {broad.counters.exchanges:,} exchanges of neighbours"
)
assert sorted(touching) == list(map(tuple, broad.pairs().tolist()))

# %%
# Where only a few boxes move, name them: the cost depends on what moved. Bodies can also be
# added and removed.
tree = choque.broad.create("bvh", choque.bounds.Boxes(*scene.frame(0)))
later = choque.bounds.Boxes(*scene.frame(19))
tree.move([3, 14, 159], later.take([3, 14, 159]))
print(f"three moved: {len(tree.began)} began, {len(tree.ended)} ended")
guests = tree.add(later.take([0, 1]))
tree.remove(guests[:1])
print(f"{len(tree)} bodies now; the ids of the guests were {guests.tolist()}")

# %%
# A few in a thousand pairs change from one frame to the next: that is what makes repairing
# cheap.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.bar(range(1, scene.frame_count), began, color=COLOURS[4], label="began")
axes.bar(
    range(1, scene.frame_count), [-count for count in ended], color=COLOURS[1], label="ended"
)
axes.axhline(0, color=COLOURS[0], linewidth=0.8)
axes.set(xlabel="frame", ylabel="pairs", title=f"Changes among {len(touching):,} pairs")
axes.legend(ncols=2, loc="upper right", bbox_to_anchor=(1, 1.18))
plt.show()
