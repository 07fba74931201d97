"""Search the built documentation in a headless Chromium: ``python .ci/search.py output/docs``.

Words that users of other libraries search for must have the right page among the first results. Skipped where there is
no Chromium or no playwright.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

FIRST = 5
"""The right page is among this many results."""

RIGHT = {
    "ray cast": ("glossary", "reference/world", "rays_points_nearest", "choque.broad"),
    "torch": ("glossary", "how-to/detections", "detections"),
    "nearest": ("rays_points_nearest", "reference/broad", "glossary", "how-to/boxes", "choque.broad"),
    "IoU": ("how-to/detections", "glossary", "detections", "reference/boxes"),
    "NMS": ("how-to/detections", "glossary", "detections"),
    "neighbor list": ("how-to/atoms", "glossary", "reference/neighbors", "neighbors_in_a_crystal"),
    "friction": ("how-to/simulating",),
    "STL": ("how-to/parts", "glossary", "reference/meshes"),
    "sweep and prune": ("explanation/sap_direct", "explanation/sap_incremental", "which_method", "glossary"),
    "k-DOP": ("explanation/kdops", "explanation/sap_kdop", "choque.bounds.KDops"),
    "voxel": ("how-to/images", "explanation/extreme_vertices", "reference/volumes", "studio_volumes"),
    "periodic": ("how-to/atoms", "explanation/neighbors", "reference/neighbors", "choque.neighbors"),
    "sleep": ("explanation/soft_step", "how-to/simulating", "choque.world", "limits"),
    "bounding box overlap": ("how-to/boxes", "glossary", "which_method", "choque.bounds"),
    "clearance": ("how-to/parts", "choque.meshes", "choque.volumes"),
    "mass": ("choque.world.arguments.BodyOptions", "reference/world", "how-to/scenes", "how-to/simulating"),
}
"""What is searched for, and parts of the addresses of pages that answer it."""


def results(page: Any, folder: Path, words: str) -> list[str]:
    """Return the addresses of the results of a search, the best first."""
    page.goto(f"{(folder / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    page.wait_for_timeout(300)
    found: list[str] = page.eval_on_selector_all("#search-results li > a", "links => links.map(link => link.href)")
    return [address.partition("?")[0].removeprefix(folder.as_uri() + "/") for address in found]


def main() -> int:
    """Search for all words; return 1 if a page is missing."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print("skipped: there is no Chromium, or no playwright")
        return 0
    folder, missing = Path(sys.argv[1]).resolve(), 0
    with sync_playwright() as session:
        page = session.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        for words, right in RIGHT.items():
            found = results(page, folder, words)[:FIRST]
            if not any(part in address for part in right for address in found):
                missing += 1
                print(f"{words!r} finds {found}, and none of {right}")
            elif "-v" in sys.argv:
                print(f"{words!r}: {found}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
