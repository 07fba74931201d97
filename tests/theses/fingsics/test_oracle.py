"""The counts of the Fingsics engine, reproduced frame by frame (F-001-36, F-001-49, F-001-50).

Its scenes and expected results are not part of the repository: they are looked for in ``$CHOQUE_FINGSICS``, or in
``../shared/data/fingsics`` beside it. Chaotic scenes depend on the last bit of sine and cosine, so their totals are
gated exactly where the C library is GNU's, and within 1 % as the specification asks elsewhere.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np
import pytest

import choque.scene
from choque.theses import fingsics

BESIDE = Path(__file__).resolve().parents[4] / "shared" / "data" / "fingsics"
FOLDER = Path(os.environ.get("CHOQUE_FINGSICS", BESIDE))
TOLERANCE = 0.0 if platform.libc_ver()[0] == "glibc" else 0.01

pytestmark = pytest.mark.skipif(
    not (FOLDER / "scenes").is_dir(),
    reason="the scenes of the Fingsics engine are not here; set CHOQUE_FINGSICS to the folder that holds them",
)
only_full = pytest.mark.skipif(os.environ.get("CHOQUE_FULL") != "1", reason="only with CHOQUE_FULL=1")

SUMS = {"many-balls": (173, 82), "missile": (6565, 377), "objects-resting": (527, 527), "bowling": (3445, 2255)}

FIGURE = {
    31: {"all": 389_949, "brute": 12_988, "sap-incremental": 12_987, "brute-obb": 8_284, "sap-obb": 5_034},
    100: {"all": 3_324_450, "brute": 48_220, "sap-incremental": 48_220, "brute-obb": 25_735, "sap-obb": 18_036},
    316: {"all": 30_947_934, "brute": 119_952, "sap-incremental": 119_951, "brute-obb": 64_220, "sap-obb": 47_594},
}
OBLONG = {
    ("bowling", "sap-obb"): (2_956, 2_255),
    ("bowling", "brute-obb"): (6_538, 2_255),
    ("bulldozer", "sap-obb"): (10_055, 8_314),
    ("bulldozer", "brute-obb"): (11_241, 8_314),
}
"""Tests and collisions of the engine, compiled from its sources, in 299 steps of scenes whose tiles are oblong."""

COLLISIONS = {31: 1_254, 100: 3_829, 316: 10_247}

ASPECT = {
    ("capsule-box-1-1", "sap-incremental"): 66_828,
    ("capsule-box-1-1", "sap-obb"): 66_827,
    ("capsule-box-4-1", "sap-incremental"): 419_292,
    ("capsule-box-4-1", "sap-obb"): 135_945,
}


def counts(scene: str, method: str, steps: int) -> np.ndarray:
    """(steps, 2): exact tests and collisions of each frame."""
    world = fingsics.world(choque.scene.find_bodies(FOLDER / "scenes" / f"{scene}.xml"), broad=method)
    reports = [world.step(1 / 60) for _ in range(steps)]
    return np.array([(report.pairs, report.contacts) for report in reports])


@pytest.mark.parametrize("scene", SUMS)
def test_every_row_of_the_expected_results(scene: str) -> None:
    """Stopping at frame 300 makes 299 steps."""
    expected = np.loadtxt(
        FOLDER / "expected" / f"{scene}.csv", delimiter=",", skiprows=1, usecols=(1, 3), dtype=np.int64
    )
    found = counts(scene, "sap-incremental", len(expected))
    assert len(expected) == 299
    differing = np.flatnonzero((found != expected).any(axis=1))
    assert not len(differing), f"row {differing[0] + 1}: {found[differing[0]]} instead of {expected[differing[0]]}"
    assert tuple(found.sum(axis=0)) == SUMS[scene]


@pytest.mark.parametrize(("scene", "method"), OBLONG)
def test_oriented_boxes_of_oblong_tiles(scene: str, method: str) -> None:
    """Lengths and widths of their boxes were once exchanged, which lost a sixth of the collisions of bowling."""
    found = counts(scene, method, 299).sum(axis=0)
    assert tuple(found) == pytest.approx(OBLONG[scene, method], rel=TOLERANCE, abs=0)


@pytest.mark.parametrize("method", FIGURE[31])
@pytest.mark.parametrize("count", [31, 100, pytest.param(316, marks=[only_full, pytest.mark.full])])
def test_figure_of_checks_by_method(count: int, method: str) -> None:
    """Totals over 599 steps; every method sees the same collisions."""
    tests, collisions = counts(f"prod-{count}", method, 599).sum(axis=0)
    assert tests == pytest.approx(FIGURE[count][method], rel=TOLERANCE, abs=0)
    assert collisions == pytest.approx(COLLISIONS[count], rel=TOLERANCE, abs=0)


@only_full
@pytest.mark.full
@pytest.mark.parametrize(("scene", "method"), ASPECT)
def test_aspect_series(scene: str, method: str) -> None:
    tests, _ = counts(scene, method, 599).sum(axis=0)
    assert tests == pytest.approx(ASPECT[scene, method], rel=TOLERANCE, abs=0)
