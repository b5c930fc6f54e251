# SPDX-License-Identifier: MIT
"""A KBL is distinguished from a capture before anything else of the file is read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from skbviewer.readers import is_log
from skbviewer.records import BadInput, resource

SAMPLE = resource("samples/handshake")


@pytest.mark.parametrize(("end", "expected"), [("kbl", True), ("pcap", False)])
def test_by_the_first_bytes_packed_or_not(tmp_path: Path, end: str, expected: bool) -> None:
    plain = SAMPLE / f"handshake.{end}"
    packed = tmp_path / f"{end}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert (is_log(plain), is_log(packed)) == (expected, expected)


def test_what_is_neither_is_rejected_at_once(tmp_path: Path) -> None:
    other = tmp_path / "other.pcap"
    other.write_bytes(b"GIF89a")
    with pytest.raises(BadInput, match="neither pcap, pcapng, KBL nor a retis log"):
        is_log(other)


def test_a_packing_that_is_damaged_at_once_is_left_to_the_reader(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(b"\x1f\x8b\x08\x00garbage")
    assert not is_log(damaged)
