# SPDX-License-Identifier: MIT
"""The packet bytes that logs hold; those of the last few logs are kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from ...records import Progress
from ...records.types import UInt8s
from ..source import Source
from .retis import retis_packets

KEPT = 2

_kept: OrderedDict[tuple[Path, int, int], UInt8s] = OrderedDict()
_lock = threading.Lock()


def packets_in(path: Path, plain: UInt8s, progress: Progress) -> UInt8s:
    """The bytes of all packets in a retis log, whose decompressed contents are `plain`.

    Raises BadInput if it is no such log any more, and Cancelled.
    """
    found = path.stat()
    key = (path, found.st_size, found.st_mtime_ns)
    with _lock:
        if key not in _kept:
            _kept[key] = retis_packets(Source(path, len(plain), None, plain), progress)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        return _kept[key]
