# SPDX-License-Identifier: MIT
"""Check that file names are text, because sessions, JSON and reports contain them as UTF-8."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .errors import BadInput

WHY = "the name is not UTF-8: rename the file, or the folder with this file"


def check_names(paths: Iterable[Path]) -> None:
    """Raise BadInput if the absolute path of one of `paths` is not UTF-8."""
    for path in paths:
        if not is_utf8(str(path.absolute())):
            raise BadInput(shown(str(path)), None, WHY)


def is_utf8(name: str) -> bool:
    """Return whether a name from the operating system is UTF-8."""
    return name.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in name)


def shown(name: str) -> str:
    r"""Return a name as text; bytes that are not UTF-8 become \xff and the like."""
    return os.fsencode(name).decode(errors="backslashreplace")
