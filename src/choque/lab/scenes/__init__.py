"""Generators of scenes to look at and to measure with, registered by entry points as those of other packages are."""
