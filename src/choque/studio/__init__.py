"""Pictures, films, runs of worlds, and the studio in the browser. It shows what the library computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.studio.film import Look, draw_frame, make_film
    from choque.studio.picture.scene import draw_scene
    from choque.studio.run import Run

__all__ = ["Look", "Run", "draw_frame", "draw_scene", "make_film"]

__getattr__, __dir__ = exporting(
    __name__, __all__, {".film": "Look draw_frame make_film", ".picture.scene": "draw_scene", ".run": "Run"}
)
