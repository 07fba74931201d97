"""Worlds with kernels as plain Python: with ``NUMBA_DISABLE_JIT=1`` they go the same way, so debuggers see inside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import numba
from world_scenes import gas, pile
from choque.world import World

for make, options in (
    (pile, {"broad": "brute"}),
    (pile, {"broad": "sap-obb", "max_speed": 3.0, "max_spin": 2.0}),
    (gas, {"broad": "grid", "bounds": "18-dop"}),
    (gas, {"broad": "brute", "bounds": "sphere", "dtype": "float32"}),
):
    world = make(8, **options)
    world.add_ground(-9.0)
    world.add_boxes([40, -8.5, 0], [1, 2, 3], velocity=[0, -1, 0])
    impulses = sum(world.step().impulses for _ in range(8))
    print(numba.config.DISABLE_JIT, impulses > 0, [round(float(x), 5) for x in world.bodies.velocity.ravel()])
    print(world.hash() == world.copy().hash())
for rolling in (0.0, 0.1):
    world = World(gravity=(0, -9.81, 0))
    world.add_ground()
    velocity = [[0, 0, 0], [0, -1, 0], [2, 0, 0]]
    world.add_spheres([[0, 0.5, 0], [0.2, 1.45, 0], [3, 0.5, 0]], 0.5, velocity=velocity, rolling=rolling)
    world.add_boxes([[4.5, 0.5, 0], [4.5, 1.5, 0]], friction=0.5)
    contacts = sum(world.step().contacts for _ in range(12))
    print(numba.config.DISABLE_JIT, contacts > 0, [round(float(x), 5) for x in world.bodies.velocity.ravel()])
    print(world.hash() == world.copy().hash())
"""


def said(**environment: str) -> list[str]:
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_answers_are_the_same_without_compiling() -> None:
    """Up to the last bits: a compiler may join a multiplication and an addition."""
    plain, compiled = said(NUMBA_DISABLE_JIT="1"), said(NUMBA_DISABLE_JIT="0")
    assert all(line.startswith("1 True") for line in plain[::2])
    assert [line.removeprefix("1 ") for line in plain] == [line.removeprefix("0 ") for line in compiled]
