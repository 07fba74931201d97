"""Scenes of bodies: their columns, the scene, and its generators, one family in each module."""
