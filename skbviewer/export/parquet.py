# SPDX-License-Identifier: MIT
"""The documented tables as Parquet: a folder with one file per table (docs/schema.md).

The values equal those of the session's views, so the same SELECT works on files and sessions. The
only types are int32, int64, double and string, because some readers refuse or change unsigned
64-bit numbers and times in nanoseconds. The file packet_bytes.parquet has the packets' bytes, which
a session does not contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..records import BadInput
from ..records.table_columns import ALL, DOUBLE, INT32, INT64, TEXT, Share, TableMeaning, Vector
from .atomic_write import written_folder
from .chosen_rows import rows_of_request
from .formats import Exportable, Request
from .packet_bytes import BYTES, byte_blocks
from .pseudonyms.tables import pseudonyms_of, rows_with_pseudonyms

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".parquet"
QUICK, SMALL = "snappy", "zstd"  # QUICK: a fifth less CPU time, a quarter larger files
LEVELS = {SMALL: 6}  # 2 % smaller than at level 3, for a seventh more time to write the files
# Numbers that rise, or nearly so, take least as differences; header values that hardly ever repeat
# are stored as they are.  All other columns have a dictionary, as long as that fits into 1 MB.
RISING = frozenset(
    {
        "after_ns", "begin_ns", "call", "entry_ns", "event", "exit_ns", "id",
        "ip_id", "kernel_only", "leg", "number", "packet", "parent", "reader_ns", "series", "ts_ns",
    }
)  # fmt: skip
PLAIN = frozenset({"ack", "before_ns", "dport", "end_ns", "seq", "sport", "unknown_ns"})
# With SMALL, rows of these tables are sorted by conversation within each row group, so headers are
# those of the row above, or rise.  A row takes a quarter less; times do not rise any more.
SORTED = frozenset({"packets", "lifetimes"})
CONVERSATION = ("protocol", "saddr", "daddr", "sport", "dport")
SORTED_RISING = RISING - {"begin_ns", "parent", "ts_ns"} | {"ack"}
SORTED_PLAIN = PLAIN - {"ack"} | {"begin_ns", "kernel_ns", "parent", "ts_ns"}
MISSING = "Parquet needs pyarrow: install skbviewer with the extra parquet, 'skbviewer[parquet]'"


def write_parquet(
    recording: Exportable, request: Request, out: Path, codec: str = QUICK, share: Share = ALL
) -> None:
    """Write a folder with the rows of all packets that `request` names.

    `codec` is how the files are compressed: QUICK or SMALL, which also sorts the rows of some
    tables. `share` is the part of each table to write. The files of all shares, in order, have the
    rows of the whole table. Raises KeyError if the packet does not exist, FilterError if the filter
    is wrong, BadInput if pyarrow is missing or a capture or `out` cannot be used, and Cancelled if
    the user cancels.
    """
    arrow, parquet = _libraries(out)
    chosen, names = rows_of_request(recording, request), pseudonyms_of(recording, request)
    with written_folder(out, SUFFIX) as folder:
        for table in recording.tables.described():
            schema = _schema(arrow, table)
            blocks = recording.tables.blocks(table.name, None, chosen, request.progress, share)
            if _is_sorted(table.name, codec):
                blocks = map(_by_conversation, blocks)
            batches = (
                _batch(arrow, schema, block) for block in rows_with_pseudonyms(blocks, names)
            )
            _write(parquet, folder, table, schema, batches, codec)
        if request.payload:
            packets = None if chosen is None else np.flatnonzero(chosen["packet"]) + 1
            schema = _schema(arrow, BYTES)
            made = byte_blocks(recording, packets, request.snaplen, request.progress, names)
            byte_batches = (_byte_batch(arrow, schema, *block) for block in made)
            _write(parquet, folder, BYTES, schema, byte_batches, codec)


def _libraries(out: Path) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise BadInput(out, None, MISSING) from error
    return pyarrow, parquet


def _schema(arrow: ModuleType, table: TableMeaning) -> pa.Schema:
    types = {INT64: arrow.int64(), INT32: arrow.int32(), DOUBLE: arrow.float64()}
    types |= {TEXT: arrow.dictionary(arrow.int32(), arrow.string()), "bytes": arrow.binary()}
    fields = [arrow.field(c.name, types[c.type], nullable=bool(c.null)) for c in table.columns]
    return arrow.schema(fields, metadata={"skbviewer": __version__, "table": table.name})


def _write(
    parquet: ModuleType,
    folder: Path,
    table: TableMeaning,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    codec: str,
) -> None:
    """Write one Parquet file; each batch becomes a row group."""
    rising, plain = RISING, PLAIN
    if _is_sorted(table.name, codec):
        rising, plain = SORTED_RISING, SORTED_PLAIN
    numbers = [c.name for c in table.columns if c.type in (INT32, INT64)]
    packed = {name: "DELTA_BINARY_PACKED" for name in numbers if name in rising}
    texts = [c.name for c in table.columns if c.type == TEXT]
    repeated = texts + [name for name in numbers if name not in rising | plain]
    options: dict[str, Any] = {
        "compression": codec,
        "compression_level": LEVELS.get(codec),
        "use_dictionary": repeated or False,
        "column_encoding": packed,
        "write_statistics": numbers,
        "store_schema": False,  # texts are strings, which are only stored as a dictionary
    }
    with parquet.ParquetWriter(folder / f"{table.name}{SUFFIX}", schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _is_sorted(table: str, codec: str) -> bool:
    return codec == SMALL and table in SORTED


def _by_conversation(block: dict[str, Vector]) -> dict[str, Vector]:
    """Return the rows of `block` by conversation; rows of one conversation keep their order."""
    order = np.lexsort([block[name].values for name in reversed(CONVERSATION)])
    return {
        name: Vector(of.values[order], None if of.missing is None else of.missing[order], of.words)
        for name, of in block.items()
    }


def _batch(arrow: ModuleType, schema: pa.Schema, block: dict[str, Vector]) -> pa.RecordBatch:
    arrays = [array_of(arrow, vector) for vector in block.values()]
    return arrow.RecordBatch.from_arrays(arrays, schema=schema)


def array_of(arrow: ModuleType, vector: Vector) -> pa.Array:
    """Return a vector as an Arrow array that shares its memory; texts are dictionary-encoded."""
    missing = vector.missing if vector.words is None else vector.values < 0
    valid = None
    if missing is not None and missing.any():
        valid = arrow.py_buffer(np.packbits(~missing, bitorder="little"))
    values = np.ascontiguousarray(vector.values)
    type_ = arrow.from_numpy_dtype(values.dtype)
    numbers = arrow.Array.from_buffers(type_, len(values), [valid, arrow.py_buffer(values)])
    if vector.words is None:
        return numbers
    return arrow.DictionaryArray.from_arrays(numbers, _texts(arrow, vector.words), safe=False)


def _texts(arrow: ModuleType, words: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow array.

    This function replaces arrow.array(), which imports pandas if that is installed; importing
    pandas takes 0.3 s.
    """
    joined = "".join(words)
    encoded = words if joined.isascii() else [word.encode() for word in words]
    offsets = np.zeros(len(words) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, encoded), np.int32, len(words)), out=offsets[1:])
    content = arrow.py_buffer(joined.encode())
    return arrow.StringArray.from_buffers(len(words), arrow.py_buffer(offsets), content)


def _byte_batch(
    arrow: ModuleType, schema: pa.Schema, numbers: Any, offsets: Any, data: Any
) -> pa.RecordBatch:
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    texts = arrow.Array.from_buffers(arrow.binary(), len(numbers), buffers)
    return arrow.RecordBatch.from_arrays([array_of(arrow, Vector(numbers)), texts], schema=schema)
