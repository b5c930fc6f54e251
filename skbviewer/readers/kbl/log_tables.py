# SPDX-License-Identifier: MIT
"""The tables of a .kbl file: strings, probes, symbols, clocks, counters, devices, meta, code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...records import Calibration, ClockTriple, FunctionCode, Probe, counted
from ...records import kbl_layout as kbl
from ...records.types import INT64_MAX
from ..input_file import Source
from ..printable_names import name_of
from .chunk_search import Chunks

NO_ARGUMENT = 0xFF
PROBE_IDS = 1 << 16  # an id has 16 bits in struct kbl_span_slot
FUNCTIONS = PROBE_IDS  # with code, at most
FIRST_SIZES: dict[int, int] = {  # bytes of a row in the oldest files
    kbl.KblChunkType.PROBES: 48,
    kbl.KblChunkType.COUNTERS: 48,
    kbl.KblChunkType.CALIBRATION: 48,
}


class Tables(NamedTuple):
    """The contents of a file's tables.

    `symbols` are (address, name) in file order; `counters` are the last ones that the file
    contains.  `missed_before` counts the hits that each probe (by id) missed before the file began;
    the key -1 has their sum over all probes.
    """

    probes: dict[int, Probe]
    symbols: list[tuple[int, str]]
    clock: tuple[ClockTriple, ...]
    counters: dict[str, int]
    devices: dict[tuple[int, int], str]
    meta: dict[str, str]
    calibration: Calibration | None
    complaints: list[str]
    missed_before: dict[int, int]
    code: tuple[FunctionCode, ...]


class _Reader:
    """Reads the rows of the tables, one table after the other.

    A recorder writes a STRINGS or SYMBOLS table again when it has grown, so the last one is used.
    """

    def __init__(self, data: Source, chunks: Chunks, order: str) -> None:
        self._data, self._chunks, self._order = data, chunks, order
        self.complaints: list[str] = []
        self._strings = b"".join(self.payloads(kbl.KblChunkType.STRINGS)[-1:])

    def payloads(self, type_: int) -> list[bytes]:
        """Return the payloads of all whole chunks of the type `type_`, in file order."""
        found = self._chunks.of_type(type_)
        return [bytes(self._data.read(chunk.begin, chunk.end)) for chunk in found]

    def rows(self, type_: int, dtype: np.dtype[np.void], last: int = 0) -> list[dict[str, int]]:
        """Return rows as Python values, from the last `last` chunks, or from all if it is 0.

        Newer versions of a struct have more members at their end.  Rows of an older file therefore
        lack the members that were added later.
        """
        rows: list[dict[str, int]] = []
        for chunk in self._chunks.of_type(type_)[-last:]:
            if not chunk.items:
                continue
            size = (chunk.end - chunk.begin) // chunk.items
            if size < FIRST_SIZES.get(type_, dtype.itemsize):
                name = kbl.KblChunkType(type_).name
                self.complaints.append(f"a table {name} with rows of {size} bytes: left out")
                continue
            known = _beginning(kbl.in_order(dtype, self._order), size)
            payload = self._data.read(chunk.begin, chunk.begin + chunk.items * size)
            table = payload.reshape(-1, size)[:, : known.itemsize].copy().view(known)[:, 0]
            names = known.names or ()
            rows += [dict(zip(names, row, strict=True)) for row in table.tolist()]
        return rows

    def string(self, offset: int) -> str:
        """Return the text at `offset` in the last STRINGS table."""
        end = self._strings.find(b"\0", offset)
        return name_of(self._strings[offset : None if end < 0 else end])


def _beginning(dtype: np.dtype[np.void], size: int) -> np.dtype[np.void]:
    """Return the dtype of those members of a struct that are within its first `size` bytes."""
    names = [n for n in dtype.names or () if _end(dtype, n) <= size]
    return np.dtype([(n, dtype[n]) for n in names])


def _end(dtype: np.dtype[np.void], name: str) -> int:
    assert dtype.fields is not None
    kind, offset = dtype.fields[name][:2]
    return int(offset) + kind.itemsize


def read_tables(data: Source, chunks: Chunks, order: str) -> Tables:
    """Read all tables of a KBL; `order` is its byte order.

    If there are several rows for one probe or device, the last one is used.
    """
    reader, kind = _Reader(data, chunks, order), kbl.KblChunkType
    counters = _limited(reader, "COUNTERS", reader.rows(kind.COUNTERS, kbl.KBL_COUNTERS))
    devices = reader.rows(kind.DEVICES, kbl.KBL_DEVICE)
    probes = _probes(reader)
    code, complaints = _code(reader)
    before = {row["id"]: row["missed"] for row in reversed(probes)}
    return Tables(
        {row["id"]: _probe(reader, row) for row in probes},
        [_symbol(reader, row) for row in reader.rows(kind.SYMBOLS, kbl.KBL_SYMBOL, 1)],
        tuple(sorted(ClockTriple(**row) for row in reader.rows(kind.CLOCK, kbl.KBL_CLOCK))),
        counters[-1] if counters else {},
        {(row["netns"], row["ifindex"]): _name(row["name"]) for row in devices},
        _meta(reader, counters[-1:]),
        _calibration(reader),
        reader.complaints + complaints,
        before | {-1: counters[0]["missed"] if counters else 0},
        code,
    )


def _code(reader: _Reader) -> tuple[tuple[FunctionCode, ...], list[str]]:
    data = b"".join(reader.payloads(kbl.KblChunkType.CODE_BYTES)[-1:])
    return functions_code(reader.rows(kbl.KblChunkType.CODE, kbl.KBL_CODE, 1), data)


def functions_code(
    rows: Sequence[Mapping[str, int]], data: bytes
) -> tuple[tuple[FunctionCode, ...], list[str]]:
    """Return the code of each function, and texts about rows that cannot be used.

    `rows` are struct kbl_code; `data` is the payload of CODE_BYTES.  If there are several rows for
    one address, the last one is used.  Rows may overlap, so the bytes of all rows together are
    limited.
    """
    found: dict[int, FunctionCode] = {}
    total = outside = beyond = 0
    for row in rows:
        begin, size = row["offset"], row["size"]
        if not 0 < size <= kbl.KBL_MAX_FUNCTION or begin + size > len(data):
            outside += 1
        elif total + size > kbl.KBL_MAX_CODE or len(found) >= FUNCTIONS:
            beyond += 1
        else:
            total += size
            ended = not row["flags"] & kbl.KBL_CODE_NO_END
            found[row["addr"]] = FunctionCode(row["addr"], ended, data[begin : begin + size])
    complaints = []
    if outside:
        what = (
            f"table CODE: {counted(outside, 'function')} left out, because the code is outside of "
            "table CODE_BYTES"
        )
        complaints.append(what)
    if beyond:
        most = f"more than {kbl.KBL_MAX_CODE >> 20} MiB or {FUNCTIONS} functions"
        complaints.append(f"table CODE: {most}: {beyond} left out")
    return tuple(found.values()), complaints


def _probes(reader: _Reader) -> list[dict[str, int]]:
    """Return the rows of PROBES; in a damaged row, the id may be too large for an array."""
    rows = reader.rows(kbl.KblChunkType.PROBES, kbl.KBL_PROBE)
    rows = _limited(reader, "PROBES", rows, ("hits", "missed"))
    good = [row for row in rows if row["id"] < PROBE_IDS]
    if len(good) < len(rows):
        left = len(rows) - len(good)
        reader.complaints.append(
            f"{counted(left, 'probe')} with an id of {PROBE_IDS} or more: left out"
        )
    return good


def _limited(
    reader: _Reader, table: str, rows: list[dict[str, int]], names: Sequence[str] = ()
) -> list[dict[str, int]]:
    """Return the rows, with the counts `names` (none: all members) limited to INT64_MAX.

    Neither numpy's nor SQL's integers hold greater counts, which only damage can cause.
    """
    large = 0
    for row in rows:
        for name in names or tuple(row):
            if row[name] > INT64_MAX:
                row[name], large = INT64_MAX, large + 1
    if large:
        reader.complaints.append(
            f"table {table}: {counted(large, 'count')} of 2^63 or more: taken as 2^63 - 1"
        )
    return rows


def _calibration(reader: _Reader) -> Calibration | None:
    """Return the last measurement of the probes' costs.

    If no cost with packets was measured, the cost without packets is used instead.
    """
    rows = reader.rows(kbl.KblChunkType.CALIBRATION, kbl.KBL_CALIBRATION)
    if not rows or not (rows[-1]["tau_empty"] or rows[-1]["tau_nested"]):
        return None
    last = rows[-1]
    empty, nested = last["tau_empty"], last["tau_nested"]
    skb_empty, skb_nested = last.get("tau_skb_empty", 0), last.get("tau_skb_nested", 0)
    return Calibration(empty, nested, skb_empty or empty, skb_nested or nested)


def _name(value: object) -> str:
    return name_of(value) if isinstance(value, bytes) else str(value)


def _probe(reader: _Reader, row: dict[str, int]) -> Probe:
    return Probe(
        id=row["id"],
        name=reader.string(row["name"]),
        module=reader.string(row["module"]),
        address=row["addr"],
        arg=-1 if row["arg"] == NO_ARGUMENT else row["arg"],
        returns_skb=bool(row["ret"]),
        event=row["event"],
        error=row["error"],
        hits=row["hits"],
        missed=row["missed"],
        inner=bool(row.get("flags", 0) & kbl.KBL_PROBE_INNER),
    )


def _symbol(reader: _Reader, row: dict[str, int]) -> tuple[int, str]:
    name, module = reader.string(row["name"]), reader.string(row["module"])
    return row["addr"], f"{name} [{module}]" if module else name


def _meta(reader: _Reader, counters: list[dict[str, int]]) -> dict[str, str]:
    """Return the lines of META, and values without a table of their own, as texts.

    The values without a table are counters and the costs of probes.
    """
    lines = b"".join(reader.payloads(kbl.KblChunkType.META)[-1:]).partition(b"\0")[0].split(b"\n")
    pairs = (name_of(line).partition("=") for line in lines)
    meta = {key: value for key, _, value in pairs if key}
    costs = reader.rows(kbl.KblChunkType.CALIBRATION, kbl.KBL_CALIBRATION)
    for prefix, rows in (("counters", counters), ("calibration", costs[-1:])):
        meta |= {f"{prefix}.{name}": str(value) for row in rows for name, value in row.items()}
    return meta
