"""Draw the map of ``docs/which_method.md`` from the times that `auto` consults.

``python docs/images/which_method.py`` writes the picture beside itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle

from choque.broad.auto import SHIPPED
from choque.lab.style import new_figure

MAX_SIZES = 5
LEVEL = 1.15  # a lead below it is none
SCENES = {
    ("uniform", 2): "like sizes,\neven, 2D",
    ("uniform", 3): "like sizes,\neven, 3D",
    ("aligned", 3): "parallel\nrods, 3D",
    ("clustered", 3): "clusters, 3D",
    ("mixed", 3): "sizes\n1:1000, 3D",
    ("brownian", 2): "all move\na little, 2D",
    ("brownian", 3): "all move\na little, 3D",
    ("free-fall", 3): "falling into\na heap, 3D",
}
TONES = {"brute": "#f2f2f2", "grid": "#cfe0f3", "bvh": "#d9ecc9", "sap-direct": "#fbe0b8", "sap-incremental": "#f5d0c5"}


def draw(path: Path) -> None:
    """Tile by tile: the fastest method, how many times as fast it is as the second, and which that is."""
    places: dict[tuple[str, int], dict[int, dict[str, float]]] = {scene: {} for scene in SCENES}
    for place in json.loads(Path(SHIPPED).read_text())["places"]:
        setting = place["setting"]
        if (setting["scene"], setting["dimension"]) in places:
            places[setting["scene"], setting["dimension"]].setdefault(setting["n"], place["seconds"])
    common = sorted(set.intersection(*(set(measured) for measured in places.values())))
    sizes = [common[round(k)] for k in np.linspace(0, len(common) - 1, min(MAX_SIZES, len(common)))]
    figure = new_figure(1.3 + 1.32 * len(sizes), 6.0)  # as wide as the page, so that its letters keep their size
    axis = figure.subplots()
    for y, scene in enumerate(SCENES):
        for x, size in enumerate(sizes):
            (first, least), (second, next_least), *_ = sorted(places[scene][size].items(), key=lambda entry: entry[1])
            axis.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=TONES[first], edgecolor="white"))
            axis.text(x, y - 0.26, first, ha="center", va="center", weight="bold", fontsize=10)
            ratio = next_least / least
            lead = f"{ratio:.1f}x as fast as" if ratio >= LEVEL else "level with"
            axis.text(x, y + 0.15, f"{lead}\n{second}", ha="center", va="center", fontsize=9.5, color="#222222")
    axis.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(len(SCENES) - 0.5, -0.5), xlabel="boxes")
    axis.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axis.set_yticks(range(len(SCENES)), list(SCENES.values()))
    axis.grid(False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    figure.savefig(path, dpi=160)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".png"))
