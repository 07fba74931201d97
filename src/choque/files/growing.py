"""Files that grow while something runs: what a crash leaves of them is there to be read.

They are the exception to `choque.files.atomic`: a recording or a log that appeared at the end only would be lost with
the run that it was to tell about.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path

from choque.errors import InvalidInput
from choque.files.atomic import reason_of


def create_new(path: Path, what: str) -> FileIO:
    """Open a file that is not there yet; ``what`` it is to hold, such as "recording", is in the sentences."""
    try:
        # Not buffered: a failed write then fails where it was asked for, and leaves nothing to fail once more.
        return path.open("xb", buffering=0)
    except FileExistsError as problem:
        raise InvalidInput(f"There is a file {path} already; give a {what} another name.") from problem
    except (OSError, ValueError) as problem:
        raise InvalidInput(f"The {what} {path} cannot be written: {reason_of(problem)}.") from problem


def write_all(handle: FileIO, data: bytes) -> None:
    """Write all of ``data``; the system may take it in several bites."""
    left = memoryview(data)
    while left:
        left = left[handle.write(left) :]
