"""The process whose copies measure cells: everything that they call is loaded and compiled.

To start Python, NumPy and Numba takes more than a second, which is longer than most cells of a quick run are measured.
A copy of a process that has all of it is there at once, and is a process of its own like any other. But all copies have
their code and memory at the same addresses, and what that does to times it does to all of them: so a full run starts
every process from nothing, or, if its study has very many short cells (`choque.lab.study.Study.copies`), a new one to
copy after some cells. Cells run in random order, so those of one setting come from different ones.

``python -m choque.lab.ready`` takes the order to get ready as the first line on stdin and answers it by a line of JSON;
each further line is a cell. Its process and its phases are printed on stdout as by `choque.lab.worker`, and finally its
exit code.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import traceback
from typing import Any, NoReturn, TextIO

from choque.lab.worker import BEGUN, ENDED, answer, leave_when_alone, write_answer


def main() -> None:
    """Get ready, then serve one cell after the other until stdin closes."""
    phases = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(answer(json.loads(sys.stdin.readline()))), file=phases, flush=True)
    # Freeze what the copies share: collecting it would write to its pages, and copy them.
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            _be_a_cell(json.loads(line), phases)
        _, status = os.waitpid(child, 0)
        print(ENDED, os.waitstatus_to_exitcode(status), file=phases, flush=True)


def _be_a_cell(task: dict[str, Any], phases: TextIO) -> NoReturn:
    code = 1
    try:
        with open(task["errors"], "ab") as log:
            for stream in (1, 2):
                os.dup2(log.fileno(), stream)
        print(BEGUN, os.getpid(), file=phases, flush=True)
        threading.Thread(target=leave_when_alone, daemon=True).start()
        reply = answer(task["order"], lambda phase: print(phase, file=phases, flush=True))
        write_answer(task["answer"], reply)
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
