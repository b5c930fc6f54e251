# SPDX-License-Identifier: MIT
"""A kernel as an ELF file: its code, its symbols if it has any, and what identifies its build.

Addresses are those at which the kernel was linked; KASLR moves it at boot.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from ...records import BadInput
from .line_table import LineTable, SourceLine
from .vmlinuz import elf_in_bzimage, is_vmlinuz

BEGINNING = 0x250  # bytes that distinguish the formats
NO_BITS, ALLOCATED, EXECUTABLE = "SHT_NOBITS", 2, 4  # sh_type, sh_flags
FUNCTION, NO_TYPE = 2, 0  # st_info & 15
# A kernel may contain a second such text, which has no number of the build ("#1").
BANNER = re.compile(rb"Linux version (\d[^\0\n]{8,500}#\d[^\0\n]{0,200})\n\0")
SYMBOL = np.dtype(
    [("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("value", "u8"),
     ("size", "u8")]
)  # fmt: skip


class Symbols(NamedTuple):
    """Symbols in code, by address; `addresses` and `sizes` (0 = not stated) are uint64."""

    addresses: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.uint64]
    names: tuple[str, ...]


class Section(NamedTuple):
    """A section of code that begins at address `begin`; `data` is None if its bytes are missing."""

    begin: int
    size: int
    data: bytes | None


class KernelImage(NamedTuple):
    """A kernel's code and symbols.

    `machine` is ELF's name, such as EM_X86_64; `banner` is "" if the file has none; `stext` is the
    address of _stext.
    """

    path: Path
    machine: str
    stext: int
    banner: str
    code: tuple[Section, ...]
    symbols: Symbols
    lines: LineTable

    def bytes_at(self, begin: int, end: int) -> bytes:
        """Return the code from `begin` to `end`.

        Returns fewer bytes if the section ends before `end`, and b"" if there is no code at
        `begin`.
        """
        for section in self.code:
            if section.begin <= begin < section.begin + section.size:
                at = begin - section.begin
                return (section.data or b"")[at : at + end - begin]
        return b""


def read_image(path: Path) -> KernelImage:
    """Read a vmlinux, or the vmlinux in a vmlinuz.  Raises BadInput if the file cannot be read."""
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
            file.seek(0)
            if is_vmlinuz(beginning):
                return _read(BytesIO(elf_in_bzimage(file.read(), path)), path)
            if not beginning.startswith(b"\x7fELF"):
                raise BadInput(path, 0, "is not a kernel image: expected a vmlinux or a vmlinuz")
            return _read(file, path)
    except OSError as error:
        raise BadInput(path, None, error.strerror or str(error)) from error


def _read(file: BinaryIO, path: Path) -> KernelImage:
    try:
        elf = ELFFile(file)
        if elf.elfclass != 64 or not elf.little_endian:
            raise BadInput(path, 4, "is not a 64-bit little-endian ELF file")
        code = tuple(
            Section(one["sh_addr"], one["sh_size"], None if _is_empty(one) else one.data())
            for one in elf.iter_sections()
            if one["sh_flags"] & EXECUTABLE and one["sh_flags"] & ALLOCATED
        )
        if not code:
            raise BadInput(path, None, "has no code")
        symbols, stext = _symbols(elf, code)
        lines = LineTable(path, elf.get_section_by_name(".debug_line") is not None)
        return KernelImage(path, elf["e_machine"], stext, _banner(elf), code, symbols, lines)
    except (ELFError, ValueError) as error:
        raise BadInput(path, None, f"is no whole ELF file: {error}") from error


def _is_empty(section: object) -> bool:
    return bool(section["sh_type"] == NO_BITS)  # type: ignore[index]


def _banner(elf: ELFFile) -> str:
    """Return the text after "Linux version" in the read-only data; "" if there is none."""
    section = elf.get_section_by_name(".rodata")
    found = BANNER.search(section.data()) if section is not None else None
    return found[1].decode("ascii", "replace") if found else ""


def _symbols(elf: ELFFile, code: tuple[Section, ...]) -> tuple[Symbols, int]:
    """Return the symbols in `code`, and the address of _stext.

    If the file has no symbols, the second result is the address at which .text begins.
    """
    text = elf.get_section_by_name(".text")
    stext = text["sh_addr"] if text is not None else min(section.begin for section in code)
    table = elf.get_section_by_name(".symtab")
    if table is None:
        nothing = np.empty(0, np.uint64)
        return Symbols(nothing, nothing, ()), stext
    rows = np.frombuffer(table.data(), SYMBOL)
    names = elf.get_section(table["sh_link"]).data()
    kept = np.zeros(len(rows), np.bool_)
    for section in code:
        kept |= (rows["value"] >= section.begin) & (rows["value"] < section.begin + section.size)
    kept &= np.isin(rows["info"] & 15, (FUNCTION, NO_TYPE)) & (rows["section"] != 0)
    rows = rows[kept]
    # Of several names for one address, a function's comes first.
    rows = rows[np.lexsort(((rows["info"] & 15) != FUNCTION, rows["value"]))]
    texts = tuple(names[at : names.index(b"\0", at)].decode() for at in rows["name"].tolist())
    if "_stext" in texts:
        stext = int(rows["value"][texts.index("_stext")])
    return Symbols(rows["value"].copy(), rows["size"].copy(), texts), stext


__all__ = ["KernelImage", "Section", "SourceLine", "Symbols", "read_image"]
