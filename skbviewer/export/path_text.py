# SPDX-License-Identifier: MIT
"""One packet's kernel path as an indented tree of text lines, or as XML.

In: a PacketPath.  Times in the text are microseconds relative to the leg's begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from ..records import Leg, PacketPath, PathCall


def path_lines(path: PacketPath) -> Iterator[str]:
    """The tree, a line at a time."""
    packet = path.packet
    if packet is not None:
        ends = f"{packet.source_text} -> {packet.destination_text}"
        yield f"packet {packet.number}  {ends}  {packet.protocol_name}  {packet.info}"
        yield f"match: {packet.verdict}. {packet.reason}"
    if not path.legs:
        yield "no kernel path"
    for number, leg in enumerate(path.legs, start=1):
        yield ""
        yield from _leg_lines(number, leg, path.wire_ns)


def _leg_lines(number: int, leg: Leg, wire_ns: int | None) -> Iterator[str]:
    wire = "" if wire_ns is None else f", captured at {_us(wire_ns - leg.begin_ns)} us"
    yield (
        f"leg {number}: {leg.kind} {leg.device} (series {leg.series}): "
        f"{leg.functions} functions, {_us(leg.kernel_ns)} us in the kernel{wire}"
    )
    yield f"{'entry us':>12} {'exit us':>12} {'self us':>10} {'cpu':>3} {'context':<8} function"
    waits = list(leg.waits)
    for call in leg.calls:
        while waits and waits[0].begin_ns + waits[0].dur_ns <= call.entry_ns:
            wait = waits.pop(0)
            yield f"{_us(wait.begin_ns - leg.begin_ns):>12} ... {_us(wait.dur_ns)} us: {wait.what}"
        yield _call_line(call, leg.begin_ns)


def _call_line(call: PathCall, begin: int) -> str:
    leave = "-" if call.exit_ns is None else _us(call.exit_ns - begin)
    own = "-" if call.self_ns is None else _us(call.self_ns)
    indent = "  " * call.depth
    caller = f"  <- {call.caller}{' (tail call)' if call.tail_call else ''}" if call.caller else ""
    note = f"  [{call.note}]" if call.note else ""
    times = f"{_us(call.entry_ns - begin):>12} {leave:>12} {own:>10}"
    return f"{times} {call.cpu:>3} {call.context:<8} {indent}{call.function}{caller}{note}"


def _us(ns: int) -> str:
    return f"{ns / 1000:.3f}"


def path_xml(path: PacketPath) -> str:
    """The tree as XML: <path><leg><call> nested as the calls were."""
    root = ElementTree.Element("path")
    if path.packet is not None:
        root.set("packet", str(path.packet.number))
    for leg in path.legs:
        node = ElementTree.SubElement(
            root, "leg", series=str(leg.series), kind=leg.kind, kernel_ns=str(leg.kernel_ns)
        )
        nodes: list[ElementTree.Element] = []
        for call in leg.calls:
            parent = nodes[call.parent] if call.parent >= 0 else node
            nodes.append(ElementTree.SubElement(parent, "call", _attributes(call)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(call: PathCall) -> dict[str, str]:
    values = call._asdict() | {"skb": f"0x{call.skb:x}"}
    skipped = ("depth", "parent")
    return {k: str(v) for k, v in values.items() if k not in skipped and v not in (None, "")}
