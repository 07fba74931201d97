"""The study of the Fingsics thesis: broad phases in a world of rigid bodies, its claims, and Bullet for comparison.

The factors are in `study_design`, the printed figures in `study_printed`. Importing claims and figures registers them,
in the order of the report.
"""

from __future__ import annotations

from choque.theses.fingsics import study_count_claims, study_figures, study_time_claims
from choque.theses.fingsics.study_design import STUDY

__all__ = ["STUDY", "study_count_claims", "study_figures", "study_time_claims"]
