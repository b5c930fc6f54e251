# SPDX-License-Identifier: MIT
"""Format numbers and times for people.  All times are integer ns."""

from __future__ import annotations

from collections.abc import Sequence

from skbviewer.analysis.words.leg_kind_words import KIND_WORDS, RELATION_WORDS
from skbviewer.analysis.words.time_words import duration as duration
from skbviewer.analysis.words.time_words import microseconds as microseconds
from skbviewer.records import Behind, Leg, PathCall, PathEvent, Wait

WAITS = {
    "socket queue": "in the socket queue",
    "softirq": "for the softirq",
    "socket backlog": "in the socket's backlog",
    "send queue": "in TCP's send queue",
    "queue": "in a queue",
    "qdisc": "in the queueing discipline",
    "reassembly": "for more fragments",
    "other packets": "while the packet's calls handled other packets",
    "interrupts": "while the packet's CPU served interrupts",
    "switched out": "while the packet's thread was switched out",
    "NAPI list": "in NAPI's list",
}
VERDICT = {
    "exact": "Exact match",
    "ambiguous": "Ambiguous match",
    "wire-only": "Wire only",
    "sampled-out": "Sampled out",
    "kernel-only": "Kernel only",
}


def difference(ns: int) -> str:
    """Return a difference of two times (ns) with all its digits: "+12.345 µs"."""
    return f"{'+' if ns >= 0 else '−'}{microseconds(abs(ns))} µs"


def offset(ns: int) -> str:
    """Return a time (ns) relative to an origin as text: "+7.250 µs", or "-0.829 µs" before it."""
    return f"{'' if ns < 0 else '+'}{microseconds(ns)} µs"


def seconds(ns: int) -> str:
    """Return `ns` as a text in seconds with nine decimals; no float is used, so it is exact."""
    return f"{'-' if ns < 0 else ''}{abs(ns) // 10**9}.{abs(ns) % 10**9:09d}"


def functions(count: int) -> str:
    """Return "1 function", "12 functions" and so on."""
    return "1 function" if count == 1 else f"{count:,} functions"


def legs(count: int) -> str:
    """Return "1 leg", "2 legs" and so on."""
    return "1 leg" if count == 1 else f"{count:,} legs"


def candidates(count: int) -> str:
    """Return "1 candidate", "2 candidates" and so on."""
    return "1 candidate" if count == 1 else f"{count:,} candidates"


def drop(reason: str, place: str, lost: bool) -> str:
    """Return a drop as text: "NO_SOCKET at icmp_rcv+0x1f4", and whether this lost the packet."""
    where = f"{reason} at {place}" if place else reason
    meaning = (
        "the packet was lost"
        if lost
        else "nothing was lost: a socket had already received the packet, or nobody needed it"
    )
    return f"{where}: {meaning}"


def leg_name(leg: Leg) -> str:
    """Return the name of a leg, such as "Sending, veth-c, netns 4026532177".

    If there are several logs, the leg's name begins with the name of its log. If the leg may belong
    to another packet, "candidate" precedes it.
    """
    words = [
        "candidate" if leg.match == "ambiguous" else "",
        leg.log,
        KIND_WORDS.get(leg.kind, leg.kind).capitalize(),
        leg.device,
    ]
    if leg.netns > 0:
        words.append(f"netns {leg.netns}")
    return ", ".join(word for word in words if word)


def whose(leg: Leg) -> str:
    """Return the row that a leg belongs to: "packet 25" or "kernel-only packet K1".

    If the leg's lifetime is not listed, the text is "lifetime 181".
    """
    if leg.packet is not None:
        return f"packet {leg.row}"
    return f"kernel-only packet {leg.row}" if leg.row else f"lifetime {leg.series}"


def leg_title(leg: Leg, behind: Behind | None = None) -> str:
    """Return a leg's heading: "Sending, veth-c, netns 4026532177: 38 functions, 217.3 µs".

    For a branch of the packet, such as a clone, its relation to the packet comes first.  With
    `behind`, the heading also says when the leg begins: "1.956 ms ± 632.4 µs after leg 1".
    """
    what = RELATION_WORDS.get(leg.relation, "").capitalize()
    what += f", {whose(leg)}: " if what else ""
    numbers = leg.note
    if leg.functions is not None:
        numbers = f"{functions(leg.functions)}, {duration(leg.kernel_ns)}"
    title = f"{leg_name(leg)}: {numbers}{addresses(leg.addresses, ', ')}"
    return f"{what}{title}{'' if behind is None else f', {begin(behind)}'}"


def addresses(pairs: Sequence[tuple[str, str]], before: str = "") -> str:
    """Return pairs of addresses as text: "10.9.1.2 → 10.9.2.2; …", after the text `before`.

    Returns "" if there are no pairs.
    """
    text = "; ".join(f"{source} → {target}" for source, target in pairs)
    return f"{before}{text}" if text else ""


def capture_text(leg: Leg, origin_ns: int) -> str:
    """Return a text: where and when a leg's packet was captured; "" if this is unknown.

    For example "as veth-c sent it, +12.000 µs to +14.250 µs", where the times count from
    `origin_ns`.
    """
    seen = leg.captured
    if seen is None:
        return ""
    after, before = (offset(ns - origin_ns) for ns in (seen.after_ns, seen.before_ns))
    return f"{seen.text}, {after} to {before}"


def begin(behind: Behind) -> str:
    """Return the time at which a leg begins, such as "1.956 ms ± 632.4 µs after leg 1"."""
    if behind.ns is None:
        return "offset from leg 1 unknown"
    error = f" ± {duration(behind.error_ns)}" if behind.error_ns else ""
    return f"{duration(behind.ns)}{error} after leg 1"


def wait_text(wait: Wait) -> str:
    """Return a wait as text, such as "waited 85.2 µs in the socket queue"."""
    if wait.what in WAITS:
        return f"waited {duration(wait.dur_ns)} {WAITS[wait.what]}"
    return f"{duration(wait.dur_ns)} {wait.what}"


def wait_title(wait: Wait, origin_ns: int) -> str:
    """Return the heading of a wait, such as "… +12.000 µs  waited 85.2 µs in the socket queue".

    The begin of the wait is relative to `origin_ns`.
    """
    return f"… {offset(wait.begin_ns - origin_ns)}  {wait_text(wait)}"


def event_title(event: PathEvent, origin_ns: int) -> str:
    """Return the heading of an event, such as "• +7.250 µs  drop NO_SOCKET at udp_rcv+0x1c".

    The event's time is relative to `origin_ns`.  If the packet caused the event, the heading is "•
    +3.100 µs  this packet caused: ...".
    """
    caused = "this packet caused: " if event.caused else ""
    return f"• {offset(event.ts_ns - origin_ns)}  {caused}{event.text}"


def event_details(event: PathEvent) -> tuple[str, ...]:
    """Return the lines below an event of another tracer's log: its sections and its call stack."""
    return (*event.details, *(f"by {by}" for by in event.stack)) if event.sections else ()


def _with_error(call: PathCall) -> str:
    error = f" ± {duration(call.comp_err_ns)}" if call.comp_err_ns else ""
    return duration(call.comp_ns) + error


def _steps(call: PathCall) -> str:
    """Return the executed instructions of a call; "" if none are known."""
    parts = (
        (call.executed, ""),
        (call.executed_self, " outside the calls inside"),
        (call.executed_probes, " of probes"),
    )
    return ", ".join(f"{number:,}{what}" for number, what in parts if number is not None)


def call_details(call: PathCall, origin_ns: int) -> tuple[tuple[str, str], ...]:
    """Return the facts about a call as (name, value); times are relative to `origin_ns`."""
    rows = (
        ("Called from", call.caller + ("  (tail call)" if call.tail_call else "")),
        ("Layer", call.layer),
        ("Entry", f"{offset(call.entry_ns - origin_ns)} since the first leg began"),
        ("Duration", duration(call.dur_ns) or "unknown: no exit"),
        ("Without probes", _with_error(call)),
        ("Self", duration(call.self_ns)),
        ("Steps", _steps(call)),
        ("Interrupts inside", duration(call.irq_ns) if call.irq_ns else ""),
        ("Switched out inside", duration(call.off_ns) if call.off_ns else ""),
        ("Hardware counter", "" if call.counter is None else f"{call.counter:,}"),
        ("CPU", f"{call.cpu}, {call.context}"),
        ("Task", f"{call.comm} [{call.pid}]" if call.comm else f"[{call.pid}]"),
        ("skb", f"0x{call.skb:016x}" if call.skb else ""),
        ("Socket", f"0x{call.sock:016x}" if call.sock else ""),
        ("Mark", f"0x{call.mark:x}" if call.mark else ""),
        ("Device", call.device),
        ("Note", call.note),
    )
    return tuple((what, value) for what, value in rows if value)
