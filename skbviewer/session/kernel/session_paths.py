# SPDX-License-Identifier: MIT
"""The kernel paths of an open session, and the calls in these paths."""

from __future__ import annotations

from ...analysis.scope.without_inner_calls import path_without_inner, places_without_inner
from ...records import PacketPath, Progress, Silent
from ..open_session_file import OpenedFile
from ..packets.packet_list import PacketList
from . import call_positions_in_path, clocks, kernel_paths
from .call_positions_in_path import CallPlace
from .raw_call_records import RawCall, raw_of


class Paths:
    """The paths of packets and skb lifetimes through the kernels."""

    def __init__(self, opened: OpenedFile, packets: PacketList) -> None:
        self._opened, self._packets = opened, packets
        self._inner = True

    def show_inner(self, shown: bool) -> None:
        """Set whether paths include the calls of functions without an skb; at first, they do."""
        self._inner = shown

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """Return the path of packet `packet`, or of the skb lifetime with id `series`.

        Raises KeyError if there is no such path.
        """
        path = self._whole_path(packet, series)
        return path if self._inner else path_without_inner(path)

    def _whole_path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        opened = self._opened
        with opened.database() as db:
            if packet is None:
                return kernel_paths.of_series(db, series or 0, opened.names_of, opened.sources())
            found = self._packets.numbered(packet, 1)
            if packet < 1 or not found:
                raise KeyError(f"no packet {packet}")
            return kernel_paths.of_packet(db, found[0], opened.names_of, opened.sources())

    def call_place(self, call: int) -> CallPlace:
        """Return where the call with id `call` is in the path of its packet.

        Raises KeyError for an unknown id.
        """
        with self._opened.database() as db:
            place = call_positions_in_path.place_of(db, self._whole_path, call)
        if self._inner:
            return place
        shown = places_without_inner(place.path.legs[place.leg].calls)[place.call]
        return place._replace(path=path_without_inner(place.path), call=shown)

    def row_of_leg(self, leg: int) -> int:
        """Return the row of the packet to which a leg belongs (n, or -n for K<n>); 0 if none."""
        with self._opened.database() as db:
            return call_positions_in_path.row_of_leg(db, leg)

    def row_of_event(self, event: int) -> int:
        """Return the row of the packet to which an event belongs (n, or -n for K<n>); 0 if none."""
        with self._opened.database() as db:
            return call_positions_in_path.row_of_event(db, event)

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        """Return the id of a call in a path; `leg` and `call` are indices of the path.

        Raises KeyError if the path has no such call.

        The path is that of `packet`, or of `series` if `packet` is None.
        """
        if not self._inner:
            legs = self._whole_path(packet, None if packet else series).legs
            calls = legs[leg].calls if leg < len(legs) else ()
            shown = [at for at, one in enumerate(calls) if not one.inner]
            if call >= len(shown):
                raise KeyError(f"no call {call} in leg {leg}")
            call = shown[call]
        with self._opened.database() as db:
            return call_positions_in_path.number_of(db, packet, series, leg, call)

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        """Return the raw records of a call in a path; call_number() explains the arguments.

        Raises KeyError for an unknown call, BadInput if the KBL has moved or changed; raises
        Cancelled.
        """
        number = self.call_number(packet, series, leg, call)
        with self._opened.database() as db:
            return raw_of(db, number, self._opened.sources(), progress or Silent())

    def under_way(self, packet: int) -> list[clocks.UnderWay]:
        """Return the transit times of a packet between each two hosts whose KBLs show it."""
        with self._opened.database() as db:
            return clocks.under_way(db, packet)
