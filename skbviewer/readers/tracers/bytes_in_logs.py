# SPDX-License-Identifier: MIT
"""The bytes of the packets in logs; the bytes for the last few logs are cached."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from ...records import Progress
from ...records.types import UInt8s
from ..input_file import Source
from .point_columns import PointPackets
from .retis import retis_packets, retis_points

KEPT = 2

Key = tuple[Path, int, int]

_kept: OrderedDict[Key, UInt8s] = OrderedDict()
_points: dict[Key, PointPackets] = {}
_lock = threading.Lock()


def packets_in(path: Path, plain: UInt8s, progress: Progress) -> UInt8s:
    """Return the bytes of all packets in a retis log; `plain` is the decompressed log.

    Caches the results of the last few logs.  Raises BadInput if the file is no longer a retis log;
    raises Cancelled.
    """
    key = _key(path)
    with _lock:
        if key not in _kept:
            _kept[key] = retis_packets(Source(path, len(plain), None, plain), progress)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        return _kept[key]


def points_in(path: Path, plain: UInt8s, progress: Progress) -> PointPackets:
    """Return the packets of all points of a retis log; those of the last log are cached.

    packets_in() explains `plain` and the errors.
    """
    key = _key(path)
    with _lock:
        if key not in _points:
            _points.clear()
            _points[key] = retis_points(Source(path, len(plain), None, plain), progress)
        return _points[key]


def _key(path: Path) -> Key:
    found = path.stat()
    return path, found.st_size, found.st_mtime_ns
