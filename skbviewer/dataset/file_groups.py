# SPDX-License-Identifier: MIT
"""Groups of files that become one session each: a kernel log and its captures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import readers
from ..records import BadInput
from ..store import is_session

Pair = tuple[Path, ...]  # logs first
SUFFIXES = (".gz", ".xz", ".zst")  # of compression


def pairs_of(words: Sequence[str]) -> list[Pair]:
    """Group the arguments FILE of `dataset add`.

    "LOG+CAPTURE+..." is one pair. Other files of one folder form a pair if their names differ only
    in the suffix: a.kbl and a.pcap. Each other file is alone.
    """
    found: dict[Path, list[Path]] = {}
    for word in words:
        if "+" in word and not Path(word).exists():
            parts = [Path(part).absolute() for part in word.split("+")]
            found.setdefault(Path(word), []).extend(parts)
        else:
            path = Path(word).absolute()
            found.setdefault(path.with_name(_stem(path)), []).append(path)
    return [tuple(dict.fromkeys(files)) for files in found.values()]


def _stem(path: Path) -> str:
    """Return a file's name without the suffixes of compression and format."""
    name = Path(path.stem) if path.suffix.lower() in SUFFIXES else path
    return name.stem


def in_order(files: Pair) -> Pair:
    """Return the files, with the kernel logs first.

    Raises BadInput if a file cannot be part of a pair.
    """
    for path in files:
        if is_session(path):
            raise BadInput(
                path, None, "is a session: add the captures and kernel logs from which it was made"
            )
    return tuple(sorted(files, key=lambda path: not readers.is_log(path)))
