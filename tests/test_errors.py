"""One exception tree, messages that help, and errors that survive a trip between processes."""

from __future__ import annotations

import inspect
import pickle

import pytest

from choque import errors
from choque.errors import ChoqueError, InvalidInput, MissingExtra, UnknownName, UnreadableFile, require


def test_every_error_is_of_one_tree() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]
    assert len(kinds) >= 5
    assert all(issubclass(kind, ChoqueError) for kind in kinds)


def test_errors_can_be_caught_as_what_python_programmers_expect() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(UnknownName, InvalidInput)
    assert issubclass(UnreadableFile, InvalidInput)
    assert issubclass(MissingExtra, ImportError)


def test_an_unknown_name_suggests_the_nearest_and_lists_all() -> None:
    problem = UnknownName("method", "brut", ["grid", "brute"])
    assert str(problem) == "There is no method called 'brut'. Did you mean 'brute'? Known: brute, grid."
    assert "Did you mean" not in str(UnknownName("method", "xyzzy", ["grid", "brute"]))
    assert "called None" in str(UnknownName("method", None, ["grid", "brute"]))


def test_of_many_names_the_nearest_are_listed_and_the_command_that_lists_all() -> None:
    many = [f"method-{number}" for number in range(20)] + ["grid"]
    problem = str(UnknownName("method", "gird", many, "choque methods"))
    assert problem.startswith("There is no method called 'gird'. Did you mean 'grid'? The nearest of 21 are grid, ")
    assert problem.endswith("; 'choque methods' lists all.")
    assert problem.count("method-") == 4
    without = str(UnknownName("method", "qqq", many, "choque methods"))
    assert "Did you mean" not in without
    assert without.endswith("; 'choque methods' lists all.")
    assert str(UnknownName("method", "qqq", many)).count("method-") == 20  # no command lists them
    assert "Known: brute, grid." in str(UnknownName("method", "qqq", ["grid", "brute"], "choque methods"))


@pytest.mark.parametrize(
    "problem",
    [
        UnknownName("method", "brut", ["grid", "brute"]),
        UnknownName("method", "brut", map(str, range(20)), "choque methods"),
        InvalidInput("Row 3 is not a number."),
    ],
)
def test_an_error_can_be_pickled(problem: ChoqueError) -> None:
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is type(problem)
    assert str(again) == str(problem)


def test_require_gives_the_module() -> None:
    assert require("xml.dom", extra="lab", purpose="to test").__name__ == "xml.dom"


def test_require_says_how_to_get_what_is_missing() -> None:
    with pytest.raises(MissingExtra) as caught:
        require("no_such_library.part", extra="lab", purpose="to draw pictures")
    message = str(caught.value)
    assert "'no_such_library' is needed to draw pictures" in message
    assert "pip install 'choque[lab]'" in message
