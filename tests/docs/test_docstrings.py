"""The first line of a docstring says what is done or what it is; its examples print what they say."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import choque
from choque.scene import body_scene, box_scene

SOURCE = Path(choque.__file__).parent

UNFIT = frozenset(
    re.findall(
        r"\w+",
        "again against also are as at because beyond by does for from has have how if in is it its like not of on "
        "only per so that theirs these they this those to unless what whatever when where whether whose with within "
        "without",
    )
)
"""Words that begin neither an imperative nor a noun phrase; a property may say whether or how many."""


def first_words() -> Iterator[tuple[str, str]]:
    """Yield the place of each function with a docstring, and its first word."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not any(
                "property" in ast.dump(one) for one in node.decorator_list
            ):
                words = (ast.get_docstring(node) or "").split()
                if words:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", words[0].strip(",.:;").lower()


def test_docstrings_of_functions_begin_with_a_verb_or_a_noun() -> None:
    assert [place for place, word in first_words() if word in UNFIT] == []


WITH_EXAMPLES = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_the_examples_of_a_module_print_what_they_say(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``choque`` and ``np`` imported, as readers have them; what an example registers is forgotten."""
    monkeypatch.chdir(tmp_path)
    for generators in (body_scene.GENERATORS, box_scene.GENERATORS):
        monkeypatch.setattr(generators, "_registered", dict(generators._registered))
    module = importlib.import_module(".".join(("choque", *path.with_suffix("").parts)).removesuffix(".__init__"))
    given = {"choque": choque, "np": np}
    assert doctest.testmod(module, extraglobs=given, optionflags=doctest.ELLIPSIS).failed == 0
