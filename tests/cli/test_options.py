"""Values of options that several verbs share."""

from __future__ import annotations

import pytest
import typer

from choque.cli._options import listed, read_settings, spelled_out, whole_number  # readers of options that verbs share
from choque.errors import InvalidInput


def test_values_are_json_or_text() -> None:
    words = ["a=1", "b=2.5", "c=true", "d=null", "e=[0, 1]", "f=radix", "leaf-size=8", "g=x=y", "h="]
    expected = {"a": 1, "b": 2.5, "c": True, "d": None, "e": [0, 1], "f": "radix", "leaf_size": 8, "g": "x=y", "h": ""}
    assert read_settings(words) == expected
    assert read_settings(None) == {}


@pytest.mark.parametrize("word", ["a", "=1", "1=1", "a b=1", ""])
def test_words_without_key_and_value_are_refused(word: str) -> None:
    with pytest.raises(InvalidInput, match="key=value"):
        read_settings([word])


def test_names_are_repeated_or_joined() -> None:
    assert listed(["a,b", "c", "a, ,"]) == ["a", "b", "c"]
    assert listed(None) == []


def test_whole_numbers_as_people_write_them() -> None:
    assert [whole_number(word) for word in ("1000", "1e3", "1_000", "0")] == [1000, 1000, 1000, 0]
    short = ("pile:1k", "mixed-box:1e3", "uniform:2.5M", "gas:1_000", "pile:1.5", "pile:x", "C:1k/a.npy", "--size")
    assert [spelled_out(word) for word in short] == [
        "pile:1000",
        "mixed-box:1000",
        "uniform:2500000",
        "gas:1000",
        *short[4:],
    ]
    for word in ("1.5", "many", "inf", "nan", ""):
        with pytest.raises(typer.BadParameter, match="not a whole number, such as 1000 or 1e3"):
            whole_number(word)
