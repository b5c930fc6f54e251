# SPDX-License-Identifier: MIT
"""The records of a large KBL as columns, to check millions of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer.records import kbl_layout as layout
from tests.lab.kbl_check import EXTS, HEADS, LONG, SLOT, Kbl, Kind, Type, chunks, one, whole_rows

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


class Columns(NamedTuple):
    """Head slots in stream order, CPU after CPU; addresses as int64 of the same bits."""

    slots: U8  # (n, 32): all slots, EXT too
    at: I64  # of each head in slots
    cpu: I64
    kind: I64
    second: I64  # flags, event or reason
    context: I64
    ext: I64
    ts: I64
    skb: I64
    func: I64  # CALL, ENTRY, EXIT; else -1
    entry_cpu: I64  # CALL; else cpu
    end: I64  # when it was written


class Large(NamedTuple):
    """The tables of a KBL, its records as columns, and how much of it is torn."""

    kbl: Kbl  # without records
    records: Columns
    torn: int  # slots which are not what the head before them, or any head, promises


def field(slots: U8, dtype: np.dtype[np.void], name: str) -> I64:
    """Return a field of slots of one struct."""
    view = np.ascontiguousarray(slots).view(dtype).reshape(-1)
    values: I64 = view[name].astype(np.uint64, copy=False).view(np.int64)
    return values


def count_torn(slots: U8) -> int:
    """Count slots of unknown kinds and heads not followed by as many EXT slots as they say."""
    kind = slots[:, 0]
    head = kind != Kind.EXT
    unknown = head & ~np.isin(kind, list(HEADS)) | ~head & ~np.isin(slots[:, 1], list(EXTS))
    at = np.append(np.flatnonzero(head), len(slots))
    wrong = np.diff(at) - 1 != slots[at[:-1], 3]
    headless = int(at[0])  # EXT slots before the first head
    return int(np.count_nonzero(unknown)) + int(np.count_nonzero(wrong)) + headless


def durations(slots: U8, at: I64) -> I64:
    """Return the durations of the CALLs at these places."""
    short = field(slots[at], layout.KBL_SPAN_SLOT, "dur").copy()
    for i in np.flatnonzero(short == LONG):
        for slot in slots[at[i] + 1 :][: slots[at[i], 3]]:
            if slot[1] == layout.KblExtType.CALL:
                short[i] = one(slot.tobytes(), layout.KBL_EXT_CALL)["dur"]
    return short


def columns(slots: U8, cpu: I64) -> Columns:
    """Return the heads of all slots, whose CPUs are given, as columns."""
    at = np.flatnonzero(slots[:, 0] != Kind.EXT)
    heads = slots[at]
    kind = heads[:, 0].astype(np.int64)
    call = kind == Kind.CALL
    pair = (kind == Kind.ENTRY) | (kind == Kind.EXIT)
    func = np.full(len(at), -1, np.int64)
    func[call] = field(heads[call], layout.KBL_SPAN_SLOT, "func")
    func[pair] = field(heads[pair], layout.KBL_CALL_SLOT, "func")
    ts = field(heads, layout.KBL_EVENT_SLOT, "ts").copy()
    end, entry_cpu = ts.copy(), cpu[at].copy()
    end[call] += durations(slots, at[call])
    entry_cpu[call] = field(heads[call], layout.KBL_SPAN_SLOT, "entry_cpu")
    second, context, ext = (heads[:, i].astype(np.int64) for i in (1, 2, 3))
    skb = field(heads, layout.KBL_EVENT_SLOT, "skb").copy()
    return Columns(slots, at, cpu[at], kind, second, context, ext, ts, skb, func, entry_cpu, end)


def load(path: Path) -> Large:
    """Read a KBL of any size; a wrong checksum or chunk number is an AssertionError."""
    raw = path.read_bytes()
    kbl = Kbl(one(raw, layout.KBL_FILE_HEADER), [], {}, [])
    streams: dict[int, list[bytes]] = {}
    for header, payload in chunks(raw):
        kbl.types.append(int(header["type"]))
        if header["type"] == Type.RECORDS:
            streams.setdefault(int(header["cpu"]), []).append(payload)
        else:
            kbl.tables[int(header["type"])] = whole_rows(header, payload)
    parts = {cpu: b"".join(payloads) for cpu, payloads in sorted(streams.items())}
    arrays = [np.frombuffer(part, np.uint8).reshape(-1, SLOT) for part in parts.values()]
    torn = sum(count_torn(array) for array in arrays)
    cpus = np.repeat(np.array(list(parts), np.int64), [len(array) for array in arrays])
    return Large(kbl, columns(np.concatenate(arrays), cpus), torn)


def backward(records: Columns) -> int:
    """Count records written earlier than the one before them on their CPU.

    The ENTRY of a call that was open at the end is written late, with its own time.
    """
    late = (records.kind == Kind.ENTRY) & (records.second & layout.KBL_FLAG_OPEN != 0)
    end, cpu = records.end[~late], records.cpu[~late]
    return int(np.count_nonzero((np.diff(end) < 0) & (np.diff(cpu) == 0)))
