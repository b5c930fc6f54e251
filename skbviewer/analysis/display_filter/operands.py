# SPDX-License-Identifier: MIT
"""The values of a field, after the slice, function and mask of the filter have been applied."""

from __future__ import annotations

import numpy as np

from ..fields.field_definition import Kind, Values, known_column
from ..fields.field_source_tables import Array, View
from ..fields.packet_byte_fields import lengths, numbers, progress_of
from ..fields.packet_fields import is_eth
from .checked_filter import Operand, Parts

SIZES = {Kind.ETHER: 6, Kind.IPV4: 4, Kind.IPV6: 16}
WHOLE = 7  # most bytes that fit in a positive int64


def is_scanned(of: Operand) -> bool:
    """Return whether the bytes of the operand `of` must be read from each packet separately.

    The result is False, for example, if the bytes are one number at a fixed position.
    """
    if of.field.kind not in (Kind.PROTOCOL, Kind.BYTES) or of.function == "len":
        return False
    return of.parts is not None and (of.width is None or of.width > WHOLE or len(of.parts) > 1)


def values_of(of: Operand, view: View) -> list[Values]:
    """Return the values of the operand `of` for all rows of `view`.

    `view` must be a view of the field's table.
    """
    if of.field.kind in (Kind.PROTOCOL, Kind.BYTES):
        found = _of_bytes(of, view)
    else:
        found = of.field.make(view)
        if of.field.kind is Kind.STRING:
            found = [_of_text(of, values) for values in found]
        elif of.parts is not None:
            found = [_cut(of.field.kind, of.parts, values) for values in found]
    if of.mask is not None:
        found = [Values(values.low & np.int64(of.mask), values.known) for values in found]
    return found


def _of_bytes(of: Operand, view: View) -> list[Values]:
    if of.function == "len":
        return [lengths(view, of.field.layer, progress_of(view))]
    if of.parts is None:
        return of.field.make(view)
    begin, width = of.parts[0][0], of.width or 0
    fast = _from_columns(of.field.layer, begin, width, view)
    return [fast or numbers(view, of.field.layer, begin, width, progress_of(view))]


def _from_columns(layer: str, begin: int, width: int, view: View) -> Values | None:
    """Return the bytes of a slice from columns, without reading a file; None if not stored."""
    if layer == "eth" and view.has("eth_dst"):
        for column, first in (("eth_dst", 0), ("eth_src", 6)):
            if first <= begin and begin + width <= first + 6:
                whole = known_column(view, column, is_eth(view))
                return _cut(Kind.ETHER, ((begin - first, begin - first + width),), whole)
    return None


def _of_text(of: Operand, values: Values) -> Values:
    texts = list(values.texts or ())
    if of.parts is not None:
        texts = ["".join(text[begin:end] for begin, end in of.parts) for text in texts]
    if of.function == "len":
        sizes = np.array([len(text) for text in texts] + [-1], np.int64)
        return Values(sizes[values.low], values.known)
    if of.function:
        texts = [text.lower() if of.function == "lower" else text.upper() for text in texts]
    return values._replace(texts=texts)


def _cut(kind: Kind, parts: Parts, values: Values) -> Values:
    """Return the bytes `parts` of each address, as one number."""
    size = SIZES[kind]
    low = np.zeros(len(values.low), np.int64)
    for begin, end in parts:
        first, last = slice(begin, end).indices(size)[:2]
        for at in range(first, last):
            low = low << 8 | _byte(kind, at, values)
    return Values(low, values.known)


def _byte(kind: Kind, at: int, values: Values) -> Array:
    source, place = values.low, SIZES[kind] - 1 - at
    if place >= 8 and values.high is not None:
        source, place = values.high, place - 8
    found: Array = source.astype(np.int64, copy=False) >> 8 * place & 0xFF
    return found
