"""File formats of scenes, one family in each module; `choque.scene.files` finds them by suffix."""
