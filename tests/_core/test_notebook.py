"""What objects print, and how they look in a notebook."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import choque
from choque._core.notebook import MAX_DRAWN, boxes_picture, card

LOWER = np.random.default_rng(0).uniform(0, 9, (400, 3))


def world() -> choque.World:
    made = choque.World()
    made.add_spheres([[0, 0, 0], [0.5, 0, 0]])
    return made


def neighbors() -> choque.Neighbors:
    kept = choque.Neighbors(1.0)
    kept.update(LOWER)
    return kept


THINGS = {
    "boxes": lambda: choque.bounds.Boxes(LOWER, LOWER + 1),
    "no boxes": lambda: choque.bounds.Boxes(np.empty((0, 2)), np.empty((0, 2))),
    "spheres": lambda: choque.bounds.Spheres(LOWER, np.ones(400)),
    "broad phase": lambda: choque.broad.create("auto", choque.bounds.Boxes(LOWER, LOWER + 1)),
    "world": world,
    "no bodies": choque.World,
    "contacts": lambda: world().contacts(),
    "volume": lambda: choque.Volume.from_voxels(np.ones((2, 2, 2), bool)),
    "areas": lambda: choque.interest.Areas(LOWER, radius=1.0),
    "neighbours": neighbors,
    "matches": lambda: choque.join(LOWER, LOWER + 1, LOWER, LOWER + 1, iou=0.5),
}


@pytest.mark.parametrize("name", [name for name in THINGS if name != "matches"])
def test_a_card_is_well_formed_and_small(name: str) -> None:
    thing: Any = THINGS[name]()
    html = thing._repr_html_()
    ElementTree.fromstring(html)
    assert len(html) < 20_000
    assert "<b>" in html


@pytest.mark.parametrize("name", list(THINGS))
def test_text_is_at_most_two_lines(name: str) -> None:
    text = repr(THINGS[name]())
    assert len(text.splitlines()) <= 2
    assert len(text) < 240


def test_pictures_show_few_boxes_and_no_infinite_ones() -> None:
    lower = np.random.default_rng(1).uniform(0, 1, (10_000, 2))
    assert boxes_picture(lower, lower + 0.1).count("<rect") <= MAX_DRAWN
    assert boxes_picture(np.array([[-np.inf, 0.0]]), np.array([[0.0, 1.0]])) == ""
    largest = np.full((1, 2), np.finfo(np.float64).max)
    assert 'width="136.0"' in boxes_picture(-largest, largest)
    assert "nan" not in boxes_picture(np.zeros((1, 2)), np.zeros((1, 2)))


def test_words_are_escaped() -> None:
    assert "&lt;b&gt;" in card("<b>", {"a": True, "b": 1234, "c": 0.25, "d": np.array([1.0, 2.0])})
