# SPDX-License-Identifier: MIT
"""Read how often each exception occurred, and how long, from a file of the emulator's plugin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .emulator_file import read_rows

NAME_WORDS = 6  # at the end of a row
ENTRY = "asm_"  # names of entries begin so


class ExceptionCount(NamedTuple):
    """How often an exception or interrupt interrupted the kernel, the probes, and programs.

    `name` is the name of its entry in the kernel, without "asm_", for example "exc_page_fault".
    `returned` is how often it returned before another thread ran.  Meanwhile, the kernel executed
    `steps` instructions in total, and `longest` the longest time; instructions of probes do not
    count, those of interrupts inside do.  All three are None if an older plugin wrote the file.
    """

    name: str
    kernel: int
    probes: int
    programs: int
    returned: int | None = None
    steps: int | None = None
    longest: int | None = None

    def total(self) -> int:
        """Return how often it occurred."""
        return self.kernel + self.probes + self.programs


def read_exceptions(path: Path) -> list[ExceptionCount]:
    """Return all exceptions that the guest named, in file order; version 1 has none.

    Raises BadInput if the file cannot be read or is damaged.
    """
    return [
        ExceptionCount(_name(row[-NAME_WORDS:].tobytes()), *row[1:-NAME_WORDS].tolist())
        for row in read_rows(path, "exceptions").words
    ]


def _name(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("ascii", "replace").removeprefix(ENTRY)
