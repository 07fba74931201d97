"""The rules of the Fingsics engine against an independent engine, on small scenes that are part of the repository."""

from __future__ import annotations

import csv
from pathlib import Path

import engine_oracle
import pytest

import choque.scene
from choque.theses import fingsics

SCENES = sorted(engine_oracle.SCENES.glob("*.xml"))
METHODS = {"none": "all", "aabb": "brute", "obb": "brute-obb", "sap+obb": "sap-obb"}
"""Columns of the expected counts, and the methods that they belong to."""


def expected(scene: Path) -> list[dict[str, int]]:
    with scene.with_suffix(".csv").open() as handle:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(handle)]


@pytest.mark.parametrize("column", [*METHODS, "sap"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_every_step_has_the_expected_tests_and_collisions(scene: Path, column: str) -> None:
    """Without ties, the sweep finds the pairs of boxes that overlap."""
    method, column = ("sap-incremental", "aabb") if column == "sap" else (METHODS[column], column)
    world = fingsics.world(choque.scene.find_bodies(scene), broad=method)
    for step, row in enumerate(expected(scene), 1):
        report = world.step(1 / 60)
        assert (step, report.pairs, report.contacts) == (step, row[column], row["collisions"])


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_the_expected_counts_are_those_of_the_oracle(scene: Path) -> None:
    counts = [tuple(row.values()) for row in expected(scene)]
    assert len(counts) == engine_oracle.STEPS
    assert engine_oracle.simulate(scene, 40) == counts[:40]
    assert sum(row[-1] for row in counts) > 10
