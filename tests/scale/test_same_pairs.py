"""The same pairs as `choque.pairs`, each once, however space is cut."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import found_pairs, pairs_by_definition, write_table

import choque
from choque.scale.pair_files import PairWriter
from choque.testing import scenes


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of small files: waiting for the disk is not what is tested here."""
    monkeypatch.setattr("os.fsync", lambda _: None)


CASES = [(name, dimension) for name in scenes.names() for dimension in (2, 3) if (name, dimension) != ("reference", 2)]


@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_every_scene_in_tiny_tiles(tmp_path: Path, name: str, dimension: int) -> None:
    closed = bool((len(name) + dimension) % 2)
    scene = scenes.make(name, dimension=dimension, count=60)
    path = write_table(tmp_path / "boxes.parquet", scene.lower, scene.upper)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=4, closed=closed)
    assert found_pairs(found) == pairs_by_definition(scene.lower, scene.upper, closed=closed)


def test_a_thousand_boxes_in_hundreds_of_tiles(tmp_path: Path) -> None:
    scene = scenes.make("uniform", count=1000, dtype="float32")
    path = write_table(tmp_path / "boxes.parquet", scene.lower, scene.upper, row_group_size=170)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=10)
    assert len(found.files) > 100
    assert found_pairs(found) == [tuple(pair) for pair in choque.pairs(scene.lower, scene.upper).tolist()]
    assert found.count == len(found_pairs(found))


coordinates = st.one_of(st.integers(-4, 4).map(float), st.sampled_from([-np.inf, np.inf, -0.0, 0.1, 1e300, 5e-324]))


@st.composite
def box_sets(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    dimension = draw(st.sampled_from([2, 3]))
    count = draw(st.integers(1, 24))
    numbers = draw(st.lists(coordinates, min_size=2 * count * dimension, max_size=2 * count * dimension))
    corners = np.sort(np.array(numbers).reshape(2, count, dimension), axis=0)
    return corners[0], corners[1]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(boxes=box_sets(), closed=st.booleans(), tile_rows=st.integers(1, 6), split=st.integers(0, 24))
def test_any_boxes_in_tiles_of_a_few(
    tmp_path_factory: pytest.TempPathFactory, boxes: Any, closed: bool, tile_rows: int, split: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    lower, upper = boxes
    path = write_table(folder / "boxes.parquet", lower, upper, row_group_size=7)
    found = choque.scale.pairs(path, folder / "pairs", tile_rows=tile_rows, closed=closed)
    assert found_pairs(found) == pairs_by_definition(lower, upper, closed=closed)
    first = write_table(folder / "first.parquet", lower[:split], upper[:split])
    second = write_table(folder / "second.parquet", lower[split:], upper[split:])
    joined = choque.scale.join(first, second, folder / "joined", tile_rows=tile_rows, closed=closed)
    expected = pairs_by_definition(lower, upper, closed=closed)
    assert found_pairs(joined) == [(i, j - split) for i, j in expected if i < split <= j]


def test_identical_boxes_are_searched_in_blocks(tmp_path: Path) -> None:
    path = write_table(tmp_path / "boxes.parquet", np.zeros((50, 3)), np.ones((50, 3)))
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=8)
    assert found_pairs(found) == list(itertools.combinations(range(50), 2))
    joined = choque.scale.join(path, path, tmp_path / "joined", tile_rows=8)
    assert found_pairs(joined) == list(itertools.product(range(50), repeat=2))


def test_giants_are_kept_once_and_seen_by_every_tile(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    lower = random.uniform(0, 30, (400, 2))
    upper = lower + 0.5
    lower[::40], upper[::40] = [-np.inf, 3.0], [np.inf, 25.0]
    path = write_table(tmp_path / "boxes.parquet", lower, upper)
    plan = choque.scale.plan(path, tile_rows=20)
    assert plan.expected.large_count == 10
    assert plan.expected.replication < 3
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=20)
    assert found_pairs(found) == pairs_by_definition(lower, upper)


def test_a_tile_that_the_sample_misjudged_is_cut_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    lower = random.uniform(0, 40, (600, 2))
    path = write_table(tmp_path / "boxes.parquet", lower, lower + 1, row_group_size=100)
    monkeypatch.setattr("choque.scale._plan.SAMPLE_ROWS", 40)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=25)
    assert len(found.files) < 8
    assert found_pairs(found) == pairs_by_definition(lower, lower + 1)


def test_many_pairs_are_written_in_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.scale._plan.MAX_RUN", 1000)
    written: list[int] = []
    write = PairWriter.write
    monkeypatch.setattr(
        PairWriter, "write", lambda self, *columns: (written.append(len(columns[0])), write(self, *columns))
    )
    path = write_table(tmp_path / "boxes.parquet", np.zeros((300, 2)), np.ones((300, 2)))
    found = choque.scale.pairs(path, tmp_path / "pairs")
    assert found_pairs(found) == list(itertools.combinations(range(300), 2))
    assert max(written) <= 1000
    assert len(written) >= 45


def test_ids_of_the_user(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    lower = random.uniform(0, 8, (200, 3))
    ids = random.permutation(np.arange(200) * 10**15 - 10**17)
    path = write_table(tmp_path / "boxes.parquet", lower, lower + 1, name=ids)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=16, ids="name")
    expected = ids[choque.pairs(lower, lower + 1)]
    assert found_pairs(found) == sorted(map(tuple, np.sort(expected, axis=1).tolist()))


def test_global_order_is_one_sorted_sequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.scale._plan.MAX_RUN", 100)
    scene = scenes.make("uniform", count=800, dimension=2)
    path = write_table(tmp_path / "boxes.parquet", scene.lower, scene.upper)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=50, order="global")
    expected = choque.pairs(scene.lower, scene.upper)
    assert len(found.files) > 2
    assert np.array_equal(np.concatenate(list(found.scan())), expected)
    assert np.array_equal(found.head(3), expected[:3])


def test_global_order_holds_a_limited_number_of_pairs_of_one_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.scale._plan.MAX_RUN", 40)
    lower = np.column_stack([np.arange(300.0) * 2, np.zeros(300)])
    upper = lower + 1
    lower[0], upper[0] = -1, 1000  # overlaps all others, which overlap nothing else
    written: list[int] = []
    write = PairWriter.write
    monkeypatch.setattr(PairWriter, "write", lambda self, a, b: (written.append(len(a)), write(self, a, b)))
    path = write_table(tmp_path / "boxes.parquet", lower, upper)
    found = choque.scale.pairs(path, tmp_path / "pairs", tile_rows=30, order="global")
    assert np.concatenate(list(found.scan())).tolist() == [[0, other] for other in range(1, 300)]
    assert max(written) <= 80


def test_rows_are_numbered_through_all_files(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    lower = random.uniform(0, 6, (150, 2)).astype(np.float32)
    upper = lower + np.float32(0.7)
    for number, rows in enumerate(np.split(np.arange(150), [40, 100])):
        wide = np.float64 if number == 1 else np.float32
        write_table(tmp_path / f"part-{number}.parquet", lower[rows].astype(wide), upper[rows].astype(wide))
    for word in (str(tmp_path / "part-*.parquet"), tmp_path, sorted(tmp_path.glob("*.parquet"))):
        found = choque.scale.pairs(word, tmp_path.parent / f"{tmp_path.name}-{len(str(word))}", tile_rows=30)
        assert found_pairs(found) == pairs_by_definition(lower, upper)


@pytest.mark.parametrize("shape", [(90, 4), (90, 2, 2)])
def test_arrays_are_mapped(tmp_path: Path, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(11)
    lower = random.integers(0, 9, (90, 2))
    np.save(tmp_path / "boxes.npy", np.concatenate([lower, lower + 1], axis=1).reshape(shape))
    found = choque.scale.pairs(tmp_path / "boxes.npy", tmp_path / "pairs", tile_rows=12, closed=False)
    assert found_pairs(found) == pairs_by_definition(lower, lower + 1, closed=False)


def test_geoparquet_bounding_boxes_and_named_columns(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(13)
    lower = random.uniform(0, 9, (90, 2)).astype(np.float32)
    sides = {"xmin": lower[:, 0], "ymin": lower[:, 1], "xmax": lower[:, 0] + 1, "ymax": lower[:, 1] + 1}
    upper = np.column_stack([sides["xmax"], sides["ymax"]])
    fields = arrow.StructArray.from_arrays([arrow.array(side) for side in sides.values()], list(sides))
    parquet.write_table(arrow.table({"bbox": fields, **sides}), tmp_path / "geo.parquet")
    expected = pairs_by_definition(lower, upper)
    assert found_pairs(choque.scale.pairs(tmp_path / "geo.parquet", tmp_path / "1", tile_rows=12)) == expected
    parquet.write_table(arrow.table({"name": ["a"] * 90, **sides}), tmp_path / "usual.parquet")
    usual = choque.scale.pairs(tmp_path / "usual.parquet", tmp_path / "3", tile_rows=12)
    assert found_pairs(usual) == expected
    named = choque.scale.pairs(tmp_path / "geo.parquet", tmp_path / "2", tile_rows=12, columns=list(sides))
    assert found_pairs(named) == expected


def test_arrow_streams_are_written_to_a_file_first(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    random = np.random.default_rng(19)
    lower = random.uniform(0, 9, (120, 2))
    sides = {"x_lower": lower[:, 0], "y_lower": lower[:, 1], "x_upper": lower[:, 0] + 1, "y_upper": lower[:, 1] + 1}
    table = arrow.table({**sides, "name": [str(row) for row in range(120)]})
    expected = pairs_by_definition(lower, lower + 1)
    for boxes in (table, arrow.RecordBatchReader.from_batches(table.schema, table.to_batches(50)), table):
        found = choque.scale.pairs(boxes, tmp_path / "pairs", tile_rows=20)  # after the first, it is finished
        assert found_pairs(found) == expected
        assert not (tmp_path / "pairs" / "_work").exists()
    assert choque.scale.plan(table).box_count == 120
    joined = choque.scale.join(table.slice(0, 50), table.slice(50), tmp_path / "joined", tile_rows=20)
    assert found_pairs(joined) == [(i, j - 50) for i, j in expected if i < 50 <= j]


def test_a_mapped_array_is_read_from_its_file(tmp_path: Path) -> None:
    lower = np.random.default_rng(21).uniform(0, 9, (90, 2))
    np.save(tmp_path / "boxes.npy", np.concatenate([lower, lower + 1], axis=1))
    found = choque.scale.pairs(np.load(tmp_path / "boxes.npy", mmap_mode="r"), tmp_path / "pairs")
    assert found_pairs(found) == pairs_by_definition(lower, lower + 1)


@pytest.mark.filterwarnings("ignore")  # Dask calls what pandas has deprecated
def test_dask_dataframes_go_in_and_come_out(tmp_path: Path) -> None:
    frames = pytest.importorskip("dask.dataframe")
    lower = np.random.default_rng(23).uniform(0, 9, (90, 2))
    path = write_table(tmp_path / "boxes.parquet", lower, lower + 1, row_group_size=30)
    found = choque.scale.pairs(frames.read_parquet(path, split_row_groups=True), tmp_path / "pairs", tile_rows=20)
    assert found_pairs(found) == pairs_by_definition(lower, lower + 1)
    assert len(found.to_dask()) == found.count


@pytest.mark.parametrize("library", ["h5py", "zarr"])
def test_hdf5_and_zarr_through_their_libraries(tmp_path: Path, library: str) -> None:
    module = pytest.importorskip(library)
    lower = np.random.default_rng(25).uniform(0, 9, (90, 3))
    table = np.concatenate([lower, lower + 1], axis=1)
    if library == "h5py":
        word = f"{tmp_path}/boxes.h5::boxes"
        with module.File(tmp_path / "boxes.h5", "w") as file:
            file["boxes"], file["other"] = table, table[:3]
    else:
        word = f"{tmp_path}/boxes.zarr"
        module.save(word, table)
    found = choque.scale.pairs(word, tmp_path / "pairs", tile_rows=20)
    assert found_pairs(found) == pairs_by_definition(lower, lower + 1)
