"""Scenes of bodies: their columns, and the scene."""
