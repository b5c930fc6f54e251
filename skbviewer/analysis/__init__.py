# SPDX-License-Identifier: MIT
"""The meaning of matched records: calls, layers and paths, and the words for them."""

from importlib import import_module
from typing import TYPE_CHECKING

from .words.event_text import EventFacts, event_text, event_word
from .words.function_layers import LayerStyle, layer_of, layers
from .words.kernel_log_names import Names, names_in, names_of
from .words.packet_info import address, describe, ends, mac, or_none
from .words.verdict_reasons import VERDICTS, reason, series_reason

if TYPE_CHECKING:
    from .calls.call_building import build as build_calls
    from .packet_path import as_captured, legs

__all__ = [
    "VERDICTS",
    "EventFacts",
    "LayerStyle",
    "Names",
    "address",
    "as_captured",
    "build_calls",
    "describe",
    "ends",
    "event_text",
    "event_word",
    "layer_of",
    "layers",
    "legs",
    "mac",
    "names_in",
    "names_of",
    "or_none",
    "reason",
    "series_reason",
]


# Code that reads a session does not need the modules of code that makes one, and vice versa.
_LATER = {
    "build_calls": (".calls.call_building", "build"),
    "as_captured": (".packet_path", "as_captured"),
    "legs": (".packet_path", "legs"),
}


def __getattr__(name: str) -> object:
    """Import a name that `_LATER` lists when the name is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, inside = _LATER[name]
    return getattr(import_module(module, __name__), inside)
