"""Convex bodies: GJK, EPA, contact patches and times of impact."""
