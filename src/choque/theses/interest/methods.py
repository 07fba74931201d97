"""The configurations of the thesis on areas of interest by the names it gives them, and the pairs it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import numpy as np

import choque

if TYPE_CHECKING:
    from choque.bounds import Boxes
    from choque.broad import BroadPhase

SCANNING = "-legacy"
"""End of a name, as recorded results have it: every pair found is searched in the list of those before it."""

EXHAUSTIVE = "-exhaustive"
"""End of a name of AoIP: every area is tested against every body, as in the thesis, and pairs are sorted."""

CONFIGURATIONS = (
    "FB", "GR1x2x1", "GR2x2x1", "GR2x2x2", "GR4x4x4", "BSP2", "BSP3", "BSP5", "BSP6",
    "SaP1", "SaP2", "SaP3", "AoIP1", "AoIP2", "AoIP3",
)  # fmt: skip

COUNTS = (100, 300, 500, 1000)
"""The numbers of bodies."""

PAIRS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "dense": {
        "FB": (4_950, 44_850, 124_750, 499_500),
        "GR1x2x1": (4_399.4, 41_080.6, 115_885.5, 456_788.6),
        "GR2x2x1": (4_522.4, 41_252.1, 117_082.6, 460_001.9),
        "GR2x2x2": (5_183.9, 48_042.9, 135_265.6, 534_208.9),
        "GR4x4x4": (5_183.9, 48_042.9, 135_265.6, 534_208.9),
        "BSP2": (4_760.3, 43_684.1, 122_936.1, 488_911.2),
        "BSP3": (5_390.2, 49_388.2, 139_162.8, 555_415.1),
        "BSP5": (10_960.4, 100_649.9, 282_900.2, 1_122_297.2),
        "BSP6": (18_481.2, 169_659.2, 476_774.7, 1_883_039.1),
        "SaP1": (2_565.6, 23_165.9, 64_448.3, 256_763.8),
        "SaP2": (1_407.3, 13_078.5, 36_497.8, 144_422.3),
        "SaP3": (913.2, 8_471.9, 23_589.3, 93_291.1),
        "AoIP1": (913.2, 8_471.8, 23_589.3, 93_291.1),
        "AoIP2": (1_663.8, 15_317.9, 43_019.2, 171_403),
        "AoIP3": (2_557.8, 23_367.3, 65_815.1, 262_980.9),
    },
    "sparse": {
        "FB": (4_950, 44_850, 124_750, 499_500),
        "GR1x2x1": (3_433.5, 30_911.6, 87_380.3, 342_442.6),
        "GR2x2x1": (2_332.5, 21_392.3, 60_726.1, 233_714.4),
        "GR2x2x2": (1_649.9, 14_754.1, 41_387.1, 159_025.7),
        "GR4x4x4": (967.7, 9_219.1, 25_922.1, 99_695.1),
        "BSP2": (3_368.9, 31_692.9, 89_742.9, 355_898.3),
        "BSP3": (2_478.2, 24_147.5, 66_318.4, 261_670.3),
        "BSP5": (1_677.1, 15_861.2, 45_307.1, 179_583.5),
        "BSP6": (1_543.2, 14_574.6, 42_647.2, 168_478.9),
        "SaP1": (1_277.1, 11_899.3, 33_697.8, 133_277.4),
        "SaP2": (350.1, 3_337.5, 9_719.1, 38_208.9),
        "SaP3": (111.2, 1_061.7, 3_021.9, 11_930.6),
        "AoIP1": (111.2, 1_061.7, 3_021.9, 11_930.6),
        "AoIP2": (322.3, 3_148.4, 8_951.1, 35_453.9),
        "AoIP3": (650.3, 6_413.2, 18_146.3, 71_819.9),
    },
}
"""Printed mean candidate pairs of a step, by start, configuration and number of bodies."""


def share_of_all(start: str, configuration: str) -> float:
    """Return the printed pairs as a share of those of brute force, at n = 1000."""
    return PAIRS[start][configuration][-1] / PAIRS[start]["FB"][-1]


def make_method(configuration: str, boxes: Boxes, *, edge: float = 4.0, area: str = "box") -> BroadPhase:
    """Return the broad phase of a name such as FB, GR2x2x1, BSP3, SaP1 or AoIP2, in an arena of this ``edge``.

    ``area`` is the shape of the areas of AoIP; boxes reproduce the printed pairs.
    """
    name = configuration.removesuffix(SCANNING).removesuffix(EXHAUSTIVE)
    if name == "FB":
        return choque.broad.create("all", boxes)
    if name.startswith("GR"):
        cells = tuple(int(count) for count in name[2:].split("x"))
        walls = np.full(3, -edge / 2), np.full(3, edge / 2)
        return choque.broad.create("grid-cells", boxes, cells=cells, arena=walls, test=False)
    if name.startswith("BSP"):
        return choque.broad.create("bsp", boxes, depth=int(name[3:]), planes="random", test=False)
    if name.startswith("SaP"):
        return choque.broad.create("sap-axes", boxes, axes=int(name[3:]))
    if configuration != name:
        from choque.theses.interest.repeated_pairs import ExhaustiveInterest, ScannedInterest

        shape = cast("Literal['box', 'sphere']", area)
        method = ScannedInterest if configuration.endswith(SCANNING) else ExhaustiveInterest
        return choque.broad.BroadPhase(boxes, method(k=float(name[4:]), shape=shape))
    return choque.broad.create("interest", boxes, k=float(name[4:]), shape=area)
