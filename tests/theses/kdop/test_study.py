"""The k-DOP study: its design, its table of frames, its trials, and a small run with claims and figures."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.lab import Result, run, studies
from choque.lab.claims import VERDICTS, Claim, judged
from choque.lab.records import Records, Row
from choque.lab.sampling import Plan
from choque.lab.stopwatch import Stopwatch
from choque.theses.kdop import frames as frame_tables
from choque.theses.kdop.design import (
    FIELD_ELONGATIONS,
    FIELD_SIZES,
    FIELD_VOLUMES,
    PRINTED,
    STUDY,
    VOLUMES,
    beside_the_runs,
    frames_of,
)
from choque.theses.kdop.frames import COLUMNS, FrameRow, means_of, table_of
from choque.theses.kdop.pile import PileTrial
from choque.theses.kdop.study import tables
from choque.theses.kdop.tower import Tower

FULL = os.environ.get("CHOQUE_FULL") == "1"

SCHEMA = (
    "frame,build,pca,projection,radix,prune,sap,pairs,body_pairs,ground_pairs,true_pairs,true_body_pairs,"
    "true_ground_pairs,false_positives,gjk_epa_count,gjk_epa,shape_matching_count,shape_matching,integrate,pca_changes,"
    "axis_x,axis_y,axis_z,frame_time"
)


def test_the_design_has_the_six_runs_twice_and_what_the_thesis_lacks() -> None:
    """F-002-35: 512 bodies, 7,000 frames, three volumes, two shapes, both presets."""
    assert "kdop" in studies.names()
    levels = STUDY.levels()
    cells = STUDY.design(levels, plan=STUDY.plan).cells()
    piles = [cell.parameters for cell in cells if cell.parameters["experiment"] == "pile"]
    assert {(p["preset"], p["elongation"], p["volume"]) for p in piles} == {
        (preset, elongation, volume)
        for preset in ("reproduce", "thesis-text")
        for elongation in (1, 3)
        for volume in ("18-dop", "6-dop", "sphere")
    }
    assert len(piles) == 12
    assert {p["n"] for p in piles} == {512}
    assert frames_of("reproduce", 512) == 7_000
    assert frames_of("thesis-text", 512) > 8_950
    assert (FIELD_SIZES[0], FIELD_SIZES[-1]) == (1_000, 1_000_000)
    assert {"6-dop", "14-dop", "18-dop", "26-dop"} <= set(FIELD_VOLUMES)
    assert (min(FIELD_ELONGATIONS), max(FIELD_ELONGATIONS)) == (1, 16)
    runs = [cell.parameters["n"] for cell in cells if cell.parameters["experiment"] == "convergence"]
    assert set(runs) == {10_000_000}
    quick = STUDY.design(STUDY.levels(quick=True), quick=True, plan=STUDY.quick_plan).cells()
    assert len(quick) < 80
    assert {cell.parameters["n"] for cell in quick if cell.parameters["experiment"] == "convergence"} == {100_000}


def test_who_asks_for_one_volume_gets_no_others() -> None:
    levels = STUDY.levels(quick=True, wanted={"volume": ["26-dop"]})
    assert {cell["volume"] for cell in beside_the_runs(levels, True)} == {"26-dop"}


def test_the_printed_tables_are_those_of_the_thesis() -> None:
    """Tables 5.1 to 5.3: percentages that the text draws from them."""
    long = {volume: PRINTED[3, volume] for volume in VOLUMES}
    assert 1 - long["18-dop"].mean_pairs / long["6-dop"].mean_pairs == pytest.approx(0.0972, abs=1e-4)
    assert 1 - long["6-dop"].mean_pairs / long["sphere"].mean_pairs == pytest.approx(0.3462, abs=1e-4)
    assert 1 - long["18-dop"].mean_pairs / long["sphere"].mean_pairs == pytest.approx(0.410, abs=1e-3)  # not 59 %
    assert long["sphere"].frame / long["18-dop"].frame - 1 == pytest.approx(0.2221, abs=1e-3)
    assert long["6-dop"].frame / long["18-dop"].frame - 1 == pytest.approx(0.1544, abs=1e-3)


def frame_row(frame: int) -> FrameRow:
    """A row whose every number follows from its frame."""
    return FrameRow(**{name: frame * (column + 1) for column, name in enumerate(COLUMNS)})


def test_tables_of_frames_have_the_schema_and_means_over_ten(tmp_path: Path) -> None:
    """F-002-37: the columns of the published program, and a second table of 10-frame means."""
    assert ",".join(COLUMNS) == SCHEMA
    rows = [frame_row(frame) for frame in range(1, 24)]
    frame_tables.write(tmp_path / "frames", "run", rows)
    with (tmp_path / "frames" / "run.csv").open(newline="") as handle:
        assert ",".join(next(csv.reader(handle))) == SCHEMA
    frames, means = (frame_tables.read(tmp_path / "frames" / f"run{ending}") for ending in (".csv", "-means.csv"))
    assert frames["frame"].tolist() == list(range(1, 24))
    np.testing.assert_allclose(frames["sap"], 7.0 * frames["frame"])
    assert means["frame"].tolist() == [10, 20, 23]
    np.testing.assert_allclose(means["build"], [2 * 5.5, 2 * 15.5, 2 * 22.0])
    assert len(table_of(rows)) == 23
    assert len(means_of(rows)) == 3


def test_a_table_that_lacks_a_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("frame,build\n1,2\n")
    with pytest.raises(InvalidInput, match="no column 'pca'"):
        frame_tables.read(path)


@pytest.fixture(scope="module")
def piles() -> dict[str, PileTrial]:
    """The three volumes, elongated bodies, until all have landed."""
    found = {}
    for volume in VOLUMES:
        trial = PileTrial(Tower(16, elongation=3), volume, 260)
        trial.warm_up(60.0)
        trial.run(Stopwatch())
        found[volume] = trial
    return found


def test_counts_of_every_frame_add_up(piles: dict[str, PileTrial]) -> None:
    """F-002-37: false = candidates − true; body–body and body–ground apart."""
    for trial in piles.values():
        assert [row.frame for row in trial.rows] == list(range(1, 261))
        for row in trial.rows:
            assert row.false_positives == row.pairs - row.true_pairs >= 0
            assert row.pairs == row.body_pairs + row.ground_pairs
            assert row.true_pairs == row.true_body_pairs + row.true_ground_pairs
            assert row.sap == pytest.approx(row.projection + row.radix + row.prune)
        # One frame may be off because the machine looked away; half of them may not.
        parts = [row.build + row.pca + row.sap + row.gjk_epa + row.shape_matching + row.integrate for row in trial.rows]
        shares = [part / row.frame_time for part, row in zip(parts, trial.rows, strict=True)]
        assert np.median(shares) == pytest.approx(1.0, abs=0.1)
        assert sum(row.ground_pairs for row in trial.rows) > 100
        assert sum(row.body_pairs for row in trial.rows) > 100
        assert sum(row.shape_matching_count for row in trial.rows) > 1_000


def test_piles_are_right_and_land(piles: dict[str, PileTrial]) -> None:
    """F-002-06, F-002-35, F-002-36: the same start for every volume, and the last body lands as it falls freely."""
    assert len({trial.start_hash for trial in piles.values()}) == 1
    for trial in piles.values():
        assert trial.check().judgement == "exact"
        assert trial.landed is not None
        assert abs(trial.landed - trial.tower.landing_frame()) <= 12  # on the heap, or beside it
        counted = trial.counters()
        assert counted["frames"] == 260
        assert counted["mean_pairs"] == pytest.approx(np.mean([row.pairs for row in trial.rows]))
    assert [trial.rows[0].axis_y for trial in piles.values()] == [1, 1, 1]
    assert all(trial.rows[-1].axis_y == 0 for trial in piles.values())  # the axis leaves the vertical
    assert "axis_turned" in piles["18-dop"].facts()


def test_tighter_volumes_leave_fewer_false_positives(piles: dict[str, PileTrial]) -> None:
    means = [float(piles[volume].counters()["mean_false_positives"]) for volume in VOLUMES]
    assert means[0] < means[1] < means[2]


@pytest.mark.parametrize("elongation", [1, 3])
def test_a_pile_never_leaves_the_numbers(elongation: int) -> None:
    """F-002-33: no NaN over 7,000 frames of 512 bodies with CHOQUE_FULL=1, over fewer of a smaller pile otherwise."""
    n, frames = (512, 7_000) if FULL else (24, 400)
    tower = Tower(n, elongation=elongation)
    world = tower.world(bounds="18-dop", threads=1)
    for frame in range(frames):
        world.step(tower.dt)
        if frame % 20 == 0 or frame == frames - 1:
            assert np.isfinite(world.bodies.position).all()
            assert np.isfinite(world.bodies.rotation).all()
    turned = world.bodies.rotation @ world.bodies.rotation.transpose(0, 2, 1)
    np.testing.assert_allclose(turned, np.broadcast_to(np.eye(3), turned.shape), atol=1e-9)
    assert world.bodies.position[1:, 1].min() > -6.0  # no body falls through the ground


@pytest.mark.usefixtures("figures_as_vectors")
def test_a_small_run_is_judged_and_drawn_from_its_tables(tmp_path: Path) -> None:
    """F-002-38: tables 5.1 to 5.3 and figures 5.6 to 5.23 as files, made from the CSVs."""
    folder = tmp_path / "run"
    result = run(
        "kdop",
        quick=True,
        output=folder,
        factors={"preset": ["reproduce"], "n": [12], "elongation": [3]},
        plan=Plan(minimum=1, maximum=1, precision=None, patience=60.0),
    )
    assert set(result.cells.values("verdict")) == {"exact"}
    assert len(result.cells) == 3
    assert len(list((folder / "frames").glob("*.csv"))) == 6
    assert all(claim.verdict in VERDICTS for claim in result.claims)
    verdicts = {claim.id: claim.verdict for claim in result.claims}
    assert verdicts["same-start"] == verdicts["volumes-agree"] == "confirmed"
    assert verdicts["pairs-tables"] == verdicts["sap-constant"] == "not testable here"  # needs 512 bodies; a card
    for claim in ("order", "competitive", "gain-from-narrow", "prune-after-axis", "sap-after-axis"):
        assert verdicts[claim] == "not testable here"  # heaps of 64 gave other verdicts on another day
    shown = tables(result)
    assert len(shown) == 3
    row = next(iter(shown.where(shape="scaled", volume="18-DOP")))
    frames = frame_tables.read(folder / "frames" / "reproduce-18-dop-3-n12-seed0.csv")
    assert row["mean pairs"] == pytest.approx(frames["pairs"].mean())
    assert row["printed mean"] == 1_040
    for name in (
        "tables",
        "pairs",
        "stages",
        "frame-times",
        "false-positives",
        "gjk-epa",
        "build",
        "sap",
        "sap-phases",
    ):
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 5_000
    assert (folder / "tables.csv").exists()
    assert (folder / "report.html").exists()


def test_volumes_are_compared_in_fields_of_one_size(tmp_path: Path) -> None:
    """A tenth of the design had round bodies in one size and long ones in another, and confirmed a claim by them."""

    def sample(elongation: int, n: int, volume: str, seconds: float) -> Row:
        place: Row = {"cell": f"{elongation} {volume}", "elongation": elongation, "n": n, "volume": volume}
        return {**place, "experiment": "field", "verdict": "exact", "repetition": 0, "total": seconds}

    def claim(round_count: int) -> Claim:
        rows = [sample(1, round_count, volume, 1.0 if volume == "sphere" else 2.0) for volume in VOLUMES]
        rows += [sample(4, 1_000_000, volume, 1.0 if volume == "18-dop" else 2.0) for volume in VOLUMES]
        result = Result(STUDY, tmp_path, {"stages": [], "quick": False, "threads": 1}, Records(rows))
        return next(judged(claim, judge, result) for claim, judge in STUDY.claims if claim.id == "pays-when-long")

    assert claim(1_000_000).verdict == "confirmed"
    assert claim(100_000).verdict == "not testable here"
