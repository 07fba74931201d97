"""Generators of scenes of bodies to look at and to measure with, registered by entry points in `choque.body_scenes`."""
