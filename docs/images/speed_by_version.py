"""Draw how many times as fast as the first version each release is, from ``benchmarks/releases/*.csv``.

Each file holds the times of a release and of the one before it, measured in turns on one machine by
``benchmarks/before_after.py --release``; ratios are chained, so that machines may differ from release to release.

``python docs/images/speed_by_version.py`` writes the picture beside itself.
"""

from __future__ import annotations

import csv
from pathlib import Path

from choque.lab.style import new_figure

FIRST = "0.1.0"
RELEASES = Path(__file__).parents[2] / "benchmarks" / "releases"
NAMES = {
    "pairs 1000": "pairs of 1,000 boxes",
    "pairs 10000": "pairs of 10,000 boxes",
    "pairs 100000": "pairs of 100,000 boxes",
    "pairs 1000000": "pairs of 1,000,000 boxes",
    "pairs 100000 clustered": "pairs of 100,000 in clusters",
    "moving auto 100000": "100,000 boxes move",
    "query bvh 100000": "10,000 questions to a tree",
    "contacts convex 10000": "contacts of convex bodies",
    "world mixed-box 1000": "a step of 1,000 bodies, impulse",
    "kinetic advance 2000": "kinetic sweep",
    "volume booleans 128": "booleans of volumes",
    "interest update 50000": "areas of interest",
    "first pairs, kernels compiled": "first call, compiling",
}


def speeds() -> dict[str, dict[str, float]]:
    """Return for each release and line how many times as fast it is as the first version."""
    table = {FIRST: dict.fromkeys(NAMES, 1.0)}
    for path in sorted(RELEASES.glob("*.csv"), key=lambda path: [int(part) for part in path.stem.split(".")]):
        last = table[list(table)[-1]]
        with path.open(newline="") as file:
            ratios = {row["line"]: float(row["ratio"]) for row in csv.DictReader(file)}
        table[path.stem] = {line: last[line] / ratios[line] for line in NAMES if line in ratios and line in last}
    return table


def draw(path: Path) -> None:
    """Draw a group of bars for each line, one bar for each release."""
    table = speeds()
    figure = new_figure(7.6, 1.2 + 0.3 * len(NAMES))
    axis = figure.subplots()
    height = 0.8 / len(table)
    for number, (version, values) in enumerate(table.items()):
        places = [row + (number - (len(table) - 1) / 2) * height for row, line in enumerate(NAMES) if line in values]
        shown = [values[line] for line in NAMES if line in values]
        axis.barh(places, shown, 0.92 * height, color=("#c9ced6", "#3b6fb5", "#1f3d66")[number % 3], label=version)
        if number:
            for place, value in zip(places, shown, strict=True):
                axis.text(value + 0.05, place, f"{value:.1f}", va="center", fontsize=8)
    axis.set_yticks(range(len(NAMES)), list(NAMES.values()))
    axis.invert_yaxis()
    axis.set_xlabel(f"times as fast as {FIRST}")
    axis.margins(x=0.08)
    axis.grid(False, axis="y")
    axis.legend(loc="lower right", frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
