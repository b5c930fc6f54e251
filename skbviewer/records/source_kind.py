# SPDX-License-Identifier: MIT
"""The kinds of input files.  Sessions and JSON contain these words."""

from __future__ import annotations

from enum import StrEnum


class SourceKind(StrEnum):
    """A format of input files; READERS (readers/__init__.py) has a line for each."""

    PCAP = "pcap"
    PCAPNG = "pcapng"
    KBL = "kbl"
    RETIS = "retis"

    @property
    def has_points(self) -> bool:
        """Whether such a log has points instead of calls: it shows no returns."""
        return self is SourceKind.RETIS

    @property
    def is_log(self) -> bool:
        """Whether such a file is a kernel log; else it is a capture."""
        return self not in (SourceKind.PCAP, SourceKind.PCAPNG)
