"""Boxes that move: what began and what ended at each frame."""

# %% A scene made by name and seed: every box travels 5 % of its size a frame.
import choque

scene = choque.scene.generate("moving", 5_000, frames=20, step=0.05)

# %% A broad phase keeps its structure from frame to frame; the incremental sweep repairs it.
broad = choque.broad.create("sap-incremental", choque.bounds.Boxes(*scene.frame(0)))
touching = set(map(tuple, broad.began.tolist()))
print(f"frame  0: {len(touching)} pairs")

# %% Following only the changes gives all pairs at every frame.
for index in range(1, scene.frame_count):
    broad.update(choque.bounds.Boxes(*scene.frame(index)))
    touching |= set(map(tuple, broad.began.tolist()))
    touching -= set(map(tuple, broad.ended.tolist()))
    print(f"frame {index:2d}: {len(broad.began):3d} began, {len(broad.ended):3d} ended, {len(touching)} pairs")
assert sorted(touching) == list(map(tuple, broad.pairs().tolist()))

# %% Where only a few move, say which: the cost is that of what moved. Bodies may also come and go.
tree = choque.broad.create("bvh", choque.bounds.Boxes(*scene.frame(0)))
later = choque.bounds.Boxes(*scene.frame(19))
tree.move([3, 14, 159], later.take([3, 14, 159]))
print(f"three moved: {len(tree.began)} began, {len(tree.ended)} ended")
guests = tree.add(later.take([0, 1]))
tree.remove(guests[:1])
print(f"{len(tree)} bodies now; the ids of guests were {guests.tolist()}")
