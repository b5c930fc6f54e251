# SPDX-License-Identifier: MIT
"""Writes small .kbl files for tests, in either byte order, from the layout of kbl.h."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from skbviewer.records import kbl_layout as kbl

STEXT = 0xFFFFFFFF81000000
Slot = tuple["np.dtype[np.void]", dict[str, Any]]


class Ipv4(NamedTuple):
    """The fields of struct kbl_ext_ipv4, addresses as text."""

    saddr: str
    daddr: str
    ip_id: int
    protocol: int
    sport: int = 0
    dport: int = 0
    seq: int = 0
    ack: int = 0
    tcp_flags: int = 0
    tot_len: int = 0
    frag_off: int = 0x4000
    ttl: int = 64
    l4_valid: int = 1


class Ipv6(NamedTuple):
    """The contents of the two IPv6 slots, with addresses as text."""

    saddr: str
    daddr: str
    nexthdr: int
    sport: int = 0
    dport: int = 0
    seq: int = 0
    ack: int = 0
    tcp_flags: int = 0
    payload_len: int = 0
    hop_limit: int = 64
    flow_label: int = 0
    frag_id: int = 0
    l4_valid: int = 1
    frag_off: int = 0


class SkbInfo(NamedTuple):
    """The fields of struct kbl_ext_skb."""

    ethertype: int = 0x0800
    ifindex: int = 2
    netns: int = 0xF0000000
    len: int = 60
    gso_size: int = 0
    gso_segs: int = 0
    sk: int = 0
    mark: int = 0


def _ipv4_slots(ip: Ipv4) -> list[Slot]:
    fields = ip._asdict() | {
        "saddr": list(IPv4Address(ip.saddr).packed),
        "daddr": list(IPv4Address(ip.daddr).packed),
    }
    return [(kbl.KBL_EXT_IPV4, fields | {"kind": kbl.KblKind.EXT, "type": kbl.KblExtType.IPV4})]


def _ipv6_slots(ip: Ipv6) -> list[Slot]:
    source, target = list(IPv6Address(ip.saddr).packed), list(IPv6Address(ip.daddr).packed)
    fields = ip._asdict() | {"kind": kbl.KblKind.EXT}
    halves = {"saddr_hi": source[:8], "saddr_lo": source[8:], "daddr_hi": target[:8]}
    return [
        (kbl.KBL_EXT_IPV6, fields | halves | {"type": kbl.KblExtType.IPV6}),
        (kbl.KBL_EXT_IPV6_L4, fields | {"daddr_lo": target[8:], "type": kbl.KblExtType.IPV6_L4}),
    ]


def ext(dtype: np.dtype[np.void], type_: int, **fields: Any) -> Slot:
    """Return an EXT slot of a type, for `extra`."""
    return (dtype, fields | {"kind": kbl.KblKind.EXT, "type": type_})


def _serialise(dtype: np.dtype[np.void], fields: dict[str, Any], order: str) -> bytes:
    row = np.zeros((), kbl.in_order(dtype, order))
    for name in dtype.names or ():
        if name in fields:
            row[name] = fields[name]
    return row.tobytes()


def chunk_bytes(
    type_: int,
    payload: bytes,
    order: str = "<",
    cpu: int = 0xFFFF,
    seq: int = 0,
    items: int = 0,
    times: tuple[int, int] = (0, 0),
) -> bytes:
    """Return a chunk with right checksums; the payload is padded to a multiple of 8."""
    payload += bytes(-len(payload) % 8)
    fields = {"magic": kbl.KBL_CHUNK_MAGIC, "type": type_, "cpu": cpu, "seq": seq}
    fields |= {"first_ns": times[0], "last_ns": times[1], "nr_items": items}
    fields |= {"payload_len": len(payload), "crc32": crc32(payload)}
    head = _serialise(kbl.KBL_CHUNK_HEADER, fields, order)
    fields["header_crc32"] = crc32(head[: kbl.KBL_CHUNK_HEADER.fields["header_crc32"][1]])  # type: ignore[index]
    return _serialise(kbl.KBL_CHUNK_HEADER, fields, order) + payload


def _written(record: list[Slot]) -> int:
    """Return when a record was written: a CALL at its end."""
    head = record[0][1]
    return int(head["ts"]) + int(head.get("dur", 0))


class KblBuilder:
    """Collects records and tables, then writes them.

    Records go into the CPU's stream in the order they are added, `per_chunk` records a chunk.
    """

    def __init__(self, version: int = 2, per_chunk: int = 1000, **header: Any) -> None:
        self.version = version
        self.per_chunk = per_chunk
        self.header: dict[str, Any] = {
            "ptr_size": 8, "clock_id": 1, "nr_cpus": 2, "stext": STEXT,
            "start_mono_ns": 1_000_000_000, "start_real_ns": 1_700_000_001_000_000_000,
            "arch": b"x86_64", "release": b"6.1.0-test", "hostname": b"lab",
        } | header  # fmt: skip
        self.probes: list[dict[str, Any]] = []
        self.symbols: dict[int, tuple[str, str]] = {}
        self.clocks: list[dict[str, int]] = []
        self.devices: list[dict[str, Any]] = []
        self.counters: dict[str, int] | None = None
        self.calibration: dict[str, int] | None = None
        self.meta: dict[str, str] = {}
        self.records: dict[int, list[list[Slot]]] = {}
        self.end = True
        self._strings = bytearray(b"\0")
        self._offsets = {"": 0}

    def probe(self, name: str, event: int = 0, module: str = "", **fields: Any) -> int:
        """Add a probe (and its symbol); returns its id, from 0."""
        number = len(self.probes)
        address = fields.pop("addr", STEXT + 0x10000 + number * 0x1000)
        row = {"id": number, "name": self._string(name), "module": self._string(module)}
        row |= {"addr": address, "event": event, "mechanism": 1}
        self.probes.append(row | fields)
        if address:
            self.symbol(address, name, module)
        return number

    def symbol(self, address: int, name: str, module: str = "") -> None:
        self.symbols[address] = (name, module)

    def clock(self, mono_ns: int, real_ns: int, boot_ns: int = 0, uncertainty_ns: int = 50) -> None:
        self.clocks.append(
            {"mono_ns": mono_ns, "real_ns": real_ns, "boot_ns": boot_ns or mono_ns}
            | {"uncertainty_ns": uncertainty_ns}
        )

    def device(self, netns: int, ifindex: int, name: str) -> None:
        self.devices.append({"netns": netns, "ifindex": ifindex, "name": name.encode()})

    def entry(
        self,
        ts: int,
        cpu: int,
        func: int,
        skb: int,
        pid: int = 1,
        caller: int = 0,
        context: int = 0,
        flags: int = 0,
        ipv4: Ipv4 | None = None,
        ipv6: Ipv6 | None = None,
        skbinfo: SkbInfo | None = None,
        kind: int = kbl.KblKind.ENTRY,
        extra: tuple[Slot, ...] = (),
    ) -> None:
        """An ENTRY; `caller` is an absolute address, 0 = unknown."""
        flags |= 0 if caller else kbl.KBL_FLAG_NO_CALLER
        offset = caller - self.header["stext"] if caller else 0
        head = {"kind": kind, "flags": flags, "context": context, "func": func, "ts": ts}
        head |= {"skb": skb, "caller": offset, "pid": pid}
        self._add(cpu, kbl.KBL_CALL_SLOT, head, self._ext(ipv4, ipv6, skbinfo) + list(extra))

    def exit(
        self,
        ts: int,
        cpu: int,
        func: int,
        skb: int,
        pid: int = 1,
        ret: int = 0,
        context: int = 0,
        flags: int = 0,
    ) -> None:
        head = {"kind": kbl.KblKind.EXIT, "flags": flags, "context": context, "func": func}
        head |= {"ts": ts, "skb": skb, "caller": ret, "pid": pid}
        self._add(cpu, kbl.KBL_CALL_SLOT, head, [])

    def call(
        self,
        ts: int,
        cpu: int,
        func: int,
        skb: int,
        dur: int,
        ret: int = 0,
        caller: int = 0,
        context: int = 0,
        flags: int = 0,
        entry_cpu: int | None = None,
        extra: tuple[Slot, ...] = (),
    ) -> None:
        """A CALL of version 3; `cpu` is that of the exit, and of the entry if not given."""
        flags |= 0 if caller else kbl.KBL_FLAG_NO_CALLER
        offset = caller - self.header["stext"] if caller else 0
        head = {"kind": kbl.KblKind.CALL, "flags": flags, "context": context, "func": func}
        head |= {"ts": ts, "skb": skb, "caller": offset, "dur": min(dur, 0xFFFFFFFF)}
        head["entry_cpu"] = cpu if entry_cpu is None else entry_cpu
        fields = {"kind": kbl.KblKind.EXT, "type": kbl.KblExtType.CALL, "dur": dur, "ret": ret}
        slot: Slot = (kbl.KBL_EXT_CALL, fields)
        needed = ret or dur >= 0xFFFFFFFF
        self._add(cpu, kbl.KBL_SPAN_SLOT, head, ([slot] if needed else []) + list(extra))

    def footprint(self, ts: int, cpu: int, skb: int, **packet: Any) -> None:
        """A FOOTPRINT; `packet` as of event()."""
        self.event(ts, cpu, kbl.KblEvent.FOOTPRINT, skb, **packet)

    def carry(self, ts: int, cpu: int, skb: int, index: int, rest: int = 0) -> None:
        """A CARRY: packet number `index` of the call entered at `ts`; `rest` more are left out."""
        self.event(ts, cpu, kbl.KblEvent.CARRY, skb, index | rest << 32)

    def event(
        self,
        ts: int,
        cpu: int,
        event: int,
        skb: int = 0,
        data: int = 0,
        pid: int = 1,
        context: int = 0,
        ipv4: Ipv4 | None = None,
        ipv6: Ipv6 | None = None,
        skbinfo: SkbInfo | None = None,
        extra: tuple[Slot, ...] = (),
    ) -> None:
        head = {"kind": kbl.KblKind.EVENT, "event": event, "context": context, "pid": pid}
        head |= {"ts": ts, "skb": skb, "data": data}
        self._add(cpu, kbl.KBL_EVENT_SLOT, head, self._ext(ipv4, ipv6, skbinfo) + list(extra))

    def task(self, ts: int, cpu: int, tgid: int, tid: int, comm: str = "") -> None:
        """A TASK, with COMM if it has a name."""
        head = {"kind": kbl.KblKind.EVENT, "event": kbl.KblEvent.TASK, "pid": tid, "ts": ts}
        fields = {"kind": kbl.KblKind.EXT, "type": kbl.KblExtType.COMM, "tid": tid}
        slot: Slot = (kbl.KBL_EXT_COMM, fields | {"comm": comm.encode()})
        self._add(cpu, kbl.KBL_EVENT_SLOT, head | {"data": tgid}, [slot] if comm else [])

    def lost(
        self,
        ts: int,
        cpu: int,
        first_ns: int,
        count: int,
        func: int = 0xFFFFFFFF,
        reason: int = 0,
    ) -> None:
        """A LOST: of full buffers, or with a function of missed hits, if no reason is given."""
        reason = reason or (kbl.KblLost.BUFFER if func == 0xFFFFFFFF else kbl.KblLost.MISSED)
        head = {"kind": kbl.KblKind.LOST, "reason": reason, "func": func, "ts": ts}
        self._add(cpu, kbl.KBL_LOST_SLOT, head | {"first_ns": first_ns, "count": count}, [])

    def to_bytes(self, order: str = "<") -> bytes:
        """Return the file: header, tables, records, counters, END."""
        size = kbl.KBL_FILE_HEADER_SIZE
        fixed = {"magic": kbl.KBL_MAGIC, "version": self.version, "header_len": size}
        parts = [_serialise(kbl.KBL_FILE_HEADER, self.header | fixed, order)]
        kind = kbl.KblChunkType
        tables: list[tuple[int, np.dtype[np.void], list[dict[str, Any]]]] = [
            (kind.PROBES, kbl.KBL_PROBE, self.probes),
            (kind.SYMBOLS, kbl.KBL_SYMBOL, self._symbol_rows()),
            *((kind.CLOCK, kbl.KBL_CLOCK, [clock]) for clock in self.clocks),
            (kind.DEVICES, kbl.KBL_DEVICE, self.devices),
        ]
        if self.counters is not None:
            tables.append((kind.COUNTERS, kbl.KBL_COUNTERS, [self.counters]))
        if self.calibration is not None:
            tables.append((kind.CALIBRATION, kbl.KBL_CALIBRATION, [self.calibration]))
        text = "".join(f"{key}={value}\n" for key, value in self.meta.items()).encode()
        blobs = [(kind.STRINGS, bytes(self._strings), 1), (kind.META, text, len(self.meta))]
        for type_, dtype, rows in tables:
            payload = b"".join(_serialise(dtype, row, order) for row in rows)
            blobs.append((kind(type_), payload, len(rows)))
        blobs = [blob for blob in blobs if blob[2]]
        for seq, (type_, payload, items) in enumerate(blobs):
            parts.append(chunk_bytes(type_, payload, order, seq=seq, items=items))
        parts += self._record_chunks(order)
        if self.end:
            parts.append(chunk_bytes(kind.END, b"", order, seq=len(blobs)))
        return b"".join(parts)

    def write(self, path: Path, order: str = "<") -> Path:
        path.write_bytes(self.to_bytes(order))
        return path

    def _record_chunks(self, order: str) -> list[bytes]:
        chunks = []
        for cpu, records in sorted(self.records.items()):
            for seq, first in enumerate(range(0, len(records), self.per_chunk)):
                part = records[first : first + self.per_chunk]
                payload = b"".join(_serialise(*slot, order) for record in part for slot in record)
                times = (_written(part[0]), _written(part[-1]))
                type_ = kbl.KblChunkType.RECORDS
                chunks.append(chunk_bytes(type_, payload, order, cpu, seq, len(part), times))
        return chunks

    def _add(
        self, cpu: int, dtype: np.dtype[np.void], head: dict[str, Any], ext: list[Slot]
    ) -> None:
        self.records.setdefault(cpu, []).append([(dtype, head | {"ext": len(ext)}), *ext])

    @staticmethod
    def _ext(ip4: Ipv4 | None, ip6: Ipv6 | None, info: SkbInfo | None) -> list[Slot]:
        slots = _ipv4_slots(ip4) if ip4 else []
        slots += _ipv6_slots(ip6) if ip6 else []
        if info:
            fields = info._asdict() | {"kind": kbl.KblKind.EXT, "type": kbl.KblExtType.SKB}
            slots.append((kbl.KBL_EXT_SKB, fields))
        return slots

    def _string(self, text: str) -> int:
        if text not in self._offsets:
            self._offsets[text] = len(self._strings)
            self._strings += text.encode() + b"\0"
        return self._offsets[text]

    def _symbol_rows(self) -> list[dict[str, Any]]:
        return [
            {"addr": address, "name": self._string(name), "module": self._string(module)}
            for address, (name, module) in sorted(self.symbols.items())
        ]
