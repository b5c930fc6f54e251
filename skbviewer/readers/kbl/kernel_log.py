# SPDX-License-Identifier: MIT
"""Read kernel logs (.kbl, versions 2 and 3) of either byte order.

Layout: kmod/kbl.h.  If a file is truncated or damaged, its whole chunks are read, and warnings say
where the damage is.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...records import (
    BadInput,
    ClockTriple,
    KernelLog,
    Progress,
    Records,
    Table,
    counted,
    verb,
)
from ...records import kbl_layout as kbl
from ...records.types import Int64s
from ..input_file import Source
from ..printable_names import name_of
from .chunk_search import find_chunks
from .distinct_values import distinct
from .log_tables import Tables, read_tables
from .missing_chunks import find_holes
from .record_decoding import Decoded, decode_records
from .slot_scan import Scanner
from .slot_scan_loops import ROWS
from .symbols import HIDDEN, symbol_table
from .time_extent import is_complete, of_cpus, streams_of, undeclared_misses

Header = np.void
OLDEST_VERSION = 2

LOSSES = {
    kbl.KblLost.BUFFER: ("buffer full", "buffers full"),
    kbl.KblLost.MISSED: ("missed hit",),
    kbl.KblLost.NESTED: ("nested hit",),
}


def read_kbl(data: Source, progress: Progress, folder: Path | None) -> KernelLog:
    """Read the .kbl file `data`.

    A large table of records is stored in a nameless file in `folder`.  Raises BadInput if the file
    header is truncated or its version is not supported; raises Cancelled.
    """
    path = data.path
    order = "<" if bytes(data.read(0, 4)) == struct.pack("<I", kbl.KBL_MAGIC) else ">"
    header = _file_header(data, order)
    stext = int(header["stext"])
    scanner = Scanner(len(data), order, int(header["version"]))
    chunks = find_chunks(data, int(header["header_len"]), order, progress, scanner.scan_chunk)
    tables = read_tables(data, chunks, order)
    addresses = np.array([address for address, _ in tables.symbols], np.uint64).astype(np.int64)
    scan = scanner.result()
    rows = int(scan.counts[ROWS])
    decoded = decode_records(
        data,
        chunks.of_type(kbl.KblChunkType.RECORDS),
        scan,
        order,
        int(header["version"]),
        stext,
        addresses,
        folder,
        progress,
        f"decoding {path.name}",
    )
    records = decoded.records
    warnings = chunks.warnings + [
        f"{path}: {line}" for line in [*tables.complaints, *decoded.complaints]
    ]
    marks = records[np.flatnonzero(records["kind"] == int(kbl.KblKind.LOST))]
    losses = _lost_records(tables, marks)
    lost = sum(losses.values()) + chunks.lost
    warnings += [f"{path}: {line}" for line in _shortcomings(tables, records, losses)]
    return KernelLog(
        path=path,
        version=int(header["version"]),
        records=records,
        probes=tables.probes,
        symbols=_symbols(tables, decoded, stext),
        tasks=_tasks(decoded),
        devices=tables.devices,
        clock=tables.clock or (_start(header),),
        stext=stext,
        release=name_of(header["release"]),
        hostname=name_of(header["hostname"]),
        arch=name_of(header["arch"]),
        lost_records=lost,
        meta=tables.meta | _header_meta(header),
        details=decoded.details,
        taps=decoded.taps,
        calibration=tables.calibration,
        warnings=tuple(warnings),
        holes=find_holes(
            of_cpus(chunks.of_type(kbl.KblChunkType.RECORDS)), of_cpus(chunks.damaged)
        ),
        streams=streams_of(chunks),
        complete=is_complete(chunks, rows, tables.counters),
        missed=undeclared_misses(tables, marks),
        code=tables.code,
    )


def _file_header(data: Source, order: str) -> Header:
    path = data.path
    if len(data) >= 6:
        (version,) = struct.unpack(order + "H", bytes(data.read(4, 6)))
        if version > kbl.KBL_VERSION:
            newer = f"version {version} is newer than this program reads ({kbl.KBL_VERSION})"
            raise BadInput(path, 4, newer)
        if version < OLDEST_VERSION:
            raise BadInput(path, 4, f"version {version} is not supported yet")
    if len(data) < kbl.KBL_FILE_HEADER_SIZE:
        raise BadInput(path, len(data), "the file ends in the middle of the KBL file header")
    dtype = kbl.in_order(kbl.KBL_FILE_HEADER, order)
    raw = bytes(data.read(0, kbl.KBL_FILE_HEADER_SIZE))
    header: Header = np.frombuffer(raw, dtype, 1)[0]
    if header["header_len"] < kbl.KBL_FILE_HEADER_SIZE:
        raise BadInput(path, 6, f"file header of {header['header_len']} bytes is too short")
    return header


def _start(header: Header) -> ClockTriple:
    """Return the clock readings of the file header, for a file without CLOCK chunks.

    Boot time is unknown (-1).
    """
    return ClockTriple(int(header["start_mono_ns"]), int(header["start_real_ns"]), -1, -1)


def _header_meta(header: Header) -> dict[str, str]:
    return {
        "boot_id": bytes(header["boot_id"]).hex(),
        "nr_cpus": str(header["nr_cpus"]),
        "clock_id": str(header["clock_id"]),
        "ptr_size": str(header["ptr_size"]),
    }


def _lost_records(tables: Tables, marks: Table) -> dict[int, int]:
    """Return the number of lost records by reason (KblLost).

    Each number is the larger one of two: the file's counter, and the sum over the LOST records.  A
    recorder that is killed cannot write its last counters.
    """
    names = dict(zip(LOSSES, ("lost", "missed", "nested"), strict=True))
    return {
        reason: max(
            tables.counters.get(names[reason], 0),
            int(marks["data"][marks["flags"] == reason].sum()),
        )
        for reason in LOSSES
    }


def _shortcomings(tables: Tables, records: Records, losses: dict[int, int]) -> list[str]:
    lines = []
    if not len(records):
        lines.append("the file has no records")
    lost = sum(losses.values())
    if lost:
        reasons = ", ".join(counted(losses[reason], *words) for reason, words in LOSSES.items())
        lines.append(f"{counted(lost, 'record')} {verb(lost, 'is', 'are')} lost ({reasons})")
    if not tables.symbols:
        lines.append("the log has no symbol table, so callers are shown as addresses")
    elif not any(address for address, _ in tables.symbols):
        lines.append(f"symbol table: {HIDDEN}")
    unknown = np.setdiff1d(distinct(records["func"]), [-1, *tables.probes])
    if len(unknown):
        count = int(np.count_nonzero(np.isin(records["func"], unknown)))
        names = f"{counted(count, 'record')} {verb(count, 'names', 'name')} probes"
        lines.append(f"{names} that are not in the probe table")
    return lines


def _symbols(tables: Tables, decoded: Decoded, stext: int) -> dict[int, str]:
    """Return the names of callers, and of places where packets were dropped or consumed.

    If the log contains machine code, all functions of its symbol table have names, too.
    """
    records, frames = decoded.records, decoded.details.frames
    callers = distinct(records["caller"])
    events = np.isin(records["event"], (kbl.KblEvent.DROP, kbl.KblEvent.CONSUME))
    places = [callers[callers != 0], _locations(records["data"][events], stext), frames["address"]]
    if tables.code:  # the functions that the code calls
        places.append(np.array([at for at, name in tables.symbols if name], np.uint64).astype("i8"))
    wanted = np.unique(np.concatenate(places))
    return symbol_table(tables.symbols).name(wanted)


def _locations(data: npt.NDArray[np.int64], stext: int) -> Int64s:
    """Return the addresses at which packets were dropped; 0 if unknown.

    `data` is the column `data` of drop events.  The upper half of each value is an offset from
    _stext.
    """
    base = np.array([stext], np.uint64).astype(np.int64)
    offsets = np.unique(data >> 32)
    places: Int64s = base + offsets[offsets != 0]
    return places


def _tasks(decoded: Decoded) -> dict[int, str]:
    """Return each thread's latest command name."""
    latest = np.argsort(decoded.task_times, kind="stable")
    return {int(row["tid"]): name_of(row["comm"]) for row in decoded.comms[latest]}
