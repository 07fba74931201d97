"""Exact contacts: one file for each pair of shapes."""
