# SPDX-License-Identifier: MIT
"""The meaning of matched records: calls, layers and paths, and the words for them."""

from importlib import import_module
from typing import TYPE_CHECKING

from .event_text import EventFacts, event_text, event_word
from .info import address, describe, ends, known, mac
from .layers import LayerStyle, layer_of, layers
from .names import Names, names_in, names_of
from .reasons import VERDICTS, reason, series_reason

if TYPE_CHECKING:
    from .calls import build as build_calls
    from .ingest import Input, Unread, store_inputs
    from .path import captured, legs

__all__ = [
    "VERDICTS",
    "EventFacts",
    "Input",
    "LayerStyle",
    "Names",
    "Unread",
    "address",
    "build_calls",
    "captured",
    "describe",
    "ends",
    "event_text",
    "event_word",
    "known",
    "layer_of",
    "layers",
    "legs",
    "mac",
    "names_in",
    "names_of",
    "reason",
    "series_reason",
    "store_inputs",
]


# Code that reads a session and code that makes one do not need each other's modules.
_LATER = {
    "Input": (".ingest", "Input"),
    "Unread": (".ingest", "Unread"),
    "build_calls": (".calls", "build"),
    "captured": (".path", "captured"),
    "legs": (".path", "legs"),
    "store_inputs": (".ingest", "store_inputs"),
}


def __getattr__(name: str) -> object:
    """Import names of _LATER when they are first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, inside = _LATER[name]
    return getattr(import_module(module, __name__), inside)
