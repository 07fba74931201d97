"""What the k-DOP thesis prints, to be held beside what is measured here."""

from __future__ import annotations

from typing import NamedTuple

THESIS = "B. G. S. do Amaral, master's dissertation, COPPE/UFRJ, 2021"

VOLUMES = ("18-dop", "6-dop", "sphere")
"""The volumes of the thesis; its AABB is a 6-DOP."""
TITLES = {"18-dop": "18-DOP", "6-dop": "AABB", "sphere": "sphere"}
UNSCALED, SCALED = 1, 3
"""Elongations of the bodies: (2, 2, 2) and (2, 6, 2)."""
SHAPES = {UNSCALED: "unscaled", SCALED: "scaled"}

BODIES = 512
FRAMES = 7_000
LANDING = 5_500
"""About this frame the last body lands."""
LANDINGS = {"reproduce": LANDING, "thesis-text": 8_950}
"""Where the numbers of each preset should let it land; those of the text do not fit the frame that it names."""


class PrintedRun(NamedTuple):
    """One of the six runs: candidate pairs (tables 5.1 and 5.2), milliseconds a frame (table 5.3)."""

    mean_pairs: int
    most_pairs: int
    frame: float


PRINTED = {
    (UNSCALED, "18-dop"): PrintedRun(957, 1_683, 26.24),
    (UNSCALED, "6-dop"): PrintedRun(978, 1_717, 26.13),
    (UNSCALED, "sphere"): PrintedRun(995, 1_744, 24.98),
    (SCALED, "18-dop"): PrintedRun(1_040, 1_834, 38.22),
    (SCALED, "6-dop"): PrintedRun(1_152, 2_012, 44.12),
    (SCALED, "sphere"): PrintedRun(1_762, 2_993, 46.71),
}

BUILD = {"18-dop": 0.34, "6-dop": 0.21, "sphere": 0.02}
"""Milliseconds to build all volumes, on a GTX 1060."""

GJK_MOST, GJK_MEAN = 17, 4
EPA_MOST, EPA_MEAN = 29, 3
"""Iterations over ten million executions; the largest of GJK is the limit of the published program as well."""
