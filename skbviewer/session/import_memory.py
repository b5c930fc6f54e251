# SPDX-License-Identifier: MIT
"""The memory of an import: freed memory is used again; if inputs are large, arrays are bounded.

Above the bound, arrays are in files beside the new session (session/array_memory.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from .array_memory import bounded_arrays
from .memory_reuse import reused_memory

ARRAYS = 1 << 29  # bytes of large arrays in ordinary memory; inputs of more bytes are large
UNPACKED = 8  # bytes of an input that one compressed byte may be
COMPRESSED = (".gz", ".zst", ".xz", ".bz2")


@contextmanager
def import_memory(paths: Sequence[Path], folder: Path, most: int) -> Iterator[None]:
    """Until the end, reuse freed memory; but if `paths` are large, bound that of arrays.

    Inputs of more than `most` bytes are large.  Then large arrays take at most `most` bytes of
    ordinary memory, and further ones are in files in `folder`.
    """
    is_large = sum(map(input_size, paths)) > most
    bound = bounded_arrays(folder, most) if is_large else nullcontext()
    with reused_memory(sparing=is_large), bound:
        yield


def input_size(path: Path) -> int:
    """Return the bytes of an input, about; 0 if there is no such file."""
    size = path.stat().st_size if path.is_file() else 0
    return size * (UNPACKED if path.suffix in COMPRESSED else 1)
