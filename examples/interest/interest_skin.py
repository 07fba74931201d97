"""
One search for several frames
=============================

Larger areas contain every pair that can touch within the next frames, so one search serves
several frames and no pair is missed.
"""

import matplotlib.pyplot as plt

import choque
from choque.lab.style import COLOURS, SETTINGS
from choque.theses.interest.broad_phase import skin

# %%
# The arena of the thesis on areas of interest: spheres in a cube, released from its middle.
scene = choque.scene.generate(
    "arena", 1_000, start="sparse", frames=60, largest=0.03, speed=0.002
)
boxes = [choque.bounds.Boxes(*scene.frame(index)) for index in range(scene.frame_count)]
displacement = 0.002 * 3**0.5  # the farthest that a body moves in a frame

# %%
# The size of areas that serve a number of frames, and the number of pairs that they give.
frames = (1, 2, 4, 6, 8, 10, 15, 20)
candidates = []
for count in frames:
    k = skin(radius=0.04, displacement=displacement, frames=count)
    candidates.append(len(choque.broad.create("interest", boxes[0], k=k).pairs()))
    print(f"{count:>2} frames: k = {k:.2f}, {candidates[-1]:>6} pairs to keep an eye on")

# %%
# `Skinned` does this for any method, and checks that no body was faster than the given bound.
kept = choque.interest.Skinned(boxes[0], displacement=displacement, frames=10)
exact = choque.broad.create("interest", boxes[0])
for frame in boxes[1:]:
    kept.update(frame)
    exact.update(frame)
    assert kept.pairs().tolist() == exact.pairs().tolist()
print(f"{kept.run_count} searches for {kept.frame_count} frames, and the same pairs in each")

# %%
# Fewer searches mean more candidates.
plt.rcParams.update(SETTINGS)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(frames, candidates, "o-", color=COLOURS[2])
axes.axhline(candidates[0], color=COLOURS[1])
axes.text(
    frames[-1],
    candidates[0] * 1.05,
    "pairs that touch now",
    color=COLOURS[1],
    ha="right",
    va="bottom",
)
axes.set(xlabel="frames that one search serves", ylabel="candidates", ylim=(0, None))
plt.show()
