# SPDX-License-Identifier: MIT
"""Find the place of a call in the path of its packet, and the call at a given place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...records import PacketPath, PathCall
from ...store import Database, queries
from ...store import timeline_queries as store
from . import kernel_paths

PathOf = Callable[[int | None, int | None], PacketPath]  # of a packet, else of a series


class CallPlace(NamedTuple):
    """A call and its place in the path of its packet, or of its skb lifetime."""

    path: PacketPath
    packet: int | None
    series: int
    leg: int
    call: int
    row: int = 0  # of the packet list: n = packet n, -n = K<n>, 0 = none

    @property
    def path_call(self) -> PathCall:
        """Return the call at this place, as the path contains it."""
        return self.path.legs[self.leg].calls[self.call]


def place_of(db: Database, path_of: PathOf, call: int) -> CallPlace:
    """Return where the call with id `call` is in a path.  Raises KeyError if there is no such call.

    `path_of` is a function that returns the path of a packet or of a series.
    """
    found = store.place_of_call(db, call)
    if found is None:
        raise KeyError(f"no call {call}")
    leg, series, first = found
    packet = store.packet_of_leg(db, leg)
    if packet is None:
        legs = queries.legs_of_series(db, series)
        path = path_of(None, series)
    else:
        legs = kernel_paths.rows_of_packet(db, packet)
        path = path_of(packet, None)
    at = next(number for number, row in enumerate(legs) if row.id == leg)
    return CallPlace(path, packet, series, at, call - first, _row_of(db, packet, series))


def _row_of(db: Database, packet: int | None, series: int) -> int:
    """Return the row of a packet, or else of an skb lifetime; 0 if the list has no such row.

    `packet` is the packet's number or None; `series` is the id of the lifetime.
    """
    if packet is not None:
        return packet
    _, _, kernel_only, other = queries.verdicts_of_series(db, [series])[series]
    return other if other > 0 else -max(kernel_only, 0)


def row_of_leg(db: Database, leg: int) -> int:
    """Return the row of the packet to which a leg belongs (n, or -n for K<n>); 0 if none."""
    series = store.series_of_leg(db, leg)
    return 0 if series is None else _row_of(db, store.packet_of_leg(db, leg), series)


def row_of_event(db: Database, event: int) -> int:
    """Return the row of the packet to which an event belongs (n, or -n for K<n>); 0 if none."""
    return row_of_leg(db, store.leg_of_event(db, event) or -1)


def number_of(db: Database, packet: int | None, series: int, leg: int, call: int) -> int:
    """Return the id of a call in a path; `leg` and `call` are indices of the path.

    The path is that of `packet`, or of `series` if `packet` is None.  This function is the inverse
    of place_of().  Raises KeyError if the path has no such leg, or if the leg has no such call.
    """
    if packet is None:
        legs = queries.legs_of_series(db, series)
    else:
        legs = kernel_paths.rows_of_packet(db, packet)
    first = store.first_call(db, legs[leg].id) if leg < len(legs) else None
    if first is None:
        raise KeyError(f"no call {call} in leg {leg}")
    return first + call
