"""A broad phase from another package: `choque.broad.create("sorted-scan", boxes)`."""

from __future__ import annotations

from choque_sorted_scan.sorted_scan import SortedScan

__all__ = ["SortedScan"]
