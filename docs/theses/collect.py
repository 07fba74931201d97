"""Take what a finished study says into the documentation: verdicts, figures, the machine.

    python docs/theses/collect.py output/kinetic-… [FOLDER[=NAME] …]

Each run goes to ``docs/theses/results/<study>/``, or another name if one is given: its claims as a table to include,
the cells as CSV, the record of machine, versions and plan, and the figures. Nothing is judged here;
``choque lab report FOLDER`` does that.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
LARGEST_FIGURE = 200_000  # bytes; an SVG of many points is larger than its PNG


def measured(row: dict[str, str]) -> str:
    """The figure of a claim with its interval, as short as it can be read."""
    if not row["interval_lower"]:
        return row["measured"]
    lower, upper = (f"{float(row[name]):.3g}" for name in ("interval_lower", "interval_upper"))
    return f"{row['measured']} ({lower} to {upper})"


def table(rows: list[dict[str, str]]) -> str:
    """The claims as a Markdown table."""
    lines = ["| printed | measured | verdict | |", "| --- | --- | --- | --- |"]
    for row in rows:
        cells = (row["printed"], measured(row), f"**{row['verdict']}**", row["note"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def described(record: dict[str, Any], cells: int) -> str:
    """One paragraph: which design, how many cells, which machine, which versions, when."""
    machine, plan = record["machine"], record["plan"]
    design = "the quick design" if record["quick"] else "the full design"
    clock = "processor time" if record.get("clock") == "processor" else "wall clock"
    versions = ", ".join(f"{name} {machine[name]}" for name in ("choque", "numpy", "numba") if name in machine)
    command = f"choque lab run {record['study']['name']}{' --quick' if record['quick'] else ''}"
    threads = f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}"
    repetitions = f"{plan['fewest']} to {plan['most']} repetitions of a cell within {plan['budget']:g} s"
    computer = f"{machine['processor']}, {machine['cores']} cores, {machine['memory [GiB]']} GiB, {machine['system']}"
    return (
        f"`{command}`: {design}, {cells:,} cells, {threads}, {clock}, {repetitions}; {computer}, {machine['python']}, "
        f"{versions}; begun {record['started'][:10]}.\n"
    )


def collect(folder: Path, name: str = "") -> Path:
    """Copy what the documentation shows of one run."""
    record = json.loads((folder / "study.json").read_text())
    with (folder / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))
    with (folder / "cells.csv").open(newline="") as file:
        cells = sum(1 for _ in csv.DictReader(file))
    target = RESULTS / (name or record["study"]["name"])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file_name in ("claims.csv", "cells.csv", "study.json"):
        shutil.copy(folder / file_name, target / file_name)
    (target / "claims.md").write_text(table(claims))
    (target / "run.md").write_text(described(record, cells))
    for figure in sorted((folder / "figures").glob("*.svg")):
        small = figure.stat().st_size <= LARGEST_FIGURE
        shutil.copy(figure if small else figure.with_suffix(".png"), target)
    return target


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        place, _, name = argument.partition("=")
        sys.stdout.write(f"{collect(Path(place), name)}\n")
