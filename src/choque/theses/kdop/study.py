"""The study of k-DOPs: 18-DOPs, boxes and spheres around convex bodies that fall on a heap, and who needs which.

What is varied is in `study_design`, what was printed in `study_printed`; claims and figures register themselves. The
run of each pile leaves a table of its frames, and of means over ten, in the folder ``frames`` of the study.
"""

from __future__ import annotations

from choque.theses.kdop import study_claims, study_claims_parts, study_figures
from choque.theses.kdop.study_design import STUDY

__all__ = ["STUDY", "study_claims", "study_claims_parts", "study_figures"]
