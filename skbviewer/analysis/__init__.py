# SPDX-License-Identifier: MIT
"""What the matched records mean: calls, layers, paths and the words for them."""

from .calls import build as build_calls
from .info import address, describe, known, mac
from .ingest import Input, store_inputs
from .layers import LayerStyle, layer_of, layers
from .path import Names, legs, names_of
from .reasons import VERDICTS, reason

__all__ = [
    "VERDICTS",
    "Input",
    "LayerStyle",
    "Names",
    "address",
    "build_calls",
    "describe",
    "known",
    "layer_of",
    "layers",
    "legs",
    "mac",
    "names_of",
    "reason",
    "store_inputs",
]
