# SPDX-License-Identifier: MIT
"""Fields kbl.*, which show how the kernel handled a packet: from calls, legs and drops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...records.types import Int64s
from ..packet_path import CONTEXTS
from ..words.function_layers import layer_of, layers
from ..words.kernel_log_names import IDLE
from ..words.verdict_reasons import VERDICTS
from .field_definition import Field, Kind, Make, Values, known_column
from .field_source_tables import ADDRESS, CALL, DROP, LEG, PACKET, Array, View

REASON = 0xFFFFFFFF  # mask: a drop's reason is the lower half of the event's data
MAX_TABLE_KEY = 1 << 23  # keys below this are looked up in a table
THREADS = 1 << 22  # no thread has such a number: the kernel's PID_MAX_LIMIT
KERNEL_ONLY = len(VERDICTS)
IPV4, IPV6 = 4, 6


class _Coding:
    """Maps numbers to texts; a number may stand for different texts in different KBLs."""

    def __init__(self, tables: Mapping[int, Mapping[int, str]]) -> None:
        self.texts: list[str] = sorted({t for table in tables.values() for t in table.values()})
        index = {text: n for n, text in enumerate(self.texts)}
        self._tables = {
            source: (
                np.array(sorted(table), np.int64),
                np.array([index[table[key]] for key in sorted(table)], np.int32),
            )
            for source, table in tables.items()
        }

    def values(self, keys: Array, sources: Array | None) -> Values:
        """Return the text of each of `keys`; `sources` are their KBLs (None: only one KBL)."""
        codes = self._codes(keys, sources)
        return Values(codes, codes >= 0, None, self.texts)

    def _codes(self, keys: Array, sources: Array | None) -> Array:
        if sources is None:
            return self._of(next(iter(self._tables), 0), keys)
        codes = np.full(len(keys), -1, np.int32)
        for source in self._tables:
            mine = sources == source
            codes[mine] = self._of(source, keys[mine])
        return codes

    def _of(self, source: int, keys: Array) -> Array:
        known, codes = self._tables.get(source, (np.zeros(0, np.int64), np.zeros(0, np.int32)))
        if not len(known):
            return np.full(len(keys), -1, np.int32)
        if known[0] >= 0 and known[-1] < MAX_TABLE_KEY:
            table = np.full(known[-1] + 2, -1, np.int32)
            table[known] = codes
            inside = np.minimum(keys, known[-1] + 1) if keys.max(initial=0) > known[-1] else keys
            return table[np.maximum(inside, -1)]  # the last index stands for unknown keys
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[at] == keys, codes[at], np.int32(-1))


def _sources(view: View) -> Array | None:
    """Return the source id of each row's KBL; None if the session has only one KBL."""
    if len(view.data.logs()) < 2:
        return None
    if view.has("source"):
        return view.column("source")
    leg = view.column("leg").astype(np.int64)
    of: Array = view.data.columns.take(LEG, "source", np.maximum(leg, 1) - 1)
    return of


def _coded(view: View, name: str, keys: Array, tables: Mapping[int, Mapping[int, str]]) -> Values:
    coding: _Coding = view.data.cached(f"coding {name}", lambda: _Coding(tables))
    return coding.values(keys, _sources(view))


def _func(view: View) -> list[Values]:
    tables = {log: view.data.functions(log) for log in view.data.logs()}
    return [_coded(view, "func", view.column("func"), tables)]


def _layer(view: View) -> list[Values]:
    tables = {
        log: {func: layer_of(name) for func, name in view.data.functions(log).items()}
        for log in view.data.logs()
    }
    return [_coded(view, "layer", view.column("func"), tables)]


def _caller(view: View) -> list[Values]:
    """Return two texts for each call: the caller's symbol with its offset, and without it."""
    tables = {log: view.data.names(log).symbols for log in view.data.logs()}
    whole = _coded(view, "caller", view.column("caller").astype(np.int64), tables)
    texts = whole.texts or ()
    return [whole, whole._replace(texts=[text.partition("+")[0] for text in texts])]


def _comm(view: View) -> list[Values]:
    """Return the name of each row's thread; the idle task of each CPU has a name of its own."""
    idle = view.data.cached("idle CPUs", lambda: _idle_cpus(view.data.table(CALL)))
    names = {log: view.data.names(log) for log in view.data.logs()}
    tables = {
        log: dict(of.tasks) | {THREADS + cpu: of.task(IDLE, cpu) for cpu in idle}
        for log, of in names.items()
    }
    pid = view.column("pid")
    keys = np.where(pid == IDLE, view.column("cpu").astype(np.int32) + THREADS, pid)
    return [_coded(view, "comm", keys if idle else pid, tables)]


def _idle_cpus(calls: View) -> list[int]:
    found: list[int] = np.unique(calls.column("cpu")[calls.column("pid") == IDLE]).tolist()
    return found


def _device_keys(netns: Array, ifindex: Array) -> Int64s:
    return (netns.astype(np.int64) & 0xFFFFFFFF) << 24 ^ (ifindex.astype(np.int64) & 0xFFFFFF)


def _dev(view: View) -> list[Values]:
    tables = {
        log: {
            int(_device_keys(np.array([netns]), np.array([ifindex]))[0]): name
            for (netns, ifindex), name in view.data.names(log).devices.items()
        }
        for log in view.data.logs()
    }
    keys = _device_keys(view.column("netns"), view.column("ifindex"))
    return [_coded(view, "dev", keys, tables)]


def _drop_reason(view: View) -> list[Values]:
    data = view.column("data").astype(np.int64) & REASON
    numbers = np.unique(data).tolist()
    tables = {
        log: {number: view.data.names(log).drop_reason(number) for number in numbers}
        for log in view.data.logs()
    }
    return [_Coding(tables).values(data, _sources(view))]


def _context(view: View) -> list[Values]:
    low = view.column("context")
    return [Values(low, (low >= 0) & (low < len(CONTEXTS)), None, CONTEXTS)]


def _verdict(view: View) -> list[Values]:
    texts = (*VERDICTS, "kernel-only")
    if view.table == PACKET:
        return [Values(view.column("verdict"), None, None, texts)]
    return [Values(np.full(view.size, KERNEL_ONLY, np.int8), None, None, texts)]


def _matched(view: View) -> list[Values]:
    if view.table == PACKET:
        return [Values(view.column("verdict") < VERDICTS.index("wire-only"))]
    return [Values(np.zeros(view.size, np.bool_))]


def _confidence(view: View) -> list[Values]:
    if view.table == PACKET:
        return [Values(view.column("confidence"), _matched(view)[0].low)]
    return [Values(np.zeros(view.size), np.zeros(view.size, np.bool_))]


def _kbl(view: View) -> list[Values]:
    there = _matched(view)[0].low if view.table == PACKET else np.ones(view.size, np.bool_)
    return [Values(there, there)]


def _number(name: str) -> Make:
    return lambda view: [known_column(view, name)]


def _waiting(view: View) -> list[Values]:
    parts = [view.column(name).astype(np.int64) for name in ("kernel_ns", "busy_ns", "unknown_ns")]
    return [Values(parts[0] - parts[1] - parts[2], parts[0] >= 0)]


def _netns(view: View) -> list[Values]:
    low = view.column("netns")
    return [Values(low, low > 0)]


def _address(version: int, *names: str) -> Make:
    def make(view: View) -> list[Values]:
        mine = view.column("ip_version") == version
        if version == IPV4:
            return [Values(view.column(f"{name}_lo"), mine) for name in names]
        return [Values(view.column(f"{n}_lo"), mine, view.column(f"{n}_hi")) for n in names]

    return make


def _skb(view: View) -> list[Values]:
    low = view.column("skb").astype(np.int64, copy=False)
    return [Values(low, low != 0)]


_U, _D, _S = Kind.UNSIGNED, Kind.DURATION, Kind.STRING
_LAYERS = tuple(layer.name for layer in layers())

KERNEL_FIELDS: tuple[Field, ...] = (
    Field("kbl", Kind.LABEL, "The kernel log has records of this packet", _kbl),
    Field(
        "kbl.matched",
        Kind.BOOLEAN,
        "The packet matches at least one skb lifetime",
        _matched,
        bits=1,
    ),
    Field(
        "kbl.verdict", _S, "How certain the match is", _verdict, words=(*VERDICTS, "kernel-only")
    ),
    Field("kbl.confidence", Kind.FLOAT, "How certain the match is, from 0 to 1", _confidence),
    Field("kbl.in_kernel", _D, "Time in which the packet was in a leg", _number("kernel_ns")),
    Field("kbl.latency", _D, "Old name of kbl.in_kernel", _number("kernel_ns")),
    Field("kbl.busy", _D, "Time in which a function worked on the packet", _number("busy_ns")),
    Field(
        "kbl.waiting",
        _D,
        "Time in a leg in which no function worked on the packet, for a known reason",
        _waiting,
    ),
    Field(
        "kbl.unknown",
        _D,
        "Time in a leg in which no function worked on the packet, for unknown reasons",
        _number("unknown_ns"),
    ),
    Field("kbl.cpu_time", _D, "Sum of the self times of the packet's calls", _number("cpu_ns")),
    Field("kbl.functions", _U, "Number of calls in all legs of the packet", _number("functions")),
    Field("kbl.dev", _S, "Device of a leg", _dev, LEG),
    Field("kbl.netns", _U, "Network namespace of a leg, as inode number", _netns, LEG),
    Field(
        "kbl.addr",
        Kind.IPV4,
        "Any address of the packet in the kernel (with NAT, an address before or after it)",
        _address(IPV4, "saddr", "daddr"),
        ADDRESS,
        bits=32,
    ),
    Field(
        "kbl.src",
        Kind.IPV4,
        "Source address of the packet in the kernel (with NAT, the address before or after it)",
        _address(IPV4, "saddr"),
        ADDRESS,
        bits=32,
    ),
    Field(
        "kbl.dst",
        Kind.IPV4,
        "Destination address of the packet in the kernel (with NAT, the address before or after "
        "it)",
        _address(IPV4, "daddr"),
        ADDRESS,
        bits=32,
    ),
    Field(
        "kbl.addr6",
        Kind.IPV6,
        "Any address of the packet in the kernel (with NAT, an address before or after it)",
        _address(IPV6, "saddr", "daddr"),
        ADDRESS,
        bits=128,
    ),
    Field(
        "kbl.src6",
        Kind.IPV6,
        "Source address of the packet in the kernel (with NAT, the address before or after it)",
        _address(IPV6, "saddr"),
        ADDRESS,
        bits=128,
    ),
    Field(
        "kbl.dst6",
        Kind.IPV6,
        "Destination address of the packet in the kernel (with NAT, the address before or after "
        "it)",
        _address(IPV6, "daddr"),
        ADDRESS,
        bits=128,
    ),
    Field("kbl.drop_reason", _S, "Why the kernel dropped the packet", _drop_reason, DROP),
    Field("kbl.func", _S, "Function of a call", _func, CALL),
    Field("kbl.caller", _S, "Caller of the function, as symbol or symbol+offset", _caller, CALL),
    Field("kbl.layer", _S, "Layer of the called function", _layer, CALL, words=_LAYERS),
    Field("kbl.skb", Kind.KERNEL, "Address of the sk_buff of a call", _skb, CALL),
    Field("kbl.dur", _D, "Duration of a call", _number("dur_ns"), CALL),
    Field(
        "kbl.self",
        _D,
        "Self time of a call: its duration without inner calls",
        _number("self_ns"),
        CALL,
    ),
    Field("kbl.cpu", _U, "CPU of a call, from 0", _number("cpu"), CALL, bits=32),
    Field("kbl.context", _S, "Context of a call", _context, CALL, words=CONTEXTS),
    Field("kbl.comm", _S, "Process of a call", _comm, CALL),
    Field("kbl.pid", _U, "Thread of a call", _number("pid"), CALL, bits=32),
    Field(
        "kbl.depth",
        _U,
        "Nesting depth of a call: number of calls of its leg that surround the call",
        _number("depth"),
        CALL,
        bits=32,
    ),
)
