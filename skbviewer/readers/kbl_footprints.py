# SPDX-License-Identifier: MIT
"""From EXT slots to footprints: which packet, in which skb."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..records import FOOTPRINT_DTYPE, ColumnTable, empty
from . import _kbl_layout as kbl
from .kbl_slots import Block, Column, Slots
from .wire import Ints, Mask

TCP, ICMP, ICMPV6 = 6, 1, 58
TYPE = kbl.KblExtType
Where = Ints | slice
NARROW = (np.int8, np.int16, np.int32)


class Prints:
    """All footprints of a file, made block by block; row 0 knows nothing.

    A column that nobody tells takes no memory.
    """

    def __init__(self, most: int, order: str) -> None:
        """For at most so many footprints: memory is taken as they come."""
        self._most, self._order = most + 1, order
        self._unknown = empty(FOOTPRINT_DTYPE, 1)
        self._columns: dict[str, Column] = {}
        self._begin, self._end = 0, 1  # the rows that are filled now

    def __getitem__(self, name: str) -> Column:
        """A column of the rows that are filled now, for reading and writing."""
        if name not in self._columns:
            self._columns[name] = np.empty(self._most, FOOTPRINT_DTYPE[name])
            self._columns[name][: self._end] = self._unknown[name]
        return self._columns[name][self._begin : self._end]

    def put(self, name: str, where: Where, values: Any, told: Mask | None = None) -> None:
        """Write the values of some rows, those of `told` only."""
        if told is None:
            self[name][where] = values
        elif isinstance(where, slice):
            np.copyto(self[name][where], values, "unsafe", told)
        else:
            self[name][where[told]] = values[told]

    def add(self, block: Block, given: Ints, sock: Ints) -> npt.NDArray[np.int32]:
        """The footprints that a block tells; returns the number of each record's own, 0 = none.

        A call that was `given` a sock has one of which nothing else is known.
        """
        number = np.zeros(len(block.slots), np.int32)
        number[given] = 1
        mine = [type_ for type_ in FILLERS if type_ in block.ext]
        for type_ in mine:
            number[block.ext[type_][0]] = 1
        told = np.flatnonzero(number)
        if not len(told):
            return number
        place = np.cumsum(number, dtype=np.int64) - 1
        self._begin, self._end = self._end, self._end + len(told)
        for name, column in self._columns.items():
            column[self._begin : self._end] = self._unknown[name]
        if len(given):
            self["sk"][place[given]] = sock
        for type_ in mine:
            owner, slots = block.ext[type_]
            dtype, fill = FILLERS[type_]
            fill(self, *_placed(place[owner], slots.view(kbl.in_order(dtype, self._order))))
        number[told] = np.arange(self._begin, self._end)
        return number

    def table(self) -> ColumnTable:
        """The footprints, as narrow as their values are."""
        made: dict[str, Column] = {}
        for name in FOOTPRINT_DTYPE.names or ():
            if name in self._columns:
                made[name] = narrowed(self._columns.pop(name)[: self._end])
            else:
                made[name] = np.broadcast_to(self._unknown[name], self._end)
        return ColumnTable(FOOTPRINT_DTYPE, made)


def narrowed(column: Column) -> Column:
    """The same integers in the smallest signed type that holds them; unsigned ones as they are."""
    if column.dtype.kind != "i" or not len(column):
        return column
    low, high = int(column.min()), int(column.max())
    for dtype in NARROW:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return column.astype(dtype)
    return column


def _placed(number: Ints, slots: Slots) -> tuple[Where, Slots]:
    """Where to write `slots`; of several for one footprint the first is written last."""
    if bool((np.diff(number) == 1).all()):
        return slice(int(number[0]), int(number[-1]) + 1), slots
    return number[::-1], slots[::-1]


def or_unknown(values: Ints) -> Ints:
    """The module writes 0 where it does not know."""
    return np.where(values == 0, -1, values)


def _fill_ipv4(prints: Prints, where: Where, slots: Slots) -> None:
    prints.put("ip_version", where, 4)
    for name in ("protocol", "ip_id", "frag_off"):
        prints.put(name, where, slots[name])
    for name in ("saddr", "daddr"):
        address = np.ascontiguousarray(slots[name]).view(">u4")[:, 0]
        prints.put(name + "_lo", where, address)
    prints.put("tot_len", where, or_unknown(slots["tot_len"].astype(np.int64)))
    _fill_l4(prints, where, slots, slots["protocol"])


def _fill_ipv6(prints: Prints, where: Where, slots: Slots) -> None:
    prints.put("ip_version", where, 6)
    prints.put("protocol", where, slots["nexthdr"])
    prints.put("flow_label", where, slots["flow_label"])
    for name in ("saddr_hi", "saddr_lo", "daddr_hi"):
        prints.put(name, where, np.ascontiguousarray(slots[name]).view(">i8")[:, 0])


def _fill_ipv6_l4(prints: Prints, where: Where, slots: Slots) -> None:
    prints.put("daddr_lo", where, np.ascontiguousarray(slots["daddr_lo"]).view(">i8")[:, 0])
    payload_len = or_unknown(slots["payload_len"].astype(np.int64))
    prints.put("tot_len", where, np.where(payload_len > 0, payload_len + 40, -1))
    fragment = slots["frag_id"] != 0
    for name in ("frag_off", "frag_id"):
        prints.put(name, where, slots[name], fragment)
    _fill_l4(prints, where, slots, prints["protocol"][where])


def _fill_l4(prints: Prints, where: Where, slots: Slots, protocol: npt.NDArray[np.integer]) -> None:
    """Ports and what else the protocol has, as the packet reader fills them."""
    valid = slots["l4_valid"] != 0
    tcp, icmp = valid & (protocol == TCP), valid & ((protocol == ICMP) | (protocol == ICMPV6))
    for name, rows in (
        ("sport", valid),
        ("dport", valid),
        ("seq", tcp | icmp),
        ("ack", tcp),
        ("tcp_flags", tcp),
    ):
        prints.put(name, where, slots[name], rows)


def _fill_skb(prints: Prints, where: Where, slots: Slots) -> None:
    for name in ("ifindex", "gso_size", "gso_segs", "mark"):
        prints.put(name, where, slots[name])
    for name in ("ethertype", "netns"):
        prints.put(name, where, or_unknown(slots[name].astype(np.int64)))
    prints.put("skb_len", where, slots["len"])
    prints.put("sk", where, slots["sk"].astype(np.int64))


FILLERS = {
    TYPE.IPV4: (kbl.KBL_EXT_IPV4, _fill_ipv4),
    TYPE.IPV6: (kbl.KBL_EXT_IPV6, _fill_ipv6),
    TYPE.IPV6_L4: (kbl.KBL_EXT_IPV6_L4, _fill_ipv6_l4),
    TYPE.SKB: (kbl.KBL_EXT_SKB, _fill_skb),
}
