# SPDX-License-Identifier: MIT
"""Parse a row of the packet list: "12" is packet 12, "K3" the third kernel-only row."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from ..export import packet_path
from ..records import PacketPath
from ..records.types import INT64_MAX

if TYPE_CHECKING:
    from ..session import Session

LARGEST = INT64_MAX  # SQLite's


def row_id(text: str) -> int:
    """Parse "12" into 12 and "K3" into -3.  Raises argparse.ArgumentTypeError."""
    if re.fullmatch(r"[Kk]?[0-9]+", text) is None or not 0 < int(text.lstrip("Kk")) <= LARGEST:
        raise argparse.ArgumentTypeError(f"not a packet number: {text}")
    return -int(text[1:]) if text[0] in "Kk" else int(text)


def path_of(session: Session, row: int | None, series: int | None = None) -> PacketPath:
    """Return the path of the row `row`, or of the lifetime `series` if `row` is None.

    Raises KeyError if the row does not exist.
    """
    return session.paths.path(series=series) if row is None else packet_path(session, row)
