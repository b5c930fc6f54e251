# SPDX-License-Identifier: MIT
"""Numbers as people read them; every time that comes in is integer ns."""

from __future__ import annotations

from skbviewer.records import Behind, Leg, PathCall, PathEvent, Wait

LEG_KIND = {"tx": "Sending", "rx": "Receiving", "forward": "Forwarding"}
RELATION = {
    "parent": "From packet life",
    "into": "Merged into packet life",
    "clone": "Clone, packet life",
    "merged": "Merged in, packet life",
}
QUEUES = {
    "socket queue": "in the socket queue",
    "softirq": "for softirq",
    "socket backlog": "in the socket backlog",
    "queue": "in a queue",
    "queueing discipline": "in the queueing discipline",
}
VERDICT = {
    "exact": "Exact match",
    "ambiguous": "Ambiguous match",
    "wire-only": "Wire only",
    "kernel-only": "Kernel only",
}


def duration(ns: int | None) -> str:
    """`ns` with the unit that suits it: "85 ns", "17.3 µs", "2.041 ms"; "" if unknown."""
    if ns is None:
        return ""
    for limit, divisor, unit, digits in (
        (1_000, 1, "ns", 0),
        (1_000_000, 1_000, "µs", 1),
        (1_000_000_000, 1_000_000, "ms", 3),
    ):
        if abs(ns) < limit:
            return f"{ns / divisor:.{digits}f} {unit}"
    return f"{ns / 1_000_000_000:.3f} s"


def microseconds(ns: int | None) -> str:
    """`ns` as a column of one unit: "217.312"; "" if unknown."""
    if ns is None:
        return ""
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000:,}.{abs(ns) % 1000:03d}"


def offset(ns: int) -> str:
    """How far behind an origin: "+7.250 µs"; before it "-0.829 µs"."""
    return f"{'' if ns < 0 else '+'}{microseconds(ns)} µs"


def seconds(ns: int) -> str:
    """`ns` as seconds with all nine digits, without passing through a float."""
    return f"{'-' if ns < 0 else ''}{abs(ns) // 10**9}.{abs(ns) % 10**9:09d}"


def functions(count: int) -> str:
    return "1 function" if count == 1 else f"{count:,} functions"


def legs(count: int) -> str:
    return "1 leg" if count == 1 else f"{count:,} legs"


def candidates(count: int) -> str:
    return "1 candidate" if count == 1 else f"{count:,} candidates"


def drop(reason: str, place: str, lost: bool) -> str:
    """ "NO_SOCKET at icmp_rcv+0x1f4", and what that means for the packet."""
    where = f"{reason} at {place}" if place else reason
    meaning = (
        "the packet was lost"
        if lost
        else "only a clone or leftover was freed; the packet itself was delivered"
    )
    return f"{where}: {meaning}"


def leg_name(leg: Leg) -> str:
    """ "Sending, veth-c, netns 4026532177"; where there are several logs with "server" in front.

    One that may be another packet's has "candidate" before.
    """
    words = [
        "candidate" if leg.match == "ambiguous" else "",
        leg.log,
        LEG_KIND.get(leg.kind, leg.kind),
        leg.device,
    ]
    if leg.netns > 0:
        words.append(f"netns {leg.netns}")
    return ", ".join(word for word in words if word)


def leg_title(leg: Leg, behind: Behind | None = None) -> str:
    """ "Sending, veth-c, netns 4026532177: 38 functions, 217.3 µs"; before a branch what it is.

    `behind` tells where there are legs of several logs: "1.956 ms ± 632.4 µs after leg 1".
    """
    what = f"{RELATION[leg.relation]} {leg.series}: " if leg.relation in RELATION else ""
    numbers = leg.note
    if leg.functions is not None:
        numbers = f"{functions(leg.functions)}, {duration(leg.kernel_ns)}"
    told = f"{leg_name(leg)}: {numbers}"
    return f"{what}{told}{'' if behind is None else f', {begin(behind)}'}"


def captured(leg: Leg, origin_ns: int) -> str:
    """ "as veth-c sent it, +12.000 µs to +14.250 µs", relative to `origin_ns`; "" if unknown."""
    seen = leg.captured
    if seen is None:
        return ""
    after, before = (offset(ns - origin_ns) for ns in (seen.after_ns, seen.before_ns))
    return f"{seen.text}, {after} to {before}"


def begin(behind: Behind) -> str:
    """When a leg begins: "1.956 ms ± 632.4 µs after leg 1"."""
    if behind.ns is None:
        return "offset from leg 1 unknown"
    error = f" ± {duration(behind.error_ns)}" if behind.error_ns else ""
    return f"{duration(behind.ns)}{error} after leg 1"


def wait_title(wait: Wait, origin_ns: int) -> str:
    """ "… +12.000 µs  waited 85.2 µs in the socket queue"."""
    took = duration(wait.dur_ns)
    told = f"waited {took} {QUEUES[wait.what]}" if wait.what in QUEUES else f"{took} {wait.what}"
    return f"… {offset(wait.begin_ns - origin_ns)}  {told}"


def event_title(event: PathEvent, origin_ns: int) -> str:
    """ "• +7.250 µs  drop NO_SOCKET at udp_rcv+0x1c", "• +3.100 µs  this packet caused: ..."."""
    caused = "this packet caused: " if event.caused else ""
    return f"• {offset(event.ts_ns - origin_ns)}  {caused}{event.text}"


def _with_error(call: PathCall) -> str:
    error = f" ± {duration(call.comp_err_ns)}" if call.comp_err_ns else ""
    return duration(call.comp_ns) + error


def call_details(call: PathCall, origin_ns: int) -> tuple[tuple[str, str], ...]:
    """Everything known of a call as (what, value); entry relative to `origin_ns`."""
    rows = (
        ("Called from", call.caller + ("  (tail call)" if call.tail_call else "")),
        ("Layer", call.layer),
        ("Entry", offset(call.entry_ns - origin_ns)),
        ("Duration", duration(call.dur_ns) or "unknown: no exit"),
        ("Without probes", _with_error(call)),
        ("Self", duration(call.self_ns)),
        ("Interrupts inside", duration(call.irq_ns) if call.irq_ns else ""),
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
