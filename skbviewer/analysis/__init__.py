# SPDX-License-Identifier: MIT
"""What the matched records mean: calls, layers, paths and the words for them."""

from .calls import build as build_calls
from .event_text import Told, event_text, event_word
from .info import address, describe, known, mac
from .ingest import Input, store_inputs
from .layers import LayerStyle, layer_of, layers
from .names import Names, names_in, names_of
from .path import legs
from .reasons import VERDICTS, reason, series_reason

__all__ = [
    "VERDICTS",
    "Input",
    "LayerStyle",
    "Names",
    "Told",
    "address",
    "build_calls",
    "describe",
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
