# SPDX-License-Identifier: MIT
"""The input and output of matching: the data of a kernel log, and the matches of a capture."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import (
    RECORD_DTYPE,
    ColumnTable,
    KernelLog,
    empty,
)
from ..records.types import Int64s
from .clock.clock_fit import ClockFit
from .identity.identity_columns import Footprints
from .legs.declared_losses import Table as Losses
from .legs.leg_cutting import LegTable
from .lifetimes.skb_arrival_in_function import RecordTimes
from .lifetimes.skb_lifetimes import SeriesTable

MATCH_DTYPE = np.dtype(
    [
        ("packet", "<i8"),
        ("leg", "<i8"),
        ("verdict", "u1"),
        ("rung", "i1"),
        ("confidence", "<f8"),
        # packet's time - time at which the sniffer saw the leg, by the clock fit (none: NO_DELTA)
        ("delta_ns", "<i8"),
    ]
)


CAPTURED_DTYPE = np.dtype(
    [
        ("packet", "<i8"),
        ("leg", "<i8"),  # as in MATCH_DTYPE: the leg that the sniffer captured
        ("netns", "<i8"),
        ("ifindex", "<i8"),  # unknown if below 1
        ("sends", "u1"),  # 1: the packet left by the device
        ("socket", "?"),  # the log shows the call of a packet socket
        ("after_ns", "<i8"),  # on the log's clock: the stamp was made at or after this time
        ("before_ns", "<i8"),  # and at or before this one
    ]
)


class Fitted(NamedTuple):
    """The clock of an interface (EVERY if the capture has one clock), fitted to at least one pair.

    `sniffer` is the device (netns, ifindex) at which the packets of the capture seem to have been
    captured.
    """

    interface: int
    clock: ClockFit
    sniffer: tuple[int, int] | None


class Matches(NamedTuple):
    """The matches of one capture; `rows` has MATCH_DTYPE, sorted by (packet, leg).

    `moments` has CAPTURED_DTYPE, sorted by packet: a row for each exact packet with a known tap
    moment.  `clocks` has a fit for each interface that has a clock of its own.  `contested` are
    packets that lost all their candidates to other packets; `refused` are the series of these
    candidates.  `lost` are packets that had no candidate, perhaps because the log lacks records
    that show them.
    """

    rows: npt.NDArray[np.void]
    moments: npt.NDArray[np.void]
    clocks: tuple[Fitted, ...]
    contested: Int64s
    refused: Int64s
    lost: Int64s

    @property
    def clock(self) -> ClockFit | None:
        """Return the clock of the interface whose clock was fitted to the most pairs."""
        return self._best.clock if self._best else None

    @property
    def sniffer(self) -> tuple[int, int] | None:
        """Return the device (netns, ifindex) at which the capture was taken; None if unknown.

        If interfaces have different devices, the clock fit with the most pairs decides.
        """
        return self._best.sniffer if self._best else None

    @property
    def _best(self) -> Fitted | None:
        return max(self.clocks, key=lambda one: one.clock.pairs, default=None)


class KernelSide(NamedTuple):
    """The parts of a KBL that are compared with captures; made once for all captures."""

    log: KernelLog
    series: SeriesTable
    legs: LegTable
    prints: Footprints
    points: ColumnTable  # POINT_DTYPE
    moments: ColumnTable  # MOMENT_DTYPE
    headerless: Int64s  # moments of lifetimes whose IP header the log does not show
    losses: Losses
    perhaps_copies: Int64s  # series without a birth and a device: they may be sniffers' copies
    share_undated: float  # of the records, those that the log lacks at unknown times

    def without_records(self) -> KernelSide:
        """Return a copy without the records, which match() does not need."""
        none, ts = np.zeros(0, np.int32), np.zeros(0, np.int64)
        log = replace(self.log, records=empty(RECORD_DTYPE, 0))
        series = replace(
            self.series, of=none, met=RecordTimes(log.records, none, ts), owner_calls=none
        )
        return self._replace(log=log, series=series, legs=replace(self.legs, of=none, last_ns=ts))
