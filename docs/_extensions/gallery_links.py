"""Links between the gallery and the reference: a documented object lists the examples that use it."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from choque._core.progress import Line


def tell_place(settings: dict[str, Any], script: str) -> None:
    """Give a script its own path, which the gallery does not set, and keep words on compiling off its page."""
    Line.listeners[:] = [lambda _: None]
    folder = Path(settings["src_dir"], settings["examples_dirs"][0])
    found = next(folder.resolve().rglob(Path(script).name))
    builtins.__file__ = str(found)  # type: ignore[attr-defined]


class EasiestFirst:
    """The order of the examples of a section: as a newcomer may read them; those not named here follow."""

    FIRST = (
        "three_lines", "explain", "a_million_boxes", "query_two_sets", "rays_points_nearest", "groups_and_masks",
        "moving_boxes", "kinetic_events", "frames_or_events", "kinetic_space_time", "kinetic_polygons",
        "world", "record_and_replay", "studio", "world_shape_matching",
        "contacts", "convex_distance", "convex_difference", "convex_impact",
        "volume_from_scan", "volume_boolean", "volume_implant",
        "interest_shared_world", "interest_adaptive",
        "lab_statistics",
    )  # fmt: skip

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, script: str) -> tuple[int, str]:
        """What the script at a path is ordered by."""
        name = Path(script).stem
        return self.FIRST.index(name) if name in self.FIRST else len(self.FIRST), name


def headers_are_rst(app: Sphinx) -> None:
    """Let no ``README.md`` be taken for the header of a part of the gallery: it belongs to a package of its own."""
    app.config.sphinx_gallery_conf["source_suffix"] = {".rst": "restructuredtext"}


def read_uses(app: Sphinx) -> dict[str, list[tuple[str, str]]]:
    """For each public name, the (label, title) of the examples that use it, as the gallery noted them."""
    settings = app.config.sphinx_gallery_conf
    path = Path(app.srcdir, settings["backreferences_dir"], "backreferences_all.json")
    if not path.exists():
        return {}
    uses: dict[str, dict[str, str]] = {}
    for name, examples in json.loads(path.read_text()).items():
        for file, _, folder, _, title in examples:
            place = Path(app.srcdir, folder).resolve().relative_to(Path(app.srcdir).resolve())
            label = f"sphx_glr_{'_'.join(place.parts)}_{file}"
            uses.setdefault(name, {})[label] = title
    return {name: sorted(examples.items(), key=lambda item: item[1]) for name, examples in uses.items()}


def add_uses(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Append the links to the docstring of a class or function."""
    if what not in ("class", "function", "exception"):
        return
    if not hasattr(app, "choque_uses"):
        app.choque_uses = read_uses(app)  # type: ignore[attr-defined]
    found = app.choque_uses.get(name, [])  # type: ignore[attr-defined]
    if found:
        links = " · ".join(f":ref:`{title} <{label}>`" for label, title in found)
        lines += ["", ".. container:: shown-in", "", f"   In the gallery: {links}", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; after napoleon, whose sections must not swallow the links."""
    app.connect("builder-inited", headers_are_rst, priority=100)
    app.connect("autodoc-process-docstring", add_uses, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
