"""Bad input, full disks and killed processes: a sentence, and a search that goes on where it was."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import found_pairs, pairs_by_definition, write_table

import choque
from choque.errors import BusyObject, ChoqueError, InvalidInput, UnreadableFile
from choque.scale import executors, run

RANDOM = np.random.default_rng(17)
LOWER = RANDOM.uniform(0, 9, (300, 2))
UPPER = LOWER + 0.8
EXPECTED = pairs_by_definition(LOWER, UPPER)


@pytest.fixture
def boxes(tmp_path: Path) -> Path:
    return write_table(tmp_path / "boxes.parquet", LOWER, UPPER, row_group_size=50)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "_plan.json"}


# Bad input


def test_nan_in_one_of_many_files_is_named(tmp_path: Path) -> None:
    for number in range(40):
        lower = LOWER.copy()
        if number == 37:
            lower[123, 1] = np.nan
        write_table(tmp_path / f"part-{number:02d}.parquet", lower, UPPER, row_group_size=100)
    with pytest.raises(UnreadableFile, match=r"Row 123 of .*part-37\.parquet is no box"):
        choque.scale.pairs(tmp_path / "part-*.parquet", tmp_path / "pairs", workers=1)


def test_nan_that_no_sample_sees_is_named_by_the_scatter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.scale._plan.SAMPLE_ROWS", 150)
    upper = UPPER.copy()
    upper[299, 0] = LOWER[299, 0] - 1
    path = write_table(tmp_path / "boxes.parquet", LOWER, upper)
    with pytest.raises(UnreadableFile, match=r"Row 299 of .*boxes\.parquet is no box.*0 of \d+ tiles are finished"):
        choque.scale.pairs(path, tmp_path / "pairs")


def test_misnamed_columns_say_what_there_is(tmp_path: Path, boxes: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"exactly one column 'left'.*It has 'x_lower'"):
        choque.scale.pairs(boxes, tmp_path / "pairs", columns=["left", "y_lower", "x_upper", "y_upper"])
    with pytest.raises(UnreadableFile, match="exactly one column 'name' for the ids"):
        choque.scale.pairs(boxes, tmp_path / "pairs", ids="name")
    with pytest.raises(InvalidInput, match="4 or 6 names"):
        choque.scale.pairs(boxes, tmp_path / "pairs", columns=["x_lower"])
    assert not (tmp_path / "pairs").exists()


def test_columns_of_text_and_missing_values_are_refused(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ["x_lower", "y_lower", "x_upper", "y_upper"]
    parquet.write_table(arrow.table({name: ["a"] for name in names}), tmp_path / "text.parquet")
    with pytest.raises(UnreadableFile, match="'x_lower' is of type string; numbers are needed"):
        choque.scale.pairs(tmp_path / "text.parquet", tmp_path / "pairs")
    parquet.write_table(arrow.table({name: [1.0, None] for name in names}), tmp_path / "null.parquet")
    with pytest.raises(UnreadableFile, match=r"null\.parquet, the column 'x_lower' has missing values"):
        choque.scale.pairs(tmp_path / "null.parquet", tmp_path / "pairs")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("nowhere.parquet", "There is no file"),
        ("none-*.parquet", "No file matches"),
        ("boxes.csv", "files that end in .h5, .hdf5, .npy"),
        ([], "The list of files is empty"),
        (7, "The boxes are given as int"),
    ],
)
def test_files_that_are_not_there(tmp_path: Path, given: Any, sentence: str) -> None:
    (tmp_path / "boxes.csv").write_text("x_lower\n")
    word = str(tmp_path / given) if isinstance(given, str) else given
    with pytest.raises(InvalidInput, match=sentence):
        choque.scale.pairs(word, tmp_path / "pairs")


def test_files_of_different_dimensions_are_refused(tmp_path: Path, boxes: Path) -> None:
    flat = write_table(tmp_path / "solid.parquet", np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(UnreadableFile, match=r"solid.parquet are 3D, those in .*boxes.parquet are 2D"):
        choque.scale.pairs([boxes, flat], tmp_path / "pairs")
    with pytest.raises(InvalidInput, match="The two sets are 2D and 3D"):
        choque.scale.join(boxes, flat, tmp_path / "pairs")


def test_memory_that_cannot_work_is_refused_with_the_least_that_can(tmp_path: Path, boxes: Path) -> None:
    with pytest.raises(InvalidInput, match=r"memory is 100 MiB; 2 workers need at least \d+ MiB, or fewer workers"):
        choque.scale.pairs(boxes, tmp_path / "pairs", memory="100 MiB", workers=2)
    with pytest.raises(InvalidInput, match="memory is 'much'"):
        choque.scale.plan(boxes, memory="much")
    assert "memory   1 GiB for 1 worker" in str(choque.scale.plan(boxes, memory="1GiB"))


def test_folders_that_hold_something_else_are_refused(tmp_path: Path, boxes: Path) -> None:
    with pytest.raises(InvalidInput, match="holds other files"):
        choque.scale.pairs(boxes, tmp_path)
    with pytest.raises(InvalidInput, match="is a file"):
        choque.scale.pairs(boxes, boxes)
    choque.scale.pairs(boxes, tmp_path / "pairs")
    with pytest.raises(InvalidInput, match="the same boxes with other options"):
        choque.scale.pairs(boxes, tmp_path / "pairs", closed=False)
    write_table(boxes, LOWER, UPPER + 1)
    with pytest.raises(InvalidInput, match="other boxes, or the same files before they were changed"):
        choque.scale.pairs(boxes, tmp_path / "pairs")
    with pytest.raises(UnreadableFile, match="no finished search"):
        choque.scale.open(tmp_path)


def test_two_searches_in_one_folder(tmp_path: Path, boxes: Path) -> None:
    pytest.importorskip("fcntl")
    with run._reserved(tmp_path / "pairs"), pytest.raises(BusyObject, match="Another search is writing"):
        choque.scale.pairs(boxes, tmp_path / "pairs")


# What is finished stays


def test_a_full_disk_leaves_what_is_finished(tmp_path: Path, boxes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = choque.scale.pairs(boxes, tmp_path / "whole", tile_rows=40)
    join, joined = run.join_task, []

    def on_a_small_disk(ticket: Any, tile: int, target: str) -> int:
        if len(joined) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        joined.append(tile)
        return join(ticket, tile, target)

    with monkeypatch.context() as patch:
        patch.setattr(run, "join_task", on_a_small_disk)
        with pytest.raises(ChoqueError, match=r"No space left.*3 of 16 tiles are finished and kept.*same call again"):
            choque.scale.pairs(boxes, tmp_path / "pairs", tile_rows=40)
    again: list[int] = []
    monkeypatch.setattr(run, "join_task", lambda *order: (again.append(order[1]), join(*order)))
    monkeypatch.setattr(run, "scatter_task", lambda *_: pytest.fail("finished tasks are not done again"))
    found = choque.scale.pairs(boxes, tmp_path / "pairs", tile_rows=40)
    assert sorted(joined + again) == list(range(16))
    assert contents(tmp_path / "pairs") == contents(tmp_path / "whole")
    assert found_pairs(found) == found_pairs(whole) == EXPECTED


def test_a_finished_search_is_returned_as_it_is(tmp_path: Path, boxes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choque.scale.pairs(boxes, tmp_path / "pairs")
    monkeypatch.setattr(run, "join_task", lambda *_: pytest.fail("nothing is left to do"))
    assert found_pairs(choque.scale.pairs(boxes, tmp_path / "pairs")) == EXPECTED
    assert found_pairs(choque.scale.open(tmp_path / "pairs")) == EXPECTED


def test_going_on_with_less_memory_is_refused(tmp_path: Path, boxes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run, "scatter_task", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises((KeyboardInterrupt, ChoqueError)):
            choque.scale.pairs(boxes, tmp_path / "pairs", memory="2 GiB", tile_rows=40)
    with pytest.raises(InvalidInput, match="was planned for 2 GiB a worker, and memory is 1 GiB"):
        choque.scale.pairs(boxes, tmp_path / "pairs", memory="1 GiB")
    assert found_pairs(choque.scale.pairs(boxes, tmp_path / "pairs", memory="3 GiB")) == EXPECTED


SCRIPT = """
import sys, choque
choque.scale.pairs(sys.argv[1], sys.argv[2], tile_rows=20, workers=int(sys.argv[3]))
"""


def start(boxes: Path, folder: Path, workers: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(boxes), str(folder), str(workers)])


def wait_for(folder: Path, count: int) -> None:
    for _ in range(30_000):
        if len(list(folder.glob("tile-*.parquet"))) >= count:
            return
        time.sleep(0.01)
    pytest.fail(f"no {count} tiles in {folder} after 300 s")


def test_a_killed_driver_goes_on_and_writes_the_same_bytes(tmp_path: Path, boxes: Path) -> None:
    process = start(boxes, tmp_path / "pairs", 1)
    wait_for(tmp_path / "pairs", 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "pairs").glob("tile-*.parquet")}
    found = choque.scale.pairs(boxes, tmp_path / "pairs", tile_rows=20)
    choque.scale.pairs(boxes, tmp_path / "whole", tile_rows=20)
    assert contents(tmp_path / "pairs") == contents(tmp_path / "whole")
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())
    assert found_pairs(found) == EXPECTED


def test_a_killed_worker_is_replaced(tmp_path: Path, boxes: Path) -> None:
    killed: list[int] = []
    with executors.find_workers(2) as workers:
        processes = workers.executor
        assert isinstance(processes, executors.LocalProcesses)

        def kill_one(done: int, total: int, about: str) -> None:
            if about == "joined" and not killed:
                killed.append(next(process.pid for process in processes._all if process.poll() is None))
                os.kill(killed[0], signal.SIGKILL)

        found = choque.scale.pairs(
            boxes, tmp_path / "pairs", tile_rows=20, executor=processes, workers=2, progress=kill_one
        )
    assert killed
    choque.scale.pairs(boxes, tmp_path / "whole", tile_rows=20)
    assert contents(tmp_path / "pairs") == contents(tmp_path / "whole")
    assert found_pairs(found) == EXPECTED


def test_a_task_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    with executors.find_workers(2) as workers:
        submit = workers.executor.submit
        with pytest.raises(ChoqueError, match="lost 3 times with its worker"):
            list(executors.completed(workers, [9], lambda code: submit(os._exit, code)))
        assert list(executors.completed(workers, [2], lambda number: submit(abs, -number))) == [(2, 2)]


def test_any_executor_serves(tmp_path: Path, boxes: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        found = choque.scale.pairs(boxes, tmp_path / "pairs", tile_rows=60, executor=executor, workers=2)
    assert found_pairs(found) == EXPECTED
    with pytest.raises(InvalidInput, match=r"must be a concurrent\.futures\.Executor"):
        choque.scale.pairs(boxes, tmp_path / "other", executor=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="client and executor are both given"):
        choque.scale.pairs(boxes, tmp_path / "other", executor=executor, client="a:1")


class Particular(Exception):
    """An exception that pickle takes, and cannot make again: its arguments are not those that it was made with."""

    def __init__(self, place: str, number: int) -> None:
        super().__init__(f"{place} {number} is wrong")


def fail(*arguments: Any) -> None:
    raise Particular(*arguments)


def test_an_exception_that_cannot_be_sent_arrives_in_words() -> None:
    processes = executors.LocalProcesses(1)
    try:
        for number in range(2):
            with pytest.raises(ChoqueError, match=f"Particular in a process: tile {number} is wrong"):
                processes.submit(fail, "tile", number).result(60)
        assert len(processes._all) == 1  # no further process was needed
    finally:
        processes.shutdown()
