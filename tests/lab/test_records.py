"""Tables of samples: selection, grouping, Parquet and CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import UnknownName, UnreadableFile
from choque.lab.records import Records, read_parquet

TABLE = Records([{"m": "a", "n": 1, "t": 0.5}, {"m": "b", "n": 1}, {"m": "a", "n": 2, "t": 0.25}])


def test_rows_are_chosen_grouped_and_read_by_column() -> None:
    assert TABLE.columns == ["m", "n", "t"]
    assert TABLE.where(m="a").values("n") == [1, 2]
    assert TABLE.where(n=(1, 2), m="b").values("t") == [None]
    assert TABLE.where(lambda row: row["n"] == 2).values("m") == ["a"]
    assert TABLE.numbers("t").tolist() == [0.5, 0.25]
    assert [(key, len(rows)) for key, rows in TABLE.groups("m")] == [(("a",), 2), (("b",), 1)]
    assert TABLE.sorted("t").values("m") == ["a", "a", "b"]
    assert TABLE[1:].levels("n") == [1, 2]
    with pytest.raises(UnknownName, match="column"):
        TABLE.where(method="a")


@given(
    st.lists(st.fixed_dictionaries({"a": st.integers(0, 9), "b": st.floats(0, 1)}, optional={"c": st.text('xyz,é"\n')}))
)
def test_parquet_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("records") / "table.parquet"
    Records(rows).to_parquet(path)  # type: ignore[arg-type]
    assert read_parquet(path) == Records(rows)  # type: ignore[arg-type]


def test_csv_has_every_column_and_gaps(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8") as handle:
        assert list(csv.reader(handle)) == [["m", "n", "t"], ["a", "1", "0.5"], ["b", "1", ""], ["a", "2", "0.25"]]


def test_csv_looks_for_the_columns_once(tmp_path: Path) -> None:
    """For each row it took minutes with the samples of a whole study."""
    asked: list[int] = []

    class Watched(Records):
        @property
        def columns(self) -> list[str]:
            asked.append(len(self))
            return super().columns

    Watched(TABLE.rows).to_csv(tmp_path / "table.csv")
    assert asked == [len(TABLE)]


@pytest.mark.parametrize("keep", [0, 3, 100])
def test_a_truncated_table_is_named_in_a_sentence(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "table.parquet"
    TABLE.to_parquet(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UnreadableFile, match=r"table\.parquet"):
        read_parquet(path)
