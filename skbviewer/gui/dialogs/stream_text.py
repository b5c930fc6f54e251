# SPDX-License-Identifier: MIT
"""The data of a stream as text: characters, a hex dump or C arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from skbviewer.analysis.streams.stream_payload import Piece

LINE = 16


class Form(Enum):
    """The form in which bytes are written; each value is the word that the window shows."""

    ASCII = "ASCII"
    UTF8 = "UTF-8"
    HEX = "Hex dump"
    C_ARRAY = "C arrays"


class SideText(NamedTuple):
    """Data that one side (0 or 1) of a stream sent in one packet, as text."""

    side: int
    packet: int
    text: str


def side_texts(pieces: Iterable[Piece], form: Form, side: int | None = None) -> Iterator[SideText]:
    """Yield the data of a stream as texts; if `side` is 0 or 1, only the data of that side.

    `form` says how bytes are written: as characters, as a hex dump, or as C arrays.
    """
    at = [0, 0]
    for number, piece in enumerate(pieces):
        offset = at[piece.side] + piece.missing
        at[piece.side] = offset + len(piece.data)
        if side is not None and piece.side != side:
            continue
        hole = f"[{piece.missing:,} bytes missing]\n" if piece.missing else ""
        text = _text(piece, form, offset, number)
        yield SideText(piece.side, piece.packet, f"\n{hole}{text}" if hole else text)


def _text(piece: Piece, form: Form, offset: int, number: int) -> str:
    if form is Form.ASCII:
        return "".join(
            chr(b) if 32 <= b < 127 or b in (9, 10) else "" if b == 13 else "." for b in piece.data
        )
    if form is Form.UTF8:
        return piece.data.decode("utf-8", "replace").replace("\r\n", "\n")
    if form is Form.HEX:
        return "".join(_hex_lines(piece.data, offset, "    " * piece.side))
    body = ",\n".join(
        ", ".join(f"0x{b:02x}" for b in piece.data[i : i + 8]) for i in range(0, len(piece.data), 8)
    )
    return f"char peer{piece.side}_{number}[] = {{ /* Packet {piece.packet} */\n{body} }};\n"


def _hex_lines(data: bytes, offset: int, indent: str) -> Iterator[str]:
    for begin in range(0, len(data), LINE):
        part = data[begin : begin + LINE]
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        yield f"{indent}{offset + begin:08x}  {part.hex(' '):<47}  {shown}\n"
