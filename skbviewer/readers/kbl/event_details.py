# SPDX-License-Identifier: MIT
"""Details of events, from EXT slots: stacks, changes of tables, system calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import (
    CHANGE_DTYPE,
    DROP_DTYPE,
    FRAME_DTYPE,
    SYSCALL_DTYPE,
    Details,
    Table,
    empty,
)
from ...records import kbl_layout as kbl
from ...records.types import Bools, Int64s, UInt8s
from ..printable_names import name_of
from .slot_blocks import Slots

AF_INET, AF_INET6 = 2, 10
IN_A_HOOK = 0x8000  # struct kbl_ext_drop.hook
TYPE = kbl.KblExtType


class Asides(NamedTuple):
    """EXT slots that fill no column of records, in file order, and their records' ordinals."""

    ordinal: npt.NDArray[np.int32]
    slots: Slots

    def of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Int64s, Slots]:
        """Return all EXT slots of the type `type_`: the ordinals of their records, and structs."""
        mine = np.flatnonzero(self.slots["ipv4_type"] == type_)
        return self.ordinal[mine].astype(np.int64), self.slots[mine].view(dtype)


def read_details(asides: Asides, stext: int) -> Details:
    """Return the details of events in EXT slots: stacks, drops, changes, system calls, names.

    Tables are sorted by the ordinal of the event's record.  `stext` is the address of _stext.
    """
    frames, drops = _drops(asides, stext)
    waiters = _stacks(*asides.of_type(TYPE.STACK, kbl.KBL_EXT_STACK), stext)
    frames = np.concatenate([frames, waiters])
    frames = frames[np.argsort(frames["ordinal"], kind="stable")]
    return Details(frames, drops, _changes(asides), _syscalls(asides), _names(asides))


def _names(asides: Asides) -> dict[int, str]:
    """Return names by ordinal; a long name is spread over several slots."""
    owner, slots = asides.of_type(TYPE.COMM, kbl.KBL_EXT_COMM)
    parts: dict[int, bytes] = {}
    for ordinal, part in zip(owner.tolist(), slots["comm"].tolist(), strict=True):
        parts[ordinal] = parts.get(ordinal, b"") + part
    return {ordinal: name_of(text) for ordinal, text in parts.items()}


def _drops(asides: Asides, stext: int) -> tuple[Table, Table]:
    owner, slots = asides.of_type(TYPE.DROP, kbl.KBL_EXT_DROP)
    new = _firsts(owner)
    drops = np.zeros(int(new.sum()), DROP_DTYPE)
    hook = slots["hook"][new].astype(np.int64)
    drops["ordinal"], drops["depth"] = owner[new], slots["depth"][new]
    drops["hook"] = np.where(hook & IN_A_HOOK, hook & ~IN_A_HOOK, -1)
    return _stacks(owner, slots, stext), drops


def _firsts(owner: Int64s) -> Bools:
    """Return for each slot whether it is the first one of its record."""
    return np.asarray(np.r_[True, owner[1:] != owner[:-1]][: len(owner)])


def _stacks(owner: Int64s, slots: Slots, stext: int) -> Table:
    """Return the frames of the stacks at drops and at waits for locks."""
    new = _firsts(owner)
    width = slots["stack"].shape[1] if len(slots) else 0
    stack = slots["stack"].reshape(-1).astype(np.int64)
    frames = np.zeros(len(stack), FRAME_DTYPE)
    frames["ordinal"] = np.repeat(owner, width)
    begin = np.flatnonzero(np.repeat(new, width) & (np.arange(len(stack)) % max(width, 1) == 0))
    group = np.searchsorted(begin, np.arange(len(stack)), "right") - 1
    frames["position"] = np.arange(len(stack)) - begin[group] if len(begin) else 0
    base = np.array([stext], np.uint64).astype(np.int64)
    frames["address"] = base + stack
    known: Table = frames[stack != 0]
    return known


def _changes(asides: Asides) -> Table:
    """Return the changes of neighbours, routes, addresses and links in the slots.

    The ADDR slot of a route is its gateway.
    """
    parts = []
    neighs, neigh = asides.of_type(TYPE.NEIGH, kbl.KBL_EXT_NEIGH)
    rows = _change(neighs, neigh)
    rows["state"], rows["lladdr"] = neigh["nud_state"], _mac(neigh["lladdr"])
    parts.append(rows)
    routes, route = asides.of_type(TYPE.ROUTE, kbl.KBL_EXT_ROUTE)
    rows = _change(routes, route)
    rows["state"] = route["table"]
    owner, slot = asides.of_type(TYPE.ADDR, kbl.KBL_EXT_ADDR)
    is_gateway = np.isin(owner, routes)
    at = np.searchsorted(routes, owner[is_gateway])
    family = slot["family"][is_gateway]
    rows["gateway"][at] = np.select([family == AF_INET, family == AF_INET6], [4, 6], 0)
    rows["gateway_hi"][at], rows["gateway_lo"][at] = _address(slot[is_gateway])
    parts.append(rows)
    rows = _change(owner[~is_gateway], slot[~is_gateway])
    rows["state"] = slot["flags"][~is_gateway]
    parts.append(rows)
    changes = np.concatenate(parts)
    return changes[np.argsort(changes["ordinal"], kind="stable")]


def _change(owner: Int64s, slots: Slots) -> Table:
    rows = empty(CHANGE_DTYPE, len(owner))
    rows["ordinal"] = owner
    for name in ("family", "prefix_len", "ifindex", "netns"):
        if name in (slots.dtype.names or ()):
            rows[name] = slots[name]
    rows["addr_hi"], rows["addr_lo"] = _address(slots)
    return rows


def _address(slots: Slots) -> tuple[Int64s, Int64s]:
    """Return the upper and the lower half of each address, as in RECORD_DTYPE."""
    raw: UInt8s = np.ascontiguousarray(slots["addr"])
    halves = raw.view(">i8").astype(np.int64).reshape(-1, 2)
    four = slots["family"] == AF_INET
    number = raw.view(">u4").astype(np.int64).reshape(-1, 4)[:, 0]
    return np.where(four, 0, halves[:, 0]), np.where(four, number, halves[:, 1])


def _mac(lladdr: npt.NDArray[np.uint8]) -> Int64s:
    shifts = np.arange(40, -1, -8, dtype=np.int64)
    return np.asarray((lladdr.astype(np.int64) << shifts).sum(axis=1), np.int64)


def _syscalls(asides: Asides) -> Table:
    owner, slots = asides.of_type(TYPE.SYSCALL, kbl.KBL_EXT_SYSCALL)
    rows = np.zeros(len(owner), SYSCALL_DTYPE)
    rows["ordinal"] = owner
    for name in ("family", "fd"):
        rows[name] = slots[name]
    rows["sk"] = slots["sk"].astype(np.int64)
    rows["arg1"], rows["arg2"] = slots["args"].astype(np.int64).T
    return rows
