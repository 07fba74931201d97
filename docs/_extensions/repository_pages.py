"""Pages that lie elsewhere in the repository are pages of the site too, with links that lead within it.

Where a page says ``{include} ../CONTRIBUTING.md`` it gets the text of that file, a level lower if a heading
stands above it. Links to what is a page here are turned to it; others keep their words and lose their target.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples": "gallery/index.rst",
    "examples/": "gallery/index.rst",
}
INCLUDE = re.compile(r"```\{include\} \.\./(?P<file>[\w/]+\.md)\n```\n")
LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]+)\]\((?P<target>[^)#\s]+)\)")


def include(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the file in the place of the directive that names it."""
    found = INCLUDE.search(source[0])
    if found is None:
        return
    path = Path(app.srcdir).parent / found["file"]
    app.env.note_dependency(str(path), docname=name)
    text = LINK.sub(lambda link: turned(link, Path(app.srcdir)), path.read_text())
    if "# " in source[0][: found.start()]:
        text = re.sub(r"^#", "##", text, flags=re.MULTILINE)
    source[0] = source[0].replace(found[0], text)


def turned(link: re.Match[str], docs: Path) -> str:
    """The link as it reads within the site."""
    words, target = link["words"], link["target"]
    if "://" in target:
        return link[0]
    if target in PAGES:
        return f"[{words}]({PAGES[target]})"
    page = target.removeprefix("docs/")
    return f"[{words}]({page})" if page != target and (docs / page).exists() else words


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
