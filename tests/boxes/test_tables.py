"""Tables and tensors in place of arrays: what the libraries at hand give, and stand-ins for what is not installed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box_oracle import random_boxes

import choque
from choque._core.arrow_stream import read_stream
from choque._core.tables import SCHEMES
from choque.boxes import merge, suppress
from choque.errors import InvalidInput

BOXES = random_boxes(np.random.default_rng(0), 60, 2)
WANTED = choque.pairs(BOXES[:, :2], BOXES[:, 2:]).tolist()
NAMES = ["x1", "y1", "x2", "y2"]


def as_dict(names: Any = NAMES) -> dict[str, Any]:
    return dict(zip(names, BOXES.T.copy(), strict=True)) | {"label": np.array(["a"] * 60)}


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(as_dict())


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(as_dict())


def arrow_table() -> Any:
    return pytest.importorskip("pyarrow").table(as_dict())


def duckdb_relation() -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(arrow_table())


def xarray_dataset() -> Any:
    xarray = pytest.importorskip("xarray")
    return xarray.Dataset({name: ("box", values) for name, values in as_dict().items()})


def geo_frame() -> Any:
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    return geopandas.GeoDataFrame(geometry=shapely.box(*BOXES.T))


class OnlyStream:
    """A table that can be read once, by Arrow's C stream."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def stream() -> Any:
    return OnlyStream(arrow_table())


TABLES = [as_dict, pandas_frame, polars_frame, arrow_table, duckdb_relation, xarray_dataset, geo_frame, stream]


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_every_table_is_read(make: Any) -> None:
    assert choque.pairs(make()).tolist() == WANTED
    assert choque.join(make(), BOXES).tolist() == choque.join(BOXES, BOXES).tolist()
    scores = np.arange(60.0)
    assert suppress(make(), scores).tolist() == suppress(BOXES, scores).tolist()


def test_streams_of_every_type_in_batches_with_gaps() -> None:
    pa = pytest.importorskip("pyarrow", "16.0")  # the first with views of texts
    whole = {name: pa.array([1, 2, 3, 4, 5], name) for name in ("int8", "uint16", "int32", "uint64", "float32")}
    columns = {
        **whole,
        "gaps": pa.array([1, None, 3, None, 5], pa.int16()),
        "text": pa.array(["a", "", "ccc", "dd", "e"]),
        "long": pa.array(["a", "", "c", "more than twelve letters", "of twelve ab"], pa.large_string()),
        "view": pa.array(["a", "", "c", "more than twelve letters", "of twelve ab"], pa.string_view()),
        "kind": pa.array(["x", "y", "x", "y", "x"]).dictionary_encode(),
    }
    table = pa.concat_tables([pa.table(columns).slice(1, 3), pa.table(columns).slice(4)])
    found = read_stream(OnlyStream(table))
    for name in whole:
        assert found[name].dtype == name
        assert found[name].tolist() == [2, 3, 4, 5]
    np.testing.assert_array_equal(found["gaps"], [np.nan, 3, np.nan, 5])
    assert found["text"].tolist() == ["", "ccc", "dd", "e"]
    assert found["long"].tolist() == found["view"].tolist() == ["", "c", "more than twelve letters", "of twelve ab"]
    assert "kind" not in found  # a dictionary
    assert read_stream(OnlyStream(pa.table(columns).slice(0, 0)))["int32"].dtype == np.int32
    with pytest.raises(InvalidInput, match="The Arrow stream is no table"):
        read_stream(OnlyStream(pa.chunked_array([[1, 2]])))
    boxes = OnlyStream(pa.table({**as_dict(), "score": np.arange(60.0)}))
    assert suppress(boxes, "score", groups="label").tolist() == suppress(BOXES, np.arange(60.0)).tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_usual_names_of_columns_are_known(scheme: tuple[str, ...]) -> None:
    flat = [scheme[0], scheme[1], scheme[3], scheme[4]]
    assert choque.pairs(as_dict(flat)).tolist() == WANTED
    solid = random_boxes(np.random.default_rng(1), 40, 3)
    shuffled = dict(reversed(list(zip(scheme, solid.T.copy(), strict=True))))
    assert choque.pairs(shuffled).tolist() == choque.pairs(solid[:, :3], solid[:, 3:]).tolist()


def test_columns_as_pandas_users_write_them_are_known() -> None:
    assert choque.pairs(as_dict(["min_x", "min_y", "max_x", "max_y"])).tolist() == WANTED


def test_one_thing_is_explained_as_its_corners_are() -> None:
    corners = choque.explain(BOXES[:, :2], BOXES[:, 2:])
    for given in (as_dict(), BOXES, choque.bounds.Boxes(BOXES[:, :2], BOXES[:, 2:])):
        assert choque.explain(given) == corners


def test_columns_of_any_name_can_be_named() -> None:
    names = ["links", "oben", "rechts", "unten"]
    assert choque.pairs(as_dict(names), columns=names).tolist() == WANTED
    assert choque.join(as_dict(names), as_dict(names), columns=names).tolist() == choque.join(BOXES, BOXES).tolist()


def test_whole_arrays_bounds_and_float_types() -> None:
    assert choque.pairs(BOXES).tolist() == WANTED
    assert choque.pairs(BOXES.reshape(60, 2, 2)).tolist() == WANTED
    assert choque.pairs(choque.bounds.Boxes(BOXES[:, :2], BOXES[:, 2:])).tolist() == WANTED
    narrow = {name: values.astype(np.float32) for name, values in as_dict().items() if name != "label"}
    assert choque.join(narrow, narrow, iou=0.5).values.dtype == np.float32


def test_scores_and_groups_may_be_names_of_columns() -> None:
    rng = np.random.default_rng(2)
    scores, kinds = rng.uniform(0, 1, 60), rng.choice(["cat", "dog"], 60)
    table = as_dict() | {"score": scores, "kind": kinds}
    wanted = suppress(BOXES, scores, groups=(kinds == "dog").astype(int)).tolist()
    assert suppress(table, "score", groups="kind").tolist() == wanted
    assert merge(table, "score", groups=list(kinds)).kept.tolist() == merge(BOXES, scores, groups=kinds).kept.tolist()


@pytest.mark.parametrize("dtype", ["object", "category", "str"])
def test_groups_may_be_texts_of_a_series(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    kinds = np.arange(60) % 2
    wanted = suppress(BOXES, np.arange(60.0), groups=kinds).tolist()
    texts = pandas.Series(np.where(kinds, "dog", "cat")).astype(dtype)
    assert (
        suppress(BOXES, np.arange(60.0), groups=texts).tolist() == wanted != suppress(BOXES, np.arange(60.0)).tolist()
    )


def test_points_of_a_table() -> None:
    points = np.random.default_rng(3).uniform(0, 5, (50, 3))
    table = dict(zip("xyz", points.T.copy(), strict=True))
    assert choque.neighbors(table, 1.0)[1].tolist() == choque.neighbors(points, 1.0)[1].tolist()
    with pytest.raises(InvalidInput, match="points need columns x, y"):
        choque.neighbors({"x": [1.0], "z": [1.0]}, 1.0)


def test_answers_become_tables() -> None:
    pytest.importorskip("pyarrow")
    found = choque.join(BOXES, BOXES, iou=0.5)
    assert found.to_arrow().column_names == ["a", "b", "overlap"]
    assert found.to_arrow()["b"].to_pylist() == found.pairs[:, 1].tolist()
    points = choque.neighbors(BOXES[:, :2], 1.0, quantities="ijSdD")
    assert points.to_arrow().column_names == ["i", "j", "S_a", "S_b", "d", "D_x", "D_y"]
    assert points.to_arrow()["D_y"].to_pylist() == points.D[:, 1].tolist()
    again = pickle.loads(pickle.dumps(points))
    assert repr(again) == repr(points) == f"<{len(points.i):,} rows: i, j, S, d, D>"
    with pytest.raises(AttributeError, match="This answer has no 'pairs'; it has i, j"):
        assert points.pairs
    for library in ("pandas", "polars"):
        pytest.importorskip(library)
        frame = getattr(found, f"to_{library}")()
        assert frame["a"].to_list() == found.pairs[:, 0].tolist()


@pytest.mark.parametrize("make", [arrow_table, pandas_frame, polars_frame, duckdb_relation, as_dict])
def test_answers_become_tables_of_the_library_of_another(make: Any) -> None:
    pytest.importorskip("pyarrow")
    like = make()
    found = choque.pairs(like, like=like)
    library = type(like).__module__.partition(".")[0]
    assert type(found).__module__.partition(".")[0] == (library if library in ("pandas", "polars") else "pyarrow")
    assert [list(row) for row in zip(found["a"].__array__(), found["b"].__array__(), strict=True)] == WANTED
    assert np.asarray(choque.join(like, like, like=like)["b"]).tolist() == choque.join(BOXES, BOXES)[:, 1].tolist()
    assert len(choque.neighbors(BOXES[:, :2], 1.0, like=like)["i"]) == len(choque.neighbors(BOXES[:, :2], 1.0).i)
    scores = np.arange(60.0)
    assert np.asarray(suppress(like, scores, like=like)["row"]).tolist() == suppress(BOXES, scores).tolist()


class Tensor:
    """What a tensor of torch shows of itself."""

    def __init__(self, values: Any, device: tuple[int, int] = (1, 0), requires_grad: bool = False) -> None:
        self._values = np.asarray(values)
        self._device = device
        self.device = "cpu" if device[0] == 1 else "cuda:0"
        self.requires_grad = requires_grad

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def detach(self) -> Tensor:
        return Tensor(self._values, self._device)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self._values


def test_tensors_are_read_where_they_are() -> None:
    assert choque.pairs(Tensor(BOXES)).tolist() == WANTED
    assert choque.pairs(Tensor(BOXES[:, :2]), Tensor(BOXES[:, 2:], requires_grad=True)).tolist() == WANTED
    assert np.shares_memory(choque._core.check.floats(Tensor(BOXES), "boxes"), BOXES)
    unchanging = BOXES.copy()
    unchanging.flags.writeable = False  # as tensors of JAX are
    read = choque._core.check.floats(Tensor(unchanging), "boxes")
    assert np.shares_memory(read, unchanging)
    assert choque.pairs(Tensor(unchanging)).tolist() == WANTED


def test_a_tensor_on_a_card_is_refused_with_a_sentence() -> None:
    with pytest.raises(InvalidInput, match=r"boxes is on cuda:0; .* copy it there first, with \.cpu\(\)"):
        choque.pairs(Tensor(BOXES, (2, 0)))
    with pytest.raises(InvalidInput, match="scores is on cuda:0"):
        suppress(BOXES, Tensor(np.ones(60), (2, 0)))


def test_answers_become_tensors_of_the_library_of_another() -> None:
    like = BOXES  # NumPy has DLPack too
    found = choque.join(BOXES, BOXES, iou=0.5, like=like)
    assert found.pairs.tolist() == choque.join(BOXES, BOXES, iou=0.5).pairs.tolist()
    assert choque.join(BOXES, BOXES, like=like).tolist() == choque.join(BOXES, BOXES).tolist()
    assert suppress(BOXES, np.ones(60), like=like).tolist() == suppress(BOXES, np.ones(60)).tolist()
    assert choque.neighbors(BOXES[:, :2], 1.0, like=like)[1].tolist() == choque.neighbors(BOXES[:, :2], 1.0)[1].tolist()
    with pytest.raises(
        InvalidInput, match="like is of the type str; it must be a tensor, such as one of torch or JAX, or a table"
    ):
        choque.join(BOXES, BOXES, like="torch")


def test_torch_itself() -> None:
    torch = pytest.importorskip("torch")
    found = choque.neighbors(torch.from_numpy(BOXES[:, :2].copy()), 1.0, quantities="ijd", like=torch.ones(1))
    assert all(isinstance(one, torch.Tensor) for one in found)
    assert isinstance(suppress(BOXES, np.ones(60), like=torch.ones(1)), torch.Tensor)
    tensor = torch.from_numpy(BOXES).requires_grad_()
    assert choque.pairs(tensor).tolist() == WANTED
    assert suppress(tensor, torch.arange(60.0)).tolist() == suppress(BOXES, np.arange(60.0)).tolist()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": [1.0], "b": [2.0]}, "boxes has the columns 'a', 'b'; boxes are found in columns such as x_lower"),
        (
            {"x1": [0.0], "y1": [0.0], "x2": ["1"], "y2": [1.0]},
            "The column 'x2' of boxes has the shape .* element type <U1",
        ),
        ({"x1": 0.0, "y1": [0.0], "x2": [1.0], "y2": [1.0]}, r"The column 'x1' of boxes has the shape \(\)"),
        ({"x1": np.ma.array([0.0], mask=True), "y1": [0.0], "x2": [1.0], "y2": [1.0]}, "'x1' has masked values"),
        ({"x1": [0.0], "y1": [0.0], "x2": [1.0], "y2": [1.0, 2.0]}, "The column 'y2' of boxes has 2 rows and 'x1' 1"),
        ({"x1": [0.0], "y1": [0.0], "x2": [np.nan], "y2": [1.0]}, "Row 0 is not a number"),
        (np.zeros((3, 5)), r"boxes has the shape \(3, 5\); boxes in one array are"),
        (None, "boxes has the element type object"),
        ("boxes.csv", "boxes is 'boxes.csv'; if it is a file, read it first, by choque.files.read_boxes"),
        (Path("boxes.csv"), "boxes is 'boxes.csv'; if it is a file"),
    ],
)
def test_bad_tables_are_refused_with_a_sentence(table: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        choque.pairs(table)


def test_bad_columns_are_refused_with_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="boxes has no column 'left'; it has 'x1'"):
        choque.pairs(as_dict(), columns=["left", "y1", "x2", "y2"])
    for columns in (["x1", "y1", "x2"], "x1", 3):
        with pytest.raises(InvalidInput, match=r"columns is .*; give the names of 4 or 6 columns"):
            choque.pairs(as_dict(), columns=columns)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="boxes is not a table"):
        choque.pairs(BOXES, columns=NAMES)
    with pytest.raises(InvalidInput, match="boxes has no column 'score'"):
        suppress(as_dict(), "score")
    for boxes in (BOXES, choque.bounds.Boxes(BOXES[:, :2], BOXES[:, 2:])):
        with pytest.raises(InvalidInput, match="'score' would be a column, and boxes is not a table"):
            merge(boxes, "score")
    with pytest.raises(InvalidInput, match="columns and upper were given"):
        choque.pairs(as_dict(), as_dict(), columns=NAMES)
    with pytest.raises(InvalidInput, match="columns and four corners were given"):
        choque.join(*[BOXES[:, :2], BOXES[:, 2:]] * 2, columns=NAMES)
    with pytest.raises(InvalidInput, match="Three things were given"):
        choque.join(BOXES, BOXES, BOXES)
