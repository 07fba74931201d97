"""Who hands out the cells: this machine, or a Dask cluster, both as a `concurrent.futures.Executor`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from choque.errors import InvalidInput, require
from choque.lab import cell

CONNECT_SECONDS = 15

_ADDRESS = re.compile(r"(inproc://.+|(\w+://)?(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):\d+)")
"""Of a Dask scheduler: tcp://host:8786, tls://[::1]:8786, host:8786."""


@dataclass(frozen=True)
class Hands:
    """An executor, and how many cells it can be given at once."""

    executor: Executor
    width: int
    is_local: bool


@contextmanager
def local(side_by_side: int = 1) -> Iterator[Hands]:
    """Cells on this machine: each thread waits for a process of its own."""
    executor = ThreadPoolExecutor(side_by_side, thread_name_prefix="choque-lab")
    try:
        yield Hands(executor, side_by_side, is_local=True)
    finally:
        # Cells that run when the block ends early are nobody's any more.
        cell.end_all()
        executor.shutdown(wait=True, cancel_futures=True)


def require_address(address: str) -> None:
    """Refuse what no scheduler can have, before anything is written: a client that was half made ends slowly."""
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise InvalidInput(f"The cluster is {address!r}; write the scheduler's address as in tcp://host:8786.")


@contextmanager
def cluster(address: str) -> Iterator[Hands]:
    """The workers of a Dask scheduler, such as ``tcp://host:8786``.

    Dask itself gives a task whose worker is lost to another worker. Choque must be installed on each of them.
    """
    distributed = require("distributed", extra="scale", purpose="to run a study on a cluster")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise InvalidInput(
            f"No Dask scheduler answers at {address!r}: {problem}. Start one, or run without a cluster."
        ) from problem
    with client:
        threads = client.nthreads().values()
        if not threads:
            raise InvalidInput(f"The Dask scheduler at {address!r} has no workers; start some, then run again.")
        with client.get_executor() as executor:
            yield Hands(executor, sum(threads), is_local=False)
