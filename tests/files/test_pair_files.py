"""Pairs out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque import files
from choque.errors import InvalidInput, UnknownName

PAIRS = np.array([[0, 1], [0, 7], [3, 2_000_000_000]], dtype=np.int32)


@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:0]])
def test_every_format(pairs: np.ndarray, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for suffix in (".npy", ".csv", ".parquet"):
        files.write_pairs(tmp_path / f"p{suffix}", pairs)
    array = np.load(tmp_path / "p.npy", allow_pickle=False)
    assert array.dtype == np.int32
    np.testing.assert_array_equal(array, pairs)
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines == ["first,second", *(f"{first},{second}" for first, second in pairs.tolist())]
    table = parquet.read_table(tmp_path / "p.parquet")
    assert table.column_names == ["first", "second"]
    assert table.to_pydict() == {"first": pairs[:, 0].tolist(), "second": pairs[:, 1].tolist()}


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="format for pairs"):
        files.write_pairs(tmp_path / "p.txt", PAIRS)
    for pairs in (PAIRS.astype(float), PAIRS.ravel(), np.zeros((2, 3), dtype=int)):
        with pytest.raises(InvalidInput, match=r"\(m, 2\)"):
            files.write_pairs(tmp_path / "p.npy", pairs)
    assert list(tmp_path.iterdir()) == []
