"""All that is made from the samples of a run: verdicts, tables, figures, the map, and one page with everything."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from choque.errors import ChoqueError, InvalidInput, require
from choque.lab.claims import judged
from choque.lab.finals import REACH
from choque.lab.performance_map import Score, held_out, performance_map
from choque.lab.records import Records
from choque.lab.report_tables import Block, blocks, final_table, fit_table, memory_table, problem_table
from choque.lab.result import Result
from choque.lab.store import Store
from choque.lab.study import FigureMaker
from choque.lab.style import house_style, to_png, to_svg

REPORT, FIGURES, MAP = "report.html", "figures", "performance-map.json"


@dataclass(frozen=True)
class Picture:
    """A figure of the report, as a link that holds the picture itself."""

    name: str
    title: str
    caption: str
    source: str


@dataclass(frozen=True)
class Page:
    """What the template shows."""

    result: Result
    pictures: list[Picture]
    blocks: list[Block]
    problems: Records
    fits: Records
    memory: Records
    scores: list[Score]
    finals: Records
    reach: float = REACH

    @property
    def summary(self) -> dict[str, int]:
        """How many cells ended in which way."""
        found: dict[str, int] = {}
        for verdict in self.result.cells.values("verdict"):
            found[verdict] = found.get(verdict, 0) + 1
        return found


def judge_claims(result: Result) -> None:
    """Give every claim of the study its verdict; one that gets none is an error."""
    result.claims = [judged(claim, judge, result) for claim, judge in result.study.claims]


def write_all(result: Result, store: Store) -> None:
    """Write the verdicts, the table of cells, the figures, the map and the report."""
    judge_claims(result)
    Records(claim.to_row() for claim in result.claims).to_csv(store.folder / "claims.csv")
    result.cells.to_csv(store.folder / "cells.csv")
    scores: list[Score] = []
    if result.study.regions:
        store.write_text(MAP, performance_map(result).to_json())
        scores = held_out(result)
    page = Page(
        result=result,
        pictures=draw(result, store.folder / FIGURES),
        blocks=blocks(result),
        problems=problem_table(result),
        fits=fit_table(result),
        memory=memory_table(result),
        scores=scores,
        finals=final_table(result),
    )
    store.write_text(REPORT, render(page))


def draw(result: Result, folder: Path) -> list[Picture]:
    """Draw the figures of the study into ``folder``, as SVG and PNG."""
    from choque.files.atomic import replacing

    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise InvalidInput(
            f"The folder {folder} cannot be made: {(problem.strerror or 'refused').lower()}."
        ) from problem
    pictures = []
    for maker in result.study.figures:
        try:
            with house_style():
                figure = maker.draw(result)
        except ChoqueError:
            raise
        except Exception as problem:
            raise _undrawn(maker, f"{type(problem).__name__}: {problem}", result) from problem
        if not hasattr(figure, "savefig"):
            raise _undrawn(maker, f"its function returned {figure!r}; it must return a Matplotlib figure", result)
        svg = to_svg(figure)
        figure.set_layout_engine("none")  # everything has its place; to look for it again takes as long as to draw
        with replacing(folder / f"{maker.name}.svg") as handle:
            handle.write(svg.encode())
        to_png(folder / f"{maker.name}.png", figure)
        source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
        pictures.append(Picture(maker.name, maker.title, maker.caption, source))
    return pictures


def _undrawn(maker: FigureMaker, reason: str, result: Result) -> ChoqueError:
    return ChoqueError(
        f"The figure {maker.name!r} cannot be drawn: {reason}. "
        f"The samples are kept; mend the study and run: choque lab report {result.folder}"
    )


def render(page: Page) -> str:
    """The report as one HTML page that needs nothing but itself."""
    from choque.lab.table import duration

    jinja = require("jinja2", extra="lab", purpose="to write the report")
    environment = jinja.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja.StrictUndefined
    )
    environment.filters.update(duration=duration, number=_number, words=_words)
    text = files("choque.lab").joinpath("templates", "report.html.j2").read_text(encoding="utf-8")
    page_text: str = environment.from_string(text).render(page=page, result=page.result, study=page.result.study)
    return page_text


def _number(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _words(levels: Any) -> str:
    return ", ".join(_number(level) for level in levels)
