"""The public conformance suites: oracles, scenes at the edge of what is legal, and checks for any method."""

from __future__ import annotations

from choque.testing import oracle, scenes
from choque.testing._subject import ConformanceFailure
from choque.testing.broad_phase import broad_phase_checks, check_broad_phase

__all__ = ["ConformanceFailure", "broad_phase_checks", "check_broad_phase", "oracle", "scenes"]
