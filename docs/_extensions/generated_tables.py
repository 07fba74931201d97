"""Parts of pages that are generated from the package: methods, scenes and verbs.

A line ``% generated: methods`` in a page stands for the part of that name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import typer
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

import choque
from choque.cli._app import argument_word, build

MARK = re.compile(r"^% generated: (?P<part>[a-z-]+)$", re.MULTILINE)


def methods(app: Sphinx) -> Iterator[str]:
    """Every broad phase by its name, with the whole docstring of its class."""
    settings = Config(napoleon_use_param=False)  # a list: fields belong to an object, and there is none on this page
    for name in choque.broad.names():
        method = choque.broad.find(name)
        text = str(NumpyDocstring(inspect.getdoc(method) or "", settings, app, "class", name, method))
        own = method.options()
        yield f"(method-{name})=\n### `{name}`\n"
        yield from ("```{eval-rst}", text, "```\n")
        if own and ":Parameters:" not in text:
            yield f"Options of its own: {', '.join(f'`{option}`' for option in own)}.\n"


def scenes(app: Sphinx) -> Iterator[str]:  # noqa: ARG001
    """Scenes of boxes and of bodies, each with its parameters."""
    scene = choque.scene
    sorts = {
        "Boxes": (scene.names(), scene.parameters),
        "Bodies, by a generator": (scene.names("bodies"), scene.parameters),
        "Bodies, ready made": (scene.names("built-in"), lambda _: {}),
    }
    for sort, (names, parameters) in sorts.items():
        any_parameters = any(parameters(name) for name in names)
        columns = ("name", "what it is", "parameters")[: 3 if any_parameters else 2]
        yield f"### {sort}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"
        for name in names:
            listed = ", ".join(f"`{key}={value}`" for key, value in parameters(name).items())
            yield f"| `{name}` | {cell(scene.describe(name))} |" + f" {listed} |" * any_parameters
        yield ""


def commands(app: Sphinx) -> Iterator[str]:  # noqa: ARG001
    """Every verb with its help and its options."""
    root: Any = typer.main.get_command(build())
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            yield f"## `choque {name}`\n\n{prose(command.help)}\n"
            for verb, inner in command.commands.items():
                yield from one_command(f"choque {name} {verb}", inner, "###")
        else:
            yield from one_command(f"choque {name}", command, "##")


def one_command(name: str, command: Any, heading: str) -> Iterator[str]:
    """The section of one verb."""
    yield f"{heading} `{name}`\n\n{prose(command.help)}\n"
    yield "| | |\n| --- | --- |"
    rows: dict[str, list[str]] = {"": []}  # by the heading of the help that they stand under
    for each in command.params:
        if each.param_type_name == "argument":
            rows[""].append(f"| `{argument_word(each)}` | {cell(getattr(each, 'help', None) or '')} |")
        else:
            value = f" {each.metavar}" if each.metavar else ""
            written = ", ".join(f"`{spelling}{value}`" for spelling in (*each.opts, *each.secondary_opts))
            panel = getattr(each, "rich_help_panel", None) or ""
            rows.setdefault(panel, []).append(f"| {written} | {cell(each.help or '')} |")
    for panel, lines in rows.items():
        yield from [f"| **{panel}** | |"] * bool(panel) + lines
    yield ""


def cell(text: str) -> str:
    """Text that a cell of a table can hold."""
    return options_as_code(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def prose(text: str | None) -> str:
    """The help of a verb as Markdown: what stands under ``Try:`` becomes lines to copy."""
    clean = inspect.cleandoc((text or "").replace("\b", ""))
    words, _, lines = clean.partition("Try:")
    tried = [line.strip() for line in lines.splitlines() if line.strip()]
    block = "\n\n```sh\n" + "\n".join(tried) + "\n```" if tried else ""
    return options_as_code(words.strip()).replace("<", "&lt;") + block


def options_as_code(text: str) -> str:
    """Text in which options, and verbs in quotation marks, are set as code."""
    return re.sub(r"'(choque [^']+)'", r"`\1`", re.sub(r"(?<![\w'`-])(--[a-z][\w-]*)", r"`\1`", text))


PARTS: dict[str, Callable[[Sphinx], Iterator[str]]] = {"methods": methods, "scenes": scenes, "commands": commands}


def fill(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001
    """Put each part in the place of its mark."""
    source[0] = MARK.sub(lambda mark: "\n".join(PARTS[mark["part"]](app)), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
