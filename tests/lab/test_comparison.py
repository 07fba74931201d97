"""The first study, at a size that takes seconds, and its oracle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choque
from choque.errors import ChoqueError, InvalidInput
from choque.lab import box_trial, run, studies
from choque.lab.box_trial import BoxInstance, oracle
from choque.lab.candidate import find_candidate
from choque.lab.sampling import Plan

QUICK = Plan(minimum=2, maximum=2, precision=None, budget=0.1, patience=60.0)


@pytest.mark.usefixtures("figures_as_vectors")
def test_it_is_measured_checked_judged_and_drawn(tmp_path: Path) -> None:
    result = run(
        "comparison",
        quick=True,
        output=tmp_path / "run",
        methods=["brute", "auto"],
        factors={"scene": ["uniform", "brownian"], "n": [300]},
        plan=QUICK,
    )
    assert len(result.cells) == 4
    assert set(result.cells.values("verdict")) == {"exact"}
    assert {claim.id: claim.verdict for claim in result.claims}["right"] == "confirmed"
    assert all(claim.verdict for claim in result.claims)
    assert result.stages == ["create", "first", "update", "pairs"]
    moving = result.samples.where(scene="brownian")
    assert all(value > 0 for value in moving.values("motion"))
    expected = [(row["update"] + row["pairs"]) / 59 for row in moving]  # type: ignore[operator]
    assert moving.values("frame") == pytest.approx(expected)
    assert all(value > 0 for value in result.cells.values("tests"))
    assert (tmp_path / "run" / "report.html").exists()
    with pytest.raises(InvalidInput, match="The method 'grid' was not measured in this run, which has auto, brute"):
        result.power("grid")


def test_the_design_covers_all_methods_but_those_of_a_thesis() -> None:
    study = studies.find("comparison")
    levels = study.levels()
    assert set(levels["scene"]) == {"uniform", "clustered", "mixed", "aligned", "brownian", "free-fall"}
    assert (min(levels["n"]), max(levels["n"])) == (100, 1_000_000)  # type: ignore[type-var]
    theses = {"fingsics-sap", "fingsics-sap-obb", "fingsics-brute-obb", "sap-axes", "sap-kdop-origin", "sap-recompute"}
    others = {"all", *theses}
    assert set(levels["method"]) == set(choque.broad.names()) - others
    quick = study.design(study.levels(quick=True), quick=True, plan=study.quick_plan).cells()
    assert len(quick) < 200
    with_peers = study.design(study.levels(peers=["scipy-ckdtree", "shapely-strtree"]), plan=study.plan).cells()
    names = {cell.parameters["method"] for cell in with_peers}
    assert "scipy-ckdtree" in names
    assert "shapely-strtree" not in names  # 2D only


@pytest.mark.parametrize("scene", ["uniform", "mixed", "brownian"])
def test_scenes_are_kept_and_the_oracles_agree(scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = BoxInstance(scene, 400, seed=1, frames=3)
    made, kept, read = instance.boxes(), instance.boxes(tmp_path), instance.boxes(tmp_path)
    for frames in (kept, read):
        np.testing.assert_array_equal(np.array(frames), np.array(made))
    by_definition = instance.expected(made[-1], tmp_path)
    assert len(by_definition) > 50
    np.testing.assert_array_equal(instance.expected(made[-1], tmp_path), by_definition)
    for limits in ((0, 10**6), (0, 0)):
        monkeypatch.setattr(box_trial, "DEFINITION_UP_TO", limits[0])
        monkeypatch.setattr(box_trial, "BRUTE_UP_TO", limits[1])
        np.testing.assert_array_equal(oracle(*made[-1]), by_definition)


def test_methods_that_disagree_are_no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_trial, "DEFINITION_UP_TO", 0)
    monkeypatch.setattr(box_trial, "BRUTE_UP_TO", 0)
    monkeypatch.setattr(box_trial, "UNLIKE", ("bvh", "all"))
    with pytest.raises(ChoqueError, match="disagree"):
        oracle(*BoxInstance("uniform", 100, 0).boxes()[0])


def test_facts_place_a_scene_on_the_map() -> None:
    def facts(scene: str, frames: int = 1) -> Any:
        trial = BoxInstance(scene, 2_000, 0, frames).trial(find_candidate("grid"), None)
        trial.warm_up(60)
        return trial.facts()

    uniform, mixed, moving = facts("uniform"), facts("mixed"), facts("brownian", 3)
    assert 2 < uniform["density"] < 4
    assert uniform["size_spread"] < 4
    assert mixed["size_spread"] > 300
    assert uniform["motion"] == 0
    assert moving["motion"] > 0


def test_importing_the_laboratory_loads_nothing_heavy() -> None:
    script = (
        "import sys, choque.lab, choque.lab.runs, choque.lab.studies.comparison, choque.cli.lab\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'pyarrow', 'jinja2', 'distributed', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
