"""What every view of the studio is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from choque.errors import InvalidInput

if TYPE_CHECKING:
    from choque.studio.page.page import Page
    from choque.studio.viewpoint import Viewpoint


class View(ABC):
    """One thing on the page: built once, ticked by the studio, closed when another takes its place.

    All methods but `camera_moved`, and every action that the page hands over, run in the studio's own thread, one after
    the other.
    """

    title: str = "Choque"
    """What is shown, in a few words; the title of the page."""

    picture_name: str = "choque.png"
    """What a picture of it is called when the page saves one."""

    @abstractmethod
    def open(self, page: Page) -> None:
        """Build panels, keys and scene on an empty ``page``."""

    def tick(self) -> float | None:
        """Do what is due; give the seconds until the next call, None for not before something is done on the page."""
        return None

    def picture(self, viewpoint: Viewpoint | None, size: tuple[int, int]) -> bytes:  # noqa: ARG002
        """A PNG of what is shown, drawn without the page; seen from where all of it is in sight unless told."""
        raise InvalidInput(f"There is no picture of “{self.title}”; open a scene, a recording, a motion or volumes.")

    def camera_moved(self, client: Any) -> None:  # noqa: B027
        """The camera of a tab was moved there; called in a thread of viser's, and only for what cannot wait."""

    def close(self) -> None:  # noqa: B027
        """Give back what the view took; its panels and scene are removed for it."""
