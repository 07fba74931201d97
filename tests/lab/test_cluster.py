"""A real Dask cluster of two workers, one of which is killed during the run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from choque.errors import ChoqueError
from choque.lab import run
from choque.lab.records import read_parquet

distributed = pytest.importorskip("distributed", reason="dask[distributed], the extra 'scale', is not installed")


@pytest.mark.filterwarnings("ignore")
def test_no_cell_is_lost_or_counted_twice_when_a_worker_dies(
    planted_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    settings: dict[str, Any] = {"quick": True, "methods": ["fast", "slow"], "factors": {"n": [100]}}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        killed: list[int] = []

        def kill_one(done: int, total: int, about: str) -> None:
            if done >= 1 and not killed:
                nanny = next(iter(cluster.workers.values()))
                nanny.close_gracefully()  # it does not replace the worker that dies
                killed.append(nanny.pid)
                os.kill(killed[0], signal.SIGKILL)

        result = run(
            planted_study, **settings, output=tmp_path / "run", cluster=cluster.scheduler_address, progress=kill_one
        )
    assert killed
    assert len(result.cells) == 4
    assert set(result.cells.values("verdict")) == {"exact"}
    assert len(list((tmp_path / "run" / "cells").glob("*.json"))) == 4
    samples = read_parquet(tmp_path / "run" / "samples.parquet")
    assert len({(row["cell"], row["repetition"]) for row in samples}) == len(samples) == 12


def test_a_cluster_that_is_not_there_is_a_sentence(
    planted_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.scale.executors.CONNECT_SECONDS", 0.5)
    with pytest.raises(ChoqueError, match="No Dask scheduler answers"):
        run(planted_study, quick=True, output=tmp_path / "run", cluster="tcp://127.0.0.1:1")
