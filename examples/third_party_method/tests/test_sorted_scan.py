"""The whole public suite, one test for each check."""

from __future__ import annotations

import pytest

from choque.testing import broad_phase_checks


@pytest.mark.parametrize(("name", "check"), broad_phase_checks())
def test_sorted_scan(name, check):  # noqa: ARG001
    check("sorted-scan")
