"""Searches larger than memory, and larger than one machine: files in, files out.

`pairs` and `join` find overlapping boxes of any number in bounded memory; `plan` says beforehand what they will take.
The pairs are a Parquet dataset, `Found`, which `open` opens again. `map_worlds` runs a world for each set of
parameters, `collide` tests volumes in many configurations. Tasks run in processes of this machine, on a Dask cluster,
or in any executor of `concurrent.futures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.scale._plan import SearchPlan
    from choque.scale.pair_files import Found, open  # noqa: A004
    from choque.scale.run import join, pairs, plan
    from choque.scale.sweeps import collide, map_worlds

__all__ = ["Found", "SearchPlan", "collide", "join", "map_worlds", "open", "pairs", "plan"]

__getattr__, __dir__ = exporting(
    __name__,
    __all__,
    {"._plan": "SearchPlan", ".pair_files": "Found open", ".run": "join pairs plan", ".sweeps": "collide map_worlds"},
)
