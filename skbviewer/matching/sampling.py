# SPDX-License-Identifier: MIT
"""How a kernel log was sampled, and which packets the recorder left out.

Input: the META of a kernel log, and packets.  Output: a Sample, and flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..records import Packets
from ..records.types import Bools
from .arrays.array_blocks import blocks
from .connection_sample import connection_left_out
from .packet_sample import packet_left_out


class Sample(NamedTuple):
    """What a recorder kept: one connection in `rate`, chosen by a hash with `seed`.

    With `of_packets`, the recorder kept one packet in `rate`.  `sound` is False if packets were
    segmented, merged or rewritten during the recording, or could have been, so that the log may
    lack any packet.
    """

    rate: int
    seed: int
    of_packets: bool = False
    sound: bool = True


def sample_of(meta: Mapping[str, str]) -> Sample | None:
    """Return how a log with the META `meta` was sampled; None: it has all packets."""
    of_packets = "sample.packets" in meta
    rate = meta.get("sample.packets" if of_packets else "sample.rate", "")
    seed = meta.get("sample.seed", "0")
    if not (rate.isdecimal() and seed.isdecimal() and 0 < int(rate) < 1 << 32 > int(seed)):
        return None
    sound = not of_packets or meta.get("counters.sample_broken") == "0"
    return Sample(int(rate), int(seed), of_packets, sound)


def is_left_out(packets: Packets, sample: Sample) -> Bools:
    """Return for each packet whether `sample` leaves it out; False if that is unknown."""
    made = np.zeros(len(packets), np.bool_)
    left_out = packet_left_out if sample.of_packets else connection_left_out
    for some in blocks(len(packets)):
        made[some] = left_out(packets, some, sample.rate, sample.seed)
    return made
