"""The sweep of the k-DOP thesis, whose principal axis is that of second moments about the origin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.sweep_axis import SweepAxis, principal_direction
from choque._core.types import Floats
from choque.broad.sap_kdop import SapKdop


class SapKdopOrigin(SapKdop):
    """The method ``sap-kdop`` with the axis of the thesis; for bodies far from the origin it points at them.

    The options are those of `choque.broad.sap_kdop.SapKdop`.

    Notes
    -----
    Guarantees: the pairs of ``sap-kdop``; only the number of tests differs.
    """

    name: ClassVar[str] = "sap-kdop-origin"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._axis = _OriginAxis(self.axis_period)


class _OriginAxis(SweepAxis):
    """The axis along which the centres spread most about the origin, instead of about their mean."""

    def _principal_direction(self, records: Floats, dimension: int) -> NDArray[np.float64] | None:
        return principal_direction(records, dimension, centred=False)
