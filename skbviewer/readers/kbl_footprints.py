# SPDX-License-Identifier: MIT
"""From EXT slots to footprints: which packet, in which skb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import FOOTPRINT_DTYPE, ColumnTable, Room, empty
from ..records.compiled import Int, compiled
from . import _kbl_layout as kbl
from .kbl_slots import Column
from .wire import Ints

TCP, ICMP, ICMPV6 = 6, 1, 58
IPV4, IPV6, IPV6_L4, SKB = (int(kbl.KblExtType[n]) for n in ("IPV4", "IPV6", "IPV6_L4", "SKB"))
NAMES = FOOTPRINT_DTYPE.names or ()
IFINDEX, NETNS, SKB_LEN, GSO_SIZE, GSO_SEGS, MARK, SK, ETHERTYPE = (
    NAMES.index(name)
    for name in (
        *("ifindex", "netns", "skb_len", "gso_size", "gso_segs", "mark", "sk", "ethertype"),
    )
)
IP_VERSION, SADDR_HI, SADDR_LO, DADDR_HI, DADDR_LO, IP_ID, PROTOCOL, FRAG_OFF, TOT_LEN = (
    NAMES.index(name)
    for name in (
        *("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol"),
        *("frag_off", "tot_len"),
    )
)
SPORT, DPORT, SEQ, ACK, TCP_FLAGS, FLOW_LABEL, FRAG_ID = (
    NAMES.index(name)
    for name in ("sport", "dport", "seq", "ack", "tcp_flags", "flow_label", "frag_id")
)
NARROW = (np.int8, np.int16, np.int32)
LEAST_ROOM = 1 << 14


class Prints:
    """All footprints of a file, made block by block; row 0 knows nothing."""

    def __init__(self, room: Room) -> None:
        """The finished ones go into `room`."""
        self._in = room
        self._unknown = empty(FOOTPRINT_DTYPE, 1)
        values = [int(self._unknown[name][0]) for name in NAMES]
        self._values = np.array(values, np.int64)[:, None]
        self._room = np.zeros((len(NAMES), 0), np.int64)
        self._parts: dict[str, list[Column]] = {
            name: [narrowed(self._unknown[name])] for name in NAMES
        }
        self._lengths: list[int] = [1]
        self.count = 1

    def room(self, count: int) -> Ints:
        """Rows for so many footprints, by column as in NAMES, which know nothing yet."""
        if self._room.shape[1] < count:
            self._room = np.empty((len(NAMES), max(count, LEAST_ROOM)), np.int64)
        self._room[:, :count] = self._values
        return self._room

    def keep(self, count: int) -> None:
        """What was filled of the rows given last; a column of one value takes no memory."""
        if not count:
            return
        filled = self._room[:, :count]
        low, high = filled.min(axis=1).tolist(), filled.max(axis=1).tolist()
        for name, column, least, most in zip(NAMES, filled, low, high, strict=True):
            dtype = _narrowest(FOOTPRINT_DTYPE[name], least, most)
            self._parts[name].append((column[:1] if least == most else column).astype(dtype))
        self._lengths.append(count)
        self.count += count

    def table(self) -> ColumnTable:
        """The footprints, as narrow as their values are."""
        made = {name: self._joined(name) for name in NAMES}
        return ColumnTable(FOOTPRINT_DTYPE, made, self._in)

    def _joined(self, name: str) -> Column:
        parts = self._parts.pop(name)
        value = self._unknown[name][0]
        if all(len(part) == 1 and part[0] == value for part in parts):
            return np.broadcast_to(value, self.count)
        made = self._in.take(self.count, np.result_type(*parts))
        begin = 0
        for part, length in zip(parts, self._lengths, strict=True):
            made[begin : begin + length] = part
            begin += length
        return made


def narrowed(column: Column) -> Column:
    """The same integers in the smallest signed type that holds them; unsigned ones as they are."""
    if column.dtype.kind != "i" or not len(column):
        return column
    return column.astype(_narrowest(column.dtype, int(column.min()), int(column.max())))


def _narrowest(dtype: npt.DTypeLike, low: int, high: int) -> npt.DTypeLike:
    if np.dtype(dtype).kind != "i":
        return dtype
    fits = (d for d in NARROW if np.iinfo(d).min <= low and high <= np.iinfo(d).max)
    return next(fits, dtype)


@compiled
def or_unknown(value: Int) -> Int:
    """The module writes 0 where it does not know."""
    return np.int64(-1) if value == 0 else np.int64(value)


@compiled
def _swapped32(value: Int) -> Int:
    """Four bytes in network order, read as a little-endian number."""
    v = np.int64(value)
    return (v & 0xFF) << 24 | (v >> 8 & 0xFF) << 16 | (v >> 16 & 0xFF) << 8 | v >> 24 & 0xFF


@compiled
def _swapped64(value: Int) -> Int:
    """Eight bytes in network order, as signed 64 bits."""
    v = np.int64(value)
    return _swapped32(v & 0xFFFFFFFF) << 32 | _swapped32(v >> 32 & 0xFFFFFFFF)


@compiled
def fill_ipv4(slot: np.void, prints: Ints, at: Int) -> None:
    """What an EXT slot IPV4 tells goes to row `at`."""
    prints[IP_VERSION, at] = 4
    prints[PROTOCOL, at] = slot["ipv4_protocol"]
    prints[IP_ID, at] = slot["ipv4_ip_id"]
    prints[FRAG_OFF, at] = slot["ipv4_frag_off"]
    prints[SADDR_LO, at] = _swapped32(slot["ipv4_saddr"])
    prints[DADDR_LO, at] = _swapped32(slot["ipv4_daddr"])
    prints[TOT_LEN, at] = or_unknown(slot["ipv4_tot_len"])
    if slot["ipv4_l4_valid"] != 0:
        prints[SPORT, at] = slot["ipv4_sport"]
        prints[DPORT, at] = slot["ipv4_dport"]
        protocol = slot["ipv4_protocol"]
        if protocol == TCP:
            prints[ACK, at] = slot["ipv4_ack"]
            prints[TCP_FLAGS, at] = slot["ipv4_tcp_flags"]
        if protocol in (TCP, ICMP, ICMPV6):
            prints[SEQ, at] = slot["ipv4_seq"]


@compiled
def fill_ipv6(slot: np.void, prints: Ints, at: Int) -> None:
    """What an EXT slot IPV6 tells goes to row `at`."""
    prints[IP_VERSION, at] = 6
    prints[PROTOCOL, at] = slot["ipv6_nexthdr"]
    prints[FLOW_LABEL, at] = np.int32(slot["ipv6_flow_label"])
    prints[SADDR_HI, at] = _swapped64(slot["ipv6_saddr_hi"])
    prints[SADDR_LO, at] = _swapped64(slot["ipv6_saddr_lo"])
    prints[DADDR_HI, at] = _swapped64(slot["ipv6_daddr_hi"])


@compiled
def fill_ipv6_l4(slot: np.void, prints: Ints, at: Int) -> None:
    """What an EXT slot IPV6_L4 tells goes to row `at`, which has its protocol."""
    prints[DADDR_LO, at] = _swapped64(slot["l4_daddr_lo"])
    payload = np.int64(slot["l4_payload_len"])
    prints[TOT_LEN, at] = payload + 40 if payload > 0 else -1
    if slot["l4_frag_id"] != 0:
        prints[FRAG_OFF, at] = slot["l4_frag_off"]
        prints[FRAG_ID, at] = slot["l4_frag_id"]
    if slot["l4_l4_valid"] != 0:
        prints[SPORT, at] = slot["l4_sport"]
        prints[DPORT, at] = slot["l4_dport"]
        protocol = prints[PROTOCOL, at]
        if protocol == TCP:
            prints[ACK, at] = slot["l4_ack"]
            prints[TCP_FLAGS, at] = slot["l4_tcp_flags"]
        if protocol in (TCP, ICMP, ICMPV6):
            prints[SEQ, at] = slot["l4_seq"]


@compiled
def fill_skb(slot: np.void, prints: Ints, at: Int) -> None:
    """What an EXT slot SKB tells goes to row `at`."""
    prints[IFINDEX, at] = slot["skb_ifindex"]
    prints[GSO_SIZE, at] = slot["skb_gso_size"]
    prints[GSO_SEGS, at] = slot["skb_gso_segs"]
    prints[MARK, at] = slot["skb_mark"]
    prints[ETHERTYPE, at] = or_unknown(slot["skb_ethertype"])
    prints[NETNS, at] = or_unknown(slot["skb_netns"])
    prints[SKB_LEN, at] = slot["skb_len"]
    prints[SK, at] = np.int64(slot["skb_sk"])
