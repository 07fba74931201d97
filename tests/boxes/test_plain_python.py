"""The kernels of joins and suppression as plain Python, with ``NUMBA_DISABLE_JIT=1``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import numba, numpy as np, choque
from box_oracle import dense_iou, dense_join, plain_merge, plain_suppress, random_boxes

assert numba.config.DISABLE_JIT
rng = np.random.default_rng(0)
for dimension in (2, 3):
    a, b = (random_boxes(rng, 40, dimension, np.float32, spread=5) for _ in range(2))
    scores = rng.uniform(0, 1, 40).astype(np.float32)
    for iou, over in ((0.0, "union"), (0.5, "union"), (0.9, "union"), (0.5, "smaller")):
        wanted = plain_suppress(a, scores, iou, None, over)
        assert choque.boxes.suppress(a, scores, iou=iou, over=over).tolist() == wanted.tolist()
    assert choque.boxes.merge(a, scores).lists() == plain_merge(a, scores, 0.5)
    for method in ("grid", "bvh", "brute", "sap-direct"):
        assert np.array_equal(choque.join(a, b, method=method), dense_join(a, b))
    pairs, values = choque.join(a, b, iou=0.2, groups=(1, 3), masks=(2, 1))
    assert np.array_equal(pairs, np.argwhere(dense_iou(a, b) >= 0.2))
    # Bounds that are equal as float32: the boxes themselves decide, and infinite ones meet everything.
    a, b = (4.5e6 + 1e-3 * random_boxes(rng, 60, dimension, spread=4) for _ in range(2))
    b[:20, :dimension] = np.nextafter(a[:20, dimension:], rng.choice([-np.inf, np.inf], (20, 1)))
    b[:20, dimension:] = b[:20, :dimension] + 1e-3
    b[20, dimension:], a[21, :dimension] = np.inf, -np.inf
    for closed in (True, False):
        assert np.array_equal(choque.join(a, b, method="grid", closed=closed), dense_join(a, b, closed))
print("right")
"""


def test_plain_python_gives_the_same_answers() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), environment.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "right", done.stderr
