# SPDX-License-Identifier: MIT
"""Convert results (tables, diagnoses, graphs) to the bytes that an import stores, and back.

A result is stored as JSON, and its arrays in NumPy's npz format; all of it is compressed by zlib.
The bytes never contain code, because a session may come from anybody.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from ...analysis.graphs.io_graph_series import IoSeries
from ...analysis.graphs.latency_histogram_and_heat_map import LatencyGrid
from ...analysis.graphs.path_box_plot import PathBoxes
from ...analysis.graphs.round_trip_bars import RoundTripBars
from ...analysis.stats import Table
from ...analysis.stats.call_stacks import StackTree
from ...analysis.stats.rows_from_columns import NONE, ColumnRows, Numbers, Objects, Texts
from ...records.types import Int64s
from ...store.whole_columns import Array

# The class of each result; those of other names are tables.
CLASSES = {
    "diagnosis": "Diagnosis",
    "comparison": "Measurements",
    "io graph": "list",
    "latency graph": "LatencyGrid",
    "path graph": "PathBoxes",
    "flame graph": "StackTree",
    "round trip graph": "RoundTripBars",
}
LEVEL = 1  # of zlib; higher levels take five times as long and save a tenth
TREE = "tree"  # the name of the JSON among the arrays
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "i8")  # of numbers, narrowest first
TUPLE, LIST, ARRAY, ROWS = "tuple", "list", "array", "rows"
MOST = 1 << 30  # bytes of a result; hostile ones may grow when they are decompressed


class Damaged(Exception):
    """The stored bytes are not a result."""


@cache
def _types() -> dict[str, Any]:
    from ...analysis.comparison import Amount, Estimates, Measure, Measurements, PathClass
    from ...analysis.diagnosis import Diagnosis, Evidence, Finding, Judged  # slow to load
    from ...analysis.stats.time_in_kernel_table import TimeRow, TimeTable

    graphs = IoSeries, LatencyGrid, PathBoxes, RoundTripBars, StackTree
    diagnosis = Diagnosis, Evidence, Finding, Judged, TimeRow, TimeTable
    comparison = Amount, Estimates, Measure, Measurements, PathClass
    others = Table, Numbers, Texts, Objects
    return {one.__name__: one for one in (*others, *graphs, *diagnosis, *comparison)}


def encode(result: object) -> bytes:
    """Return a result as bytes.  Raises TypeError if the result has a part of an unknown type."""
    arrays: list[Array] = []
    tree = _encoded(result, arrays)
    names = {f"a{at}": array for at, array in enumerate(arrays)}
    text = np.frombuffer(json.dumps(tree, separators=(",", ":")).encode(), np.uint8)
    file = BytesIO()
    np.savez(file, allow_pickle=False, **{TREE: text}, **names)
    return zlib.compress(file.getbuffer(), LEVEL)


def decode(data: bytes, name: str = "") -> Any:
    """Return the result that encode() turned into `data`.

    The class of the result must be that of the result `name`; "" permits any class.

    Raises Damaged.
    """
    try:
        plain = BytesIO(zlib.decompressobj().decompress(data, MOST))
        with ZipFile(plain) as parts:
            if any(part.compress_type != ZIP_STORED for part in parts.infolist()):
                raise ValueError("the result is compressed twice, so its size cannot be limited")
        plain.seek(0)
        with np.load(plain, allow_pickle=False) as file:
            found = _decoded(json.loads(file[TREE].tobytes()), file)
    except Exception as error:  # zipfile and numpy raise many types
        raise Damaged(str(error)) from error
    if found is not None and name and type(found).__name__ != CLASSES.get(name, Table.__name__):
        raise Damaged(f"a {type(found).__name__} is no {name}")
    return found


def _encoded(value: object, arrays: list[Array]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return _encoded_array(value, arrays)
    if isinstance(value, Table):
        value = value._replace(rows=ColumnRows.of(value.rows, len(value.keys)))
    if isinstance(value, ColumnRows):
        return [ROWS, *(_encoded(column, arrays) for column in value.columns)]
    if isinstance(value, list):
        return [LIST, *(_encoded(one, arrays) for one in value)]
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else TUPLE
        if name != TUPLE and _types().get(name) is not type(value):
            raise TypeError(f"{name} is not a type that a result can have")
        return [name, *(_encoded(one, arrays) for one in value)]
    raise TypeError(f"{type(value)} is not a type that a part of a result can have")


def _encoded_array(values: Array, arrays: list[Array]) -> Any:
    """Add an array to `arrays`, as small numbers; return what is needed to restore the array."""
    flat, first, rises = values.reshape(-1), 0, False
    if values.dtype == np.int64 and len(flat) > 1:
        first = int(flat[0])
        steps = np.diff(flat, prepend=first)
        rises = bool((steps >= 0).all())
        flat = _narrow(steps if rises else flat)
    arrays.append(flat)
    return [ARRAY, len(arrays) - 1, values.dtype.str, list(values.shape), rises, first]


def _narrow(values: Int64s) -> Array:
    low, high = int(values.min()), int(values.max())
    fits = (of for of in TYPES if np.iinfo(of).min <= low and high <= np.iinfo(of).max)
    return values.astype(next(fits))


def _decoded(tree: Any, file: Any) -> Any:
    if not isinstance(tree, list):
        return tree
    kind, *parts = tree
    if kind == ARRAY:
        return _decoded_array(file, *parts)
    values = [_decoded(one, file) for one in parts]
    if kind == ROWS:
        return _checked(ColumnRows(values))
    if kind == LIST:
        return values
    if kind == TUPLE:
        return tuple(values)
    made = _types()[kind](*values)
    if isinstance(made, Table) and len(ColumnRows.of(made.rows, 0).columns) != len(made.keys):
        raise ValueError("a table's columns and their names do not have the same number")
    return made


def _checked(rows: ColumnRows) -> ColumnRows:
    """Return `rows` after a check that its columns fit together.

    Raises ValueError if the columns do not fit together.
    """
    for column in rows.columns:
        fits = len(ColumnRows([column])) == len(rows)
        if isinstance(column, Texts) and len(column.code):
            fits &= bool(column.code.min() >= NONE and column.code.max() < len(column.texts))
        if isinstance(column, Numbers) and column.known is not None:
            fits &= len(column.known) == len(rows)
        if not fits:
            raise ValueError("the columns of a table have different lengths")
    return rows


def _decoded_array(
    file: Any, at: int, dtype: str, shape: list[int], rises: bool, first: int
) -> Array:
    flat = file[f"a{at}"].astype(dtype)
    if rises:
        flat = np.cumsum(flat) + first
    return np.asarray(flat.reshape(shape), dtype)
