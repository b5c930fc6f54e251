# SPDX-License-Identifier: MIT
"""The small data types that everyone shares; imports nothing of this package."""

from .arrays import PACKET_DTYPE, RECORD_DTYPE, Packets, Records, empty
from .errors import BadInput, Cancelled
from .progress import Progress, Silent
from .resource import resource
from .rows import Leg, PacketPath, PacketRow, PathCall, SeriesRow, SourceRow, Wait
from .sources import Capture, ClockTriple, Interface, KernelLog, Probe

__all__ = [
    "PACKET_DTYPE",
    "RECORD_DTYPE",
    "BadInput",
    "Cancelled",
    "Capture",
    "ClockTriple",
    "Interface",
    "KernelLog",
    "Leg",
    "PacketPath",
    "PacketRow",
    "Packets",
    "PathCall",
    "Probe",
    "Progress",
    "Records",
    "SeriesRow",
    "Silent",
    "SourceRow",
    "Wait",
    "empty",
    "resource",
]
