"""The study of the Fingsics thesis: broad phases in a world of rigid bodies, its claims, and Bullet beside them.

What is varied is in `_fingsics_design`, what was printed in `_fingsics_printed`; importing claims and figures registers
them, in the order of the report.
"""

from __future__ import annotations

from choque.lab.studies import (
    _fingsics_aspect_claims,
    _fingsics_count_claims,
    _fingsics_figures,
    _fingsics_frame_claims,
    _fingsics_sweep_claims,
)
from choque.lab.studies._fingsics_design import STUDY

__all__ = [
    "STUDY",
    "_fingsics_aspect_claims",
    "_fingsics_count_claims",
    "_fingsics_figures",
    "_fingsics_frame_claims",
    "_fingsics_sweep_claims",
]
