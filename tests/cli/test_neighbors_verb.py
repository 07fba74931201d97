"""``choque neighbors``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Command


@pytest.fixture
def atoms_file(tmp_path: Path) -> Path:
    file = tmp_path / "atoms.xyz"
    file.write_text(
        '3\nLattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3 pbc="T F F"\nO 0.2 0 0\nH 3.8 0 0\nH 1 2 2\n'
        "2\n\nHe 0 0 0\nHe 0 0 0.5\n"
    )
    return file


def test_the_summary_has_a_row_for_each_kind(command: Command, atoms_file: Path) -> None:
    text = command.succeeds("neighbors", atoms_file, "--cutoff", "1")
    assert "3 from" in text
    assert "periodic along a" in text
    assert "2, every pair from both sides" in text
    rows = [line.split() for line in text.splitlines()[-2:]]
    assert rows == [["H", "2", "0.50", "0.4000"], ["O", "1", "1.00", "0.4000"]]


def test_json_has_the_neighbours(command: Command, atoms_file: Path) -> None:
    record = json.loads(command.succeeds("neighbors", atoms_file, "--cutoff", "1", "--half", "--json"))
    assert (record["i"], record["j"], record["S"], record["neighbor_count"]) == ([0], [1], [[-1, 0, 0]], 1)
    assert record["periodic"] == [True, False, False]


def test_the_list_is_written_to_a_table(command: Command, atoms_file: Path, tmp_path: Path) -> None:
    text = command.succeeds("neighbors", atoms_file, "--cutoff", "1", "--output", tmp_path / "n.csv")
    assert text.splitlines()[-1].split()[0] == "written"
    lines = (tmp_path / "n.csv").read_text().splitlines()
    assert lines[0] == "i,j,S_a,S_b,S_c,d"
    assert [line.split(",")[:5] for line in lines[1:]] == [["0", "1", "-1", "0", "0"], ["1", "0", "1", "0", "0"]]
    parquet = pytest.importorskip("pyarrow.parquet")
    command.succeeds("neighbors", atoms_file, "--cutoff", "1", "--output", tmp_path / "n.parquet", "--json")
    assert parquet.read_table(tmp_path / "n.parquet").to_pydict()["S_a"] == [-1, 1]
    assert "written to .csv or .parquet" in command.fails("neighbors", atoms_file, "--cutoff", "1", "--output", "n.txt")


def test_a_frame_without_a_cell_and_without_neighbours(command: Command, atoms_file: Path) -> None:
    text = command.succeeds("neighbors", atoms_file, "--cutoff", "0.1", "--frame", "1")
    assert "cell       none" in text
    assert "neighbours 0" in text


def test_bad_input_is_one_sentence(command: Command, atoms_file: Path, tmp_path: Path) -> None:
    assert "cutoff is 0.0" in command.fails("neighbors", atoms_file, "--cutoff", "0")
    assert "There is no file" in command.fails("neighbors", tmp_path / "none.xyz", "--cutoff", "1")
