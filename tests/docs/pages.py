"""The pages of the documentation as tests see them: blocks of code, what they are said to print, and links."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from choque.broad.index import methods

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

BLOCK = re.compile(r"^```(?P<language>[a-z]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
CARD = re.compile(r"^:link: (\S+)\n:link-type: doc$", re.MULTILINE)
SKIPPED = re.compile(r"<!-- not run: [^>]+ -->\s*$")
"""A comment before a block that no test runs says why."""


@dataclass(frozen=True)
class Block:
    """A block of Python, and what the block of text right after it says that it prints.

    A block ``{code-block} text`` is shown and not compared: it holds times.
    """

    code: str
    expected: str | None
    line: int


def python_blocks(text: str) -> list[Block]:
    """The blocks of Python that are run, in their order."""
    found = list(BLOCK.finditer(text))
    blocks = []
    for here, following in zip_longest(found, found[1:]):
        if here["language"] != "python" or SKIPPED.search(text[: here.start()]):
            continue
        is_answered = (
            following is not None
            and following["language"] == "text"
            and not text[here.end() : following.start()].strip()
        )
        line = text.count("\n", 0, here.start()) + 2
        blocks.append(Block(here["text"], following["text"] if following is not None and is_answered else None, line))
    return blocks


def said_to_print(code: str) -> str:
    """What a block says that it prints, in comments of whole lines, as the first page does."""
    return "".join(line.removeprefix("# ") for line in code.splitlines(keepends=True) if line.startswith("# "))


def shell_lines(text: str) -> list[str]:
    """The commands of the package in blocks of shell and in indented lines, continued lines joined."""
    lines = [line for line in BLOCK.sub("", text).splitlines() if line.startswith("    choque ")]
    for block in BLOCK.finditer(text):
        if block["language"] == "sh":
            lines += block["text"].replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("choque ")]


def inline_commands(text: str) -> list[str]:
    """The commands of the package that stand in sentences and tables."""
    return re.findall(r"`(choque [^`\n]+)`", BLOCK.sub("", text))


def links(text: str) -> list[str]:
    """Where links and pictures lead, those out of the repository left out."""
    targets = [found["target"] for found in LINK.finditer(BLOCK.sub("", text))]
    targets += [f"{name}.rst" if "gallery/" in name else f"{name}.md" for name in CARD.findall(text)]
    return [target for target in targets if "://" not in target and not target.startswith("mailto:")]


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link of ``page`` leads to a file, and to a heading or a label of it.

    Pages of the gallery are made from ``examples``; a label alone may be that of a method, which the reference makes.
    """
    name, _, anchor = target.partition("#")
    place = Path(os.path.normpath(page.parent / name)) if name else page
    if (made := DOCS / "gallery") in place.parents:
        script = ROOT / "examples" / place.relative_to(made)
        place = script.with_name("GALLERY_HEADER.rst") if script.stem == "index" else script.with_suffix(".py")
    if not place.exists() or not anchor:
        return place.exists()
    return anchor in anchors(place.read_text()) or (not name and anchor.removeprefix("method-") in methods)


def anchors(text: str) -> set[str]:
    """What links to a page may end with: its labels, and its headings as addresses write them."""
    prose = BLOCK.sub("", text)
    headings = re.findall(r"^#{1,3} (.+)$", prose, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", prose, re.MULTILINE))
