# SPDX-License-Identifier: MIT
"""Source lines of code, from the tables .debug_aranges and .debug_line of an ELF file.

A kernel has thousands of compilation units.  Only the line programs of the compilation units with
the wanted code are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile


class SourceLine(NamedTuple):
    """A line of a source file; `file` is the path that was given to the compiler."""

    file: str
    line: int


class LineTable:
    """The source lines of the code in an ELF file."""

    def __init__(self, path: Path, present: bool) -> None:
        """Read the lines from the file `path` if it has debug information (`present`).

        The file is opened anew for each call of between().
        """
        self._path, self.present = path, present

    def between(self, begin: int, end: int) -> dict[int, SourceLine]:
        """Return the source lines whose code begins in [begin, end), by address, in order.

        Returns {} if there is no debug information for this code, or if it is damaged.
        """
        if not self.present:
            return {}
        try:
            with self._path.open("rb") as file:
                return _between(ELFFile(file).get_dwarf_info(), begin, end)
        except (OSError, ELFError, DWARFError, AssertionError, KeyError, ValueError):
            return {}


def _between(dwarf: Any, begin: int, end: int) -> dict[int, SourceLine]:
    ranges = dwarf.get_aranges()
    offset = ranges.cu_offset_at_addr(begin) if ranges is not None else None
    if offset is None:
        return {}
    program = dwarf.line_program_for_CU(dwarf.get_CU_at(offset))
    if program is None:
        return {}
    found: dict[int, SourceLine] = {}
    before = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and not before.end_sequence and before.line:
            # The line of a function's first instruction may begin before it.
            if begin <= before.address < end:
                found[before.address] = SourceLine(_file(program, before.file), before.line)
            elif before.address < begin < state.address:
                found[begin] = SourceLine(_file(program, before.file), before.line)
        before = state
    return dict(sorted(found.items()))


def _file(program: Any, number: int) -> str:
    header = program.header
    entry = header.file_entry[number - (0 if header.version >= 5 else 1)]
    at = entry.dir_index - (0 if header.version >= 5 else 1)
    folder = header.include_directory[at].decode(errors="replace") if at >= 0 else ""
    name: str = entry.name.decode(errors="replace")
    return name if not folder or name.startswith("/") else f"{folder}/{name}"
