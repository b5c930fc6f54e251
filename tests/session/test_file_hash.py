# SPDX-License-Identifier: MIT
"""A file's hash is the same, whatever part of the file was read one byte after the other."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers.input_file import Source
from skbviewer.session.file_hash import FileHash, sha256

SIZE = 1_000_000


@pytest.mark.parametrize(
    "reads",
    [
        (),
        ((0, SIZE),),
        ((0, 10), (0, 500_000), (400_000, 600_000)),
        ((0, 1000), (2000, 3000), (1000, 2000)),
        ((SIZE - 1, SIZE), (5, 6)),
    ],
)
def test_hash_does_not_depend_on_what_was_read(
    reads: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    path = tmp_path / "input"
    content = np.random.default_rng(1).integers(0, 256, SIZE, np.uint8).tobytes()
    path.write_bytes(content)
    hashed = FileHash()
    with path.open("rb", buffering=0) as file:
        source = Source(path, SIZE, file, None, hashed)
        for begin, end in reads:
            source.fill(np.empty(end - begin, np.uint8), begin)
    assert hashed.of(path) == sha256(path) == hashlib.sha256(content).hexdigest()


def test_bytes_read_in_order_are_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"a" * SIZE)
    hashed = FileHash()
    with path.open("rb", buffering=0) as file:
        Source(path, SIZE, file, None, hashed).fill(np.empty(SIZE, np.uint8), 0)
    assert hashed.done == SIZE
