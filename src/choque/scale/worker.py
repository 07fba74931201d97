"""A process that runs tasks for `choque.scale.executors.LocalProcesses`: pickles in, pickles out.

It ends when its standard input does, in the middle of a task if need be: no task outlives the program that gave it.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

import choque.scale.tiles  # noqa: F401  (most tasks need it: it is loaded while the first order is on its way)
from choque.errors import ChoqueError


def main() -> None:
    """Run tasks until there are no more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a task prints must not be taken for an answer
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, orders), daemon=True).start()
    while True:
        answer = _answer(orders.get())
        try:
            answers.write(len(answer).to_bytes(8, "little") + answer)
            answers.flush()
        except OSError:
            return


def _listen(source: BinaryIO, orders: queue.SimpleQueue[bytes]) -> None:
    while True:
        size = source.read(8)
        if len(size) < 8:
            os._exit(0)
        orders.put(source.read(int.from_bytes(size, "little")))


def _answer(order: bytes) -> bytes:
    try:
        task, arguments, options = pickle.loads(order)
        return pickle.dumps((True, task(*arguments, **options)))
    except BaseException as problem:
        with suppress(Exception):
            answer = pickle.dumps((False, problem))
            pickle.loads(answer)  # an exception may be pickled and then not be made again
            return answer
        return pickle.dumps((False, ChoqueError(f"{type(problem).__name__} in a process: {problem}")))


if __name__ == "__main__":
    main()
