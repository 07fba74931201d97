"""The mode TEST of the original: scenes against the counts that are expected of them, with a verdict for each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.theses.fingsics.log import COUNTS, read_log

FRAMES = 300
"""How many frames the original tests; one step less."""

SCENE_FOLDERS = (".", "scenes")
EXPECTED_FOLDERS = (".", "expected", "expected-results", "testing/expected-results")
"""Where in a folder scenes and expected logs are looked for."""


@dataclass(frozen=True)
class Case:
    """A scene to test; ``expected`` is the log that is expected of it, None where there is none."""

    name: str
    scene: Path
    expected: Path | None


@dataclass(frozen=True)
class Verdict:
    """How the counts of a run compare with those expected.

    Attributes
    ----------
    first_difference
        The first row, from 1, in which tests or collisions differ; None if none does.
    reason
        What differs there.
    """

    rows: int
    tests: int
    collisions: int
    first_difference: int | None = None
    reason: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether every row is as expected."""
        return self.first_difference is None

    def __str__(self) -> str:
        if self.is_equal:
            return f"equal in all {self.rows} rows"
        return f"differs from row {self.first_difference} on: {self.reason}"


def find_cases(folder: str | os.PathLike[str]) -> list[Case]:
    """List the scenes in ``folder`` (or in ``scenes`` within it), with the expected log of each where there is one.

    A log is called like its scene, with ``_test`` behind it or not, and lies in ``expected``, ``expected-results`` or
    ``testing/expected-results``. Where there are logs at all, only scenes that have one are tests.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UnreadableFile(f"There is no folder {folder}; give one with scenes, such as that of the original.")
    scenes = [
        path
        for place in SCENE_FOLDERS
        for path in sorted((folder / place).glob("*"))
        if path.suffix.lower() in (".xml", ".toml") and path.is_file()
    ]
    if not scenes:
        raise UnreadableFile(f"The folder {folder} has no scenes (.xml or .toml), and none in a folder scenes.")
    cases = [Case(path.stem, path, _expected_of(folder, path.stem)) for path in scenes]
    return [case for case in cases if case.expected] or cases


def _expected_of(folder: Path, name: str) -> Path | None:
    candidates = (folder / place / f"{name}{end}.csv" for place in EXPECTED_FOLDERS for end in ("_test", ""))
    return next((path for path in candidates if path.is_file()), None)


def compare_logs(
    found: str | os.PathLike[str], expected: str | os.PathLike[str], columns: Iterable[str] = COUNTS
) -> Verdict:
    """Compare two logs row by row in their ``columns`` of counts; times are no matter of right and wrong."""
    ours, theirs = read_log(found), read_log(expected)
    rows = min(len(ours["Collisions"]), len(theirs["Collisions"]))
    sums = (int(ours["NPCDTests"].sum()), int(ours["Collisions"].sum()))
    firsts = []
    for column in columns:
        differs: NDArray[np.intp] = np.flatnonzero(ours[column][:rows] != theirs[column][:rows])
        if len(differs):
            row = int(differs[0])
            firsts.append((row + 1, f"{column} is {ours[column][row]:g}, expected {theirs[column][row]:g}"))
    counts = (len(ours["Collisions"]), len(theirs["Collisions"]))
    if counts[0] != counts[1]:
        firsts.append((rows + 1, f"there are {counts[0]} rows, expected {counts[1]}"))
    if firsts:
        return Verdict(rows, *sums, *min(firsts))
    return Verdict(rows, *sums)
