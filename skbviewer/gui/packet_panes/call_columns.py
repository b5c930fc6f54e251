# SPDX-License-Identifier: MIT
"""The columns of the kernel path.  A new column needs only a line in this table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import Qt

from skbviewer.records import Leg, PathCall

from ..base import wording
from ..packets.packet_columns import LEFT, RIGHT


class CallColumn(NamedTuple):
    """A column: title, text for a call, alignment, a sample text that sets the width, tooltip."""

    title: str
    value: Callable[[Leg, PathCall], str]
    align: Qt.AlignmentFlag
    sample: str
    tip: str = ""


def _function(leg: Leg, call: PathCall) -> str:
    return call.titled


def _caller(leg: Leg, call: PathCall) -> str:
    return f"{call.caller} (tail call)" if call.tail_call else call.caller


def _entry(leg: Leg, call: PathCall) -> str:
    return wording.microseconds(call.entry_ns - leg.zero_ns)


def _duration(leg: Leg, call: PathCall) -> str:
    return "no exit" if call.dur_ns is None else wording.microseconds(call.dur_ns)


def _count(leg: Leg, call: PathCall) -> str:
    return "" if call.counter is None else f"{call.counter:,}"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _interrupts(leg: Leg, call: PathCall) -> str:
    return wording.microseconds(call.irq_ns) if call.irq_ns else ""


def _process(leg: Leg, call: PathCall) -> str:
    return f"{call.comm} [{call.pid}]" if call.pid else "idle"


FUNCTION, COMPENSATED, LAYER, COUNT = 0, 4, 9, 12
STEPS = range(5, 8)  # columns of executed instructions
CALL_COLUMNS = (
    CallColumn("Function", _function, LEFT, "__netif_receive_skb_one_core"),
    CallColumn(
        "Entry (µs)",
        _entry,
        RIGHT,
        "Entry (µs) ",
        "Start of the call, relative to the start of the packet's first leg",
    ),
    CallColumn("Duration (µs)", _duration, RIGHT, "Duration (µs) ", "From entry to exit"),
    CallColumn(
        "Self (µs)",
        lambda leg, call: wording.microseconds(call.self_ns),
        RIGHT,
        "Self (µs)  ",
        "Duration of the call minus its inner calls, minus interrupts, and minus the time in which "
        "the thread was switched out; inner calls for other packets are subtracted, too",
    ),
    CallColumn(
        "Without probes (µs)",
        lambda leg, call: wording.microseconds(call.comp_ns),
        RIGHT,
        "Without probes (µs)",
        "Duration of the call minus the cost of the probes",
    ),
    CallColumn(
        "Steps",
        lambda leg, call: _number(call.executed),
        RIGHT,
        "1,000,000 ",
        "Instructions of the kernel that the call executed, inner calls included",
    ),
    CallColumn(
        "Self Steps",
        lambda leg, call: _number(call.executed_self),
        RIGHT,
        "Self Steps ",
        "Instructions of the kernel that the call executed outside its recorded inner calls",
    ),
    CallColumn(
        "Probe Steps",
        lambda leg, call: _number(call.executed_probes),
        RIGHT,
        "Probe Steps ",
        "Instructions of the probes that the call executed, inner calls included",
    ),
    CallColumn("Caller", _caller, LEFT, "__local_bh_enable_ip+0x00"),
    CallColumn("Layer", lambda leg, call: call.layer, LEFT, "netfilter mm"),
    CallColumn("CPU", lambda leg, call: str(call.cpu), RIGHT, "CPU 0"),
    CallColumn("Context", lambda leg, call: call.context, LEFT, "Context 0"),
    CallColumn("Count", _count, RIGHT, "1,000,000 "),
    CallColumn(
        "Interrupts (µs)",
        _interrupts,
        RIGHT,
        "Interrupts (µs) ",
        "Time of interrupts during the call, inner calls included",
    ),
    CallColumn("Process", _process, LEFT, "kworker/u4:0 [100]"),
    CallColumn("Device", lambda leg, call: call.device, LEFT, "veth0 mm"),
    CallColumn("Packet", lambda leg, call: f"0x{call.skb:x}", LEFT, "0xffff888003a1c500 "),
)
UNUSUAL = ("Interrupts (µs)", "Process", "Device", "Packet")  # hidden by default
