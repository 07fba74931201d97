"""Boxes and points from tables and tensors of other libraries, none of which is a dependency.

A *table* has columns by name: a frame of pandas, Polars, GeoPandas, a table of pyarrow, a relation of DuckDB, a dataset
of xarray, a dict of arrays, or anything that exports Arrow's C stream, which `choque._core.arrow_stream` reads.
Everything else is an array, which `choque._core.check` reads: NumPy, lists, tensors. `choque._core.answers` is the way
back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.arrow_stream import opened
from choque._core.types import Floats
from choque.errors import InvalidInput

SCHEMES = (
    ("x_lower", "y_lower", "z_lower", "x_upper", "y_upper", "z_upper"),
    ("x1", "y1", "z1", "x2", "y2", "z2"),
    ("x0", "y0", "z0", "x1", "y1", "z1"),
    ("xmin", "ymin", "zmin", "xmax", "ymax", "zmax"),
    ("x_min", "y_min", "z_min", "x_max", "y_max", "z_max"),
    ("minx", "miny", "minz", "maxx", "maxy", "maxz"),
    ("min_x", "min_y", "min_z", "max_x", "max_y", "max_z"),
    ("left", "top", "front", "right", "bottom", "back"),
)
"""Names of the columns of boxes, the lower corner first; those of z are left out in 2D."""

POINTS = ("x", "y", "z")


def is_table(given: Any) -> bool:
    """Return whether ``given`` has columns by name."""
    if isinstance(given, np.ndarray | list | tuple):
        return False
    return isinstance(given, Mapping) or hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__")


def box_corners(given: Any, columns: Sequence[str] | None, name: str) -> tuple[Any, Any]:
    """Return the lower and upper corners (n, d) of boxes that were given as one thing, called ``name``.

    That is a table, something with ``lower`` and ``upper`` such as `choque.bounds.Boxes`, a GeoSeries, or an array
    (n, 4), (n, 6), lower corner first, or (n, 2, d). ``columns``: the names of 4 or 6 columns of a table, the lower
    corner first; None for the usual names.
    """
    if hasattr(given, "lower") and hasattr(given, "upper") and hasattr(given, "dimension"):
        return given.lower, given.upper
    if isinstance(given, str | Path):
        raise InvalidInput(f"{name} is {str(given)!r}; if it is a file, read it first, by choque.files.read_boxes.")
    given = opened(given)
    if hasattr(given, "total_bounds") and columns is None:  # of GeoPandas: the boxes around its geometries
        given = given.bounds
    if is_table(given):
        wanted = box_columns(column_names(given), columns, name)
        numbers = _numbers(given, wanted, name)
        half = len(wanted) // 2
        return _stacked(numbers[:half]), _stacked(numbers[half:])
    if columns is not None:
        raise InvalidInput(f"columns was given, and {name} is not a table; leave it out for arrays.")
    whole = check.floats(given, name)
    if whole.ndim == 3 and whole.shape[1] == 2 and whole.shape[2] in (2, 3):
        return whole[:, 0], whole[:, 1]
    if whole.size == 0 and whole.ndim <= 2 and whole.shape[-1] not in (4, 6):
        whole = whole.reshape(0, 4)
    if whole.ndim != 2 or whole.shape[1] not in (4, 6):
        raise InvalidInput(
            f"{name} has the shape {whole.shape}; boxes in one array are (n, 4), x1, y1, x2, y2, or (n, 6), x1, y1, "
            "z1, x2, y2, z2, or (n, 2, d); or give lower and upper corners apart."
        )
    half, columns_of = whole.shape[1] // 2, list(whole.T)  # copied column by column: rows of two or three are slow
    return _stacked(columns_of[:half]), _stacked(columns_of[half:])


def point_coordinates(given: Any, name: str) -> Floats:
    """Return the points (n, d) in the columns x, y and, if there is one, z of a table."""
    given = opened(given)
    present = column_names(given)
    wanted = [axis for axis in POINTS if axis in present]
    if wanted[:2] != ["x", "y"]:
        raise InvalidInput(f"{name} has the columns {_listed(present)}; points need columns x, y and, in 3D, z.")
    return _stacked(_numbers(given, wanted, name))


def column(table: Any, wanted: str, name: str) -> NDArray[Any]:
    """Return one column of a table as an array."""
    if not is_table(table):
        raise InvalidInput(f"{wanted!r} would be a column, and {name} is not a table; give an array in its place.")
    present = column_names(table)
    if wanted not in present:
        raise InvalidInput(f"{name} has no column {wanted!r}; it has {_listed(present)}.")
    return _columns(table, [wanted])[0]


def column_names(table: Any) -> list[str]:
    """List the columns of a table."""
    if isinstance(table, Mapping):  # a dict, a dataset of xarray
        return [str(key) for key in table]
    names = getattr(table, "column_names", None)  # of pyarrow, where ``columns`` are the columns themselves
    return [str(each) for each in (table.columns if names is None else names)]


def box_columns(present: Sequence[str], columns: Sequence[str] | None, name: str) -> list[str]:
    """Return which of the columns ``present`` hold boxes: those asked for, or those with usual names."""
    if columns is not None:
        wanted = [columns] if isinstance(columns, str) or not np.iterable(columns) else list(columns)
        if len(wanted) not in (4, 6):
            raise InvalidInput(f"columns is {columns!r}; give the names of 4 or 6 columns, the lower corner first.")
        for each in wanted:
            if each not in present:
                raise InvalidInput(f"{name} has no column {each!r}; it has {_listed(present)}.")
        return wanted
    found = known_columns(present)
    if found is not None:
        return found
    known = "; ".join(f"{s[0]}, {s[1]}, {s[3]}, {s[4]}" for s in SCHEMES[:4])
    raise InvalidInput(
        f"{name} has the columns {_listed(present)}; boxes are found in columns such as {known}. Name others with "
        "columns=."
    )


def known_columns(present: Sequence[str]) -> list[str] | None:
    """Return the columns of the first of `SCHEMES` of which each is ``present`` once; None if there is none."""
    for scheme in SCHEMES:
        flat = [scheme[0], scheme[1], scheme[3], scheme[4]]
        if all(present.count(name) == 1 for name in flat):
            is_solid = present.count(scheme[2]) == 1 and present.count(scheme[5]) == 1
            return list(scheme) if is_solid else flat
    return None


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "") if names else "none"


def _numbers(table: Any, wanted: list[str], name: str) -> list[NDArray[Any]]:
    found = _columns(table, wanted)
    for each, values in zip(wanted, found, strict=True):
        if values.dtype.kind not in "iuf" or values.ndim != 1:
            raise InvalidInput(
                f"The column {each!r} of {name} has the shape {values.shape} and the element type {values.dtype}; it "
                "must be (n,) numbers without gaps."
            )
        if len(values) != len(found[0]):
            raise InvalidInput(
                f"The column {each!r} of {name} has {len(values)} rows and {wanted[0]!r} {len(found[0])}; "
                "all must be equally long."
            )
    return found


def _columns(table: Any, wanted: list[str]) -> list[NDArray[Any]]:
    if hasattr(table, "fetchnumpy"):  # of DuckDB
        table = table.select(*wanted).fetchnumpy()
    return [_values(table[each], f"The column {each!r}") for each in wanted]


def _values(column: Any, name: str) -> NDArray[Any]:
    to_numpy = getattr(column, "to_numpy", None)
    return check.array(column if to_numpy is None else to_numpy(), name, "numbers or texts")


def _stacked(columns: list[NDArray[Any]]) -> Floats:
    """Return columns as (n, d) in float32 if all of them are, else in float64."""
    is_narrow = all(values.dtype.kind == "f" and values.dtype.itemsize <= 4 for values in columns)
    rows: Floats = np.empty((len(columns[0]), len(columns)), np.float32 if is_narrow else np.float64)
    for place, values in enumerate(columns):
        rows[:, place] = values
    return rows
