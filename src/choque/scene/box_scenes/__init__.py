"""Scenes of boxes over time, and their generators, one family in each module."""
