"""The kinetic kernels as plain Python: with ``NUMBA_DISABLE_JIT=1`` they answer the same, so debuggers see inside."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numba, numpy as np
from choque.bounds import Boxes
from choque.broad import create
from choque.theses.kinetic import scenes
from choque.kinetic import Sweep
from choque.theses.kinetic import Billiards
from choque.theses.kinetic import SortedList
from choque.theses.kinetic import contacts
from choque.lab.methods.sap_kinetic import SapKinetic

assert numba.config.DISABLE_JIT
sweep = scenes.make("three-objects").sweep()
events = sweep.advance(10)
assert events.times.tolist() == [2 / 3, 1.5, 1.6, 2.0, 5.5], events
assert (sweep.counters.events, sweep.counters.exchanges, sweep.audit().multiple) == (17, 19, 1)
points = SortedList([0, 5, 6], velocity=[1, 0, -1])
assert [meeting.time for meeting in points.advance(10)] == [1.0, 3.0, 5.0]
walled = Sweep([[0, 0], [4, 1]], [[1, 1], [5, 2]], [[1, 0.5], [-1, 0.25]], acceleration=[[0, -1], [0, 0]])
walled.bounce([-1, -1], [6, 6])
walled.advance(20)
assert walled.audit().stale == 0 and walled.audit().bounces > 5
table = Billiards([[0, 0], [3, 0]], [[1, 0], [0, 0]], radius=0.5, lower=[-9, -9], upper=[9, 9])
assert len(table.advance(40)) == 3, table.collision_count
broad = create(SapKinetic, Boxes([[0, 0], [4, 0]], [[1, 1], [5, 1]]), closed=False)
broad.update(Boxes([[3.5, 0], [4, 0]], [[4.5, 1], [5, 1]]))
assert broad.began.tolist() == [[0, 1]]
square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
assert contacts([square, square + 3], [[1, 1], [0, 0]], 9)[0].began == 2.0
print("right")
"""


def test_answers_are_the_same_without_compiling() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "right", done.stderr
