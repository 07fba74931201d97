"""Pictures of the documentation: alt texts, and charts that suit the dark scheme, on pages that Sphinx builds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import DOCS

pytest.importorskip("sphinx_gallery", reason="Sphinx, of the extra 'docs', is not installed")

CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(DOCS / "_extensions")!r})
extensions = ["gallery_directives", "pictures"]
html_theme = "basic"
"""

SETUP = """
from sphinx_gallery import directives
def setup(app):
    app.add_node(directives.imgsgnode, html=(directives.visit_imgsg_html, directives.depart_imgsg_html))
    app.add_directive("image-sg", directives.ImageSg)
"""

EXAMPLE = "An example\n==========\n\n.. image-sg:: /images/world.png\n   :alt: a world\n   :srcset: /images/world.png\n"
PAGE = """
Pictures
========

.. toctree::

   gallery/boxes/three

.. image:: images/chart.svg
   :alt: a chart

.. image:: images/world.png
   :alt: a world

.. image:: gallery/boxes/images/thumb/sphx_glr_three_thumb.png
"""


def test_thumbnails_have_titles_charts_are_marked_and_missing_words_are_a_warning(tmp_path: Path) -> None:
    thumbnails = tmp_path / "gallery" / "boxes" / "images" / "thumb"
    thumbnails.mkdir(parents=True)
    (tmp_path / "images").mkdir()
    for source, target in (
        ("explanation_grid.svg", tmp_path / "images" / "chart.svg"),
        ("studio_world.png", tmp_path / "images" / "world.png"),
        ("which_method.png", thumbnails / "sphx_glr_three_thumb.png"),
    ):
        shutil.copy(DOCS / "images" / source, target)
    (tmp_path / "conf.py").write_text(CONFIGURATION)
    (tmp_path / "gallery_directives.py").write_text(SETUP)
    (tmp_path / "gallery" / "boxes" / "three.rst").write_text(EXAMPLE)
    (tmp_path / "index.rst").write_text(PAGE + "\n.. image:: images/world.png\n")
    command = [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "html")]
    said = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path), "PATH": ""}
    )
    tags = re.findall(r"<img[^>]*>", (tmp_path / "html" / "index.html").read_text())
    assert [re.findall('alt="([^"]*)"', tag) for tag in tags] == [["a chart"], ["a world"], ["An example"], [""]]
    assert ["on-paper" in tag for tag in tags] == [True, False, True, False]
    assert said.stderr.count("give it an alt text") == 1
    (example,) = re.findall(r"<img[^>]*>", (tmp_path / "html" / "gallery" / "boxes" / "three.html").read_text())
    assert "on-paper" not in example
