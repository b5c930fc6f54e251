# SPDX-License-Identifier: MIT
"""The documented tables as JSON lines: one object per line, whose key "table" names its table.

Other keys are the columns of docs/schema.md; unknown values are null. Table packet_bytes has the
packets' bytes in base64.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..records.table_columns import Vector
from .atomic_write import written_file
from .chosen_rows import rows_of_request
from .formats import Exportable, Request, TableRows
from .packet_bytes import BYTES, byte_blocks
from .pseudonyms import Pseudonyms
from .pseudonyms.tables import pseudonyms_of, rows_with_pseudonyms

AT_ONCE = 1 << 13  # rows whose texts are in memory


def write_jsonl(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the rows of all packets that `request` names.

    Raises KeyError if the packet does not exist, FilterError if the filter is wrong, BadInput if a
    capture or `out` cannot be used, and Cancelled if the user cancels.
    """
    chosen, names = rows_of_request(recording, request), pseudonyms_of(recording, request)
    with written_file(out) as file:
        for table in recording.tables.described():
            blocks = recording.tables.blocks(table.name, None, chosen, request.progress)
            for block in rows_with_pseudonyms(blocks, names):
                for lines in block_lines(table.name, block):
                    file.write(lines.encode())
        for lines in _bytes(recording, request, chosen, names):
            file.write(lines.encode())


def block_lines(table: str, block: dict[str, Vector]) -> Iterator[str]:
    """Yield the JSON lines of `block` (rows of `table`, column by column), many in each text."""
    keys = "".join(f", {json.dumps(name)}: %s" for name in block)
    line = f'{{"table": {json.dumps(table)}{keys}}}\n'
    words = {name: [*map(_text, vector.words or ()), "null"] for name, vector in block.items()}
    count = len(next(iter(block.values())).values)
    for begin in range(0, count, AT_ONCE):
        rows = slice(begin, begin + AT_ONCE)
        columns = [_texts(vector, words[name], rows) for name, vector in block.items()]
        yield "".join([line % row for row in zip(*columns, strict=True)])


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(vector: Vector, words: list[str], rows: slice) -> list[str]:
    """Return the values of the column `vector` in `rows` as JSON texts."""
    values = vector.values[rows].tolist()
    if vector.words is not None:
        return [words[code] for code in values]  # -1 is the last one
    if vector.values.dtype.kind == "f":
        texts = [repr(value) if math.isfinite(value) else "null" for value in values]
    else:
        texts = list(map(str, values))
    if vector.missing is not None:
        for row in np.flatnonzero(vector.missing[rows]).tolist():
            texts[row] = "null"
    return texts


def _bytes(
    recording: Exportable, request: Request, chosen: TableRows | None, names: Pseudonyms | None
) -> Iterator[str]:
    """Yield the lines of table packet_bytes."""
    if not request.payload:
        return
    packets = None if chosen is None else np.flatnonzero(chosen["packet"]) + 1
    blocks = byte_blocks(recording, packets, request.snaplen, request.progress, names)
    for numbers, ends, data in blocks:
        places = zip(numbers.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        yield "".join(
            f'{{"table": "{BYTES.name}", "number": {number}, '
            f'"bytes": "{b64encode(data[begin:end].tobytes()).decode()}"}}\n'
            for number, begin, end in places
        )
