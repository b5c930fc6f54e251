# SPDX-License-Identifier: MIT
"""Settings for the memory of an import: reuse freed memory; limit arrays if inputs are large.

Above the limit, arrays are in files beside the new session (session/array_memory.py).
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
    """Until the context ends, reuse freed memory, or limit arrays if the inputs `paths` are large.

    Inputs are large if they have more than `most` bytes.  If the inputs are large, large arrays
    take at most `most` bytes of ordinary memory, and further ones are in files in `folder`.
    """
    is_large = sum(map(input_size, paths)) > most
    bound = bounded_arrays(folder, most) if is_large else nullcontext()
    with reused_memory(sparing=is_large), bound:
        yield


def input_size(path: Path) -> int:
    """Return the approximate size of an input in bytes; 0 if there is no such file."""
    size = path.stat().st_size if path.is_file() else 0
    return size * (UNPACKED if path.suffix in COMPRESSED else 1)
