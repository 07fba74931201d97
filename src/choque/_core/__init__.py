"""What every package stands on: kernels, threads, memory, checks, and the structures that know no bodies."""

__version__ = "0.2.0"  # the same as in pyproject.toml; a test compares them
