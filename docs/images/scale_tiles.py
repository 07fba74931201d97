"""Draw the tiles of ``docs/how-to/scale.md`` by the example that the gallery shows.

``python docs/images/scale_tiles.py`` writes the picture beside itself.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent


def main() -> None:
    """Run the example without a window and save its figure."""
    mpl.use("Agg")
    (example,) = (HERE.parents[1] / "examples").rglob("larger_than_memory.py")
    runpy.run_path(str(example))["figure"].savefig(HERE / "scale_tiles.png", dpi=110)


if __name__ == "__main__":
    main()
