"""The report of the tour: one page without links to anything, to be kept or sent."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from choque.cli.tour._stop import Shown

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1d2433; background: #f6f7f9; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 0 0 .6rem; }
header p, footer { color: #5a6478; }
section { background: #fff; border: 1px solid #e3e7ee; border-radius: 10px; padding: 1.4rem 1.6rem; margin: 1.4rem 0; }
section.wrong { border-color: #c4442d; }
section p { margin: 0 0 .9rem; }
img { display: block; max-width: min(100%, 44rem); margin: 0 auto; border-radius: 4px; }
code { font: 14px ui-monospace, monospace; background: #eef1f5; border-radius: 4px; padding: .15em .4em; }
.next { margin: 1rem 0 0; color: #5a6478; }
"""

TYPES = {".png": "image/png", ".gif": "image/gif"}


def write_report(path: Path, stops: dict[str, Shown], machine: str) -> None:
    """Write the page: a section for each stop by its title, with its sentence, its picture and what to try next."""
    from choque.files.atomic import replacing

    sections = "".join(_section(title, shown) for title, shown in stops.items())
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>A tour of Choque</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n<body><main>'
        f"<header><h1>A tour of Choque</h1><p>It finds, follows and answers collisions. This page was made by "
        f"<code>choque demo</code> on {escape(machine)}.</p></header>\n{sections}"
        f"<footer>Every figure was measured, and every answer checked, while this page was made.</footer>"
        f"</main></body></html>\n"
    )
    with replacing(path) as handle:
        handle.write(page.encode())


def _section(title: str, shown: Shown) -> str:
    data = b64encode(shown.picture.read_bytes()).decode()
    kind = TYPES[shown.picture.suffix.lower()]
    mark = "" if shown.is_right else ' class="wrong"'
    return (
        f"<section{mark}><h2>{escape(title)}</h2><p>{escape(shown.sentence)}</p>"
        f'<img alt="{escape(title)}" src="data:{kind};base64,{data}">'
        f'<p class="next">Go on with <code>{escape(shown.try_next)}</code></p></section>\n'
    )
