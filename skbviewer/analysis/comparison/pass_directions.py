# SPDX-License-Identifier: MIT
"""What each pass does: it sends, receives or forwards its packet, or it is a sniffer's copy.

Only the first three are passes of the packet itself.  How many copies there are depends on how many
sniffers ran.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from ..stats import Scope
from ..stats.stages import sniffed_legs

WORDS = ("sent", "received", "forwarded", "copies")  # the first three as LEG_KINDS
DOING = ("sending", "receiving", "forwarding", "copying")
NAMES = (*(f"{word} packets" for word in WORDS[:3]), "copies for sniffers")
COPIES = 3


def directions(scope: Scope) -> Int64s:
    """Return for each leg of the session the index of its direction in WORDS."""
    return np.where(sniffed_legs(scope), COPIES, scope.of_leg("kind"))
