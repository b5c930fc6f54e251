# SPDX-License-Identifier: MIT
"""Display filters made from cells of the kernel path."""

from __future__ import annotations

from collections.abc import Callable

from skbviewer.analysis.display_filter.filter_from_value import quote_text
from skbviewer.records import PathCall


def call_filter(title: str, call: PathCall) -> str:
    """Return the display filter for the cell in column `title` of a call.

    For a column without a filter of its own, the filter selects the call's function.
    """
    made = _CELLS.get(title, _function)(call)
    return made or _function(call)


def _function(call: PathCall) -> str:
    return f"kbl.func == {call.function}"


def _lasting(call: PathCall, field: str, ns: int | None) -> str:
    """Return a filter for calls of this function that took at least `ns`; "" if `ns` is None."""
    return "" if ns is None else f"call({_function(call)} && {field} >= {ns}ns)"


def _texts(field: str, value: str) -> str:
    return f"{field} == {quote_text(value)}" if value else ""


_CELLS: dict[str, Callable[[PathCall], str]] = {
    "Duration (µs)": lambda call: _lasting(call, "kbl.dur", call.dur_ns),
    "Self (µs)": lambda call: _lasting(call, "kbl.self", call.self_ns),
    "Caller": lambda call: _texts("kbl.caller", call.caller),
    "Layer": lambda call: _texts("kbl.layer", call.layer),
    "CPU": lambda call: f"kbl.cpu == {call.cpu}",
    "Context": lambda call: _texts("kbl.context", call.context),
    "Process": lambda call: f"kbl.pid == {call.pid}",
    "Device": lambda call: _texts("kbl.dev", call.device),
    "Packet": lambda call: f"kbl.skb == 0x{call.skb:x}" if call.skb else "",
}
