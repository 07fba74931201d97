"""Cameras of views without bodies: they show everything, also after a page is resized."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from choque.studio.page.scene import NARROW, CameraPlacement, Lens

BEFORE = [7.0, 7.0, 7.0]
"""Where the view before wanted the first camera."""


def a_tab(number: int, aspect: float) -> Any:
    camera = SimpleNamespace(aspect=aspect, position=np.zeros(3), look_at=np.zeros(3))
    return SimpleNamespace(client_id=number, camera=camera, atomic=nullcontext)


@pytest.fixture
def tabs() -> list[Any]:
    return [a_tab(0, 1.0), a_tab(1, 2.0)]


@pytest.fixture
def stand(tabs: list[Any]) -> CameraPlacement:
    before = SimpleNamespace(position=np.array(BEFORE))
    server = SimpleNamespace(initial_camera=before, get_clients=lambda: dict(enumerate(tabs)))
    made = CameraPlacement(server)
    made.look_from(lambda aspect: [0.0, 0.0, 10.0 / aspect], [0.0, 0.0, 0.0], Lens())
    assert server.initial_camera.position == [0.0, 0.0, 10.0 / NARROW]
    return made


def test_each_camera_fits_the_aspect_ratio_of_its_tab(stand: CameraPlacement, tabs: list[Any]) -> None:
    assert [tab.camera.position[2] for tab in tabs] == [10.0, 5.0]


def test_an_unmoved_camera_keeps_showing_everything(stand: CameraPlacement, tabs: list[Any]) -> None:
    tabs[0].camera.aspect = 0.5
    stand.moved(tabs[0])
    assert tabs[0].camera.position[2] == 20.0


def test_a_camera_that_was_moved_stays(stand: CameraPlacement, tabs: list[Any]) -> None:
    tabs[0].camera.position = np.array([1.0, 0.0, 10.0])
    tabs[0].camera.aspect = 0.5
    stand.moved(tabs[0])
    assert tabs[0].camera.position.tolist() == [1.0, 0.0, 10.0]


@pytest.mark.parametrize("unasked", [BEFORE, [0.0, 0.0, 10.0 / NARROW]], ids=["the view before", "this view"])
def test_the_camera_of_a_slow_page_is_corrected(stand: CameraPlacement, tabs: list[Any], unasked: list[float]) -> None:
    tabs[1].camera.position = np.array(unasked)
    stand.moved(tabs[1])
    assert tabs[1].camera.position[2] == 5.0
