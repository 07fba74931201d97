"""Devices of other packages: registered by name, used by `sap-kdop` and `auto`."""

from __future__ import annotations

import numpy as np
import pytest

import choque
from choque._core.pair_keys import pack_pairs
from choque._core.types import Floats, Keys
from choque.broad import devices
from choque.errors import InvalidInput, UnknownName


class Abacus(devices.Device):
    """A device that tests all pairs."""

    def sweep_slabs(self, slabs: Floats, slab: int) -> tuple[Keys, int]:  # noqa: ARG002
        rows = np.stack(np.triu_indices(len(slabs), 1), axis=1).astype(np.int32)
        lower, upper = np.split(slabs, 2, axis=1)
        one, other = rows.T
        meet = ((lower[one] <= upper[other]) & (lower[other] <= upper[one])).all(axis=1)
        return pack_pairs(rows[meet]), len(rows)


@pytest.fixture
def _abacus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices.devices, "_registered", {})
    devices.devices.register("abacus", lambda requested: Abacus(requested))


@pytest.mark.usefixtures("_abacus")
@pytest.mark.parametrize("closed", [True, False])
def test_a_registered_device_finds_the_pairs(closed: bool) -> None:
    lower = np.random.default_rng(0).integers(0, 9, (80, 3)).astype(float)
    wanted = choque.pairs(lower, lower + 1, closed=closed)
    np.testing.assert_array_equal(choque.pairs(lower, lower + 1, closed=closed, device="abacus:2"), wanted)
    assert len(wanted)


@pytest.mark.usefixtures("_abacus")
def test_other_methods_do_not_run_on_a_device() -> None:
    with pytest.raises(InvalidInput, match="'bvh' has no kernels for the device 'abacus'"):
        choque.pairs([[0, 0]], [[1, 1]], method="bvh", device="abacus")


def test_an_unknown_device_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'cuda'"):
        devices.resolve("cudda")


def test_the_cpu_is_the_default() -> None:
    assert devices.resolve(None) == devices.resolve("cpu") == devices.Device()
    assert devices.Device().is_cpu
