"""What is there made visible: it shows states and answers, and computes none itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._lazy import exporting

if TYPE_CHECKING:
    from choque.view.film import Look, draw_frame, make_film
    from choque.view.scene_picture import draw_scene

__all__ = ["Look", "draw_frame", "draw_scene", "make_film"]

__getattr__ = exporting(
    "choque.view",
    {
        "Look": "choque.view.film",
        "draw_frame": "choque.view.film",
        "draw_scene": "choque.view.scene_picture",
        "make_film": "choque.view.film",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
