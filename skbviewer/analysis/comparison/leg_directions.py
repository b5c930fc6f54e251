# SPDX-License-Identifier: MIT
"""What each pass does: it sends, receives or forwards its packet, or it is a sniffer's copy.

Only the first three are passes of the packet itself.  How many copies there are depends on how many
sniffers ran.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from ..stats import Scope
from ..stats.leg_stages import sniffed_legs

WORDS = ("sent", "received", "forwarded", "copies")  # the first three as LEG_KINDS
DOING = ("sending", "receiving", "forwarding", "copying")
NAMES = (*(f"{word} packets" for word in WORDS[:3]), "copies for sniffers")
COPIES = 3


def own_passes(scope: Scope) -> Bools:
    """Return for each leg of the session whether it is chosen, and no sniffer's copy."""
    chosen = np.flatnonzero(scope.legs)
    found = np.zeros(len(scope.legs), np.bool_)
    found[chosen] = ~sniffed_legs(scope, chosen)
    return found


def directions(scope: Scope) -> Int64s:
    """Return for each leg of the session the index of its direction in WORDS."""
    kind = scope.of_leg("kind")
    return np.where(sniffed_legs(scope, np.arange(len(kind))), COPIES, kind)
