"""Contact rules as functions of two poses, their compiled loops, and tables of rules by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from choque._core.kernel_cache import sources_of
from choque.narrow import NarrowPhase, Shapes, contacts
from choque.narrow.capsule import capsule_plane
from choque.narrow.pair import Manifold, Pose, apart, offset, pair_loop, pose, touching
from choque.narrow.rules import EXACT, RULES
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE
from choque.narrow.sphere import sphere_plane, sphere_sphere

TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def test_a_rule_is_a_function_of_two_poses() -> None:
    found = sphere_sphere(pose([0, 0, 0], [1, 0, 0]), pose([0, 1.5, 0], [1, 0, 0]))
    assert isinstance(found, Manifold)
    assert found == (1, (0, 1, 0), ((0, 0.75, 0),), (-0.5,), (0,))
    assert sphere_sphere(pose([0, 0, 0], [1, 0, 0]), pose([0, 2, 0], [1, 0, 0])).point_count == 0
    assert sphere_plane(pose([0, 0.5, 0], [1, 0, 0]), pose([0, 0, 0], [0, 0, 0])).separations == (-0.5,)
    upright = pose([0, 2, 0], [1, 4, 0], [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert capsule_plane(upright, pose([0, 0, 0], [0, 0, 0])).separations == (-1.0,)
    assert capsule_plane(upright, pose([0, 0, 0], [0, 0, 0], TURN)).normal == (1.0, 0.0, 0.0)


def one_pair(first: int, second: int) -> Shapes:
    size = {SPHERE: [1.0, 0, 0], CAPSULE: [1.0, 2, 0], TILE: [4.0, 4, 0], PLANE: [0.0, 0, 0]}
    return Shapes(
        kind=np.array([first, second], np.int8),
        position=np.array([[0.1, 0.6, -0.2], [0.0, 0, 0]]),
        rotation=np.array([TURN, np.eye(3)]),
        size=np.array([size[first], size[second]]),
    )


@pytest.mark.parametrize("kinds", EXACT)
def test_a_loop_gives_what_its_rule_gives(kinds: tuple[int, int]) -> None:
    shapes = one_pair(*kinds)
    poses = [pose(shapes.position[row], shapes.size[row], shapes.rotation[row], row=row) for row in range(2)]
    alone, found = EXACT[kinds](*poses), contacts(shapes, [[0, 1]])
    assert alone.point_count == len(found) == 1
    assert found.point_count.tolist() == [1]
    assert found.normal[0].tolist() == [value + 0.0 for value in alone.normal]
    assert found.points[0].tolist() == [list(point) for point in alone.points]
    assert found.separations[0].tolist() == list(alone.separations)
    assert found.features[0].tolist() == list(alone.features)


def test_loops_are_compiled_once_and_named_by_their_rules() -> None:
    loop = pair_loop(sphere_sphere)
    assert pair_loop(sphere_sphere) is loop
    assert pair_loop(sphere_plane) is not loop
    names = {Path(path).name for path in sources_of(getattr(loop, "py_func", loop))}
    assert {"pair.py", "sphere.py", "vector.py"} <= names
    assert "capsule.py" not in names


def test_loops_are_found_on_disk_by_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = """
import numpy as np
from choque._core.kernel import announcement
from choque.narrow.pair import ContactArrays
from choque.narrow.pair import PoseArrays, pair_loop
from choque.narrow.sphere import sphere_sphere
found = ContactArrays.empty(0, float)
pair_loop(sphere_sphere)(PoseArrays(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3))), found, 0, 0)
print(announcement.count)
"""
    counts = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        counts.append(int(done.stdout))
    assert counts[0] > 0
    assert counts[1] == 0


def test_a_table_of_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of kinds that a table leaves out are tested by the exact rules."""
    from choque._core.kernel import helper

    @helper
    def lifted(a: Pose, b: Pose) -> Manifold:
        return touching(a, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), a.size[0], 0.25) if offset(a, b)[0] < 1.0 else apart()

    monkeypatch.setattr(RULES, "_registered", {})
    RULES.register("lifted-in-a-test", {(SPHERE, SPHERE): lifted})
    phase = NarrowPhase("lifted-in-a-test")
    found = phase.find(one_pair(SPHERE, SPHERE), np.array([[0, 1]], np.int32))
    assert found.depth.tolist() == [0.25]
    assert found.normal.tolist() == [[0.0, 1.0, 0.0]]
    exact = contacts(one_pair(SPHERE, PLANE), [[0, 1]])
    again = contacts(one_pair(SPHERE, PLANE), [[0, 1]], narrow="lifted-in-a-test")
    assert exact.depth.tolist() == again.depth.tolist()
