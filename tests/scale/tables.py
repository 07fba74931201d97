"""Tables of boxes, and what is expected of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.scale import Found


def write_table(
    path: Path, lower: NDArray[Any], upper: NDArray[Any], row_group_size: int | None = None, **columns: Any
) -> Path:
    """Write boxes as a Parquet table with these row groups, and further columns."""
    import pyarrow
    import pyarrow.parquet

    for side, corner in (("lower", lower), ("upper", upper)):
        columns |= {f"{axis}_{side}": corner[:, number] for number, axis in enumerate("xyz"[: corner.shape[1]])}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=row_group_size)
    return path


def found_pairs(found: Found) -> list[tuple[int, int]]:
    """Return all pairs, sorted; a pair that was found twice is there twice."""
    return sorted((int(first), int(second)) for pairs in found.scan() for first, second in pairs)


def pairs_by_definition(lower: NDArray[Any], upper: NDArray[Any], *, closed: bool = True) -> list[tuple[int, int]]:
    """Return all pairs by comparing each box with each."""
    below = (lower[:, None] <= upper[None]) if closed else (lower[:, None] < upper[None])
    meets = below.all(axis=2)
    first, second = np.nonzero(np.triu(meets & meets.T, 1))
    return list(zip(first.tolist(), second.tolist(), strict=True))
