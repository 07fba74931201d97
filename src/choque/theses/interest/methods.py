"""The configurations of the thesis on areas of interest, by the names it gives them."""

from __future__ import annotations

import numpy as np

import choque
from choque.bounds import Boxes
from choque.broad import BroadPhase

LEGACY = "-legacy"
"""At the end of a name: every pair found is searched in the list of those before it."""


def make_method(configuration: str, boxes: Boxes, *, edge: float = 4.0, area: str = "box") -> BroadPhase:
    """The broad phase of a name such as FB, GR2x2x1, BSP3, SaP1 or AoIP2, in an arena of this ``edge``.

    ``area`` is the shape of the areas of AoIP. That which reproduces the printed pairs is the box.
    """
    name = configuration.removesuffix(LEGACY)
    if name == "FB":
        return choque.broad.create("all", boxes)
    if name.startswith("GR"):
        cells = tuple(int(count) for count in name[2:].split("x"))
        walls = np.full(3, -edge / 2), np.full(3, edge / 2)
        return choque.broad.create("grid-cells", boxes, cells=cells, arena=walls, test=False)
    if name.startswith("BSP"):
        return choque.broad.create("bsp", boxes, depth=int(name[3:]), planes="random", test=False)
    if name.startswith("SaP"):
        return choque.broad.create("sap-direct", boxes, axes=int(name[3:]), sort="insertion")
    is_legacy = configuration.endswith(LEGACY)
    return choque.broad.create("interest", boxes, k=float(name[4:]), shape=area, legacy=is_legacy)
