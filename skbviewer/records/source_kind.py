# SPDX-License-Identifier: MIT
"""The kinds of input files. Sessions and JSON output contain the words below."""

from __future__ import annotations

from enum import StrEnum


class SourceKind(StrEnum):
    """A format of input files; READERS (readers/__init__.py) has a line for each.

    RETIS_PACKETS is not a format: it stands for packets that were made from the bytes in a retis
    log.
    """

    PCAP = "pcap"
    PCAPNG = "pcapng"
    KBL = "kbl"
    RETIS = "retis"
    RETIS_PACKETS = "retis-packets"

    @property
    def has_points(self) -> bool:
        """Return whether logs of this kind have points instead of calls: they record no returns."""
        return self is SourceKind.RETIS

    @property
    def is_log(self) -> bool:
        """Return whether files of this kind are kernel logs; all others are captures."""
        return self in (SourceKind.KBL, SourceKind.RETIS)

    @property
    def is_of_log(self) -> bool:
        """Return whether packets of this kind come from a kernel log that holds their bytes."""
        return self is SourceKind.RETIS_PACKETS
