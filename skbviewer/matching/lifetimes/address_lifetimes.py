# SPDX-License-Identifier: MIT
"""Divide the records of a kernel log into address lifetimes.

An address lifetime is the time in which one skb uses one address, from the skb's birth to its free.
The module skb_lifetimes.py joins address lifetimes into skb lifetimes (series).

Input: the records of one KBL in time order, and the tables of the log.  Output: the address
lifetime of each record; and, for each clone's address lifetime, that of the original skb.  An
address may be reused within microseconds (one carried 17 packets in a short recording).  Lifetimes
are therefore divided at births, frees and clones, and not by time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import KernelLog, Records, RecordTable, part
from ...records.kernel_events import CONSUME, DROP, FOOTPRINT, FREE
from ...records.types import Bools, Int32s, Int64s
from ..arrays.record_column_blocks import Rows, record_blocks
from ..arrays.value_numbering import longer
from ..kernel_functions import PACKET_SOCKET, RETURN_HOOK, SENDING_TAP, TAP_CLONER
from ..record_kinds import ENTRY, EVENT, LOST
from .address_lifetime_loops import assign_items
from .skb_arrival_in_function import RecordTimes
from .skb_births_and_frees import Items, items


@dataclass(frozen=True)
class AddressLifetimes:
    """The address lifetimes of one log, numbered by their first record.

    By record: `of` is its lifetime or -1; `met` is the time at which its function had the skb;
    `owner_calls` is, for an event that a probe recorded when its function returned, the ENTRY of
    that function's call, or -1.

    By lifetime: `parent` is the lifetime from which it was cloned, or -1; `birth` is the record of
    the clone's birth, or -1; `tap` is True if the skb is a copy for a sniffer.
    """

    of: Int32s
    parent: Int32s
    birth: Int32s
    tap: Bools
    met: RecordTimes
    owner_calls: Int32s


def assign_lifetimes(log: KernelLog) -> AddressLifetimes:
    """Assign each record of `log` to an address lifetime; records without an skb get -1."""
    found = items(log)
    of, birth = _cut(log.records, found)
    of[found.late] = of[found.owner_calls[found.late]]
    parent = np.where(birth >= 0, of[birth], np.int32(-1)) if len(birth) else birth
    return AddressLifetimes(
        of, parent, birth, _is_tap(log, found, birth, of), found.met, found.owner_calls
    )


def _cut(records: Records, found: Items) -> tuple[Int32s, Int32s]:
    """Return the address lifetime of each record, and the record of each lifetime's birth or -1.

    The lifetimes overwrite the address numbers in `found.place`.
    """
    of, birth = found.place, np.zeros(0, np.int32)
    identity = np.zeros(0, np.int32) if found.has_life_events else _identities(records)
    life, shown = np.full(found.addresses, -1, np.int32), np.zeros(0, np.int32)
    if not found.has_life_events:
        shown = np.zeros(len(life), np.int32)
    was, counts = np.zeros(len(life), np.uint8), np.zeros(3, np.int64)
    for some in record_blocks(records):
        ts, last = Rows(records, some)["ts"], some.stop == len(records)
        due = len(found.moved.when)
        if not last:
            due = int(np.searchsorted(found.moved.when, ts[-1], "right"))
        most = int(counts[0]) + 2 * len(ts) + due - int(counts[1])
        birth = longer(birth, most, -1)
        assign_items(
            some.start, ts, found.what[some], identity, last, found.moved, found.children,
            life, was, shown, of, birth, counts,
        )  # fmt: skip
    return of, birth[: counts[0]].copy()


def _identities(records: Records) -> Int32s:
    """Return a number for the thesis key of each record; equal keys have equal numbers.

    The numbers begin with 1; 0 means that the record has no key.

    The thesis key consists of addresses, identification and protocol (identity_columns.py).
    """
    rows = records.footprints if isinstance(records, RecordTable) else records
    columns = ["saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol"]
    number = np.unique(rows[columns], return_inverse=True)[1].reshape(-1).astype(np.int32) + 1
    number = np.where(rows["ip_version"] != 0, number, np.int32(0))
    return number[records.footprint] if isinstance(records, RecordTable) else number


def _is_tap(log: KernelLog, found: Items, birth: Int32s, of: Int32s) -> Bools:
    """Return for each lifetime whether it is a copy made for a sniffer.

    An skb is a copy for a sniffer if a packet tap called the function that cloned it.  An skb is
    also a copy if a packet socket freed it and no other record shows it: the probes may have missed
    its birth.  If another tool had hooked the return of the cloning function, the caller of that
    function is unknown; then the calls of packet sockets show which skbs are copies.
    """
    tap, hooked = np.zeros((2, len(birth)), np.bool_)
    born = np.flatnonzero(birth >= 0)
    child, maker = found.children[:, 0], found.children[:, 2]
    maker = maker[np.searchsorted(child, birth[born])]
    born, maker = born[maker >= 0], maker[maker >= 0]
    caller = part(log.records, "caller", maker)
    tap[born] = np.isin(caller, _places(log, TAP_CLONER))
    hooked[born] = np.isin(caller, _places(log, RETURN_HOOK))
    # After a gap in the log, the last such call of a thread may not be the one that cloned.
    when, until = part(log.records, "ts", birth[born]), part(log.records, "exit_ts", maker)
    tap[born] &= (until < 0) | (when <= until)
    if hooked.any():
        tap |= hooked & _given_to_sniffers(log, of, len(birth))
    return tap | _only_sniffed(log, of, len(birth))


def _places(log: KernelLog, functions: frozenset[str]) -> Int64s:
    """Return the addresses in the log's symbols that lie inside functions with these names."""
    named = (a for a, name in log.symbols.items() if name.split("+")[0] in functions)
    return np.array(list(named), np.int64)


def _given_to_sniffers(log: KernelLog, of: Int32s, count: int) -> Bools:
    """Return for each lifetime whether dev_queue_xmit_nit() gave its skb to a packet socket.

    dev_queue_xmit_nit() gives only clones to packet sockets.
    """
    sockets = [p.id for p in log.probes.values() if p.name in PACKET_SOCKET]
    given, senders = np.zeros(count + 1, np.bool_), _places(log, SENDING_TAP)
    for some in record_blocks(log.records):
        kind, func, caller = Rows(log.records, some).columns("kind func caller")
        mine = (kind == ENTRY) & np.isin(func, sockets) & np.isin(caller, senders)
        given[of[some][mine]] = True
    return np.asarray(given[:-1])


def _only_sniffed(log: KernelLog, of: Int32s, count: int) -> Bools:
    """Return for each lifetime whether its only records are frees by packet sockets."""
    records = log.records
    sockets = {p.id for p in log.probes.values() if p.name in PACKET_SOCKET}
    places = _places(log, PACKET_SOCKET)
    if not len(places):
        return np.zeros(count, np.bool_)
    freed, other = np.zeros((2, count + 1), np.bool_)  # the last stands for "no lifetime"
    for some in record_blocks(records):
        kind, event, func, data = Rows(records, some).columns("kind event func data")
        ends = (kind == EVENT) & ((event == CONSUME) | (event == DROP))
        at = np.flatnonzero(ends)
        sniffed = np.zeros(len(kind), np.bool_)
        sniffed[at] = np.isin((data[at] >> 32) + _signed(log.stext), places)
        freed[of[some][sniffed]] = True
        plain = (kind == EVENT) & ((event == FREE) | (event == FOOTPRINT))
        plain |= (kind == ENTRY) & np.isin(func, list(sockets)) | sniffed | (kind == LOST)
        other[of[some][~plain]] = True
    return np.asarray((freed & ~other)[:-1])


def _signed(address: int) -> int:
    """Return an address as a signed 64-bit number."""
    return address - (1 << 64) if address >> 63 else address
