# SPDX-License-Identifier: MIT
"""Pair each EXIT with its ENTRY.

In: records in time order.  Out: for each record the index of its partner.  Where the log tells
which two belong together (they share an ordinal), it is so.  Of others: a call lives in one
execution context: a task (which may migrate between CPUs) or one CPU's softirq, hardirq or NMI
level; within it calls of one function nest properly, so counting levels pairs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, Records, RecordTable, part
from .ordering import Small, dense

ENTRY, EXIT, EVENT, LOST = 1, 2, 4, 5  # kbl.h enum kbl_kind
OPEN, SKB_IS_RET, SOCK = 0x08, 0x10, 0x80  # kbl.h KBL_FLAG_*

Index = npt.NDArray[np.int64]

BLOCK = 1 << 16  # records taken at once: they stay in the processor's cache
_OF_CONTEXT = ("context", "pid", "cpu")
_CONTEXTS: WeakKeyDictionary[RecordTable, Small] = WeakKeyDictionary()


def execution(records: Records) -> Index:
    """A number for each record that is equal within one execution context.

    Tasks are told by thread id; the idle task and interrupts by CPU, because each CPU has its own.
    """
    return _execution(*(records[name] for name in _OF_CONTEXT))


def _execution(context: Index, pid: Index, cpu: Index) -> Index:
    by_cpu = -((context.astype(np.int64) << 20) + cpu + 1)
    return np.where((context == 0) & (pid > 0), pid, by_cpu)


def contexts(records: Records) -> Small:
    """execution() as numbers from 0 on; made once for a log's records."""
    if not isinstance(records, RecordTable):
        return dense(execution(records))
    if records not in _CONTEXTS:
        made = np.empty(len(records), np.int64)
        for begin in range(0, len(made), BLOCK):
            rows = slice(begin, begin + BLOCK)
            made[rows] = _execution(*(records.part(name, rows) for name in _OF_CONTEXT))
        _CONTEXTS[records] = dense(made)
    return _CONTEXTS[records]


def pair(records: Records) -> Index:
    """Partner index of each ENTRY and EXIT, -1 where there is none (lost, still open, cut log)."""
    partner = _told(records)
    kind = records["kind"]
    loose = ((kind == ENTRY) & ((records["flags"] & OPEN) == 0)) | (kind == EXIT)
    _guess(records, np.flatnonzero(loose & (partner < 0)), partner)
    return partner


def _told(records: Records) -> Index:
    """Partners by equal ordinals."""
    partner = np.full(len(records), -1, np.int64)
    entry = np.flatnonzero(records["kind"] == ENTRY)
    leave = np.flatnonzero(records["kind"] == EXIT)
    by_ordinal = np.full(int(records["ordinal"].max(initial=-1)) + 1, -1, np.int64)
    by_ordinal[records["ordinal"][entry]] = entry
    entry = by_ordinal[records["ordinal"][leave]]
    leave, entry = leave[entry >= 0], entry[entry >= 0]
    partner[entry], partner[leave] = leave, entry
    return partner


def _guess(records: Records, index: Index, partner: Index) -> None:
    """Pair the records `index` by context and nesting."""
    if not len(index):
        return
    where, func = execution(records)[index], records["func"][index]
    order = np.lexsort((index, func, where))
    index, where, func = index[order], where[order], func[order]
    is_entry = records["kind"][index] == ENTRY
    new = np.r_[True, (where[1:] != where[:-1]) | (func[1:] != func[:-1])]
    group = np.cumsum(new) - 1
    running = np.cumsum(np.where(is_entry, 1, -1))
    before_group = np.where(new, running - np.where(is_entry, 1, -1), 0)[new][group]
    level = running - before_group + np.where(is_entry, 0, 1)
    by_level = np.lexsort((index, level, group))
    a, b = by_level[:-1], by_level[1:]
    match = (group[a] == group[b]) & (level[a] == level[b]) & is_entry[a] & ~is_entry[b]
    entry, leave = index[a[match]], index[b[match]]
    fits = (records["skb"][entry] == records["skb"][leave]) | (
        (records["flags"][leave] & SKB_IS_RET) != 0
    )  # an exit tells the skb of its entry: with another one, records between them were lost
    entry, leave = entry[fits], leave[fits]
    partner[entry], partner[leave] = leave, entry


def chosen(values: npt.NDArray[np.integer], wanted: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which of many small numbers (-1 = unknown) are among a few wanted ones, none below 0."""
    if int(values.max(initial=0)) >= 1 << 16:
        return np.isin(values, list(wanted))
    table = np.zeros(max([*wanted, int(values.max(initial=0))]) + 2, np.bool_)  # the last is -1's
    table[list(wanted)] = True
    return np.asarray(table[values])


def named(
    log: KernelLog, item: Index | slice, names: frozenset[str] | tuple[str, ...]
) -> npt.NDArray[np.bool_]:
    """Which of the records `item` enter a function of `names`."""
    ids = [p.id for p in log.probes.values() if p.name in names]
    records = log.records
    return np.asarray(
        (part(records, "kind", item) == ENTRY) & chosen(part(records, "func", item), ids)
    )
