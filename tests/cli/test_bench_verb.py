"""``choque bench``: its table, files, exit codes and errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import choque
from choque.lab import bench, peers

if TYPE_CHECKING:
    from conftest import Command

QUICK = ("--repetitions", 1, "--method", "brute,auto")


def test_the_table(command: Command) -> None:
    text = command.succeeds("bench", "uniform", "mixed", "--n", "300,600", *QUICK)
    for title in ("uniform, 300 boxes", "uniform, 600 boxes", "mixed, 300 boxes", "mixed, 600 boxes"):
        assert title in text
    assert text.count("exact") == 8


def test_json_and_csv(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "figures.csv"
    options = ("--frames", 3, "--seed", 5, "--threads", 1, "--dimension", 2, "--csv", path)
    record = json.loads(command.succeeds("bench", "moving", "--n", "300", *QUICK, *options, "--json"))
    assert {row["candidate"] for row in record["rows"]} == {"brute", "auto"}
    assert all((row["frames"], row["dimension"], row["threads"]) == (3, 2, 1) for row in record["rows"])
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert [row["verdict"] for row in csv.DictReader(lines)] == ["exact", "exact"]


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "bench", lambda *_, **__: pytest.fail("It was measured."))
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "a.csv", "there is no folder")):
        assert words in command.fails("bench", "--n", "300", *QUICK, "--csv", path)


def test_a_wrong_answer_is_exit_code_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "oracle", lambda frame: choque.pairs(*frame)[1:])
    outcome = command("bench", "--n", "300", *QUICK)
    assert outcome.code == 1
    assert "wrong" in outcome.out


def test_no_peer_is_a_remark(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "installed", list)
    outcome = command("bench", "--n", "300", "--peers", *QUICK)
    assert outcome.code == 0
    assert "pip install 'choque[peers]'" in outcome.err


def test_peers_take_part(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "installed", lambda: ["scipy-ckdtree"])
    record = json.loads(command.succeeds("bench", "--n", "300", "--peers", *QUICK, "--json"))
    assert {row["candidate"] for row in record["rows"]} == {"brute", "auto", "scipy-ckdtree"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unifrom"], "Did you mean 'uniform'?"),
        (["--method", "brut"], "Did you mean 'brute'?"),
        (["--n", "many"], "not a whole number"),
        (["--n", "1"], "at least 2"),
        (["--n", ","], "whole numbers"),
        (["--repetitions", "0"], "at least 1"),
        (["--budget", "0"], "budget"),
        (["--threads", "0"], "threads"),
        (["--dimension", "5"], "dimension"),
        (["--frames", "0"], "frames"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments(command: Command, arguments: list[str], words: str) -> None:
    assert words in command.fails("bench", "--n", "300", *arguments)
