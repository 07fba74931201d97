"""The kernels of convex bodies as plain Python give the same answers, with ``NUMBA_DISABLE_JIT=1``."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numba, numpy as np
from choque.narrow import Hulls, NarrowPhase, Shapes, epa, gjk, time_of_impact
from choque.narrow.shapes import CONVEX, PLANE
from choque.dynamics import create_response

assert numba.config.DISABLE_JIT
cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
assert gjk(cube, cube + [3, 0, 0]).distance == 2
assert gjk(cube, cube + [1, 1, 1]).collide
assert abs(epa(cube, cube + [0.75, 0.1, 0]).depth - 0.25) < 1e-12
assert abs(epa(cube, cube).depth - 1) < 1e-12
assert abs(time_of_impact(cube, cube + [3, 0, 0], [4, 0, 0]).time - 0.5) < 1e-6
hulls = Hulls.solids("cube", "icosphere")
shapes = Shapes(
    np.array([CONVEX, CONVEX, PLANE], np.int8), np.array([[0, 0.9, 0], [1.5, 0.9, 0], [0, 0, 0.0]]),
    np.array([np.eye(3)] * 3), np.ones((3, 3)), np.array([0, 1, -1], np.int32), hulls,
)
found = NarrowPhase().find(shapes, np.array([[0, 1], [0, 2], [1, 2]], np.int32))
assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
assert abs(found.depth[1] - 0.1) < 1e-12

class Bodies:
    ids, kind, position, rotation = np.arange(3, dtype=np.int32), shapes.kind, shapes.position, shapes.rotation
    size, hull, static = shapes.size, shapes.hull, np.array([False, False, True])
    velocity, acceleration = np.zeros((3, 3)), np.zeros((3, 3))

Bodies.hulls = hulls
assert create_response("shape-matching").respond(Bodies, np.array([[0, 1], [0, 2]], np.int32), 0.1) > 0
assert np.isfinite(Bodies.position).all() and Bodies.position[0, 0] < 0
print("right")
"""


def test_the_kernels_are_right_without_compiling() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    done = subprocess.run(command, env=environment, timeout=300, capture_output=True, text=True)
    assert done.stdout.strip() == "right", done.stderr
