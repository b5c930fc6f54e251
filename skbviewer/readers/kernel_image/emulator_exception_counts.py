# SPDX-License-Identifier: MIT
"""Read how often each exception occurred, from a file that the emulator's plugin wrote."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .emulator_file import read_rows

NAME_WORD = 4  # of a row: its name begins here
ENTRY = "asm_"  # names of entries begin so


class ExceptionCount(NamedTuple):
    """How often an exception or interrupt interrupted the kernel, the probes, and programs.

    `name` is the name of its entry in the kernel, without "asm_", for example "exc_page_fault".
    """

    name: str
    kernel: int
    probes: int
    programs: int


def read_exceptions(path: Path) -> list[ExceptionCount]:
    """Return all exceptions that the guest named, in file order; version 1 has none.

    Raises BadInput if the file cannot be read or is damaged.
    """
    return [
        ExceptionCount(_name(row[NAME_WORD:].tobytes()), *row[1:NAME_WORD].tolist())
        for row in read_rows(path, "exceptions").words
    ]


def _name(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("ascii", "replace").removeprefix(ENTRY)
