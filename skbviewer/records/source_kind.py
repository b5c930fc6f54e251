# SPDX-License-Identifier: MIT
"""The kinds of input files.  Sessions and JSON contain these words."""

from __future__ import annotations

from enum import StrEnum


class SourceKind(StrEnum):
    """A format of input files; READERS (readers/__init__.py) has a line for each.

    RETIS_PACKETS is no format: the packets of a retis log, from the bytes in it.
    """

    PCAP = "pcap"
    PCAPNG = "pcapng"
    KBL = "kbl"
    RETIS = "retis"
    RETIS_PACKETS = "retis-packets"

    @property
    def has_points(self) -> bool:
        """Whether such a log has points instead of calls: it shows no returns."""
        return self is SourceKind.RETIS

    @property
    def is_log(self) -> bool:
        """Whether such a file is a kernel log; else it is a capture."""
        return self in (SourceKind.KBL, SourceKind.RETIS)

    @property
    def is_of_log(self) -> bool:
        """Whether its packets are those of a kernel log, with the bytes that this holds."""
        return self is SourceKind.RETIS_PACKETS
