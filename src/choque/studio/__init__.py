"""Pictures, films, and the studio in the browser. It shows what the library computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.studio.film import Look, draw_frame, make_film
    from choque.studio.picture.scene import draw_scene

__all__ = ["Look", "draw_frame", "draw_scene", "make_film"]

__getattr__ = exporting(
    "choque.studio",
    {
        "Look": "choque.studio.film",
        "draw_frame": "choque.studio.film",
        "draw_scene": "choque.studio.picture.scene",
        "make_film": "choque.studio.film",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
