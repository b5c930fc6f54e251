# SPDX-License-Identifier: MIT
"""The width of a text in the bundled font, from the font's own tables (OpenType). No Qt.

Pictures wrap their texts by this width, so that a table of the texts in a picture needs no Qt.
"""

from __future__ import annotations

import struct
from functools import cache

from skbviewer.records.resource_files import resource

FONT = "fonts/DejaVuSans.ttf"
FULL_RANGE = 12  # format of a character map with all of Unicode


def text_width(text: str, pixels: int) -> float:
    """Return the width in pixels of `text` in the bundled font with a size of `pixels` pixels.

    Kerning is ignored.  A character that the font lacks is as wide as a square.
    """
    widths = _widths()
    return sum(widths.get(ord(letter), 1.0) for letter in text) * pixels


@cache
def _widths() -> dict[int, float]:
    """Return the advance width of each character, as a fraction of the font's size."""
    data = resource(FONT).read_bytes()
    tables = _tables(data)
    (unit,) = struct.unpack_from(">H", data, tables[b"head"] + 18)
    (count,) = struct.unpack_from(">H", data, tables[b"hhea"] + 34)
    pairs = struct.unpack_from(f">{2 * count}H", data, tables[b"hmtx"])
    advances = pairs[::2]  # the last one holds for all further glyphs
    found = _glyphs(data, tables[b"cmap"]).items()
    return {code: advances[min(glyph, count - 1)] / unit for code, glyph in found}


def _tables(data: bytes) -> dict[bytes, int]:
    (count,) = struct.unpack_from(">H", data, 4)
    rows = (struct.unpack_from(">4sIII", data, 12 + 16 * at) for at in range(count))
    return {name: offset for name, _, offset, _ in rows}


def _glyphs(data: bytes, cmap: int) -> dict[int, int]:
    """Return the glyph number of each character."""
    (count,) = struct.unpack_from(">H", data, cmap + 2)
    maps = (cmap + struct.unpack_from(">I", data, cmap + 8 + 8 * at)[0] for at in range(count))
    at = next(at for at in maps if struct.unpack_from(">H", data, at)[0] == FULL_RANGE)
    (groups,) = struct.unpack_from(">I", data, at + 12)
    found: dict[int, int] = {}
    for group in range(groups):
        first, last, glyph = struct.unpack_from(">III", data, at + 16 + 12 * group)
        found |= {code: glyph + code - first for code in range(first, last + 1)}
    return found
