"""``choque lab``: studies of methods, measured, judged and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._completion import complete_studies
from choque.cli._json import AsJson, print_json
from choque.cli._options import Methods, listed

if TYPE_CHECKING:
    from choque.lab import Result, Study
    from choque.lab.records import Records
    from choque.lab.runs import RunComparison

INTERRUPTED = 130

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="See 'choque lab list'; or a file that defines one.",
        show_default=False,
        autocompletion=complete_studies,
    ),
]
StudyFile = Annotated[
    str | None,
    typer.Option(
        "--study", metavar="FILE", help="The file that defines the study; it is executed.", show_default=False
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a run.", show_default=False)]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.", show_default=False),
]


def lab() -> None:
    """Run studies of methods, and write reports to share.

    Every run is checked by an oracle; claims get a verdict.

    Try:
      choque lab run comparison --quick
      choque lab list
    """


def list_studies(as_json: AsJson = False) -> None:
    """List the studies, with what each compares.

    Try:
      choque lab list
    """
    from rich.text import Text

    from choque.cli._terminal import console, plain_table
    from choque.lab import names, studies

    found = [studies.find(name) for name in names()]
    if as_json:
        print_json([_about(study) for study in found])
        return
    table = plain_table("study", "what it asks", "factors", "claims>")
    for study in found:
        factors = ", ".join(factor.name for factor in study.factors)
        table.add_row(Text(study.name, style="bold"), Text(study.title), Text(factors), str(len(study.claims)))
    console().print(table)


def _about(study: Study) -> dict[str, Any]:
    return {
        "name": study.name,
        "title": study.title,
        "factors": [factor.name for factor in study.factors],
        "claims": [claim.id for claim, _ in study.claims],
    }


def run(
    study: StudyName,
    quick: Annotated[bool, typer.Option("--quick", help="The smaller design, in minutes.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FOLDER", help="Where to; a new folder in 'output' unless given.", show_default=False
        ),
    ] = None,
    methods: Methods = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor", metavar="NAME=LEVEL,…", help="Other levels of a factor; may be repeated.", show_default=False
        ),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Add every other library that is installed.")] = False,
    threads: Annotated[int, typer.Option("--threads", metavar="N", help="How many each cell is pinned to.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Decides the order of the cells.")] = 0,
    fraction: Annotated[
        float, typer.Option("--fraction", metavar="SHARE", help="Measure a balanced part of the design.")
    ] = 1.0,
    cluster: Cluster = None,
    side_by_side: Annotated[
        int, typer.Option("--side-by-side", metavar="K", help="Cells at once on a machine; more than 1 disturbs times.")
    ] = 1,
    clock: Annotated[
        str, typer.Option("--clock", metavar="NAME", help="wall, or processor for a machine that others keep busy.")
    ] = "wall",
    as_json: AsJson = False,
) -> None:
    """Measure a study, judge its claims and write its report.

    The exit code is 1 if an answer was wrong. Interrupted, what is finished is kept: see 'choque lab resume'.

    Try:
      choque lab run comparison --quick
      choque lab run comparison --methods grid,bvh,auto --factor n=1000,100000 --output results
      choque lab run comparison --peers --threads 2
    """
    from choque.lab import run as measure

    def work(tell: Any) -> Result:
        return measure(
            study,
            quick=quick,
            output=output,
            methods=listed(methods) or None,
            factors=_levels(factor),
            peers=peers,
            threads=threads,
            seed=seed,
            fraction=fraction,
            cluster=cluster,
            side_by_side=side_by_side,
            clock=clock,
            progress=tell,
        )

    show_result(_watched(study, work), as_json)


def resume(folder: Folder, study: StudyFile = None, cluster: Cluster = None, as_json: AsJson = False) -> None:
    """Go on with an interrupted run.

    Of a finished run only the report is written again. The file of a study is executed, so it must be named; no file is
    run because a folder names it.

    Try:
      choque lab resume output/comparison-quick
      choque lab resume output/mine-quick --study mine.py
    """
    from choque.lab import resume as go_on

    result = _watched(folder.name, lambda tell: go_on(folder, study=study, cluster=cluster, progress=tell))
    if result.measured == 0 and not as_json:
        typer.echo("Nothing was left to measure: every cell was finished. The report was written again.")
    show_result(result, as_json)


def report(folder: Folder, study: StudyFile = None, as_json: AsJson = False) -> None:
    """Write the report of a run again, from its raw samples.

    The claims and figures of a study in a file stay as they are, unless the file is given.

    Try:
      choque lab report output/comparison-quick
      choque lab report output/mine-quick --study mine.py
    """
    from choque._core.progress import shown
    from choque.lab import report as write

    with shown("Writing the report …"):
        result = write(folder, study=study)
    show_result(result, as_json)


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The folder of the earlier run.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B", help="The folder of the later run.", show_default=False)],
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="SHARE", help="How much a counter may grow.")
    ] = 0.05,
    counters: Annotated[
        list[str] | None,
        typer.Option(
            "--counter",
            "--counters",
            metavar="NAME,…",
            help="Which of a study's counters; those of which less is better unless given.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs of a study by their counters and verdicts.

    The exit code is 1 if a counter grew by more than the threshold, or a right answer is not right any more.

    Try:
      choque lab compare output/before output/after --threshold 0.02
    """
    from choque.lab import compare as compare_runs
    from choque.lab.runs import COUNTERS

    comparison = compare_runs(before, after, threshold=threshold, counters=listed(counters) or COUNTERS)
    show_comparison(comparison, as_json)
    if comparison.regressions:
        raise typer.Exit(1)


VERBS: dict[str, Callable[..., None]] = {
    "list": list_studies,
    "run": run,
    "report": report,
    "compare": compare,
    "resume": resume,
}


def _watched(title: str, work: Callable[[Any], Result]) -> Result:
    from choque._core.progress import shown
    from choque.lab.execution import Interrupted

    try:
        with shown(title) as tell:
            return work(tell)
    except Interrupted as ended:
        # That it was interrupted is said at the end of every verb.
        typer.echo(f"choque: {str(ended).removeprefix('Interrupted. ')}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _levels(given: Sequence[str] | None) -> dict[str, list[Any]]:
    from choque.errors import InvalidInput

    levels: dict[str, list[Any]] = {}
    for word in given or ():
        name, sign, text = word.partition("=")
        if not sign or not listed([text]):
            raise InvalidInput(
                f"--factor was given {word!r}; write it as name=level,level, such as --factor n=100,1000."
            )
        levels[name.strip()] = [_level(each) for each in listed([text])]
    return levels


def _level(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


MAX_SHOWN = 40
"""Changes in the table of a comparison."""


def show_result(result: Result, as_json: bool) -> None:
    """Print the claims, what was wrong and where the report is; the exit code is 1 if an answer was wrong."""
    wrong = result.cells.where(verdict=("wrong", "failed"))
    late = len(result.cells.where(verdict="cut off"))
    if as_json:
        counts = {"cells": len(result.cells), "measured": result.measured, "wrong": list(wrong), "cut_off": late}
        about = {"study": result.study.name, "folder": result.folder, "report": result.folder / "report.html"}
        print_json({**about, **counts, "claims": result.claims})
    else:
        _print_result(result, wrong, late)
    if len(wrong):
        raise typer.Exit(1)


def _print_result(result: Result, wrong: Records, late: int) -> None:
    from rich.text import Text

    from choque.cli._terminal import console, plain, plain_table
    from choque.lab.design import words_of

    colours = {"confirmed": "green", "refuted": "red", "not testable here": "dim"}
    if result.claims:
        table = plain_table("claim", "verdict", "measured", "note")
        for claim in result.claims:
            verdict = claim.verdict or ""
            words = [Text(plain(each)) for each in (claim.id, claim.measured or "", claim.note)]
            table.add_row(words[0], Text(verdict, style=colours[verdict]), *words[1:])
        console().print(table)
    for row in wrong:
        levels = words_of({factor.name: row.get(factor.name) for factor in result.study.factors})
        typer.echo(plain(f"{row['verdict']}: {levels}: {row['note']}"))
    typer.echo(f"{len(result.cells)} cells, {len(wrong)} wrong or failed, {late} cut off by their time limit")
    if result.took:
        typer.echo(f"took    {plain(result.took)}")
    typer.echo(f"report  {result.folder / 'report.html'}")


def show_comparison(comparison: RunComparison, as_json: bool) -> None:
    """Print which figures changed, regressions first."""
    from rich.text import Text

    from choque.cli._terminal import console, plain, plain_table

    if as_json:
        print_json({**vars(comparison), "regressions": len(comparison.regressions)})
        return
    shown = sorted(comparison.changes, key=lambda change: (not change.is_regression, -(change.ratio or 0.0)))
    if shown:
        table = plain_table("cell", "figure", "before>", "after>", "ratio>", "")
        for change in shown[:MAX_SHOWN]:
            ratio = "" if change.ratio is None else f"{change.ratio:.3f}"
            mark = "[red]regression[/]" if change.is_regression else ""
            words = [
                Text(plain(each)) for each in (change.cell, change.figure, *map(_figure, (change.before, change.after)))
            ]
            table.add_row(*words, ratio, mark)
        console().print(table)
        if len(shown) > MAX_SHOWN:
            typer.echo(f"… and {len(shown) - MAX_SHOWN} more")
    lacking = f", {comparison.missing} of A missing in B" if comparison.missing else ""
    pace = comparison.time_ratio
    times = "" if pace is None else f"; times of B are {pace:.2f}x those of A in the median"
    count, limit = len(comparison.regressions), comparison.threshold
    typer.echo(f"{comparison.cells} cells compared{lacking}: {count} regressions beyond {limit:.0%}{times}")


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
