"""A Dask cluster of two workers, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tables import found_pairs, pairs_by_definition, write_table

import choque
from choque.errors import InvalidInput

distributed = pytest.importorskip("distributed", reason="dask[distributed], the extra 'scale', is not installed")


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_of_a_cluster_changes_nothing(tmp_path: Path) -> None:
    lower = np.random.default_rng(27).uniform(0, 9, (300, 2))
    path = write_table(tmp_path / "boxes.parquet", lower, lower + 0.8, row_group_size=50)
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, memory_limit="1GiB"
    ) as cluster:

        def kill_one(done: int, total: int, about: str) -> None:
            if about == "joined" and not killed:
                nanny = next(iter(cluster.workers.values()))
                nanny.close_gracefully()  # it does not replace the worker that dies
                killed.append(nanny.pid)
                os.kill(killed[0], signal.SIGKILL)

        with distributed.Client(cluster) as client:
            assert choque.scale.plan(path, client=client).memory == 2 << 30
            found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=40, client=client, progress=kill_one)
    assert killed
    assert found_pairs(found) == pairs_by_definition(lower, lower + 0.8)
    alone = choque.scale.pairs(path, tmp_path / "alone", tile_rows=40)
    for one, other in zip(found.files, alone.files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_scheduler_that_does_not_answer_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.scale.executors.CONNECT_SECONDS", 0.5)
    path = write_table(tmp_path / "boxes.parquet", np.zeros((3, 2)), np.ones((3, 2)))
    with pytest.raises(InvalidInput, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        choque.scale.pairs(path, tmp_path / "pairs", client="tcp://127.0.0.1:1")
    with pytest.raises(InvalidInput, match="write the scheduler's address"):
        choque.scale.pairs(path, tmp_path / "pairs", client="nowhere")
    assert not (tmp_path / "pairs").exists()
