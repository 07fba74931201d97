"""What a sweep that some device serves tells of itself."""

from __future__ import annotations

from choque._core.sweep_axis import SweepAxis
from choque.gpu.devices import Served


class ServedSweep:
    """A sweep along a chosen axis that runs where a request for a device ended."""

    served: Served
    _axis: SweepAxis

    @property
    def device(self) -> str:
        """The device that serves: ``"cpu"``, ``"warp-cpu"``, or a card such as ``"cuda:0"``."""
        return self.served.name

    @property
    def axis(self) -> tuple[int, ...]:
        """The direction that is swept, as whole numbers: (1, 1, 0) is the diagonal of x and y."""
        return self._axis.direction

    @property
    def axis_changes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(after how many updates, the axis) for each time that another was chosen."""
        return self._axis.changes
