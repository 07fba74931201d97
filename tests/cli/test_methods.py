"""``choque methods``: every method with its guarantees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import choque
from choque.broad.index import methods
from choque.cli.methods import describe

if TYPE_CHECKING:
    from conftest import Command


def test_every_method_is_listed_with_its_guarantees(command: Command) -> None:
    listed = {each["name"]: each for each in json.loads(command.succeeds("methods", "--json"))}
    assert list(listed) == choque.broad.names()
    for each in listed.values():
        assert each["summary"].endswith("."), each
        assert each["guarantees"].endswith("."), each
        assert each["error"] is None
    assert listed["sap-axes"]["options"] == ["axes", "sort", "tiles"]
    assert listed["brute"]["options"] == []


def test_the_table_names_every_method(command: Command) -> None:
    table = command.succeeds("methods")
    assert all(name in table for name in choque.broad.names())
    assert table.startswith("Take 'auto'"), "the first line says which method to take"


def test_the_advice_is_as_wide_as_the_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    advice = command.succeeds("methods").partition("\n method ")[0].splitlines()
    assert max(map(len, advice)) <= 60
    assert sum(len(line) < 40 for line in advice) <= 4, "lines are filled, not broken twice"


def test_one_method_is_printed_with_its_guarantees_and_options(command: Command) -> None:
    text = command.succeeds("methods", "sap-direct")
    assert text.startswith("sap-direct: Sorts")
    assert "Guarantees: exact" in text
    assert text.rstrip().endswith(": tiles")
    assert "Did you mean 'grid'?" in command.fails("methods", "gird")


def test_a_method_that_cannot_be_imported_says_why(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setitem(methods._built_in, "lost", "choque.no_such_module:Lost")
    assert "no_such_module" in (describe("lost").error or "")
    assert "cannot be used" in command.succeeds("methods")
