# SPDX-License-Identifier: MIT
"""Packets in a report: the list, and each shown packet with picture, calls, events and bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...analysis.words.leg_kind_words import KIND_WORDS
from ...analysis.words.time_words import duration, microseconds
from ...records import Leg, PacketPath, PacketRow, counted
from ..path_text import has_line
from .html_markup import Content, Markup, Span, element, join_html, table
from .layer_labels import layer_chip, layer_numbers
from .packet_hex_bytes import dump
from .report_contents import Facts, Row, Shown

Picture = Callable[[PacketPath, str], Markup]  # of a path, with a title
INDENT = "\u2007\u2007"  # of a call, for each call around it


def packet_list(facts: Facts) -> Markup:
    """Return the packet list as HTML; numbers of packets that are shown below are links."""
    shown = {number(one.row) for one in facts.shown}
    rows = [_line(row, shown, facts.first_ns) for row in facts.rows]
    rest = facts.packets - len(facts.rows)
    more = element("p", f"{rest:,} more are not listed.", class_="dim") if rest > 0 else None
    titles = ("No.", "Time (s)", "Source", "Destination", "Protocol", "Info", "Match",
              "In kernel", "Calls", "Process", "Drop")  # fmt: skip
    return element(
        "section",
        element("h2", "Packets", id="packets"),
        table(titles, rows, numbers=(0, 1, 7, 8), look="list"),
        more,
    )


def number(row: Row) -> str:
    """Return a row's number in the packet list: "3" or "K1"."""
    return str(row.number)


def _line(row: Row, shown: set[str], first: int) -> tuple[Content, ...]:
    name = number(row)
    link = element("a", name, href=f"#packet-{name}") if name in shown else name
    source, target = ends(row)
    return (
        link, _time(row, first), source, target, row.protocol_name, row.info, _badge(row),
        duration(row.kernel_ns), "" if row.functions is None else row.functions, row.process,
        element("span", row.drop, class_="drop" if row.lost else None) if row.drop else "",
    )  # fmt: skip


def ends(row: Row) -> tuple[str, str]:
    """Return the addresses of source and destination; "" if unknown."""
    if isinstance(row, PacketRow):
        return row.source_text, row.destination_text
    return row.saddr or "", row.daddr or ""


def _time(row: Row, first: int) -> str:
    at = row.ts_ns if isinstance(row, PacketRow) else row.time_ns
    if at is None:
        return ""
    past = at - first
    return f"{'-' if past < 0 else ''}{abs(past) // 10**9}.{abs(past) % 10**9:09d}"


def _verdict(row: Row) -> str:
    return row.verdict if isinstance(row, PacketRow) else "kernel-only"


def _badge(row: Row) -> Markup:
    verdict = _verdict(row)
    return element("span", verdict, class_=f"badge {verdict}")


def shown_packets(facts: Facts, picture: Picture) -> Markup:
    """Return an HTML box for each packet whose path is shown; `picture` paints the path."""
    if not facts.shown:
        return Markup()
    why = (
        None if facts.named else "Lost packets come first, then the packets with the longest time "
        "in kernel."
    )  # fmt: skip
    return element(
        "section",
        element("h2", "Paths through the kernel", id="paths"),
        element("p", why, class_="dim") if why else None,
        *(_box(one, picture, layer_numbers(facts)) for one in facts.shown),
    )


def _box(one: Shown, picture: Picture, layers: Mapping[str, int]) -> Markup:
    row, path = one.row, one.path
    name = number(row)
    what = "Packet" if isinstance(row, PacketRow) else "Kernel-only packet"
    source, target = ends(row)
    title = f"{what} {name}: {source} → {target} {row.protocol_name}"
    unseen = element("p", "No kernel log has records of this packet.")
    return element(
        "article",
        element("h3", title),
        element("p", _badge(row), " · ", row.reason, class_="dim"),
        _facts(row),
        picture(path, title) if path.legs else unseen,
        *(_leg(at, leg, layers) for at, leg in enumerate(path.legs, 1)),
        _bytes(one),
        class_="box", id=f"packet-{name}",
    )  # fmt: skip


def _facts(row: Row) -> Markup:
    place = f" at {row.drop_place}" if row.drop_place else ""
    fate = "" if row.lost else ": nothing was lost"
    times = [
        f"{duration(ns)} {word}"
        for ns, word in (
            (row.busy_ns, "busy"),
            (row.wait_ns, "waiting"),
            (row.unknown_ns, "unknown"),
        )
        if ns
    ]
    whole = duration(row.kernel_ns)
    pairs: list[tuple[str, Content]] = [("Info", row.info)]
    pairs += [("In kernel", f"{whole} ({', '.join(times)})" if times else whole)] if whole else []
    pairs += [("Process", row.process)] if row.process else []
    if row.drop:
        look = "drop" if row.lost else None
        pairs.append(("Drop", element("span", f"{row.drop}{place}{fate}", class_=look)))
    return element("dl", *(part for k, v in pairs for part in (element("dt", k), element("dd", v))))


def _leg(at: int, leg: Leg, layers: Mapping[str, int]) -> Markup:
    kind = KIND_WORDS.get(leg.kind, leg.kind)
    words = ["candidate" if leg.match == "ambiguous" else "", kind, leg.device, leg.log]
    calls = counted(leg.functions or 0, "call")
    total = f"{calls}, {duration(leg.kernel_ns)}" if leg.kernel_ns else leg.note
    title = f"Leg {at}: {' '.join(filter(None, words))} · {total}"
    rows = sorted([*_calls(leg, layers), *_waits(leg), *_events(leg)], key=lambda item: item[0])
    titles = ("Entry (µs)", "Duration (µs)", "Self (µs)", "CPU", "Context", "Process", "Function",
              "Layer", "Note")  # fmt: skip
    return element(
        "details",
        element("summary", title),
        table(titles, (cells for _, cells in rows), numbers=(0, 1, 2, 3), look="calls"),
        open="",
    )


_Line = tuple[tuple[int, int, int], tuple[Content, ...]]


def _calls(leg: Leg, layers: Mapping[str, int]) -> Iterator[_Line]:
    for at, call in enumerate(leg.calls):
        note = call.note
        look = "drop" if "drop:" in note else None
        yield (call.entry_ns, 1, at), (
            microseconds(call.entry_ns - leg.zero_ns), microseconds(call.dur_ns),
            microseconds(call.self_ns), call.cpu, call.context, call.comm,
            element("code", INDENT * call.depth + call.function), layer_chip(call.layer, layers),
            element("span", note, class_=look) if note else "",
        )  # fmt: skip


def _waits(leg: Leg) -> Iterator[_Line]:
    for wait in leg.waits:
        yield (wait.begin_ns, 0, 0), (
            microseconds(wait.begin_ns - leg.zero_ns), microseconds(wait.dur_ns), "", "", "", "",
            element("span", f"waits: {wait.what}", class_="dim"), "", "",
        )  # fmt: skip


def _events(leg: Leg) -> Iterator[_Line]:
    for event in filter(has_line, leg.events):
        text = f"{'caused: ' if event.caused else ''}{event.text}"
        below = [*event.details, *([f"by {' ← '.join(event.stack)}"] if event.stack else [])]
        lines = join_html(element("div", line, class_="stack") for line in below)
        look = "drop" if event.event == "drop" else None
        yield (event.ts_ns, 2, 0), (
            microseconds(event.ts_ns - leg.zero_ns), "", "", event.cpu, event.context, event.comm,
            Span(join_html((element("span", text, class_=look), lines)), 3),
        )  # fmt: skip


def _bytes(one: Shown) -> Markup:
    if one.data is None:
        return Markup()
    shown, captured = len(one.data.shown), one.data.captured
    title = f"Bytes: {shown:,} of {captured:,} captured"
    lines = element("pre", Markup(_escaped_lines(one.data.shown)))
    return element("details", element("summary", title), lines)


def _escaped_lines(data: bytes) -> str:
    """Escape each line of a dump for HTML, and keep the line breaks."""
    return "\n".join(map(str, (join_html([line]) for line in dump(data).split("\n"))))
