"""The fixtures of `recording_fixtures`."""

from recording_fixtures import frames, make_world, table, write

__all__ = ["frames", "make_world", "table", "write"]
