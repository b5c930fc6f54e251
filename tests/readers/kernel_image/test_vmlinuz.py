# SPDX-License-Identifier: MIT
"""Compressed kernels, by each of the programs that Linux is compressed with."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import sys
from pathlib import Path

import pytest
import zstandard
from lz4 import block

from skbviewer.readers.kernel_image import read_image
from skbviewer.records import BadInput
from tests.readers.build_kernel_image import LINKED, Function, build, packed


def _lz4(data: bytes) -> bytes:
    one: bytes = block.compress(data, store_size=False)
    return b"\x02\x21\x4c\x18" + struct.pack("<I", len(one)) + one


PACKERS = {
    "gzip": gzip.compress,
    "xz": lambda data: lzma.compress(data, lzma.FORMAT_XZ),
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "bzip2": bz2.compress,
    "zstd": zstandard.compress,
    "lz4": _lz4,
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("image"), [Function("f", 0x1000, {0x40: "g"})])


@pytest.mark.parametrize("packer", PACKERS)
def test_a_kernel_of_each_compression(packer: str, image: Path, tmp_path: Path) -> None:
    data = image.read_bytes()
    payload = PACKERS[packer](data) + struct.pack("<I", len(data))
    out = tmp_path / "vmlinuz"
    out.write_bytes(packed(b"", payload))
    read = read_image(out)
    begin = LINKED + 0x1000
    assert read.bytes_at(begin, begin + 0x40) == read_image(image).bytes_at(begin, begin + 0x40)
    assert len(read.bytes_at(begin, begin + 0x40)) == 0x40


def test_without_lz4_the_message_names_the_extra(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "vmlinuz"
    out.write_bytes(packed(b"", _lz4(image.read_bytes())))
    monkeypatch.setitem(sys.modules, "lz4", None)
    with pytest.raises(BadInput, match=r"skbviewer\[disassembly\]"):
        read_image(out)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"\x1f\x8b\x08" + bytes(100), "is damaged"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 100, "is damaged"),
        (b"what is this?", "a format that skbviewer does not know"),
        (gzip.compress(b"not an ELF file"), "is no whole ELF file"),
        (b"", "ends in the middle"),
    ],
    # Without names of its own, a test is named after its bytes. gzip's hold the time, so two
    # workers of pytest-xdist would collect different tests.
    ids=["damaged-gzip", "damaged-zstd", "unknown", "no-elf", "empty"],
)
def test_damaged_kernels(payload: bytes, why: str, tmp_path: Path) -> None:
    out = tmp_path / "vmlinuz"
    out.write_bytes(packed(b"", payload))
    with pytest.raises(BadInput, match=why):
        read_image(out)
