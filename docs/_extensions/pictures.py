"""Pictures of the documentation: each says what it shows, and charts on white paper are marked for the dark scheme.

``choque.css`` inverts the brightness of what has the class ``on-paper`` where the page is dark; colours keep their hue.
Pictures of the studio are dark already and stay as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_gallery.directives import imgsgnode

ON_PAPER = "on-paper"
WHITE = 250
"""From this brightness on a corner of a picture is white."""

logger = logging.getLogger(__name__)


def is_on_paper(path: Path) -> bool:
    """Return whether a picture has a white background: the first shape of an SVG, the corners of all others."""
    if path.suffix == ".svg":
        first = re.search(r"<path[^>]*?style=\"fill: (\S+?)\"", path.read_text(), re.DOTALL)
        return first is not None and first[1] == "#ffffff"
    from PIL import Image

    with Image.open(path) as image:
        shown = image.convert("RGBA")
    corners = [(x, y) for x in (0, shown.width - 1) for y in (0, shown.height - 1)]
    colors = [shown.getpixel(corner) for corner in corners]
    return all(color[3] == 0 or min(color[:3]) >= WHITE for color in colors)


def look_at(app: Sphinx, document: nodes.document, _name: str) -> None:
    """Give thumbnails the titles of their examples, mark what is on paper, and warn of pictures that say nothing."""
    for node in [*document.findall(nodes.image), *document.findall(imgsgnode)]:
        path = Path(app.srcdir, str(node["uri"]).lstrip("/"))
        if not path.is_file():
            continue
        if not node.get("alt"):
            node["alt"] = _title_of_thumbnail(app, path)
        if not node["alt"]:
            logger.warning("The picture %s says nothing to those who do not see it; give it an alt text.", node["uri"])
        if is_on_paper(path):
            node["classes"].append(ON_PAPER)
            if node.get("class"):  # what the gallery writes itself
                node["class"] = [f"{' '.join(node['class'])} {ON_PAPER}"]


def _title_of_thumbnail(app: Sphinx, path: Path) -> str:
    """Return the title of the example that a thumbnail belongs to, or nothing."""
    example = re.fullmatch(r"sphx_glr_(\w+)_thumb", path.stem)
    if example is None:
        return ""
    page = path.parents[2].relative_to(app.srcdir) / example[1]
    title = app.env.titles.get(page.as_posix())
    return "" if title is None else title.astext()


def setup(app: Sphinx) -> dict[str, Any]:
    """Add it to Sphinx."""
    app.connect("doctree-resolved", look_at)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
