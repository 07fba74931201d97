"""What all tests share: hypothesis without deadlines, and the switch between the two sizes of proof.

`make test` runs every proof at a reduced count and draws the same examples each time. With ``CHOQUE_FULL=1``
in the environment (`make test-all`) the counts are those that an issue names, and the examples are fresh.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

FULL = os.environ.get("CHOQUE_FULL", "") == "1"

settings.register_profile("reduced", max_examples=15, derandomize=True)
settings.register_profile("full", max_examples=400)
settings.register_profile(
    "choque",
    settings.get_profile("full" if FULL else "reduced"),
    deadline=None,  # the first example may compile kernels
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("choque")


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Whether proofs run at their full count."""
    return FULL
