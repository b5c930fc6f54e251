# SPDX-License-Identifier: MIT
"""Write a file or folder under a temporary name, and rename it when it is complete."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np

from ..records import BadInput
from ..records.types import UInt8s

# Bytes that are written at once.  For 36 times as many, ext4 takes three times the system time.
PIECE = 1 << 20
LONGEST = 200  # bytes of a name that another name begins with; most file systems take 255


STDOUT = Path("-")  # this name means standard output


class _StandardOutput(RawIOBase):
    """Standard output as a file that stays open when this object is closed."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        return sys.stdout.buffer.write(data)


@contextmanager
def written_file(out: Path) -> Iterator[BinaryIO]:
    """Yield a file under a temporary name; it gets the name `out`, or is removed after an error.

    Writes directly to `out` if it is a pipe or a device; if `out` is a symbolic link, writes to the
    file that it names. Raises BadInput if the file cannot be written. If `out` is STDOUT, yields
    standard output; raises OSError if standard output cannot be written.
    """
    if out == STDOUT:
        yield cast(BinaryIO, _StandardOutput())
        return
    out = made = Path(os.path.realpath(out))
    try:
        if out.is_file() or not out.exists():
            made = _beside(out, "tmp")
        with made.open("wb") as file:
            yield file
        if made != out:
            os.replace(made, out)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise BadInput(out, None, f"cannot write: {error.strerror or error}") from error
    finally:
        if made != out:
            made.unlink(missing_ok=True)


@contextmanager
def written_text(out: Path) -> Iterator[TextIO]:
    """Yield a text file (UTF-8, line ends unchanged), which written_file() writes."""
    with written_file(out) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def write_text(out: Path, text: str) -> None:
    """Write a text to a file in the way of written_text()."""
    with written_text(out) as file:
        file.write(text)


def write_parts(out: Path, parts: Iterable[bytes | UInt8s]) -> None:
    """Write `parts`, one after the other, to a file; rename the file as written_file() does."""
    with written_file(out) as file:
        for part in parts:
            view = part.data if isinstance(part, np.ndarray) else memoryview(part)
            while len(view):  # a pipe takes a part
                view = view[file.write(view[:PIECE]) :]


def _beside(out: Path, what: str) -> Path:
    name = os.fsdecode(os.fsencode(out.name)[:LONGEST])
    return out.with_name(f".{name}.{os.getpid()}.{what}")


@contextmanager
def written_folder(out: Path, suffix: str) -> Iterator[Path]:
    """Yield a folder under a temporary name; it gets the name `out`, or is removed after an error.

    An existing folder `out` is replaced if all its files end in `suffix`. Raises BadInput if the
    folder contains other files or cannot be written.
    """
    _check(out, suffix)
    out = Path(os.path.realpath(out))  # "." has no name
    made = _beside(out, "tmp")
    try:
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        yield made
        if out.exists():
            old = _beside(out, "old")
            os.rename(out, old)
            os.rename(made, out)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(made, out)
    except OSError as error:
        raise BadInput(out, None, f"cannot write: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check(out: Path, suffix: str) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BadInput(out, None, "cannot write a folder here: a file with this name exists")
    try:
        others = [p.name for p in out.iterdir() if p.suffix != suffix] if out.exists() else []
    except OSError as error:
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error
    if others:
        raise BadInput(out, None, f"the folder holds other files, such as {min(others)}")
