# SPDX-License-Identifier: MIT
"""The packet list of an open session: rows that display filters select, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...analysis.fields.tcp_segment_keys import kernel_only_keys, packet_keys
from ...analysis.streams import tcp_info_column_text
from ...records import PacketRow, Progress, SeriesRow, Silent
from ...store import queries, schema
from ..annotation_places import RowIds
from ..open_session_file import OpenedFile
from . import column_order, filtered_rows, list_pages, process_order
from .payloads import Payloads
from .session_fields import Fields

FEW_PACKETS = 100_000  # up to this many, following all streams takes no noticeable time


class PacketList:
    """The rows of the list: packets 1, 2, ..., and K1, K2, ...: skb lifetimes without a packet."""

    def __init__(self, opened: OpenedFile, fields: Fields) -> None:
        self._opened, self._fields = opened, fields
        self._payloads: Payloads | None = None
        self._packets: int | None = None
        self._origins: list_pages.Origins | None = None

    def count(self) -> int:
        """Return the number of packets."""
        if self._packets is None:
            with self._opened.database() as db:
                self._packets = queries.count(db, schema.packet)
        return self._packets

    def numbered(self, first: int, count: int) -> list[PacketRow]:
        """Return the packets from number `first` to `first + count - 1`, as far as they exist."""
        ids = list_pages.row_numbers(first, count, self.count())
        return cast(list[PacketRow], self.rows(ids))

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """Return the rows `ids` in the order of `ids`: n is packet n, -n is row K<n>.

        Raises KeyError for a row that does not exist.  In large sessions, the column Info shows no
        TCP analysis until follow_streams() was called.
        """
        known = list_pages.known_of(self._fields.data(), ids, self.streams_followed())
        files = self.payloads()
        with self._opened.database() as db:
            self._origins = self._origins or list_pages.origins(db)
            return list_pages.rows(
                db, ids, self._origins, self._opened.names_of, self._opened.fitted, files, known
            )

    def kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have addresses, but no packet."""
        with self._opened.database() as db:
            return queries.kernel_only_count(db)

    def all_kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have no packet.

        Lifetimes without addresses have the highest numbers K<n>.
        """
        with self._opened.database() as db:
            return queries.all_kernel_only_count(db)

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Return `count` rows K<n>, from n = `first` on."""
        ids = list_pages.row_numbers(first, count, self.kernel_only_count())
        return cast(list[SeriesRow], self.rows(-ids))

    def listed(
        self,
        text: str = "",
        order: filtered_rows.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the rows that select() returns, in any order that the packet list offers.

        `order` may name process_order.WORD or a word of column_order.WORDS, besides fields.
        """
        if order is None or order[0] not in (process_order.WORD, *column_order.WORDS):
            return self.select(text, order, kernel_only, hidden, progress, all_lives)
        ids = self.select(text, None, kernel_only, hidden, progress, all_lives)
        if ids is None:
            ids = list_pages.row_numbers(1, self.count(), self.count())
        if order[0] == process_order.WORD:
            return process_order.sorted_ids(self._fields.data(), ids, order[1])
        return column_order.sorted_ids(self._opened.columns, ids, *order)

    def select(
        self,
        text: str = "",
        order: filtered_rows.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the rows that match the display filter `text`; None means all packets, by number.

        filtered_rows.select() explains the arguments.  With `all_lives`, lifetimes without a
        network identity are included.
        """
        if kernel_only and not all_lives:
            first, last = self.kernel_only_count() + 1, self.all_kernel_only_count()
            unknown = -np.arange(first, last + 1, dtype=np.int64)
            hidden = unknown if hidden is None else np.concatenate([hidden, unknown])
        return filtered_rows.select(self._fields.data(), text, order, kernel_only, hidden, progress)

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        """Return for each row of `ids` the index of the first filter in `texts` that it matches.

        -1 means that no filter matches the row.  Raises FilterError.
        """
        return filtered_rows.first_fit(self._fields.data(), texts, ids)

    def streams_followed(self) -> bool:
        """Return whether the rows include the findings in TCP streams."""
        return (
            tcp_info_column_text.streams_known(self._fields.data()) or self.count() <= FEW_PACKETS
        )

    def follow_streams(self, progress: Progress | None = None) -> None:
        """Follow all TCP streams once; for millions of packets, this takes seconds.

        Diagnoses and the keys of segments need the streams, too.  Raises Cancelled.
        """
        for keys in (packet_keys, kernel_only_keys):
            keys(self._opened.columns, self._fields.data())
        tcp_info_column_text.follow(self._fields.data(), progress or Silent())
        nothing = np.zeros(0, np.int64)
        list_pages.known_of(self._fields.data(), nothing, True)  # cached, so no page waits

    def look_again(self) -> None:
        """Check the input files again, to notice files that are back or have changed."""
        self._payloads = None

    def payloads(self) -> Payloads:
        """Return the object that reads payloads from the captures."""
        self._payloads = self._payloads or Payloads(self._opened.sources())
        return self._payloads
