"""Many meshes: every pair that clashes or comes closer than a clearance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core import threads as pool
from choque._core.progress import reporting
from choque._core.types import F64, I32, I64, Progress
from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput
from choque.meshes._distance import least_distances
from choque.meshes._mesh import Mesh
from choque.meshes._search import meeting_pairs
from choque.meshes.poses import as_poses
from choque.meshes.triangles import CROSSING

CLASHES = ("crossing", "inside", "touching", "near")  # how two parts can clash, worst first


@dataclass(frozen=True)
class Clashes:
    """Pairs of parts that clash or are too close, one row each, sorted by their numbers."""

    pairs: I32  #: (m, 2) numbers of the parts.
    kinds: NDArray[np.str_]
    """(m,) ``crossing`` if faces cross, ``inside`` if one part lies in the other, ``touching`` if surfaces only touch,
    ``near`` if they are closer than the clearance."""
    gap: F64  #: (m,) distance of the surfaces; 0 where they meet [units].
    point: F64  #: (m, 3) a place where they meet or are nearest.
    face_pairs: I64  #: (m,) number of pairs of faces that meet.

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        counts = [(int(np.count_nonzero(self.kinds == name)), name) for name in CLASHES]
        parts = ", ".join(f"{count:,} {name}" for count, name in counts if count)
        return f"Clashes({len(self):,} pairs of parts{': ' if parts else ''}{parts})"


class Scene:
    """Meshes in one frame, and the pairs of them that clash.

    Parameters
    ----------
    meshes
        The parts, where they are; `Mesh.moved` places one.

    Examples
    --------
    >>> corner = Mesh([[0, 0, 0], *np.eye(3)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> scene = Scene([corner, *(corner.moved((np.eye(3), [0, 0, z])) for z in (1, 2.5))])
    >>> scene.clashes(clearance=1.0)
    Clashes(2 pairs of parts: 1 touching, 1 near)
    """

    def __init__(self, meshes: Iterable[Mesh]) -> None:
        if isinstance(meshes, Mesh) or not isinstance(meshes, Iterable):
            raise InvalidInput(f"A scene takes a list of meshes, not one {type(meshes).__name__}.")
        self._meshes: Sequence[Mesh] = tuple(meshes)
        for row, mesh in enumerate(self._meshes):
            if not isinstance(mesh, Mesh):
                raise InvalidInput(f"Part {row} is a {type(mesh).__name__}; give a choque.Mesh.")

    def __len__(self) -> int:
        return len(self._meshes)

    def __getitem__(self, number: int) -> Mesh:
        return self._meshes[number]

    def clashes(
        self, *, clearance: float = 0.0, threads: int | None = None, progress: Progress | bool | None = None
    ) -> Clashes:
        """Return every pair of parts that meets, lies one in the other, or is closer than ``clearance`` [units].

        A broad phase over the boxes of the parts, then for each of its pairs the distance, up to the clearance. Closed
        parts count as solids; ``progress`` is that of `choque.scale.pairs`. Guarantee: exact; a gap is 0 exactly where
        surfaces share a point.
        """
        least = check.number(clearance, "clearance", 0)
        candidates = self._close_boxes(least)
        rows: list[tuple[str, float, F64, int] | None] = [None] * len(candidates)
        # A pair of parts takes far longer than a body: two of them are worth a second thread.
        thread_count = pool.resolve_count(threads, pool.SERIAL_BELOW) if len(candidates) > 1 else 1
        for mesh in (self._meshes[number] for number in np.unique(candidates).tolist()):
            mesh.surface  # noqa: B018 - built here, once, not by several threads
        draw, done = pool.block_supply(len(candidates), 4), [0]

        def work(part: int) -> None:
            while (span := draw()) is not None:
                first, last = span
                for k in range(first, last):
                    rows[k] = _judge(self._meshes[candidates[k, 0]], self._meshes[candidates[k, 1]], least)
                done[0] += last - first
                if part == thread_count - 1:
                    report(done[0], len(candidates), "pairs of parts")

        with reporting(progress) as report:
            pool.run(work, thread_count)
        kept = [k for k, row in enumerate(rows) if row is not None]
        found = [row for row in rows if row is not None]
        return Clashes(
            pairs=candidates[kept],
            kinds=np.array([row[0] for row in found], f"<U{max(map(len, CLASHES))}"),
            gap=np.array([row[1] for row in found]),
            point=np.array([row[2] for row in found]).reshape(-1, 3),
            face_pairs=np.array([row[3] for row in found], np.int64),
        )

    def _close_boxes(self, clearance: float) -> I32:
        filled = [number for number, mesh in enumerate(self._meshes) if len(mesh)]
        if len(filled) < 2:
            return np.empty((0, 2), np.int32)
        bounds = np.array([self._meshes[number].bounds for number in filled])
        margin = 0.5 * clearance * (1 + 1e-9)
        found = create("auto", Boxes(bounds[:, 0] - margin, bounds[:, 1] + margin)).pairs()
        return np.array(filled, np.int32)[found]


def _judge(a: Mesh, b: Mesh, clearance: float) -> tuple[str, float, F64, int] | None:
    """Return how two parts clash, their gap, a place, and how many pairs of faces meet; None if they do not clash."""
    still = as_poses(None)
    found = least_distances(a.surface, b.surface, still, clearance, 1)
    gap, point = float(found.distance[0]), 0.5 * (found.one[0] + found.two[0])
    if gap == 0:
        _, kinds = meeting_pairs(a.surface, b.surface, still, 1)
        return ("crossing" if (kinds == CROSSING).any() else "touching"), 0.0, point, len(kinds)
    if _is_nested(a, b):
        if not np.isfinite(gap):
            found = least_distances(a.surface, b.surface, still, np.inf, 1)
            gap, point = float(found.distance[0]), 0.5 * (found.one[0] + found.two[0])
        return "inside", gap, point, 0
    return ("near", gap, point, 0) if np.isfinite(gap) and gap <= clearance else None


def _is_nested(a: Mesh, b: Mesh) -> bool:
    """Return whether a part of one solid lies inside the other; their surfaces do not meet."""
    for inner, outer in ((a, b), (b, a)):
        lower, upper = outer.bounds
        points = inner.part_points
        near = points[((points >= lower) & (points <= upper)).all(axis=1)]
        if len(near) and a.is_closed and b.is_closed and outer.contains(near, threads=1).any():
            return True
    return False
