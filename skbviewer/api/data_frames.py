# SPDX-License-Identifier: MIT
"""Columns of a documented table as arrays and data frames of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..export.parquet import array_of
from ..records.table_columns import Vector, text_objects

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Blocks = Sequence[dict[str, Vector]]


def structured_array(blocks: Blocks) -> npt.NDArray[np.void]:
    """Return the rows of all blocks as a structured array, as Recording.array() describes."""
    kinds = [
        (name, np.dtype(object) if vector.words is not None else vector.values.dtype)
        for name, vector in blocks[0].items()
    ]
    made = np.empty(sum(_length(block) for block in blocks), np.dtype(kinds))
    begin = 0
    for block in blocks:
        end = begin + _length(block)
        for name, vector in block.items():
            made[name][begin:end] = _values(vector)
        begin = end
    return made


def _length(block: dict[str, Vector]) -> int:
    return len(next(iter(block.values())).values)


def _values(vector: Vector) -> npt.NDArray[Any]:
    """Return the values; a missing value is the lowest number of the type, NaN or None."""
    if vector.words is not None:
        return text_objects(vector.values, vector.words)
    if vector.missing is None:
        return vector.values
    is_float = vector.values.dtype.kind == "f"
    unknown = np.nan if is_float else np.iinfo(vector.values.dtype).min
    return np.where(vector.missing, vector.values.dtype.type(unknown), vector.values)


def _library(name: str) -> ModuleType:
    """Import a library.  Raises an ImportError that says what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs the package {name}: pip install {name}") from error


def arrow(blocks: Blocks) -> pa.Table:
    """Return a pyarrow.Table; texts are strings."""
    pyarrow = _library("pyarrow")
    batches = []
    for block in blocks:
        arrays = [array_of(pyarrow, vector) for vector in block.values()]
        plain = [a.cast(pyarrow.string()) if _is_text(pyarrow, a) else a for a in arrays]
        batches.append(pyarrow.RecordBatch.from_arrays(plain, names=list(block)))
    return pyarrow.Table.from_batches(batches)


def _is_text(pyarrow: ModuleType, array: pa.Array) -> bool:
    return bool(pyarrow.types.is_dictionary(array.type))


def pandas(blocks: Blocks) -> pd.DataFrame:
    """Return a pandas.DataFrame: Int64, Int32, float64 and category columns."""
    frame = _library("pandas")
    parts = [frame.DataFrame({n: _series(frame, v) for n, v in b.items()}) for b in blocks]
    return parts[0] if len(parts) == 1 else _joined(frame, parts)


def _joined(frame: ModuleType, parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Join the parts into one data frame; a category column gets the texts of all parts."""
    for name in parts[0].columns:
        if isinstance(parts[0][name].dtype, frame.CategoricalDtype):
            words = sorted(set().union(*(part[name].cat.categories for part in parts)))
            for part in parts:
                part[name] = part[name].cat.set_categories(words)
    return frame.concat(parts, ignore_index=True)


def _series(frame: ModuleType, vector: Vector) -> Any:
    if vector.words is not None:
        return frame.Categorical.from_codes(vector.values, categories=vector.words)
    if vector.values.dtype.kind == "f":
        return _values(vector)
    missing = vector.missing
    mask = np.zeros(len(vector.values), np.bool_) if missing is None else missing
    return frame.arrays.IntegerArray(vector.values.copy(), mask)


def polars(blocks: Blocks) -> pl.DataFrame:
    """Return a polars.DataFrame: Int64, Int32, Float64 and String columns."""
    frame = _library("polars")
    parts = [{n: _polars_series(frame, n, v) for n, v in block.items()} for block in blocks]
    made: pl.DataFrame = frame.concat([frame.DataFrame(part) for part in parts])
    return made


def _polars_series(frame: ModuleType, name: str, vector: Vector) -> pl.Series:
    if vector.words is not None:
        words: pl.Series = frame.Series(name, [*vector.words, None], dtype=frame.String)
        return words.gather(np.where(vector.values < 0, len(vector.words), vector.values))
    made: pl.Series = frame.Series(name, vector.values)
    if vector.missing is None:
        return made
    return made.zip_with(frame.Series(~vector.missing), frame.Series(name, [None], made.dtype))
