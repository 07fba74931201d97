"""Where bodies touch: a sphere, two capsules and a tile, their contacts as arrays."""

# %% Bodies are rows of arrays. A capsule lies along its own z; a tile spans its own x and z.
import numpy as np

from choque.narrow import CAPSULE, KIND_NAMES, SPHERE, TILE, NarrowPhase, Shapes, contacts

along_x = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
shapes = Shapes(
    kind=np.array([TILE, CAPSULE, CAPSULE, SPHERE], np.int8),
    position=np.array([[0, 0, 0], [0, 0.4, 0], [0, 1.3, 1], [2.2, 0.3, 0]]),
    rotation=np.array([np.eye(3), np.eye(3), along_x, np.eye(3)]),
    size=np.array([[4.0, 4, 0], [0.5, 3, 0], [0.5, 2, 0], [0.5, 0, 0]]),  # length and width; radius and length; radius
)

# %% All contacts: the point in the middle of the overlap, the unit normal toward the second body, the depth.
found = contacts(shapes)
for (first, second), point, normal, depth in zip(found.pairs, found.point, found.normal, found.depth, strict=True):
    names = f"{KIND_NAMES[shapes.kind[first]]} {first} and {KIND_NAMES[shapes.kind[second]]} {second}"
    print(f"{names}: {depth:.2f} deep at {point.round(2)}, normal {normal.round(2)}")

# %% Frame after frame: keep one phase, and give it the pairs of any broad phase.
phase = NarrowPhase()
pairs = np.array([[0, 1], [1, 2]], np.int32)
for frame in range(3):
    shapes.position[1:3, 1] += 0.05
    print(f"frame {frame}: depths {phase.find(shapes, pairs).depth.round(2)}")
print({kinds: (counts.tests, counts.contacts) for kinds, counts in phase.tally.items()})
