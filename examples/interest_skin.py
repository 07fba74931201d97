"""Larger areas as insurance: one search for several frames, and no pair missed."""

# %% The arena of the thesis on areas of interest: spheres in a cube, let loose from its middle.
import choque

scene = choque.scene.generate("arena", 1_000, start="sparse", frames=60, largest=0.03, speed=0.002)
boxes = [choque.bounds.Boxes(*scene.frame(index)) for index in range(scene.frame_count)]

# %% A body moves at most 0.0035 a frame; areas of k times its size serve ten frames.
displacement = 0.002 * 3**0.5
k = choque.interest.skin(radius=0.04, displacement=displacement, frames=10)
areas = choque.interest.Interest(boxes[0], k=k)
exact = choque.interest.Interest(boxes[0])
print(f"k = {k:.2f}: {len(areas.pairs())} pairs to keep an eye on, of which {len(exact.pairs())} touch now")

# %% Skinned does the same for any method, and checks that nobody was faster than was said.
kept = choque.interest.Skinned(boxes[0], displacement=displacement, frames=10)
for frame in boxes[1:]:
    kept.update(frame)
    exact.update(frame)
    assert kept.pairs().tolist() == exact.pairs().tolist()
print(f"{kept.run_count} searches for {kept.frame_count} frames, and the same pairs in each")
