"""The folder of a run: the request, every finished cell, and the tables made of them.

::

    study.json              the study, its levels, plan and seed; the machine and the versions
    cells/<key>.json        one finished cell each, written when it is done: what a resumed run starts from
    samples.parquet, .csv   one row for each repetition: what the report is made from
    turns.parquet, .csv     one row for each turn of a head-to-head comparison, if any
    claims.csv, cells.csv   the verdicts; one row for each cell, with medians and intervals
    figures/                each picture as SVG and as PNG
    report.html             all of it, to open and to share
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import UnionType
from typing import Any

from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.lab.design import Cell
from choque.lab.records import Records, Row, read_parquet
from choque.lab.sampling import Plan
from choque.lab.worker import Answer

FORMAT = 2
STUDY, CELLS, SAMPLES, TURNS = "study.json", "cells", "samples.parquet", "turns.parquet"

NEEDED: dict[str, type] = {
    "study": dict,
    "quick": bool,
    "levels": dict,
    "with_listed": bool,
    "plan": dict,
    "threads": int,
    "seed": int,
    "side_by_side": int,
    "code": str,
}
"""Keys that the record of a run must have, and the types of their values."""

OPTIONAL: dict[str, type] = {
    "stages": list,
    "seconds": dict,
    "machine": dict,
    "declaration": dict,
    "claims": list,
    "fraction": float,
    "whole": int,
}


def _is_plan(plan: dict[str, Any]) -> bool:
    try:
        return Plan(**plan).to_json() == plan
    except (TypeError, InvalidInput):
        return False


INSIDE: dict[str, Callable[[Any], bool]] = {
    "levels": lambda levels: all(isinstance(each, list) for each in levels.values()),
    "plan": _is_plan,
    "seconds": lambda seconds: all(_is(each, int | float) for each in seconds.values()),
    "stages": lambda stages: all(isinstance(each, str) for each in stages),
    "fraction": lambda fraction: 0 < fraction <= 1,
}
"""Tests of the values in them."""

REFERENCE: dict[str, type] = {"name": str, "origin": str, "version": int}
"""What ``study`` holds; ``origin`` is empty, or the file of the study, which reading a run never executes."""

ANSWER: dict[str, type] = {"verdict": str, "note": str, "readings": list}
"""What the file of a finished cell holds at least."""

PIPELINE = ("create", "first", "bounds", "broad", "update", "pairs", "narrow", "response", "integrate")
"""Stages in the order in which work passes through them; other stages of a study follow in their order."""


class Store:
    """Reads and writes the folder of one run; every file appears whole or not at all."""

    def __init__(self, folder: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.record = dict(record)
        """What ``study.json`` holds."""

    @classmethod
    def create(cls, folder: str | os.PathLike[str], record: Mapping[str, Any]) -> Store:
        """Start a run in a folder that is empty or does not exist."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise InvalidInput(f"{path} is a file; give a folder for the results.")
        if (path / STUDY).exists():
            raise InvalidInput(_occupied(path, record))
        if path.is_dir() and any(path.iterdir()):
            raise InvalidInput(f"The folder {path} is not empty; give one that is, or that is not there yet.")
        try:
            (path / CELLS).mkdir(parents=True)
        except OSError as problem:
            raise InvalidInput(
                f"The folder {path} cannot be made: {(problem.strerror or 'refused').lower()}."
            ) from problem
        store = cls(path, {"format": FORMAT, **record})
        store.write_record()
        return store

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Open the folder of a run, finished or not."""
        path = Path(folder)
        try:
            record = json.loads((path / STUDY).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError) as problem:
            raise UnreadableFile(f"The folder {path} holds no run of a study: there is no {STUDY} in it.") from problem
        except (OSError, ValueError) as problem:
            raise UnreadableFile(f"The file {path / STUDY} is truncated or damaged: {problem}.") from problem
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise UnreadableFile(f"The file {path / STUDY} is of another format; this version reads format {FORMAT}.")
        bad = [name for name, kind in NEEDED.items() if not _is(record.get(name), kind)]
        bad += [name for name, kind in OPTIONAL.items() if name in record and not _is(record[name], kind)]
        bad += [name for name, fits in INSIDE.items() if name in record and name not in bad and not fits(record[name])]
        reference = {} if "study" in bad else record["study"]
        if bad or not all(_is(reference.get(name), kind) for name, kind in REFERENCE.items()):
            raise UnreadableFile(
                f"The file {path / STUDY} is damaged: it does not say {', '.join(bad) or 'which study it is'}."
            )
        return cls(path, record)

    @property
    def resuming(self) -> str:
        """The shell command that resumes the run."""
        return command("resume", self.folder, self.record["study"]["origin"])

    @property
    def scratch(self) -> Path:
        """The folder of scenes during the run."""
        return self.folder / "scenes"

    def write_record(self, **changes: Any) -> None:
        """Write ``study.json`` again with some of it changed."""
        self.record.update(changes)
        self.write_text(STUDY, json.dumps(self.record, indent=2))

    def write_text(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        with replacing(self.folder / name) as handle:
            handle.write(text.encode())

    def write_cell(self, cell: Cell, answer: Answer) -> None:
        """Write a finished cell."""
        self.write_text(f"{CELLS}/{cell.key}.json", json.dumps({"parameters": dict(cell.parameters), **answer}))

    def read_cells(self, cells: Iterable[Cell]) -> dict[str, Answer]:
        """Read those of ``cells`` that are finished, by key; one whose file is damaged is not finished."""
        found = {}
        for cell in cells:
            try:
                answer = json.loads((self.folder / CELLS / f"{cell.key}.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(answer, dict) and all(_is(answer.get(name), kind) for name, kind in ANSWER.items()):
                found[cell.key] = answer
        return found

    def write_samples(self, samples: Records) -> None:
        """Write the raw table, as Parquet and as CSV."""
        samples.to_parquet(self.folder / SAMPLES)
        samples.to_csv(self.folder / "samples.csv")

    def write_turns(self, turns: Records) -> None:
        """Write the turns of head-to-head comparisons, if any."""
        if turns:
            turns.to_parquet(self.folder / TURNS)
            turns.to_csv(self.folder / "turns.csv")

    def read_turns(self) -> Records:
        """Read the turns of head-to-head comparisons; empty if there were none."""
        path = self.folder / TURNS
        return read_parquet(path) if path.exists() else Records()

    def read_samples(self) -> Records:
        """Read the raw table."""
        path = self.folder / SAMPLES
        if not path.exists():
            raise UnreadableFile(f"{path} is not there yet: the run was not finished. Go on with: {self.resuming}")
        try:
            return read_parquet(path)
        except UnreadableFile as problem:
            raise UnreadableFile(
                f"{problem} The finished cells are in {self.folder / CELLS}; write the table again with: "
                f"{self.resuming}"
            ) from problem


def sample_rows(cell: Cell, answer: Answer) -> list[Row]:
    """Return the rows of one cell: one for each repetition, or a single one without times where there is none."""
    common: Row = {
        "cell": cell.key,
        **cell.parameters,
        "verdict": answer["verdict"],
        "note": answer["note"],
        **{name: answer.get(name) for name in ("threads", "machine", "warm_up", "process_bytes", "baseline_bytes")},
        **answer["facts"],
        **answer["counters"],
    }
    if not answer["readings"]:
        return [common]
    return [{**common, "repetition": number, **reading} for number, reading in enumerate(answer["readings"])]


def stages_of(answers: Iterable[Answer]) -> list[str]:
    """Return the stages that were timed in any of the cells, in the order of the pipeline."""
    found = dict.fromkeys(stage for answer in answers for reading in answer["readings"] for stage in reading)
    found.pop("total", None)
    return sorted(found, key=lambda stage: PIPELINE.index(stage) if stage in PIPELINE else len(PIPELINE))


def _is(value: object, kind: type | UnionType) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def command(verb: str, folder: Path, origin: str) -> str:
    """Return a command of the shell on the folder of a run; a study in a file is named, since it is executed."""
    named = f" --study {shlex.quote(origin)}" if origin else ""
    return f"choque lab {verb} {shlex.quote(str(folder))}{named}"


def _occupied(folder: Path, record: Mapping[str, Any]) -> str:
    store = Store.open(folder)
    existing = store.record
    if existing["study"]["name"] != record["study"]["name"]:
        return f"The folder {folder} holds a run of another study, {existing['study']['name']!r}; give another folder."
    if existing.get("finished"):
        return f"The folder {folder} holds a finished run of this study; give another folder."
    return f"The folder {folder} holds an unfinished run of this study; continue it with: {store.resuming}"
