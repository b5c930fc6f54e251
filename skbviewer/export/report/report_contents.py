# SPDX-License-Identifier: MIT
"""The contents of a report, read from an open session and cleaned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...analysis.stats.statistic_types import Table
from ...records import BadInput, PacketPath, PacketRow, Progress, SeriesRow, SourceRow
from ...records.types import EARLIEST_NS, LATEST_NS, Int64s
from ..chosen_rows import chosen_rows
from ..formats import Exportable, LayerColours, Request, packet_path
from ..pseudonyms import Pseudonyms
from .html_markup import printable
from .packet_hex_bytes import Bytes, bytes_of
from .text_cleaning import with_changed_texts

MOST_LISTED = 500  # rows in the list of packets
SLOWEST, DROPPED = 4, 4  # packets that are shown if none are named
MOST_SHOWN = 50
STEPS = 5  # of progress, besides one for each packet
Row = PacketRow | SeriesRow


class Shown(NamedTuple):
    """A packet with its path; `data` is None if the packet's bytes cannot be read."""

    row: Row
    path: PacketPath
    data: Bytes | None


class Facts(NamedTuple):
    """The contents of a report; pseudonyms have been set and characters replaced in all texts."""

    title: str
    info: Mapping[str, Any]
    sources: Sequence[SourceRow]
    first_ns: int  # the time from which the column Time counts
    packets: int  # chosen
    rows: Sequence[Row]  # the first of them
    shown: Sequence[Shown]
    named: bool  # the user named the packets to show
    tables: Mapping[str, Table]
    layers: Sequence[LayerColours]
    pseudonyms: bool
    cut: bool  # only parts of packets are shown


def facts_of(recording: Exportable, request: Request) -> Facts:
    """Read the contents of the report that `request` names.

    Raises FilterError, BadInput and Cancelled, and KeyError if a packet does not exist.
    """
    clean, names = _cleaning(recording, request)
    progress = request.progress
    progress.report("Reading packets", 0, STEPS)
    ids = _ids(recording, request)
    named = request.rows or ((request.row,) if request.row is not None else ())
    if len(named) > MOST_SHOWN:
        raise KeyError(f"{len(named)} packets are more than a report shows: {MOST_SHOWN}")
    listed = recording.packets.rows(ids[:MOST_LISTED])
    tables = {}
    for at, name in enumerate(("drops", "layers", "functions"), 1):
        progress.report("Computing statistics", at, STEPS)
        part = bool(request.filter or request.times or request.row is not None)
        made = recording.stats.table(name, ids if part else None, progress)
        tables[name] = made._replace(rows=with_changed_texts(tuple(made.rows), clean))
    shown = []
    chosen = list(named) or _notable(recording, ids, progress)
    for at, row in enumerate(chosen):
        progress.report("Reading paths", STEPS + at, STEPS + len(chosen))
        shown.append(_shown(recording, request, row, clean, names))
    return Facts(
        title=clean(_title(request)),
        info=recording.info(),
        sources=[with_changed_texts(_short(s), clean) for s in recording.sources()],
        first_ns=recording.export.first_ns(),
        packets=len(ids),
        rows=with_changed_texts(tuple(listed), clean),
        shown=shown,
        named=bool(named),
        tables=tables,
        layers=recording.layers(),
        pseudonyms=names is not None,
        cut=bool(request.snaplen) or not request.payload,
    )


def _title(request: Request) -> str:
    """Return what the report is about: "packet 3", "tcp in a range of 0.5 s", "" for everything."""
    if request.row is not None:
        return request.title
    if request.times is None:
        return request.filter
    begin, end = request.times
    span = f"a range of {(end - begin) / 1e9:g} s"
    if begin == EARLIEST_NS or end == LATEST_NS:
        span = "a range without a beginning" if begin == EARLIEST_NS else "a range without an end"
    return f"{request.filter} in {span}" if request.filter else span


def _short(source: SourceRow) -> SourceRow:
    """Return an input file whose path has no folder, because a report does not reveal folders."""
    name = Path(source.path).name
    warnings = tuple(text.replace(str(source.path), name) for text in source.warnings)
    return source._replace(path=name, warnings=warnings)


def _cleaning(
    recording: Exportable, request: Request
) -> tuple[Callable[[str], str], Pseudonyms | None]:
    if not request.pseudonym_key:
        return printable, None
    hosts = [source.detail.get("hostname", "") for source in recording.sources()]
    names = Pseudonyms(request.pseudonym_key, hosts)
    return lambda text: printable(names.text(text)), names


def _ids(recording: Exportable, request: Request) -> Int64s:
    """Return the rows that the report is about: n for packet n, -n for row K<n>.

    Lifetimes without a network header are left out, as in the packet list. The rows that `request`
    names are only the rows whose paths are shown.
    """
    if request.row is not None:
        return np.array([request.row])
    chosen_rows(recording, request)  # checks the named rows
    rows = chosen_rows(recording, request._replace(rows=()))
    listed = recording.packets.kernel_only_count()
    if rows is not None:
        return np.asarray(rows[rows >= -listed], np.int64)
    packets = np.arange(1, recording.packets.count() + 1)
    return np.concatenate([packets, -np.arange(1, listed + 1)])


def _notable(recording: Exportable, ids: Int64s, progress: Progress) -> list[int]:
    """Return the first lost rows of `ids`, and the rows with the longest time in kernel.

    Raises Cancelled.
    """

    def listed(text: str, order: tuple[str, bool] | None) -> Int64s:
        found = recording.packets.listed(text, order, True, None, progress)
        assert found is not None  # there is a filter
        return np.asarray(found[np.isin(found, ids)], np.int64)

    dropped, lost = listed("kbl.drop_reason", None), list[int]()
    for at in range(0, len(dropped), MOST_LISTED):  # some were dropped after a socket got them
        some = dropped[at : at + MOST_LISTED]
        rows = recording.packets.rows(some)
        lost += [number for number, row in zip(some.tolist(), rows, strict=True) if row.lost]
        if len(lost) >= DROPPED:
            break
    lost = lost[:DROPPED]
    slow = listed("kbl.in_kernel > 0", ("kbl.in_kernel", True))[: SLOWEST + DROPPED].tolist()
    return lost + [number for number in slow if number not in lost][:SLOWEST]


def _shown(
    recording: Exportable, request: Request, row: int, clean: Callable[[str], str],
    names: Pseudonyms | None,
) -> Shown:  # fmt: skip
    path = with_changed_texts(packet_path(recording, row), clean)
    (listed,) = with_changed_texts(tuple(recording.packets.rows(np.array([row]))), clean)
    data = None
    if isinstance(listed, PacketRow):
        try:
            raw = recording.contents.packet_bytes(row)
        except BadInput:  # the capture has moved: the report is complete without its bytes
            raw = None
        data = None if raw is None else bytes_of(raw, listed, request, names)
    return Shown(listed, path, data)
