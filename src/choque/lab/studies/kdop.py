"""The study of k-DOPs: 18-DOPs, boxes and spheres around convex bodies that fall on a heap, and who needs which.

What is varied is in `_kdop_design`, what was printed in `_kdop_printed`; claims and figures register themselves. The
run of each pile leaves a table of its frames, and of means over ten, in the folder ``frames`` of the study.
"""

from __future__ import annotations

from choque.lab.studies import _kdop_claims, _kdop_claims_parts, _kdop_figures
from choque.lab.studies._kdop_design import STUDY

__all__ = ["STUDY", "_kdop_claims", "_kdop_claims_parts", "_kdop_figures"]
