# SPDX-License-Identifier: MIT
"""The small data types that everyone shares; imports nothing of this package."""

from .annotations import Annotation, NotePlace
from .arrays import (
    CHANGE_DTYPE,
    DROP_DTYPE,
    FOOTPRINT,
    FRAME_DTYPE,
    IDENTITY_DTYPE,
    PACKET_CUT,
    PACKET_DTYPE,
    PACKET_MALFORMED,
    RECORD_DTYPE,
    SYSCALL_DTYPE,
    Table,
    empty,
)
from .columns import (
    FOOTPRINT_DTYPE,
    ColumnTable,
    Packets,
    Records,
    RecordTable,
    no_footprints,
    part,
    pick,
)
from .errors import BadInput, Cancelled
from .progress import Progress, Silent
from .resource import resource
from .rows import (
    OUTSIDE,
    Leg,
    PacketPath,
    PacketRow,
    PathCall,
    PathEvent,
    SeriesRow,
    SourceRow,
    Wait,
)
from .sources import Calibration, Capture, ClockTriple, Details, Interface, KernelLog, Probe

__all__ = [
    "CHANGE_DTYPE",
    "DROP_DTYPE",
    "FOOTPRINT",
    "FOOTPRINT_DTYPE",
    "FRAME_DTYPE",
    "IDENTITY_DTYPE",
    "OUTSIDE",
    "PACKET_CUT",
    "PACKET_DTYPE",
    "PACKET_MALFORMED",
    "RECORD_DTYPE",
    "SYSCALL_DTYPE",
    "Annotation",
    "BadInput",
    "Calibration",
    "Cancelled",
    "Capture",
    "ClockTriple",
    "ColumnTable",
    "Details",
    "Interface",
    "KernelLog",
    "Leg",
    "NotePlace",
    "PacketPath",
    "PacketRow",
    "Packets",
    "PathCall",
    "PathEvent",
    "Probe",
    "Progress",
    "RecordTable",
    "Records",
    "SeriesRow",
    "Silent",
    "SourceRow",
    "Table",
    "Wait",
    "empty",
    "no_footprints",
    "part",
    "pick",
    "resource",
]
