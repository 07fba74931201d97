"""The kernels as plain Python: every method gives the right pairs with ``NUMBA_DISABLE_JIT=1``.

So coverage and debuggers see inside. The bodies are few: plain Python is a hundred times slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from choque.broad.index import methods

BUILT_IN = sorted(methods._built_in)

SCRIPT = '''
import json, sys, traceback
import numba, numpy as np
import choque.broad
from choque.bounds import Boxes
from choque.testing import scenes
from choque.testing._mirror import Mirror

assert numba.config.DISABLE_JIT

def agree(broad, mirror, at):
    found, wanted = broad.pairs().tolist(), mirror.pairs().tolist()
    if broad.name == "all":
        wanted = found if all(pair in found for pair in wanted) else wanted
    assert found == wanted, f"{at}: {found} is not {wanted}"
    assert broad.count() == len(found), f"{at}: count is {broad.count()}"

def follow(name, dimension, closed):
    start = scenes.make("touching", dimension=dimension, count=14, dtype="float32")
    later = scenes.make("uniform", dimension=dimension, count=14, dtype="float32").boxes()
    static = np.arange(14) % 5 == 0
    broad = choque.broad.create(name, start.boxes(), closed=closed, static=static)
    mirror = Mirror(start.boxes(), closed=closed, static=static)
    agree(broad, mirror, "create")
    for at, call in {
        "move": lambda body: body.move(np.array([2, 9], np.int32), later.take([0, 1])),
        "update": lambda body: body.update(later),
        "move one": lambda body: body.move(np.array([5], np.int32), start.boxes().take([5])),
        "remove": lambda body: body.remove(np.array([0, 13], np.int32)),
        "add": lambda body: body.add(start.boxes().take([3, 4, 5])),
    }.items():
        before = set(map(tuple, broad.pairs().tolist()))
        call(broad), call(mirror)
        began, ended = set(map(tuple, broad.began.tolist())), set(map(tuple, broad.ended.tolist()))
        agree(broad, mirror, at)
        assert (before - ended) | began == set(map(tuple, broad.pairs().tolist())), at
    assert broad.query(start.boxes()).tolist() == mirror.query(start.boxes()).tolist()

def ask(dimension):
    """A tree beside its pairs: points, rays along the first axis, nearest boxes."""
    boxes = scenes.make("uniform", dimension=dimension, count=14, dtype="float64").boxes()
    tree = choque.broad.create("bvh", boxes)
    centre, along = (boxes.lower + boxes.upper) / 2, np.eye(dimension)[[0] * 14]
    gap = np.maximum(np.maximum(boxes.lower - centre[:, None], centre[:, None] - boxes.upper), 0)
    away = np.sqrt((gap**2).sum(axis=2))
    assert tree.query_points(centre).tolist() == np.argwhere(away == 0).tolist()
    assert np.allclose(tree.nearest(centre, count=3).distance, np.sort(away, axis=1)[:, :3])
    is_met = (gap[:, :, 1:] == 0).all(axis=2)
    assert tree.query_rays(centre - 1000 * along, along).tolist() == np.argwhere(is_met).tolist()
    entry = np.where(is_met, boxes.lower[:, 0] - centre[:, :1] + 1000, np.inf)
    assert np.allclose(tree.cast_rays(centre - 1000 * along, along).distance, entry.min(axis=1))

said = {}
for name in sys.argv[1:]:
    try:
        for dimension, closed in ((2, True), (3, False)):
            follow(name, dimension, closed)
            if name == "bvh":
                ask(dimension)
        said[name] = "right"
    except Exception:
        said[name] = traceback.format_exc()
print(json.dumps(said))
'''


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    """What one plain-Python process says about every method."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *BUILT_IN],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        timeout=300,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    verdict: dict[str, str] = json.loads(done.stdout)
    return verdict


@pytest.mark.parametrize("method", BUILT_IN)
def test_a_method_is_right_without_compiling(method: str, verdicts: dict[str, str]) -> None:
    assert verdicts[method] == "right", verdicts[method]
