"""Take what a finished study says into the documentation: verdicts, figures, the machine.

    python docs/theses/collect.py output/kinetic-… [FOLDER[=NAME] …]

Each run goes to ``docs/theses/results/<study>/``, or another name if one is given: its claims as a table to include,
the cells as CSV, the record of machine, versions and plan, and what else a page shows of it: figures, and
``fastest.md`` and ``losses.md``, the fastest method by scene and size, and where each is slow. Nothing is judged
here; ``choque lab report FOLDER`` does that.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from pathlib import Path
from shlex import quote
from typing import Any

from choque.lab import studies
from choque.lab.table import duration

PAGES = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
SHOWN = re.compile(r"results/([\w-]+)/([\w-]+\.\w+)")
FASTEST, LOSSES = "fastest.md", "losses.md"
GOOD = 1.15
"""A lead below this factor is none."""
UNDECIDED = ("this run does not tell", "this run does not decide", "one reading")
"""How the note of a claim begins that was measured, though not well enough to judge it."""


def measured(row: dict[str, str]) -> str:
    """The figure of a claim with its interval, as short as it can be read."""
    lower, upper = row["interval_lower"], row["interval_upper"]
    if lower == upper:  # none, or one reading of each
        return row["measured"]
    return f"{row['measured']} ({float(lower):.3g} to {float(upper):.3g})"


def table(rows: list[dict[str, str]]) -> str:
    """The claims as a Markdown table."""
    lines = ["| claim | measured | verdict | how it was judged |", "| --- | --- | --- | --- |"]
    for row in rows:
        cells = (row["printed"], measured(row), f"**{row['verdict']}**", row["note"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def fastest(cells: list[dict[str, str]], selector: str = "auto") -> str:
    """Who is fastest by scene and n, how long it takes, and its lead over the next; who only chooses is left out."""
    times: dict[tuple[str, int], dict[str, float]] = {}
    for row in cells:
        if row["verdict"] == "exact" and row["median"] and row["method"] != selector:
            times.setdefault((row["scene"], int(row["n"])), {})[row["method"]] = float(row["median"])
    scenes, sizes = dict.fromkeys(scene for scene, _ in times), sorted({n for _, n in times})
    lines = ["| | " + " | ".join(f"{n:,}" for n in sizes) + " |", "| --- |" + " --- |" * len(sizes)]
    for scene in scenes:
        words = []
        for n in sizes:
            ranked = sorted(times.get((scene, n), {}).items(), key=lambda each: each[1])
            if len(ranked) < 2:
                words.append("")
                continue
            (first, best), (second, next_best) = ranked[:2]
            words.append(f"**{first}** {duration(best)}, {next_best / best:.2f}x as fast as {second}")
        lines.append(f"| {scene} | " + " | ".join(words) + " |")
    return "\n".join(lines) + "\n"


def losses(cells: list[dict[str, str]]) -> str:
    """Where each method is furthest behind the fastest one, by how much, and at how many places it is the fastest."""
    times: dict[tuple[str, int], dict[str, float]] = {}
    for row in cells:
        if row["verdict"] == "exact" and row["median"]:
            times.setdefault((row["scene"], int(row["n"])), {})[row["method"]] = float(row["median"])
    lines = ["| method | furthest behind | and | within 15 % of the fastest |", "| --- | --- | --- | --- |"]
    for method in sorted({name for found in times.values() for name in found}):
        behind = sorted(
            ((found[method] / min(found.values()), place) for place, found in times.items() if method in found),
            reverse=True,
        )
        words = [f"{ratio:.3g}x: {scene}, {n:,}" for ratio, (scene, n) in behind[:2]]
        good = sum(ratio <= GOOD for ratio, _ in behind)
        lines.append(f"| `{method}` | {words[0]} | {words[1]} | at {good} of {len(behind)} places |")
    return "\n".join(lines) + "\n"


def asked_for(record: dict[str, Any]) -> str:
    """The levels of a run that are not those of its study, as options."""
    own = studies.find(record["study"]["name"]).levels(quick=record["quick"])
    others = {name: levels for name, levels in record["levels"].items() if levels != own[name]}
    return "".join(f" --factor {quote(f'{name}=' + ','.join(map(str, levels)))}" for name, levels in others.items())


def described(record: dict[str, Any], cells: int) -> str:
    """One paragraph: which design, how many cells, which machine, which versions, when."""
    machine, plan = record["machine"], record["plan"]
    design = f"the {'quick' if record['quick'] else 'full'} {'design' if record['with_listed'] else 'plan'}"
    clock = "processor time" if record.get("clock") == "processor" else "wall clock"
    versions = ", ".join(f"{name} {machine[name]}" for name in ("choque", "numpy", "numba") if name in machine)
    options = (" --quick" if record["quick"] else "") + (" --clock processor" if clock == "processor time" else "")
    fraction = record.get("fraction", 1.0)
    options += f" --fraction {fraction:g}" if fraction < 1 else ""
    beside = record.get("side_by_side", 1)
    options += f" --side-by-side {beside}" if beside > 1 else ""
    count = f"{cells:,} cells" if fraction == 1 else f"{cells:,} cells, a balanced part of {record['whole']:,},"
    command = f"choque lab run {record['study']['name']}{options}{asked_for(record)}"
    threads = f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}"
    threads += f", {beside} cells at a time" if beside > 1 else ""
    times = f"up to {plan['maximum']} repetitions" if plan["maximum"] > 1 else "one repetition"
    repetitions = f"{times} of a cell within {plan['budget']:g} s"
    computer = f"{machine['processor']}, {machine['cores']} cores, {machine['memory [GiB]']} GiB, {machine['system']}"
    return (
        f"`{command}`: {design}, {count} in an order drawn with seed {record['seed']}, {threads}, {clock}, "
        f"{repetitions}; {computer}, {machine['python']}, {versions}; begun {record['started'][:10]}.\n"
    )


def collect(folder: Path, name: str = "") -> Path:
    """Copy what the documentation shows of one run."""
    record = json.loads((folder / "study.json").read_text())
    with (folder / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))
    with (folder / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    target = RESULTS / (name or record["study"]["name"])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file_name in ("claims.csv", "cells.csv", "study.json"):
        shutil.copy(folder / file_name, target / file_name)
    if not record["with_listed"] or record.get("fraction", 1.0) < 1:  # a part, which cannot judge every claim
        claims = [row for row in claims if row["measured"] or row["note"].startswith(UNDECIDED)]
    (target / "claims.md").write_text(table(claims))
    (target / "run.md").write_text(described(record, len(cells)))
    wanted = shown(target.name)
    if FASTEST in wanted:
        (target / FASTEST).write_text(fastest(cells))
    if LOSSES in wanted:
        (target / LOSSES).write_text(losses(cells))
    for figure in wanted:
        if figure.endswith((".svg", ".png")):
            shutil.copy(folder / "figures" / figure, target)
    return target


def shown(name: str) -> set[str]:
    """What the pages show of a run."""
    pages = "\n".join(page.read_text() for page in PAGES.rglob("*.md"))
    return {file for run, file in SHOWN.findall(pages) if run == name}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        place, _, name = argument.partition("=")
        sys.stdout.write(f"{collect(Path(place), name)}\n")
