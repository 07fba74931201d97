"""Fingsics, a simulator of rigid bodies in single precision: its rules, formats, modes and study."""
