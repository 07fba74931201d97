"""What a release consists of agrees with itself: versions, requirements, and files that name others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a checkout")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _project() -> dict[str, object]:
    project: dict[str, object] = tomllib.loads(_text("pyproject.toml"))["project"]
    return project


def test_every_file_has_the_version_of_the_package() -> None:
    version = _project()["version"]
    assert re.search(r"^version: (\S+)$", _text("CITATION.cff"), re.M)[1] == version  # type: ignore[index]
    assert re.search(r'version: "(\S+)"', _text("conda/meta.yaml"))[1] == version  # type: ignore[index]
    assert f"## {version}" in _text("CHANGELOG.md")


def test_the_recipe_requires_what_the_package_requires() -> None:
    run = _text("conda/meta.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    recipe = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    project = _project()
    assert recipe == {f"python{project['requires-python']}", *project["dependencies"]}  # type: ignore[misc]


@pytest.mark.parametrize("page", re.findall(r"\]\(([\w/-]+)\.html\)", _text("docs/llms.txt")))
def test_the_index_for_programs_names_pages_that_exist(page: str) -> None:
    assert (ROOT / "docs" / f"{page}.md").is_file()


def test_the_tests_that_trace_kernels_exist() -> None:
    names = re.search(r'^TESTS = """(.*?)"""', _text(".ci/kernel_coverage.py"), re.M | re.S)
    assert names is not None
    assert [name for name in names[1].split() if not (ROOT / "tests" / name.partition("::")[0]).is_file()] == []
