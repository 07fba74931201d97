"""The fixtures of `recording_fixtures`."""

from recording_fixtures import cast, frames, make_world, write

__all__ = ["cast", "frames", "make_world", "write"]
