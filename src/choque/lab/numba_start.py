"""A quicker start of Numba, for processes that measure one cell and end.

When its first kernel is loaded, Numba finds out whether SciPy has BLAS by importing ``scipy.linalg``: a third of the
time that such a process takes to start, for functions that no kernel here calls. Numba asks again wherever one is
called, so the import can wait until then.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from importlib.util import find_spec

_ASKING = "numba.np.arraymath"
_ASKED_FOR = "scipy.linalg"
_FOUND = "_HAVE_BLAS"


def spare_scipy() -> None:
    """Load what Numba loads with its first kernel, without SciPy; nothing where Numba itself is not loaded.

    For the main thread of a process that has no other imports under way.
    """
    if "numba" not in sys.modules or _ASKING in sys.modules or _ASKED_FOR in sys.modules:
        return
    sys.modules[_ASKED_FOR] = None  # type: ignore[assignment]  # an import of it fails, and Numba takes it as absent
    try:
        # Whatever a later Numba does there is its own affair: then the first kernel loads it as ever.
        with suppress(Exception):
            setattr(importlib.import_module(_ASKING), _FOUND, find_spec("scipy") is not None)
    finally:
        del sys.modules[_ASKED_FOR]
