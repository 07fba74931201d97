"""The panels and the log of the volume view."""

from __future__ import annotations

import numpy as np
import pytest

from choque.studio.stage.quaternions import angle_and_axis
from choque.studio.volumes.pair import VolumePair
from choque.studio.volumes.source import VolumeSource
from choque.studio.volumes.view import QUARTER_TURNS, YES, CollisionLog, answer_html, log_html, part_html
from choque.theses.evm.objects import sphere_mesh
from choque.volumes import Volume

SPHERE = sphere_mesh(8, 7)


def spheres(voxels_per_unit: float = 6.0) -> VolumePair:
    one, two = (VolumeSource(name, mesh=SPHERE) for name in ("one", "two"))
    return VolumePair(one, two, voxels_per_unit=voxels_per_unit)


def test_moving_through_gives_one_notice_of_contact_and_the_answers_in_order() -> None:
    """F-003-44: one notice of contact, then those of triangles, then one of separation."""
    pair, log = spheres(4.0), CollisionLog()
    for x in np.linspace(3.0, -3.0, 61):
        pair.move_to((x, 0.0, 0.0))
        log.observe(pair.query(), pair.shift)
    kinds = [notice.kind for notice in log.notices]
    assert kinds.count("models collide") == kinds.count("models apart") == 1
    assert kinds[0] == "models collide"
    assert kinds[-1] == "models apart"
    assert kinds[1:-1] in (
        ["triangles apart", "triangles collide", "triangles apart"],  # coarse voxels touch before triangles do
        ["triangles collide"],
    )
    assert "△" in log_html(log) or "▲" in log_html(log)


def test_the_panel_has_the_answer_the_rotation_and_the_source() -> None:
    pair = spheres()
    vector = np.array([0.3, -0.8, 0.5])
    pair.turn_to(vector)
    angle, axis = angle_and_axis(pair.rotation)
    np.testing.assert_allclose(angle * axis, vector, atol=1e-5)
    html = answer_html(pair, pair.query())
    assert f"{np.degrees(angle):.4g}°" in html
    assert "collide" in html
    pair.move_to((9.0, 0.0, 0.0))
    assert "not tested" in answer_html(pair, pair.query())
    assert "one" in part_html(pair.parts[0], (1, 2, 3))


@pytest.mark.parametrize("inner", [0, 1])
def test_one_inside_the_other_collides_and_is_never_called_apart(inner: int) -> None:
    """The worst case of an implant: wholly inside a bone, so that no triangles meet."""
    ball = sphere_mesh(8, 7)
    small = VolumeSource("small", mesh=ball._replace(vertices=ball.vertices * 0.4))
    given = [VolumeSource("large", mesh=ball), small]
    pair = VolumePair(*(given if inner else given[::-1]), voxels_per_unit=8.0)
    answer, log = pair.query(), CollisionLog()
    assert (answer.voxels, answer.triangles, answer.inside) == (True, False, inner)
    html, place = answer_html(pair, answer), ("the first lies inside the second", "the second lies inside the first")
    assert place[inner] in html
    assert "apart" not in html
    assert html.count(YES) == 2
    assert place[inner] in log.observe(answer, pair.shift)[-1].text
    pair.move_to((9.0, 0.0, 0.0))
    assert pair.query().inside is None


@pytest.mark.parametrize("axis", "xyz")
def test_buttons_turn_by_quarters(axis: str) -> None:
    model = Volume.from_voxels(np.random.default_rng(5).random((5, 4, 6)) < 0.4)
    pair = VolumePair(VolumeSource("one", model=model), VolumeSource("two", model=model))
    pair.turn_to(QUARTER_TURNS[axis])
    middle = np.rint((np.array(model.bounds[0]) + model.bounds[1]) / 2)
    assert pair.parts[1].volume == model.turned(axis, about=middle)
