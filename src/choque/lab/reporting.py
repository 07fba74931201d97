"""What is made from the samples of a run: judged claims, tables, figures, the map, and one page with everything."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from choque._core import check
from choque.errors import ChoqueError, InvalidInput, UnreadableFile, require
from choque.lab.claims import judged
from choque.lab.design import words_of
from choque.lab.fit import FAMILIES
from choque.lab.head_to_head import REACH, head_to_heads
from choque.lab.performance_map import Score, held_out, performance_map
from choque.lab.records import Records, Row
from choque.lab.result import Result
from choque.lab.store import Store, command
from choque.lab.study import FigureMaker
from choque.lab.style import figure_style, to_png, to_svg
from choque.lab.table import duration

NARROWEST_FIT = 3
"""Minimum number of sizes for a fit: a family needs as many as it has terms."""


@dataclass(frozen=True)
class SettingTable:
    """One setting of a study: a row for each method, a column for each size."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[TimeEntry]]]


@dataclass(frozen=True)
class TimeEntry:
    """The time of one method at one size, formatted."""

    text: str
    ratio: str
    note: str
    is_best: bool = False
    is_wrong: bool = False


def blocks(result: Result) -> list[SettingTable]:
    """Return the ranking, a block for each setting that is not the size."""
    study, ranking = result.study, result.ranking
    hidden = (study.compares, study.grows, *study.instance)
    setting = [factor.name for factor in study.factors if factor.name not in hidden]
    found = []
    for key, rows in ranking.groups(*setting):
        sizes = sorted(rows.levels(study.grows)) if study.grows else [None]
        entries = {(row[study.compares], row.get(study.grows or "")): row for row in rows}
        lines = []
        for method in rows.levels(study.compares):
            cells = [entries.get((method, size)) for size in sizes]
            lines.append((str(method), [_entry(cell, result) for cell in cells]))
        columns = [f"{size:,}" if isinstance(size, int | float) else "" for size in sizes]
        title = words_of(dict(zip(setting, key, strict=True)))
        found.append(SettingTable(title or study.title, columns, lines))
    return found


def problem_table(result: Result) -> Records:
    """Return the cells that have no rank, with the reason; one row a cell."""
    factors = [factor.name for factor in result.study.factors]
    bad = result.cells.where(lambda row: row["verdict"] in ("wrong", "failed", "cut off"))
    return Records(
        {**{name: row.get(name) for name in factors}, "verdict": row["verdict"], "why": row["note"]} for row in bad
    )


def fit_table(result: Result) -> Records:
    """Return the chosen family and the power law of each method and setting with enough sizes."""
    study = result.study
    if study.grows is None:
        return Records()
    hidden = (study.compares, study.grows, *study.instance)
    setting = [factor.name for factor in study.factors if factor.name not in hidden]
    rows: list[Row] = []
    for key, some in result.right.groups(*setting):
        where = dict(zip(setting, key, strict=True))
        for method in some.levels(study.compares):
            if len(some.where(**{study.compares: method}).levels(study.grows)) >= NARROWEST_FIT:
                rows.append({**where, study.compares: method, **_fit_row(result, method, where)})
    return Records(rows)


def memory_table(result: Result) -> Records:
    """Return the memory of structures and process of each method, at its largest finished cell."""
    study = result.study
    rows: list[Row] = []
    for (method,), some in result.cells.groups(study.compares):
        known = [row for row in some if row.get("peak_bytes") is not None and row["verdict"] not in ("wrong", "failed")]
        if not known:
            continue
        largest = max(known, key=lambda row: (row.get(study.grows or "") or 0, row["peak_bytes"]))
        process, before = largest.get("process_bytes"), largest.get("baseline_bytes")
        grown = process - before if isinstance(process, int) and isinstance(before, int) else None
        rows.append(
            {
                study.compares: method,
                **({study.grows: largest.get(study.grows)} if study.grows else {}),
                "structures [MiB]": _mebibytes(largest["peak_bytes"]),
                "process, while measuring [MiB]": _mebibytes(grown),
                "process, in all [MiB]": _mebibytes(process),
            }
        )
    return Records(rows)


def head_to_head_table(result: Result) -> Records:
    """Return the selector against the best method, head to head, one row a setting."""
    study = result.study
    few = [factor.name for factor in study.factors if len(result.cells.levels(factor.name)) > 1]
    rows: list[Row] = []
    for duel in head_to_heads(result):
        others = sorted((value, name) for name, value in duel.seconds.items() if name != study.selector)
        ratio = duel.ratio
        longer = f"{ratio.value - 1:+.0%} [{ratio.lower - 1:+.0%}, {ratio.upper - 1:+.0%}]"
        rows.append(
            {
                **{name: level for name, level in duel.setting.items() if name in few},
                "best": duel.best,
                str(study.selector): "chose it" if duel.chosen == duel.best else longer,
                "within": "yes" if ratio.value <= 1 + study.within else "no",
                "the best took": duration(others[0][0]) if study.metric.unit == "s" else f"{others[0][0]:.3g}",
                "others": ", ".join(f"{name} {value / others[0][0] - 1:+.0%}" for value, name in others[1:])
                or ("" if duel.was_measured else "far behind"),
            }
        )
    return Records(rows)


def _entry(row: Row | None, result: Result) -> TimeEntry:
    if row is None:
        return TimeEntry("", "", "")
    verdict, note = str(row["verdict"]), str(row.get("note") or "")
    value, ratio = row.get("median"), row.get("ratio")
    if not isinstance(value, float) or verdict in ("wrong", "failed", "cut off"):
        return TimeEntry(verdict, "", note, is_wrong=verdict in ("wrong", "failed"))
    text = duration(value) if result.study.metric.unit == "s" else f"{value:.3g}"
    words = f"{ratio:.2f}" if isinstance(ratio, float) else verdict
    interval = f"95 % interval {_shown(row['lower'], result)} to {_shown(row['upper'], result)}"
    return TimeEntry(text, words, interval, is_best=ratio == 1.0)


def _shown(value: Any, result: Result) -> str:
    return duration(value) if result.study.metric.unit == "s" else f"{value:.3g}"


def _fit_row(result: Result, method: Any, where: dict[str, Any]) -> Row:
    try:
        power, family = result.power(method, **where), result.fit(method, **where)
    except InvalidInput as problem:
        return {"family": str(problem)}
    lower, upper = power.intervals[1]
    return {
        "exponent": f"{power.coefficients[1]:.2f} [{lower:.2f}, {upper:.2f}]",
        "power law": str(power),
        "R² of logarithms": f"{power.r2:.4f}",
        "family": family_name(family.family, result.fits(method, **where)),
        "curve": str(family),
        "R²": f"{family.r2:.4f}",
        "adjusted R²": f"{family.adjusted_r2:.4f}",
        "dfe": family.dfe,
        "SSE": f"{family.sse:.3g}",
        "RMSE": f"{family.rmse:.3g}",
        "AIC": f"{family.aic:.1f}",
    }


def family_name(chosen: str, tried: Iterable[str]) -> str:
    """Name the chosen family; the fastest of those that the sizes allow says only that growth is not slower."""
    names = list(tried)
    return f"{chosen} or faster" if chosen == names[-1] and len(names) < len(FAMILIES) else chosen


def _mebibytes(value: Any) -> float | None:
    return None if value is None else float(value) / 2**20


REPORT, FIGURES, MAP = "report.html", "figures", "performance-map.json"


@dataclass(frozen=True)
class Picture:
    """A figure of the report, as a data link."""

    name: str
    title: str
    caption: str
    source: str


@dataclass(frozen=True)
class Page:
    """The data of the template."""

    result: Result
    pictures: list[Picture]
    blocks: list[SettingTable]
    problems: Records
    fits: Records
    memory: Records
    scores: list[Score]
    head_to_heads: Records
    reach: float = REACH

    @property
    def summary(self) -> dict[str, int]:
        """The number of cells by verdict."""
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
    store.write_record(claims=[asdict(claim) for claim in result.claims])
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
        head_to_heads=head_to_head_table(result),
    )
    store.write_text(REPORT, render(page))


def draw(result: Result, folder: Path) -> list[Picture]:
    """Draw the figures of the study into ``folder``, as SVG and PNG; those without code stay as they were drawn."""
    from choque.files.atomic import replacing

    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise InvalidInput(
            f"The folder {folder} cannot be made: {(problem.strerror or 'refused').lower()}."
        ) from problem
    pictures = []
    for maker in result.study.figures:
        if maker.draw is None:
            pictures += _kept_picture(maker, folder)
            continue
        try:
            with figure_style():
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
        pictures.append(Picture(maker.name, maker.title, maker.caption, _data_link(svg.encode())))
    return pictures


def _kept_picture(maker: FigureMaker, folder: Path) -> list[Picture]:
    """Return the figure that is in ``folder`` already; nothing if there is none, or if its name leads elsewhere."""
    path = (folder / f"{maker.name}.svg").resolve()
    if path.parent != folder.resolve() or not path.is_file():
        return []
    return [Picture(maker.name, maker.title, maker.caption, _data_link(path.read_bytes()))]


def _data_link(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def _undrawn(maker: FigureMaker, reason: str, result: Result) -> ChoqueError:
    return ChoqueError(
        f"The figure {maker.name!r} cannot be drawn: {reason}. "
        f"The samples are kept; correct the study and run: {command('report', result.folder, result.study.origin)}"
    )


def render(page: Page) -> str:
    """Return the report as one self-contained HTML page."""
    from choque.lab.table import duration

    jinja = require("jinja2", extra="lab", purpose="to write the report")
    environment = jinja.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja.StrictUndefined
    )
    environment.filters.update(duration=duration, number=_number, words=_words)
    text = files("choque.lab").joinpath("templates", "report.html.j2").read_text(encoding="utf-8")
    try:
        page_text: str = environment.from_string(text).render(page=page, result=page.result, study=page.result.study)
    except (jinja.UndefinedError, TypeError) as problem:
        raise UnreadableFile(
            f"The record of {page.result.folder} is damaged: {problem}. Run the study again in another folder."
        ) from problem
    return page_text


def _number(value: Any) -> str:
    if value is None or value == "":
        return ""
    if not check.is_number(value):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _words(levels: Any) -> str:
    return ", ".join(_number(level) for level in levels)
