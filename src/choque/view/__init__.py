"""What is there made visible: it shows states and answers, and computes none itself."""

from __future__ import annotations

from choque.view.scene_picture import draw_scene

__all__ = ["draw_scene"]
