"""One studio for all tests of views, and one tab of a real browser with a studio of its own.

Both are closed after the tests of this folder: a tab that is open draws in software, and takes a fifth of a core.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from view_browser import Chromium, Watched

    from choque.studio.page.studio import Studio


@pytest.fixture(scope="package")
def shared_studio() -> Iterator[Studio]:
    """A studio that no browser looks at; tests open their views in it."""
    pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")
    from choque.studio.page.studio import open_studio

    with open_studio() as studio:
        yield studio


@pytest.fixture(scope="package")
def chromium() -> Iterator[Chromium]:
    """A real browser."""
    pytest.importorskip("viser", reason="viser, of the extra 'view', is not installed")
    from view_browser import launched

    with launched() as found:
        yield found


@pytest.fixture(scope="package")
def shared_tab(chromium: Chromium) -> Iterator[Watched]:
    """A studio and a tab that shows it."""
    from view_browser import Watched

    from choque.studio.page.studio import open_studio

    with open_studio() as studio:
        yield Watched(studio, chromium)


@pytest.fixture
def watched(shared_tab: Watched) -> Iterator[Watched]:
    """The tab; fails if it met an error, or a request left the machine, while a test was looking."""
    yield shared_tab
    complaints, shared_tab.complaints = shared_tab.complaints, []
    assert complaints == []
