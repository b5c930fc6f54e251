# SPDX-License-Identifier: MIT
"""Write one packet's kernel path as an indented tree of text lines, or as XML.

Input: a PacketPath. Times in the text are microseconds since the leg began. If the session has
several logs, the heading of a leg contains the leg's log, and how long after the first leg the leg
begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from ..analysis.words.leg_kind_words import RELATION_WORDS
from ..records import (
    Leg,
    PacketPath,
    PathCall,
    PathEvent,
    TouchedLine,
    TouchedPage,
    Wait,
    counted,
    pages_of,
)


def path_lines(path: PacketPath) -> Iterator[str]:
    """Yield the lines of a path as an indented tree: legs, their calls and events."""
    packet = path.packet
    if packet is not None:
        ends = f"{packet.source_text} -> {packet.destination_text}"
        yield f"packet {packet.number}  {ends}  {packet.protocol_name}  {packet.info}"
        yield f"match: {packet.verdict}. {packet.reason}"
    if not path.legs:
        yield "no kernel path"
    is_known = any(leg.captured is not None for leg in path.legs)
    is_counted = _is_counted(path)
    for number, leg in enumerate(path.legs, start=1):
        yield ""
        about = _behind(path, leg) + _captured(leg, is_known)
        yield from _leg_lines(f"leg {number}", leg, about, is_counted)
    for branch in path.branches:
        yield ""
        about = _captured(branch, is_known)
        yield from _leg_lines(RELATION_WORDS[branch.relation], branch, about, is_counted)


def _is_counted(path: PacketPath) -> bool:
    """Return whether a call of the path has executed instructions."""
    calls = (call for leg in (*path.legs, *path.branches) for call in leg.calls)
    return any(call.executed_probes is not None for call in calls)


ACROSS = ("log", "session_offset_ns", "session_error_ns", "wire_ns", "wire_error_ns")


def _behind(path: PacketPath, leg: Leg) -> str:
    """Return a text like ", begins 1035.120 +- 632.410 us after leg 1"; "" if there is one log."""
    after = path.behind(leg)
    if after is None:
        return ""
    if after.ns is None:
        return ", offset from leg 1 unknown"
    return f", begins {_us(after.ns)}{_give_or_take(after.error_ns)} us after leg 1"


def _captured(leg: Leg, is_known: bool) -> str:
    """Return ", captured at 23.412 +- 1.300 us as eth0 received it, between 21.010 and 24.200 us".

    The time has the possible error of the clock fit. `is_known` says whether the log shows in which
    leg of the path the packet was captured. The result is "" if the packet was not captured in this
    leg, or the time of capture is unknown.
    """
    seen = leg.captured
    if leg.wire_ns is None or (is_known and seen is None):
        return ""
    at = f", captured at {_us(leg.wire_ns - leg.begin_ns)}{_give_or_take(leg.wire_error_ns)} us"
    if seen is None:
        return at
    after, before = (_us(ns - leg.begin_ns) for ns in (seen.after_ns, seen.before_ns))
    return f"{at} {seen.text}, between {after} and {before} us"


def leg_place(leg: Leg) -> str:
    """Return the direction and device of a leg: "tx eth0"; "candidate tx eth0" for a candidate.

    The text leaves out an unknown device. If the session has several logs, the text ends with the
    name of the leg's log: "tx eth0 of server".
    """
    words = ("candidate" if leg.match == "ambiguous" else "", leg.kind, leg.device)
    return " ".join(filter(None, words)) + (f" of {leg.log}" if leg.log else "")


STEPS = f"{'steps':>11} {'self steps':>11} {'probe steps':>11} "


def _leg_lines(title: str, leg: Leg, about: str, is_counted: bool) -> Iterator[str]:
    yield f"{title}: {leg_place(leg)} (series {leg.series}): {_leg_numbers(leg)}{about}"
    steps, pad = (STEPS, len(STEPS)) if is_counted else ("", 0)
    head = f"{'entry us':>12} {'exit us':>12} {'self us':>10} {steps}"
    yield f"{head}{'cpu':>3} {'context':<8} function"
    between = sorted(
        [(wait.begin_ns + wait.dur_ns, 0, _wait_lines(wait, leg)) for wait in leg.waits]
        + [
            (event.ts_ns, 1, _event_lines(event, leg, pad))
            for event in leg.events
            if has_line(event)
        ],
        key=lambda item: item[:2],
    )
    for call in leg.calls:
        while between and between[0][0] < call.entry_ns + (between[0][1] == 0):
            yield from between.pop(0)[2]
        yield _call_line(call, leg.begin_ns, is_counted)
    for _, _, lines in between:
        yield from lines


def _leg_numbers(leg: Leg) -> str:
    if leg.kernel_ns is None:
        return leg.note
    pairs = "".join(f", {source} > {target}" for source, target in leg.addresses)
    number = counted(leg.functions or 0, "function")
    return f"{number}, {_us(leg.kernel_ns)} us in the kernel{pairs}"


def has_line(event: PathEvent) -> bool:
    """Return whether an event gets a line of its own.

    Births and frees of skbs get no line, because the calls show them already.
    """
    return event.event not in QUIET


def _wait_lines(wait: Wait, leg: Leg) -> list[str]:
    return [f"{_us(wait.begin_ns - leg.begin_ns):>12} ... {_us(wait.dur_ns)} us: {wait.what}"]


def _event_lines(event: PathEvent, leg: Leg, pad: int) -> list[str]:
    depth = leg.calls[event.call].depth + 1 if event.call >= 0 else 0
    caused = "this packet caused: " if event.caused else ""
    place = f"{'':>{23 + pad}} {event.cpu:>3} {event.context:<8} {'  ' * depth}"
    first = f"{_us(event.ts_ns - leg.begin_ns):>12} {place}* {caused}{event.text}"
    below = [*event.details, *(f"by {frame}" for frame in event.stack)]
    return [first, *(f"{'':>{36 + pad}} {place[35 + pad :]}  {line}" for line in below)]


QUIET = frozenset({"alloc", "free", "consume", "start_xmit", "xmit", "queue", "receive"})


def _call_line(call: PathCall, begin: int, is_counted: bool) -> str:
    leave = "-" if call.exit_ns is None else _us(call.exit_ns - begin)
    own = "-" if call.self_ns is None else _us(call.self_ns)
    indent = "  " * call.depth
    caller = f"  <- {call.caller}{' (tail call)' if call.tail_call else ''}" if call.caller else ""
    note = call.titled.removeprefix(call.function)
    if call.comp_ns is not None:
        note = f"  {_us(call.comp_ns)}{_give_or_take(call.comp_err_ns)} us without probes{note}"
    times = f"{_us(call.entry_ns - begin):>12} {leave:>12} {own:>10}"
    steps = _steps(call) if is_counted else ""
    return f"{times} {steps}{call.cpu:>3} {call.context:<8} {indent}{call.function}{caller}{note}"


def _steps(call: PathCall) -> str:
    numbers = (call.executed, call.executed_self, call.executed_probes)
    return "".join(f"{'-' if number is None else format(number, ','):>11} " for number in numbers)


def _give_or_take(error_ns: int | None) -> str:
    return f" +- {_us(error_ns)}" if error_ns else ""


def _us(ns: int) -> str:
    return f"{ns / 1000:.3f}"


def path_xml(path: PacketPath) -> str:
    """Return a path as XML: <path><leg><call>, nested as the calls were.

    An <event> is inside the <call> in which it happened. A <page> is inside the <call> that
    accessed it, and has a <line> for each cache line. Times are on the clock of the log that
    recorded the leg. If the session has several logs, each leg has the name of its log, the offset
    to session time and the time of capture. <captured> is inside the leg in which the packet was
    captured.
    """
    root = ElementTree.Element("path")
    if path.packet is not None:
        root.set("packet", str(path.packet.number))
    for leg in path.legs:
        node = ElementTree.SubElement(root, "leg", series=str(leg.series), kind=leg.kind)
        if leg.kernel_ns is None:
            node.set("note", leg.note)
        else:
            node.set("kernel_ns", str(leg.kernel_ns))
        for key in ACROSS if leg.log else ():
            if getattr(leg, key) is not None:
                node.set(key, str(getattr(leg, key)))
        if leg.captured is not None:
            seen = {k: str(v) for k, v in leg.captured._asdict().items() if v != ""}
            ElementTree.SubElement(node, "captured", seen | {"socket": _yes(leg.captured.socket)})
        nodes: list[ElementTree.Element] = []
        for call in leg.calls:
            parent = nodes[call.parent] if call.parent >= 0 else node
            nodes.append(ElementTree.SubElement(parent, "call", _attributes(call)))
            _page_nodes(nodes[-1], call)
        for event in leg.events:
            _event_node(nodes[event.call] if event.call >= 0 else node, event)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _page_nodes(parent: ElementTree.Element, call: PathCall) -> None:
    for page in pages_of(call.lines or ()):
        node = ElementTree.SubElement(parent, "page", _accesses(page))
        for line in page.lines:
            ElementTree.SubElement(node, "line", _accesses(line))


def _accesses(part: TouchedPage | TouchedLine) -> dict[str, str]:
    at = f"0x{part.address:x}"
    return {"address": at, "loads": str(part.loads), "stores": str(part.stores)}


def _event_node(parent: ElementTree.Element, event: PathEvent) -> None:
    skipped = ("call", "stack", "caused", "sections", "details")
    values = {k: str(v) for k, v in event._asdict().items() if k not in skipped}
    if event.caused:
        values["caused"] = "yes"
    node = ElementTree.SubElement(parent, "event", {k: v for k, v in values.items() if v})
    for line in event.details:
        ElementTree.SubElement(node, "detail", {"text": line})
    for frame in event.stack:
        ElementTree.SubElement(node, "frame", {"by": frame})


def _attributes(call: PathCall) -> dict[str, str]:
    values = call._asdict() | {"skb": f"0x{call.skb:x}"}
    values["sock"] = f"0x{call.sock:x}" if call.sock else ""
    skipped = ("depth", "parent", "lines")
    return {
        k: _yes(v) if isinstance(v, bool) else str(v)
        for k, v in values.items()
        if k not in skipped and v not in (None, "")
    }
