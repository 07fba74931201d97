"""Contact manifolds of up to four points, also of solids that nearly touch: what a solver of resting contacts needs."""

from __future__ import annotations

from choque.narrow.manifolds.finding import ManifoldFinder

__all__ = ["ManifoldFinder"]
