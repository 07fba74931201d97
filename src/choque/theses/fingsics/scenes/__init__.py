"""Generators of the scenes of the Fingsics thesis."""
