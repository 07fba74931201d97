"""The base class of views."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.studio.page.page import Page
    from choque.studio.viewpoint import Viewpoint


class View(ABC):
    """What a page shows: opened once, ticked by the studio, and closed when another view replaces it.

    All methods but `camera_moved`, and all actions of the page, run in the thread of the studio, one after another.
    """

    title: str = "Choque"
    """The title of the page."""

    picture_name: str = "choque.png"
    """The file name of pictures that the page saves."""

    @abstractmethod
    def open(self, page: Page) -> None:
        """Build panels, keys and scene on an empty ``page``."""

    def tick(self) -> float | None:
        """Do what is due; return the seconds until the next call, or None for after the next action."""
        return None

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:  # noqa: ARG002
        """Draw the view as a PNG, without the page; without a viewpoint, from one that shows everything."""
        raise InvalidInput(f"“{self.title}” cannot be drawn; open a scene, a recording, a motion or volumes.")

    def seek_time(self, seconds: float) -> None:  # noqa: ARG002
        """Show the moment ``seconds`` after the start."""
        raise InvalidInput(f"“{self.title}” has no moments to go to; worlds, recordings and motions have.")

    def camera_moved(self, client: Any) -> None:  # noqa: B027
        """Handle a camera that was moved in a tab; called in a thread of viser, for what cannot wait."""

    def be_still(self) -> None:  # noqa: B027
        """Hide what only a page with a server can use, such as handles to drag."""

    def close(self) -> None:  # noqa: B027
        """Release what the view holds; its panels and its scene are removed by the studio."""
