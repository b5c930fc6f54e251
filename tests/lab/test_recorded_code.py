# SPDX-License-Identifier: MIT
"""Code that kblrecord recorded is what dd reads from the guest's memory, and runs."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from elftools.elf.elffile import ELFFile

from skbviewer.readers.kernel_image.vmlinuz import elf_in_bzimage
from skbviewer.records import kbl_layout as layout
from skbviewer.session import Session, import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.lab.kbl_check import Type, probes, read

NOP, CALL = bytes.fromhex("0f1f440000"), 0xE8  # what ftrace puts in place of a call
TRACED = ("__dev_queue_xmit", "ip_rcv", "veth_xmit")
VETH = "veth_xmit"


class Guest(NamedTuple):
    """What a guest left: its log, and the text of the kernel and of veth as dd read it."""

    kbl: Path
    stext: int
    text: bytes
    module: int  # where the text of veth begins
    veth: bytes
    code: dict[str, tuple[int, bytes, int]]  # address, bytes, flags


def guest_of(lab: Lab) -> Guest:
    kbl = lab.out / "code.kbl"
    log = read(kbl)
    rows = np.frombuffer(log.tables[Type.CODE], layout.KBL_CODE)
    data = log.tables[Type.CODE_BYTES]
    names = {int(row["addr"]): name for name, row in probes(log).items()}
    code = {
        names[int(row["addr"])]: (
            int(row["addr"]),
            data[int(row["offset"]) :][: int(row["size"])],
            int(row["flags"]),
        )
        for row in rows
        if int(row["addr"]) in names
    }
    stext, module = (int(word, 16) for word in (lab.out / "code.places").read_text().split())
    text, veth = ((lab.out / f"code.{name}").read_bytes() for name in ("text", "veth"))
    return Guest(kbl, stext, text, module, veth, code)


def test_code_is_what_dd_reads(lab: Lab) -> None:
    """All bytes of all functions are equal, and each function begins as ftrace leaves it."""
    guest = guest_of(lab)
    inside = 0
    for name, (address, data, _) in guest.code.items():
        at = address - guest.stext
        if 0 <= at < len(guest.text):
            assert guest.text[at : at + len(data)] == data, name
            inside += 1
    assert inside > 25 and len(guest.code) > inside
    address, data, _ = guest.code[VETH]
    assert guest.veth[address - guest.module :][: len(data)] == data and len(data) > 100
    for name in TRACED:
        assert NOP in guest.code[name][1][:9], name  # not a call, and not int3: no probe is armed
    assert re.search(r"code of (\d+) of \1 functions", (lab.out / "code.txt").read_text())


def test_functions_differ_from_the_image_where_it_is_said(lab: Lab, tmp_path: Path) -> None:
    """Compare each instruction with the bytes of the image, which pyelftools reads."""
    guest = guest_of(lab)
    image = lab.built.kernel.image
    section = ELFFile(io.BytesIO(elf_in_bzimage(image.read_bytes(), image)))
    text = section.get_section_by_name(".text")
    linked, begin = text.data(), text["sh_addr"]
    import_files([guest.kbl], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    differing = set()
    for name, (address, data, _) in sorted(guest.code.items())[:40]:
        at = address - guest.stext
        if not 0 <= at < len(guest.text):
            continue
        shown = session.code.disassemble(name, image)
        assert shown.recorded and shown.begin == address
        assert b"".join(one.data for one in shown.instructions) == data[: shown.end - address]
        for one in shown.instructions:
            there = linked[at + one.offset :][: len(one.data)]
            if one.linked:
                assert one.linked == there != one.data
                differing.add((name, one.offset))
            elif there != one.data:  # only an address that KASLR moved
                assert sum(a != b for a, b in zip(there, one.data, strict=True)) <= 4
        assert any(one.data == NOP and one.linked[0] == CALL for one in shown.instructions[:2])
    assert begin and len({name for name, offset in differing if offset > 16}) >= 1
    shown = session.code.disassemble(VETH)
    assert shown.recorded and any(one.calls or one.name for one in shown.instructions)
    session.close()
