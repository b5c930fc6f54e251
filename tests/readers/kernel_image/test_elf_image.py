# SPDX-License-Identifier: MIT
"""Images as ELF files, compared with nm and objdump."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from skbviewer.readers.kernel_image import KernelImage, read_image
from skbviewer.records import BadInput
from tests.readers.build_kernel_image import BANNER, LINKED, Function, build, strip

FUNCTIONS = [Function("first", 0x1000, {0x40: "second"}), Function("second", 0x3000, {})]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image")
    return build(folder, FUNCTIONS, BANNER.format("6.1.0", "#1 SMP"))


@pytest.fixture(scope="module")
def read(image: Path) -> KernelImage:
    return read_image(image)


def test_symbols_are_those_of_nm(image: Path, read: KernelImage) -> None:
    listed = subprocess.run(["nm", "-S", image], check=True, capture_output=True, text=True)
    rows = re.findall(r"^(\w{16}) (\w{16}) T (\S+)$", listed.stdout, re.MULTILINE)
    assert len(rows) >= 3
    found = dict(zip(read.symbols.names, zip(*read.symbols[:2], strict=True), strict=True))
    for address, size, name in rows:
        assert tuple(map(int, found[name])) == (int(address, 16), int(size, 16))
    assert read.stext == LINKED and read.machine == "EM_X86_64"
    assert read.banner == "6.1.0 (somebody) (gcc) #1 SMP"


def test_source_lines_are_those_of_objdump(image: Path, read: KernelImage) -> None:
    command = ["objdump", "--dwarf=decodedline", str(image)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^code\.S\s+(\d+)\s+0x(\w+)", listed, re.MULTILINE)
    begin = LINKED + 0x1000
    wanted = {int(at, 16): int(line) for line, at in rows if begin <= int(at, 16) < begin + 0x40}
    lines = read.lines.between(begin, begin + 0x40)
    assert {at: one.line for at, one in lines.items()} == wanted and len(wanted) > 3
    assert {Path(one.file).name for one in lines.values()} == {"code.S"}


def test_an_image_without_symbols(image: Path) -> None:
    read = read_image(strip(image))
    assert read.symbols.names == () and read.stext == LINKED
    assert read.lines.between(LINKED, LINKED + 0x9000) == {}
    assert read.bytes_at(LINKED + 0x2000, LINKED + 0x2010) == b""


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (b"", "is not a kernel image"),
        (b"a text", "is not a kernel image"),
        (b"\x7fELF" + bytes(10), "is no whole ELF file"),
    ],
)
def test_files_that_are_none(contents: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(contents)
    with pytest.raises(BadInput, match=why):
        read_image(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_image(tmp_path / "vmlinux")


def test_an_image_cut_anywhere(image: Path, tmp_path: Path) -> None:
    whole, path = image.read_bytes(), tmp_path / "cut"
    for length in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput):
            read_image(path)
