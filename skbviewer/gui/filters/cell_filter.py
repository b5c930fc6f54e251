# SPDX-License-Identifier: MIT
"""Display filters made from cells of the packet list: Apply as Filter, Conversation Filter."""

from __future__ import annotations

from collections.abc import Callable

from skbviewer.analysis.display_filter import expression_for
from skbviewer.analysis.display_filter.filter_from_value import quote_text
from skbviewer.analysis.fields.all_fields import FIELDS
from skbviewer.records.protocols import TCP, UDP

from ..packets.packet_rows import ListRow

_PORTS = {TCP: "tcp", UDP: "udp"}
NO_CONVERSATION = "This packet has no addresses, so it does not belong to a conversation"


def cell_filter(row: ListRow, key: str, text: str) -> str | None:
    """Return the display filter for a cell; None if no filter can express it.

    `key` is the key of the cell's column, `text` the text in the cell.
    """
    if key.startswith("field:"):
        return _field_filter(key.removeprefix("field:"), text)
    made = _CELLS.get(key)
    return None if made is None else made(row)


def _field_filter(name: str, text: str) -> str:
    return expression_for(name, text.split(",")[0].strip()) if text else f"!{name}"


def _address(row: ListRow, side: str) -> str | None:
    address, shown = (row.saddr, row.source) if side == "src" else (row.daddr, row.destination)
    if address is not None:
        return f"{'ipv6' if ':' in address else 'ip'}.{side} == {address}"
    if shown == "Broadcast":
        return f"eth.{side} == ff:ff:ff:ff:ff:ff"
    return f"eth.{side} == {shown}" if shown else None


def _number(row: ListRow) -> str | None:
    return None if row.packet is None else f"frame.number == {row.packet}"


def _protocol(row: ListRow) -> str | None:
    name = row.protocol.lower()
    if name in FIELDS:
        return name
    return None if row.ip_protocol is None else f"ip.proto == {row.ip_protocol}"


def _process(row: ListRow) -> str:
    """Return the filter for the process; only calls in task context count.

    In an interrupt, the recorded thread is the one that was interrupted.
    """
    comm, _, rest = row.process.rpartition("[")
    comm, pid = comm.strip(), rest.rstrip("]")
    in_task = 'kbl.context == "task"'
    if comm:
        return f"call(kbl.comm == {quote_text(comm)} && {in_task})"
    return f"call(kbl.pid == {pid} && {in_task})" if pid else f"!call(kbl.pid > 0 && {in_task})"


def _known(name: str, value: int | str | None, unit: str = "") -> str:
    return f"!{name}" if value is None else f"{name} == {value}{unit}"


def _time(row: ListRow) -> str:
    at = row.ts_ns
    return _known("frame.time_epoch", None if at is None else f"{at // 10**9}.{at % 10**9:09d}")


_CELLS: dict[str, Callable[[ListRow], str | None]] = {
    "number": _number,
    "time": _time,
    "source": lambda row: _address(row, "src"),
    "destination": lambda row: _address(row, "dst"),
    "protocol": _protocol,
    "length": lambda row: _known("frame.len", row.length),
    "kernel": lambda row: _known("kbl.in_kernel", row.kernel_ns, "ns"),
    "busy": lambda row: _known("kbl.busy", row.busy_ns, "ns"),
    "waiting": lambda row: _known("kbl.waiting", row.wait_ns, "ns"),
    "functions": lambda row: _known("kbl.functions", row.functions),
    "drop": lambda row: _known("kbl.drop_reason", quote_text(row.drop) if row.drop else None),
    "process": _process,
    "match": lambda row: f'kbl.verdict == "{row.verdict}"',
}


def conversations(row: ListRow) -> list[tuple[str, str]]:
    """Return (name, display filter) of each conversation of a row, the innermost protocol first."""
    if row.saddr is None or row.daddr is None:
        return []
    ip = "ipv6" if ":" in row.saddr else "ip"
    ends = f"{ip}.addr == {row.saddr} && {ip}.addr == {row.daddr}"
    found = [("IPv6" if ip == "ipv6" else "IPv4", f"({ends})")]
    layer = _PORTS.get(row.ip_protocol or -1)
    if layer and row.sport is not None and row.dport is not None:
        ports = f"{layer}.port == {row.sport} && {layer}.port == {row.dport}"
        found.insert(0, (layer.upper(), f"({ends}) && ({ports})"))
    return found
