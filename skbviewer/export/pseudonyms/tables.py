# SPDX-License-Identifier: MIT
"""The documented tables with pseudonyms: addresses, names of files, bytes of packets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address
from pathlib import PurePath

from ...records.table_columns import Vector
from ..formats import Exportable, Request
from .pseudonyms import Pseudonyms

ADDRESSES, PATHS = ("saddr", "daddr"), ("path",)  # columns
Rows = dict[str, Vector]


def pseudonyms_of(recording: Exportable, request: Request) -> Pseudonyms | None:
    """Return the pseudonyms that `request` asks for (with the recording's host names), or None."""
    if not request.pseudonym_key:
        return None
    hosts = [source.detail.get("hostname", "") for source in recording.sources()]
    return Pseudonyms(request.pseudonym_key, hosts)


def rows_with_pseudonyms(blocks: Iterable[Rows], names: Pseudonyms | None) -> Iterator[Rows]:
    """Yield blocks of rows with pseudonyms; the blocks are unchanged if `names` is None.

    IPv6 addresses are read and written with all eight groups. The names of files lose their
    folders.
    """
    for block in blocks:
        yield block if names is None else {c: _renamed(c, v, names) for c, v in block.items()}


def _renamed(column: str, vector: Vector, names: Pseudonyms) -> Vector:
    if vector.words is None or column not in ADDRESSES + PATHS:
        return vector
    if column in PATHS:
        return vector._replace(words=[names.text(PurePath(word).name) for word in vector.words])
    return vector._replace(words=[_address(word, names) for word in vector.words])


def _address(word: str, names: Pseudonyms) -> str:
    made = names.text(word)
    if ":" not in made:
        return made
    return ":".join(f"{int(group, 16):x}" for group in IPv6Address(made).exploded.split(":"))
