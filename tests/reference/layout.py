# SPDX-License-Identifier: MIT
"""The generated layout of records, read as a file, and its structs for Python's struct module."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path
from typing import Any, ClassVar

LAYOUT = runpy.run_path(
    str(Path(__file__).parents[2] / "skbviewer/records/kbl_layout.py"), run_name="layout"
)
KIND, EVENT, CHUNK, EXT = (
    LAYOUT[name] for name in ("KblKind", "KblEvent", "KblChunkType", "KblExtType")
)
SIZE = LAYOUT["KBL_SLOT_SIZE"]
SOCK, OPEN, RETURNS_SKB, NULL_SKB = (
    LAYOUT[f"KBL_FLAG_{name}"] for name in ("SOCK", "OPEN", "SKB_IS_RET", "NULL_SKB")
)
LONG = 0xFFFFFFFF  # the duration is in KBL_EXT_CALL
UNREAD = LAYOUT["KBL_FLAG_EXT_LOST"]
NO_CALLER, MODULE_CALLER = (LAYOUT[f"KBL_FLAG_{name}"] for name in ("NO_CALLER", "MODULE_CALLER"))
FULL = LAYOUT["KblLost"].BUFFER


class Struct:
    """A struct of the layout, as Python's struct module reads it."""

    CODES: ClassVar = dict(
        zip(("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"), "BHIQbhiq", strict=True)
    )

    def __init__(self, name: str) -> None:
        dtype = LAYOUT[name]
        self.names = dtype.names
        codes = ""
        for each in self.names:
            base, shape = dtype[each].base, dtype[each].shape
            if base.kind == "S":
                codes += f"{base.itemsize}s"
            elif shape:
                codes += f"{base.itemsize * shape[0]}s"
            else:
                codes += self.CODES[f"{base.kind}{base.itemsize}"]
        self._struct = struct.Struct("<" + codes)
        self.size = self._struct.size

    def at(self, data: bytes, begin: int) -> dict[str, Any]:
        """Return its members, at a place of the file."""
        return dict(zip(self.names, self._struct.unpack_from(data, begin), strict=True))


HEADER, CHUNK_HEADER = Struct("KBL_FILE_HEADER"), Struct("KBL_CHUNK_HEADER")
ENTRY_SLOT, SPAN, EVENT_SLOT, LOST_SLOT = (
    Struct(f"KBL_{name}_SLOT") for name in ("CALL", "SPAN", "EVENT", "LOST")
)
RETURNED, COMM, PROBE, COST, SYMBOL, SKB, COUNTER, DEVICE, COUNTERS, CLOCK, V4, V6, V6_L4 = (
    Struct(f"KBL_{name}")
    for name in (
        "EXT_CALL",
        "EXT_COMM",
        "PROBE",
        "CALIBRATION",
        "SYMBOL",
        "EXT_SKB",
        "EXT_COUNTER",
        "DEVICE",
        "COUNTERS",
        "CLOCK",
        "EXT_IPV4",
        "EXT_IPV6",
        "EXT_IPV6_L4",
    )
)
