# SPDX-License-Identifier: MIT
"""Pages of the packet list: any rows in any order, with facts from kernel logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ...analysis import ends
from ...analysis.fields.field_source_tables import Data
from ...analysis.packet_row_summary import NamesOf, RowSummary, row_summaries
from ...analysis.streams import tcp_info_column_text
from ...analysis.streams.kernel_only_tcp import lifetime_summaries
from ...analysis.streams.ping_and_arp_links import Link, links_of
from ...analysis.streams.tcp_info_column_text import SegmentSummary
from ...records import PacketRow, SeriesRow, SourceKind
from ...records.types import Bools
from ...store import Database, packet_list_queries, queries
from ...store.packet_list_queries import AddressOfRow, LegSummary
from ...store.query_rows import StoredSeries
from ..annotation_places import RowIds
from .payloads import Payloads
from .row_values import packet_row, series_row

Row = TypeVar("Row", PacketRow, SeriesRow)
Fitted = Callable[[int, RowIds], RowIds]  # (source, times): on the first capture's clock


class Origins(NamedTuple):
    """The number of the first row of each source, and the kinds of kernel logs in the session."""

    first: dict[int, int]
    has_kbl: bool
    points: frozenset[int]  # sources whose records are points


def origins(db: Database) -> Origins:
    """Return the first row of each source, and the kinds of kernel logs in the session."""
    sources = queries.sources(db)
    kinds = {row.id: SourceKind(row.kind) for row in sources}
    return Origins(
        {row.id: row.first for row in sources},
        any(kind.is_log for kind in kinds.values()),
        frozenset(source for source, kind in kinds.items() if kind.has_points),
    )


class Known(NamedTuple):
    """What other packets of a packet's stream show about this packet, by packet number.

    Only the packets that were asked for are included.  `lives` has the summaries of rows K<n>, by
    n.  `lost_legs` is a function that returns for each leg of the session whether a drop in it lost
    the packet.
    """

    streams: Mapping[int, SegmentSummary]
    links: Mapping[int, Link]
    lives: Mapping[int, SegmentSummary]
    lost_legs: Callable[[], Bools]


def known_of(data: Data, ids: RowIds, followed: bool) -> Known:
    """Return what other packets show about the rows `ids`: TCP summaries and links.

    In a large session, the result is empty if the streams were not `followed`.
    """
    if not followed:
        return Known({}, {}, {}, data.lost_legs)
    numbers, lives = ids[ids > 0], -ids[ids < 0]
    return Known(
        tcp_info_column_text.segment_summaries(data, numbers),
        links_of(data, numbers),
        lifetime_summaries(data, lives) if len(lives) else {},
        data.lost_legs,
    )


def rows(
    db: Database,
    ids: RowIds,
    sources: Origins,
    names: NamesOf,
    fitted: Fitted,
    files: Payloads,
    known: Known,
) -> list[PacketRow | SeriesRow]:
    """Return the rows `ids` (n, or -n for K<n>) of the packet list, in the order of `ids`.

    `names` returns the names of a log, `fitted` converts times of a log to the captures' clock, and
    `files` reads payloads.  `known` has the facts that other packets show about the rows.  Raises
    KeyError for a row that does not exist.
    """
    files.look_again()
    first, has_kbl, _ = sources
    numbers, lives = ids[ids > 0].tolist(), (-ids[ids < 0]).tolist()
    found: dict[int, PacketRow | SeriesRow] = {}
    if numbers:
        legs = packet_list_queries.summaries_of_packets(db, numbers) if has_kbl else ()
        summaries = row_summaries(_as_begun(legs, fitted), names, known.lost_legs)
        shown = _addresses(packet_list_queries.addresses_of_packets(db, numbers) if has_kbl else ())
        for number, row in packet_list_queries.packets(db, numbers).items():
            stream, link = known.streams.get(number), known.links.get(number)
            more = files.options(row, stream) if link is None else link.text
            made = packet_row(row, first[row.source], has_kbl, stream, more)
            mine = summaries.get(number, RowSummary())
            described = made if stream and stream.again else files.described(row, made, stream)
            other = shown.get(number, ())
            other = tuple(pair for pair in other if pair != (made.saddr, made.daddr))
            described = described._replace(elsewhere=other)
            found[number] = _with(described, mine)
    if lives:
        series = packet_list_queries.kernel_only(db, lives)
        summaries = row_summaries(
            packet_list_queries.summaries_of_series(db, [r.id for r in series.values()]),
            names,
            known.lost_legs,
        )
        times = _fitted_times(series.values(), fitted)
        for number, life in series.items():
            has_points = life.source in sources.points
            shown_life = series_row(life, known.lives.get(number), has_points)
            shown_life = shown_life._replace(time_ns=times[life.id])
            found[-number] = _with(shown_life, summaries.get(life.id, RowSummary()))
    return [found[number] for number in ids.tolist()]


def _addresses(rows: Iterable[AddressOfRow]) -> dict[int, tuple[tuple[str, str], ...]]:
    """Return for each packet the distinct pairs of addresses that the kernel recorded."""
    found: dict[int, dict[tuple[str, str], None]] = {}
    for row in rows:
        found.setdefault(row.row, {})[ends(row)] = None
    return {number: tuple(pairs) for number, pairs in found.items()}


def _with(row: Row, summary: RowSummary) -> Row:
    process, drop, place, lost = summary
    return row._replace(process=process, drop=drop, drop_place=place, lost=lost)


def _as_begun(legs: Sequence[LegSummary], fitted: Fitted) -> list[LegSummary]:
    """Return the legs in the order in which they began.

    Times in several logs are converted to one clock before they are compared.
    """
    source = np.array([leg.source for leg in legs], np.int64)
    begin = np.array([leg.begin_ns for leg in legs], np.int64)
    logs = np.unique(source).tolist()
    if len(logs) > 1:
        for one in logs:
            begin[source == one] = fitted(one, begin[source == one])
    return [legs[at] for at in np.argsort(begin, kind="stable").tolist()]


def _fitted_times(series: Iterable[StoredSeries], fitted: Fitted) -> dict[int, int]:
    """Return when each skb lifetime (series id) began, on the clock of the captures (ns)."""
    by_source: dict[int, list[StoredSeries]] = {}
    for row in series:
        by_source.setdefault(row.source, []).append(row)
    found: dict[int, int] = {}
    for source, rows_of in by_source.items():
        times = fitted(source, np.array([row.begin_ns for row in rows_of], np.int64))
        found |= {row.id: int(ns) for row, ns in zip(rows_of, times, strict=True)}
    return found


def row_numbers(first: int, count: int, last: int) -> RowIds:
    """Return the numbers from `first` to `first + count - 1` that are between 1 and `last`."""
    return np.arange(max(first, 1), min(first + count - 1, last) + 1, dtype=np.int64)
