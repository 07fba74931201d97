"""What studies do before their first cell: small runs of the levels of their design alone."""

from __future__ import annotations

import pytest

from choque.lab import studies

ONE = {
    "comparison": "grid",
    "evm": "kept",
    "fingsics": "sap-obb",
    "interest": "AoIP1",
    "kdop": "18-dop",
    "kinetic": "direct",
}


@pytest.mark.parametrize(("name", "wanted"), ONE.items())
def test_small_runs_are_of_the_design(name: str, wanted: str) -> None:
    study = studies.find(name)
    assert study.kernels is not None
    compared = study.compares
    levels = study.levels(quick=True)
    small = list(study.kernels(levels))
    assert {each[compared] for each in small} <= set(levels[compared])
    assert wanted in {each[compared] for each in small}
    for each in small:
        assert set(each) <= {factor.name for factor in study.factors}
    only = list(study.kernels(study.levels(quick=True, wanted={compared: [wanted]})))
    assert {each[compared] for each in only} == {wanted}
