"""Output of ``choque lab`` for a run and for two compared runs: tables for people, JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from choque.cli._json import print_json

if TYPE_CHECKING:
    from choque.lab import Result
    from choque.lab.records import Records
    from choque.lab.runs import RunComparison

MAX_SHOWN = 40
"""Changes in the table of a comparison."""


def tell_result(result: Result, as_json: bool) -> None:
    """Tell the claims, what was wrong and where the report is; the exit code is 1 if an answer was wrong."""
    wrong = result.cells.where(verdict=("wrong", "failed"))
    late = len(result.cells.where(verdict="cut off"))
    if as_json:
        counts = {"cells": len(result.cells), "wrong": list(wrong), "cut_off": late}
        about = {"study": result.study.name, "folder": result.folder, "report": result.folder / "report.html"}
        print_json({**about, **counts, "claims": result.claims})
    else:
        _print_result(result, wrong, late)
    if len(wrong):
        raise typer.Exit(1)


def _print_result(result: Result, wrong: Records, late: int) -> None:
    from rich.text import Text

    from choque.cli._terminal import console, plain_table
    from choque.lab.design import words_of

    colours = {"confirmed": "green", "refuted": "red", "not testable here": "dim"}
    if result.claims:
        table = plain_table("claim", "verdict", "measured", "note")
        for claim in result.claims:
            verdict = claim.verdict or ""
            table.add_row(claim.id, Text(verdict, style=colours[verdict]), Text(claim.measured or ""), Text(claim.note))
        console().print(table)
    for row in wrong:
        levels = words_of({factor.name: row.get(factor.name) for factor in result.study.factors})
        typer.echo(f"{row['verdict']}: {levels}: {row['note']}")
    typer.echo(f"{len(result.cells)} cells, {len(wrong)} wrong or failed, {late} cut off by their time limit")
    if result.took:
        typer.echo(f"took    {result.took}")
    typer.echo(f"report  {result.folder / 'report.html'}")


def tell_comparison(comparison: RunComparison, as_json: bool) -> None:
    """Tell which figures changed, regressions first."""
    from choque.cli._terminal import console, plain_table

    if as_json:
        print_json({**vars(comparison), "regressions": len(comparison.regressions)})
        return
    shown = sorted(comparison.changes, key=lambda change: (not change.is_regression, -(change.ratio or 0.0)))
    if shown:
        table = plain_table("cell", "figure", "before>", "after>", "ratio>", "")
        for change in shown[:MAX_SHOWN]:
            ratio = "" if change.ratio is None else f"{change.ratio:.3f}"
            mark = "[red]regression[/]" if change.is_regression else ""
            table.add_row(change.cell, change.figure, _figure(change.before), _figure(change.after), ratio, mark)
        console().print(table)
        if len(shown) > MAX_SHOWN:
            typer.echo(f"… and {len(shown) - MAX_SHOWN} more")
    lacking = f", {comparison.missing} of A missing in B" if comparison.missing else ""
    pace = (
        ""
        if comparison.time_ratio is None
        else f"; times of B are {comparison.time_ratio:.2f}x those of A, in the middle"
    )
    count, limit = len(comparison.regressions), comparison.threshold
    typer.echo(f"{comparison.cells} cells compared{lacking}: {count} regressions beyond {limit:.0%}{pace}")


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
