"""The study of the Fingsics thesis: broad phases in a world of rigid bodies, its claims, and Bullet beside them.

What is varied is in `study_design`, what was printed in `study_printed`; importing claims and figures registers
them, in the order of the report.
"""

from __future__ import annotations

from choque.theses.fingsics import (
    study_aspect_claims,
    study_count_claims,
    study_figures,
    study_frame_claims,
    study_sweep_claims,
)
from choque.theses.fingsics.study_design import STUDY

__all__ = [
    "STUDY",
    "study_aspect_claims",
    "study_count_claims",
    "study_figures",
    "study_frame_claims",
    "study_sweep_claims",
]
