"""``choque demo``: a section for each part of Choque, with a film each, and one report of all.

A section is a file of this package; `_section` says what it consists of.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from choque.cli.demo._section import Section, Shown

OUTPUT, REPORT = Path("output"), "report.html"

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1d2433; background: #f6f7f9; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 0 0 .6rem; }
header p, footer { color: #5a6478; }
section { background: #fff; border: 1px solid #e3e7ee; border-radius: 10px; padding: 1.4rem 1.6rem; margin: 1.4rem 0; }
section.wrong { border-color: #c4442d; }
section p { margin: 0 0 .9rem; }
img { display: block; width: 40rem; max-width: 100%; margin: 0 auto .9rem; border-radius: 4px; }
code { font: 14px ui-monospace, monospace; background: #eef1f5; border-radius: 4px; padding: .15em .4em; }
.next { margin: 1rem 0 0; color: #5a6478; }
@media (prefers-color-scheme: dark) {
  body { color: #dfe4ec; background: #14171d; }
  section { background: #1d222b; border-color: #313947; }
  header p, footer, .next { color: #9aa5b8; }
  code { background: #2a313d; }
  img.chart { filter: invert(0.92) hue-rotate(180deg); }
}
"""

SAMPLE = "choque.broad"  # where none of its kernels is on disk, those of the sections are not there either
HELPER = "from choque.cli.demo import sections\nfor each in sections()[1:]:\n    each.prepare()\n"
"""What another process runs while this one compiles the kernels of the first section."""

IMAGE_TYPES = {".png": "image/png", ".webp": "image/webp"}


def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FOLDER", help="Folder to write to; default: a new one in 'output'.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller examples, in a few seconds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show everything Choque does, in a minute.

    Falling bodies are simulated and filmed, the pairs of a million boxes are found, motion is followed from event to
    event, two voxel solids collide, a crowd is searched for neighbours, and every method is checked. The very first
    run compiles for a minute or two before it starts. The exit code is 1 if an answer was wrong.

    Try:
      choque demo
      choque demo --quick --output pictures
    """
    from time import perf_counter

    from choque.cli._options import run_folder
    from choque.cli._terminal import console
    from choque.errors import require
    from choque.lab.machine import processor_name

    require("matplotlib", extra="lab", purpose="to draw the pictures of the demo")
    folder = run_folder(output, OUTPUT, "demo")
    terminal = console()
    chosen = sections()
    _prepare(chosen)
    begin = perf_counter()
    shown: dict[str, Shown] = {}
    for number, section in enumerate(chosen, start=1):
        shown[section.title] = _run(section, folder, quick)
        if not as_json:
            _print(terminal, f"{number}. {section.title}", shown[section.title])
    write_report(folder / REPORT, shown, processor_name())
    right = all(each.is_right for each in shown.values())
    if as_json:
        facts = {
            title: {**each.facts, "picture": each.picture, "chart": each.chart, "right": each.is_right}
            for title, each in shown.items()
        }
        print_json({"folder": folder, "report": folder / REPORT, "right": right, "sections": facts})
    else:
        terminal.print(f"{perf_counter() - begin:.0f} s in all. The films are in {folder}/, the report is")
        terminal.print(f"{folder / REPORT}", style="bold", soft_wrap=True)
    if not right:
        raise typer.Exit(1)


def sections() -> tuple[Section, ...]:
    """Return the sections in their order."""
    from choque.cli.demo.areas import AREAS
    from choque.cli.demo.bodies import BODIES
    from choque.cli.demo.boxes import BOXES
    from choque.cli.demo.methods import METHODS
    from choque.cli.demo.motion import MOTION
    from choque.cli.demo.solids import SOLIDS

    return (BODIES, BOXES, MOTION, SOLIDS, AREAS, METHODS)


def _prepare(chosen: tuple[Section, ...]) -> None:
    """Compile or load what the sections need, with a progress bar, so that none of it is in their times.

    Where nothing is compiled yet, another process compiles for all sections but the first, which takes about as long as
    all others together; this process then loads what that one has kept on disk.
    """
    from choque._core.progress import shown
    from choque.cli._compiling import compiling_beside

    with shown() as report, compiling_beside(HELPER if _is_cold() else None) as helper:
        for done, section in enumerate(chosen):
            report(done, len(chosen), f"loading, or compiling once: {section.title.lower()}")
            if done == 1 and helper is not None:
                helper.wait()
            section.prepare()


def _is_cold() -> bool:
    """Return whether the sections find no kernels on disk."""
    from choque.cli._compiling import outlook

    kernels = outlook(SAMPLE)
    return kernels.compiled == 0 < kernels.missing


def _run(section: Section, folder: Path, quick: bool) -> Shown:
    from choque._core.progress import shown

    with shown() as report:
        return section.show(folder, quick, lambda done, total, _: report(done, total, section.title.lower()))


def _print(terminal: Console, title: str, shown: Shown) -> None:
    from rich.padding import Padding
    from rich.text import Text

    lines: list[tuple[str, Any]] = [(shown.sentence, "" if shown.is_right else "red")]
    lines += [(f"{shown.picture.name}; next: {shown.try_next}", "dim")]
    terminal.print(Text(title, style="bold"))
    for line, style in lines:
        terminal.print(Padding(Text(line, style=style), (0, 0, 0, 3), expand=False))
    terminal.print()


def write_report(path: Path, shown: dict[str, Shown], machine: str) -> None:
    """Write one HTML page without external links: each section with its sentence, its film and what to try next."""
    from choque.files.atomic import replacing

    parts = "".join(_section_html(title, each) for title, each in shown.items())
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Choque: demo</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n<body><main>'
        f"<header><h1>Choque: demo</h1><p>Choque detects, tracks and resolves collisions. This page was made by "
        f"<code>choque demo</code> on {escape(machine)}.</p></header>\n{parts}"
        f"<footer>Every figure was measured, and every answer checked, while this page was made.</footer>"
        f"</main></body></html>\n"
    )
    with replacing(path) as handle:
        handle.write(page.encode())


def _section_html(title: str, shown: Shown) -> str:
    mark = "" if shown.is_right else ' class="wrong"'
    return (
        f"<section{mark}><h2>{escape(title)}</h2><p>{escape(shown.sentence)}</p>"
        f"{_image_html(shown.picture, title)}{_image_html(shown.chart, f'{title}: chart', 'chart')}"
        f'<p class="next">Next: <code>{escape(shown.try_next)}</code></p></section>\n'
    )


def _image_html(path: Path | None, alt: str, kind: str = "film") -> str:
    if path is None:
        return ""
    data = b64encode(path.read_bytes()).decode()
    return f'<img class="{kind}" alt="{escape(alt)}" src="data:{IMAGE_TYPES[path.suffix.lower()]};base64,{data}">'
