"""What was printed about the Fingsics engine: the thesis's figures, and counts recovered from its scenes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

THESIS = "Goycochea and Wallace, Universidad de la República, Montevideo, 2021"
RECOVERED = "The engine of the thesis, compiled again on its own scenes"

NAMES = {"all": "NONE", "brute": "AABB", "brute-obb": "OBB", "sap-incremental": "SAP", "sap-obb": "SAP+OBB"}
"""The methods of the thesis, and what it calls them; its figures list them in this order."""

EXACT_COSTS = {
    "sphere-tile": 25,
    "sphere-sphere": 101,
    "sphere-capsule": 291,
    "capsule-capsule": 546,
    "capsule-tile": 1733,
}
"""Nanoseconds of an exact test, cheapest first."""

NORMALISED_TIME = 0.63
"""SAP+OBB at 16:1, SAP alone being 1."""

CHECKS = {
    "prod-31": {"all": 389_949, "brute": 12_988, "sap-incremental": 12_987, "brute-obb": 8_284, "sap-obb": 5_034},
    "prod-100": {"all": 3_324_450, "brute": 48_220, "sap-incremental": 48_220, "brute-obb": 25_735, "sap-obb": 18_036},
    "prod-316": {
        "all": 30_947_934,
        "brute": 119_952,
        "sap-incremental": 119_951,
        "brute-obb": 64_220,
        "sap-obb": 47_594,
    },
    "capsule-box-1-1": {"sap-incremental": 66_828, "sap-obb": 66_827},
    "capsule-box-4-1": {"sap-incremental": 419_292, "sap-obb": 135_945},
}
"""Exact tests of 599 steps by scene and method: figure 5.3 and the aspect series."""

COLLISIONS = {"prod-31": 1_254, "prod-100": 3_829, "prod-316": 10_247}

TEST_SUMS = {"bowling": (3_445, 2_255), "many-balls": (173, 82), "missile": (6_565, 377), "objects-resting": (527, 527)}
"""Exact tests and collisions of 299 steps of SAP: the engine's own test scenes."""


@dataclass(frozen=True)
class SharedScene:
    """A scene of the engine: how many bodies move in it, how many frames it is run for, and by which methods."""

    n: int
    frames: int
    methods: tuple[str, ...]


SHARED = {
    "prod-31": SharedScene(31, 600, tuple(NAMES)),
    "prod-100": SharedScene(100, 600, tuple(NAMES)),
    "prod-316": SharedScene(316, 600, tuple(NAMES)),
    "capsule-box-1-1": SharedScene(5_000, 600, ("sap-incremental", "sap-obb")),
    "capsule-box-4-1": SharedScene(5_000, 600, ("sap-incremental", "sap-obb")),
    "bowling": SharedScene(16, 300, ("sap-incremental",)),
    "many-balls": SharedScene(10, 300, ("sap-incremental",)),
    "missile": SharedScene(23, 300, ("sap-incremental",)),
    "objects-resting": SharedScene(9, 300, ("sap-incremental",)),
}

SLOW_SHARED = ("prod-316", "capsule-box-4-1")
"""Not in a quick run."""

PLACES = ("../shared/data/fingsics", "shared/data/fingsics")


def shared_folder() -> Path | None:
    """The folder with the engine's scenes: what CHOQUE_FINGSICS says, or beside the checkout; None if nowhere."""
    wanted = os.environ.get("CHOQUE_FINGSICS")
    checkout = Path(__file__).resolve().parents[4]
    candidates = [Path(wanted)] if wanted else [root / place for root in (Path(), checkout) for place in PLACES]
    return next((path for path in candidates if (path / "scenes").is_dir()), None)


def shared_scene(name: str) -> Path | None:
    """The file of one of the engine's scenes, where it is to be found."""
    folder = shared_folder()
    path = None if folder is None else folder / "scenes" / f"{name}.xml"
    return path if path is not None and path.is_file() else None


def expected_log(name: str) -> Path | None:
    """The log that is expected of a test scene."""
    folder = shared_folder()
    path = None if folder is None else folder / "expected" / f"{name}.csv"
    return path if path is not None and path.is_file() else None
