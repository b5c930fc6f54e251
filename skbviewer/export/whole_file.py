# SPDX-License-Identifier: MIT
"""Write a file under another name, and rename it when it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..records import BadInput
from ..records.types import UInt8s


def write_whole(out: Path, parts: Iterable[bytes | UInt8s]) -> None:
    """Write `parts` to `out`, which may be a pipe.

    A file that was there stays if a part cannot be made or written.  Raises BadInput if `out`
    cannot be written, BrokenPipeError if the reader of a pipe has gone.
    """
    made = out if out.exists() and not out.is_file() else _temporary(out)
    try:
        with made.open("wb") as file:
            for part in parts:
                _write(file, part)
        if made != out:
            os.replace(made, out)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error
    finally:
        if made != out:
            made.unlink(missing_ok=True)


def _temporary(out: Path) -> Path:
    return out.with_name(f".{out.name}.{os.getpid()}.tmp")


def _write(file: BinaryIO, part: bytes | UInt8s) -> None:
    view = part.data if isinstance(part, np.ndarray) else memoryview(part)
    while len(view):  # a pipe takes a part
        view = view[file.write(view) :]
