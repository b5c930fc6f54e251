# SPDX-License-Identifier: MIT
"""Code as it ran: an image's code that was moved and patched, compared with objdump."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from skbviewer.analysis.disassembly import Marks, disassemble_recorded
from skbviewer.analysis.disassembly.recorded_code import NO_END, NO_IMAGE, NOT_IN_IMAGE
from skbviewer.readers.kernel_image import read_image
from skbviewer.records import FunctionCode
from tests.analysis.disassembly.test_kernel_image_code import (
    FUNCTIONS,
    NOTHING,
    RUNS,
    by_objdump,
    log,
)
from tests.readers.build_kernel_image import LINKED, build

SLIDE = RUNS - LINKED
BEGIN = RUNS + 0x1000
NOP = bytes.fromhex("0f1f440000")
PATH = Path("a.kbl")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("image"), FUNCTIONS)


def running(image: Path, padding: bytes = b"", ended: bool = True) -> FunctionCode:
    """Return the code of ip_rcv with ftrace's nop, and a static key that was switched on."""
    read = read_image(image)
    size = int(read.symbols.sizes[read.symbols.names.index("ip_rcv")])
    data = bytearray(read.bytes_at(LINKED + 0x1000, LINKED + 0x1000 + size))
    data[:5] = NOP
    data[0x10:0x15] = b"\xe9" + struct.pack("<i", 0x60 - 0x15)  # five nops became a jump
    return FunctionCode(BEGIN, ended, bytes(data) + padding)


def test_instructions_are_those_of_memory(image: Path) -> None:
    """objdump shows the rest of the code; the patched places are known."""
    code = running(image)
    shown = disassemble_recorded(code, PATH, log(), "ip_rcv", NOTHING)
    assert b"".join(one.data for one in shown.instructions) == code.data
    assert (shown.begin, shown.image, shown.recorded) == (BEGIN, "a.kbl", True)
    rows = {one.address - SLIDE: one.data for one in shown.instructions}
    wanted = by_objdump(image, LINKED + 0x1000, LINKED + 0x1000 + len(code.data))
    for at in range(LINKED + 0x1010, LINKED + 0x1015):
        del wanted[at]
    patched = {LINKED + 0x1000: NOP, LINKED + 0x1010: code.data[0x10:0x15]}
    assert rows == wanted | patched
    assert NO_IMAGE in shown.notes and not any(one.linked for one in shown.instructions)


def test_names_are_those_of_the_log(image: Path) -> None:
    known = log(
        places={"ip_local_deliver": RUNS + 0x1090},
        symbols={RUNS + 0x10: "__fentry__+0x0", RUNS + 0x20: "nf_hook_slow+0x0 [nf]"},
    )
    marks = Marks({BEGIN + 0x40: 3}, {BEGIN + 0x60: {"ip_local_deliver": 7}})
    shown = disassemble_recorded(running(image), PATH, known, "ip_rcv", marks)
    rows = {one.offset: one for one in shown.instructions}
    assert rows[0x60 - 5].name == "ip_local_deliver" and rows[0x60 - 5].calls
    assert rows[0x40 - 5].drops == 3
    assert (rows[0x10].kind, rows[0x10].name) == ("jump", "+0x60")
    read = read_image(image)
    at = int(read.symbols.addresses[read.symbols.names.index("nf_hook_slow")])
    known = log(symbols={at + SLIDE: "nf_hook_slow+0x0 [nf]"})
    shown = disassemble_recorded(running(image), PATH, known, "ip_rcv", NOTHING)
    assert {one.offset: one.name for one in shown.instructions}[0x40 - 5] == "nf_hook_slow"


def test_an_image_adds_names_lines_and_what_was_replaced(image: Path) -> None:
    shown = disassemble_recorded(running(image), PATH, log(), "ip_rcv", NOTHING, read_image(image))
    rows = {one.offset: one for one in shown.instructions}
    assert rows[0x40 - 5].name == "nf_hook_slow"
    linked = {at: one.linked for at, one in rows.items() if one.linked}
    assert set(linked) == {0, 0x10} and linked[0][0] == 0xE8 and linked[0x10] == b"\x90" * 5
    assert f"2 instructions differ from {image}" in shown.notes
    lines = image.with_name("code.S").read_text().splitlines()
    deliver = rows[0x60 - 5].source
    assert deliver is not None and lines[deliver.line - 1] == "call ip_local_deliver"


@pytest.mark.parametrize(
    ("here", "there", "differs"),
    [
        (struct.pack("<BI", 0xB8, 0x1000 + (SLIDE & 0xFFFFFFFF)), "b800100000", False),
        (struct.pack("<BI", 0xB8, (0x1000 - SLIDE) & 0xFFFFFFFF), "b800100000", False),
        (struct.pack("<BI", 0xB8, 0x1001), "b800100000", True),
        (struct.pack("<BI", 0xB9, 0x1000 + (SLIDE & 0xFFFFFFFF)), "b800100000", True),
    ],
)
def test_an_address_that_moved_is_no_difference(
    here: bytes, there: str, differs: bool, image: Path
) -> None:
    read = read_image(image)
    (section, *_) = (one for one in read.code if one.begin == LINKED + 0x1000)
    data = bytes.fromhex(there) + (section.data or b"")[5:]
    other = read._replace(code=(section._replace(data=data),))
    code = FunctionCode(BEGIN, True, here + data[5:])
    shown = disassemble_recorded(code, PATH, log(), "ip_rcv", NOTHING, other)
    assert [one.offset for one in shown.instructions if one.linked] == [0] * differs


@pytest.mark.parametrize("ended", [True, False])
def test_padding_is_not_shown(ended: bool, image: Path) -> None:
    plain = running(image)
    code = running(image, b"\x90" * 3 + b"\xcc" * 20, ended)
    shown = disassemble_recorded(code, PATH, log(), "ip_rcv", NOTHING)
    assert shown.end - shown.begin == len(plain.data)
    assert (NO_END in shown.notes) != ended


def test_a_module_is_not_in_the_image(image: Path) -> None:
    code = running(image)._replace(address=RUNS + 0x38000000)
    shown = disassemble_recorded(code, PATH, log(), "veth_xmit", NOTHING, read_image(image))
    assert NOT_IN_IMAGE in shown.notes and not any(one.linked for one in shown.instructions)
