# SPDX-License-Identifier: MIT
"""The direction of each pass: sent, received or forwarded, or a copy for a sniffer.

Copies for sniffers are not passes of the packet itself.  The number of copies depends on how many
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
    """Return for each leg of the session whether it is chosen and is not a copy for a sniffer."""
    chosen = np.flatnonzero(scope.legs)
    found = np.zeros(len(scope.legs), np.bool_)
    found[chosen] = ~sniffed_legs(scope, chosen)
    return found


def directions(scope: Scope) -> Int64s:
    """Return for each leg of the session its direction, as an index of WORDS."""
    kind = scope.of_leg("kind")
    return np.where(sniffed_legs(scope, np.arange(len(kind))), COPIES, kind)
