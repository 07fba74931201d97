"""What the pages say is true: code runs and prints what is shown, commands parse, links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from pages import BLOCK, DOCS, ROOT, inline_commands, leads_somewhere, links, python_blocks, said_to_print, shell_lines

from choque.cli import build
from choque.scene.body_scene import GENERATORS as BODY_GENERATORS
from choque.scene.box_scene import GENERATORS as BOX_GENERATORS

WITH_CODE = [path for path in sorted(DOCS.rglob("*.md")) if python_blocks(path.read_text())]
WITH_COMMANDS = [path for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))] if shell_lines(path.read_text())]
TOP_NAMES = ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY", "CODE_OF_CONDUCT")
TOP = [ROOT / f"{name}.md" for name in TOP_NAMES]
OTHERS = [path for name in ("benchmarks", "examples", ".github") for path in sorted((ROOT / name).rglob("*.md"))]
WRITTEN = [*TOP, *OTHERS, *sorted(DOCS.rglob("*.md"))]
READ = ("python", "sh", "text", "toml")
DIRECTIVE = re.compile(r"```\{(eval-rst|toctree|include|figure|image)\}|```\{code-block\} text$|:{3,4}\{grid")
COMPLETION = {"--install-completion", "--show-completion"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def generators_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page registers is forgotten after it, or another test in this process would find it."""
    for generators in (BOX_GENERATORS, BODY_GENERATORS):
        monkeypatch.setattr(generators, "_registered", {})


@pytest.mark.usefixtures("figures_as_vectors", "generators_of_ones_own")
@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_prints_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checker, names = doctest.OutputChecker(), {"__name__": "__main__"}
    for block in python_blocks(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), names)
        if block.expected is not None:
            same = checker.check_output(block.expected, printed.getvalue(), doctest.ELLIPSIS)
            where = f"{name_of(page)}, the block at line {block.line}"
            assert same, f"{where} printed\n{printed.getvalue()}\nand the page says\n{block.expected}"


def test_the_code_of_the_first_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"__name__": "__main__"}
    for block in python_blocks((ROOT / "README.md").read_text()):
        exec(compile("\n" * (block.line - 1) + block.code, "README.md", "exec"), names)
        assert capsys.readouterr().out == said_to_print(block.code)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_the_commands_of_a_page_parse(page: Path) -> None:
    for line in shell_lines(page.read_text()):
        parse(line)


@pytest.mark.parametrize("page", [*TOP, DOCS / "llms.txt", *sorted(DOCS.rglob("*.md"))], ids=name_of)
def test_verbs_and_options_in_the_text_of_a_page_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it names what is gone, too
    for line in inline_commands(page.read_text()):
        command, words = verb_of(line)
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert given <= known | COMPLETION, f"{name_of(page)}: {line}"


def test_the_examples_in_the_help_parse() -> None:
    count = 0
    for help_text in helps(whole_command()):
        for line in help_text.partition("Try:\n")[2].splitlines():
            if line.strip().startswith("choque ") and "VERB" not in line:
                parse(re.split(r"\s{4,}", line.strip())[0])  # what an example does may stand beside it
                count += 1
    assert count > 60


@cache
def whole_command() -> Any:
    return typer.main.get_command(build())


def helps(command: Any) -> Iterator[str]:
    """Yield the help of a verb and of those below it."""
    yield command.help or ""
    for each in getattr(command, "commands", {}).values():
        yield from helps(each)


def verb_of(line: str) -> tuple[Any, list[str]]:
    """Return the verb of a command, and the words that follow it."""
    command = whole_command()
    words = shlex.split(line, comments=True)[1:]
    while hasattr(command, "commands") and words and not words[0].startswith("-") and words[0] != "VERB":
        assert words[0] in command.commands, f"there is no verb {words[0]!r} in {line!r}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def parse(line: str) -> None:
    """Parse a command as the shell would, or raise."""
    command, words = verb_of(line)
    if "--help" not in words and not hasattr(command, "commands"):
        command.make_context(line, words)


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert [target for target in links(page.read_text()) if not leads_somewhere(page, target)] == []


def test_the_list_for_language_models_links_to_pages() -> None:
    targets = links((DOCS / "llms.txt").read_text())
    assert len(targets) > 20
    assert [target for target in targets if not (DOCS / target).with_suffix(".md").exists()] == []


def test_dead_links_are_found() -> None:
    page = DOCS / "how-to" / "boxes.md"
    right = [
        "../limits.md#dependencies",
        "#find-every-pair",
        "../peers.md#first-calls",
        "#method-grid",
        "../gallery/index.rst",
    ]
    wrong = ["../limit.md", "../limits.md#dependence", "#find-every-pear", "#method-gird", "../gallery/boxes/none.rst"]
    text = "".join(f"[words]({target}) " for target in [*right, *wrong, "https://example.org/none"])
    assert [target for target in links(text) if not leads_somewhere(page, target)] == wrong


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_every_block_is_of_a_kind_that_tests_read(page: Path) -> None:
    """A block in another language, in a list or in other fences would be shown and never tried; scenes are in TOML."""
    text = BLOCK.sub(lambda block: "" if block["language"] in READ else block[0], page.read_text())
    fences = re.findall(r"^[ >]*(?:`{3,}|~{3,}|:{3,})[^`~:\n]+$", text, re.MULTILINE)
    assert [fence for fence in fences if not DIRECTIVE.match(fence)] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=name_of)
def test_no_line_of_code_is_cut_off_on_a_screen(page: Path) -> None:
    blocks = [block["text"] for block in BLOCK.finditer(page.read_text()) if block["language"] in ("python", "sh")]
    assert [line for text in blocks for line in text.splitlines() if len(line) > 92] == []


def test_code_is_found_with_what_it_prints() -> None:
    text = "```python\nprint(1)\n```\n\n```text\n1\n```\n\n<!-- not run: a browser -->\n\n```python\nshow()\n```\n"
    assert [(block.code, block.expected, block.line) for block in python_blocks(text)] == [("print(1)\n", "1\n", 2)]


def test_commands_are_found_in_blocks_and_in_indented_lines() -> None:
    text = "Say\n\n    choque view\n    pip install choque\n\n```sh\nchoque pairs a.npy \\\n  --json\n```\n"
    assert shell_lines(text) == ["choque view", "choque pairs a.npy    --json"]


def test_what_the_first_page_says_is_found() -> None:
    assert said_to_print("print(1)  # no\n# 1\nx = 2\n    # no\n# 2\n") == "1\n2\n"


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=name_of)
def test_every_picture_says_what_it_shows(page: Path) -> None:
    text = page.read_text()
    assert "![](" not in text
    figures = re.findall(r"^```\{(?:figure|image)\}[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert all(re.search(r"^:alt: \S", figure, re.MULTILINE) for figure in figures)
    assert all(re.search(r'\balt="[^"]', tag) for tag in re.findall(r"<img\b[^>]*>", text))


WORDS = ["ray cast", "torch", "nearest", "IoU", "raycast", "NMS", "AABB", "neighbor list", "friction", "STL"]


@pytest.mark.parametrize("word", WORDS)
def test_words_of_other_libraries_are_in_the_glossary(word: str) -> None:
    """So that the search of the documentation, which knows only words that are in it, leads somewhere."""
    row = next(line for line in (DOCS / "glossary.md").read_text().splitlines() if word in line and "](" in line)
    assert row.startswith("| ")
