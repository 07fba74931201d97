"""Every kernel compiled beforehand, so that nobody waits for one later.

A kernel is compiled when it is first called, once for each float type. Asking everything that a method offers, on small
scenes of kinds that take its different branches, compiles them all, and Numba's cache on disk keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import choque
from choque._core.types import Progress
from choque.bounds import Bounds, Boxes, KDops, OrientedBoxes, Spheres
from choque.broad import BroadPhase

FLOAT_TYPES = ("float32", "float64")

SCENES = (("uniform", 2, 700), ("uniform", 3, 700), ("mixed", 3, 5_000))
"""Name, dimension and boxes: enough of them, and sizes different enough, that nothing takes a short cut only."""

KINDS: tuple[type[Bounds], ...] = (Boxes, Spheres, OrientedBoxes, KDops)


def warm_up(methods: Sequence[str] | None = None, progress: Progress | None = None) -> dict[str, str]:
    """Compile the kernels of the bounds and of ``methods``, all when None.

    Returns
    -------
    dict
        Those that failed, with the reason. One broken method does not keep the others cold.
    """
    names = choque.broad.names() if methods is None else list(methods)
    steps: list[tuple[str, Callable[[str], None]]] = [
        *((f"{kind.__name__} bounds", lambda dtype, kind=kind: use_bounds(kind, dtype)) for kind in KINDS),
        *((name, lambda dtype, name=name: use_method(name, dtype)) for name in names),
    ]
    tell = progress or (lambda *_: None)
    failed: dict[str, str] = {}
    total = len(steps) * len(FLOAT_TYPES)
    done = 0
    for about, use in steps:
        for dtype in FLOAT_TYPES:
            tell(done, total, f"{about}, {dtype}")
            try:
                use(dtype)
            except Exception as problem:
                failed[about] = " ".join(f"{type(problem).__name__}: {problem}".split())
            done += 1
    tell(total, total, "")
    return failed


def use_method(name: str, dtype: str) -> None:
    """Ask a method for everything, in 2D and 3D, with and without a filter."""
    for scene, dimension, count in SCENES:
        lower, upper = choque.scene.generate(scene, _affordable(name, count), dimension=dimension, dtype=dtype).frame(0)
        boxes = Boxes(lower, upper)
        choque.pairs(lower[:50], upper[:50])
        _use(choque.broad.create(name, boxes), boxes)
        choque.broad.create(name, boxes, groups=1, static=np.arange(len(boxes)) % 2 == 0).pairs()
        if choque.broad.find(name).uses_tighter_bounds:
            choque.broad.create(name, OrientedBoxes.from_boxes(boxes)).pairs()


def _affordable(name: str, count: int) -> int:
    return min(count, 200) if name == "all" else count  # it keeps every pair


def _use(broad: BroadPhase, boxes: Boxes) -> None:
    rows = np.arange(0, len(boxes), 97)
    some, shift = boxes.take(rows), (boxes.upper - boxes.lower) / 2
    broad.count()
    broad.pairs()
    broad.update(Boxes(boxes.lower + shift, boxes.upper + shift))
    broad.pairs()
    broad.move(rows, some)
    broad.pairs()
    broad.query(some)
    broad.remove(broad.add(some)[:1])
    broad.move(rows[1:], some.take(np.arange(1, len(rows))))
    broad.began, broad.ended, broad.pairs()
    if hasattr(broad, "cast_rays"):
        tree: Any = broad
        tree.query_points(some.lower)
        tree.nearest(some.lower, 2)
        tree.query_rays(some.lower, shift[rows])
        tree.cast_rays(some.lower, shift[rows])


def use_bounds(kind: type[Bounds], dtype: str) -> None:
    """Fit, move and test volumes of a kind, in 2D and 3D."""
    for dimension in (2, 3):
        points = np.random.default_rng(0).random((20, 8, dimension)).astype(dtype)
        volumes = kind.fit(points).moved(np.eye(dimension), np.zeros(dimension))
        volumes.boxes()
        volumes.overlap_with(volumes)
        kind.fit(points.reshape(-1, dimension), np.arange(0, 161, 8))
