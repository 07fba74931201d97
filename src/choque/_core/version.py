"""The version of Choque, for the modules that write it into files."""

__version__ = "0.2.0"  # the same as in pyproject.toml; a test compares them
