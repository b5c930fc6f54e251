# SPDX-License-Identifier: MIT
"""The machine code that kblrecord --code takes from /proc/kcore, here a file of the test."""

from __future__ import annotations

import signal
import struct
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import STEXT, Fake
from tests.lab.kbl_check import Kbl, Type, read, string

MODULE = 0xFFFFFFFFC0000000
TEXT_AT, MODULE_AT = 0x3000, 0x9000  # places of the segments in the file
TEXT_SIZE, MODULE_SIZE = 0x5800, 0x2000
LISTED = "ip_rcv skb@0 int\ntcp_v4_rcv skb@0 int\nnet_rx_action\nveth_xmit skb@0 module=veth\n"


def core(*segments: tuple[int, int, int], size: int = 56) -> bytes:
    """Return the headers of an ELF core file: segments are address, size and place."""
    head = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 4, 62, 1, 0, 64, 0, 0, 64, size,
        1 + len(segments), 0, 0, 0,
    )  # fmt: skip
    note = struct.pack("<IIQQQQQQ", 4, 0, 0, 0, 0, 0, 0, 0)
    loads = [struct.pack("<IIQQQQQQ", 1, 7, at, a, 0, n, n, 4096) for a, n, at in segments]
    return head + note + b"".join(loads)


def memory() -> bytes:
    """Return a core file: the kernel's text, and a module with one function of 0x123 bytes."""
    text = np.random.default_rng(1).integers(1, 256, TEXT_SIZE, np.uint8).tobytes()
    call = struct.pack("<Bi", 0xE8, 0x4000 - (0x1000 + 0x25))  # in ip_rcv: kfree_skbmem
    text = text[:0x1020] + call + text[0x1025:]
    headers = core((STEXT, TEXT_SIZE, TEXT_AT), (MODULE, MODULE_SIZE, MODULE_AT))
    return (
        headers.ljust(TEXT_AT, b"\0") + text.ljust(MODULE_AT - TEXT_AT, b"\xaa") + b"\xcc" * 0x123
    ).ljust(MODULE_AT + MODULE_SIZE, b"\0")


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    made = Fake(tmp_path / "kbl")
    (made.folder / "list.txt").write_text(LISTED)
    return made


def recorded(fake: Fake, out: Path) -> tuple[Kbl, str]:
    done = fake.start("-w", out, "--code").ready().end(signal.SIGINT)
    assert done.returncode == 0
    return read(out), done.stderr


def code(kbl: Kbl) -> dict[int, tuple[bytes, int]]:
    """Return bytes and flags by address."""
    rows = np.frombuffer(kbl.tables[Type.CODE], layout.KBL_CODE)
    data = kbl.tables[Type.CODE_BYTES]
    return {
        int(row["addr"]): (data[int(row["offset"]) :][: int(row["size"])], int(row["flags"]))
        for row in rows
    }


def test_code_is_what_memory_has(fake: Fake, tmp_path: Path) -> None:
    raw = memory()
    (fake.folder / "kcore").write_bytes(raw)
    kbl, said = recorded(fake, tmp_path / "a.kbl")
    found = code(kbl)
    for at in (0x1000, 0x2000):  # up to the next symbol
        assert found[STEXT + at] == (raw[TEXT_AT + at :][:0x1000], 0)
    assert found[MODULE] == (raw[MODULE_AT:][:0x130], layout.KBL_CODE_NO_END)
    assert len(found) == 3  # the segment ends before net_rx_action
    assert f"code of 3 of 4 functions, {0x2130} bytes" in said
    order = [type_ for type_ in kbl.types if type_ in (Type.CODE, Type.CODE_BYTES)]
    assert order == [Type.CODE_BYTES, Type.CODE]
    symbols = np.frombuffer(kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL)
    assert "kfree_skbmem" in {string(kbl, int(row["name"])) for row in symbols}


def test_each_file_of_a_series_has_it(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "kcore").write_bytes(memory())
    words = ("-w", tmp_path / "a.kbl", "--code", "-G", "1", "--duration", "2.5")
    assert fake.run(*words).returncode == 0
    files = sorted(tmp_path.glob("a*.kbl"))
    assert len(files) > 1 and all(len(code(read(file))) == 3 for file in files)


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (None, "No such file or directory"),
        (b"", "is cut inside its headers, at byte 0"),
        (core((STEXT, 0x6000, 0x1000))[:40], "is cut inside its headers, at byte 40"),
        (b"\x7fELF" + bytes(60), "is no 64-bit ELF core file"),
        (core((STEXT, 0x6000, 0x1000), size=32), "is no 64-bit ELF core file"),
        (core((STEXT, 0x6000, 0x1000))[:100], "is cut inside its headers, at byte 100"),
        (core(), "has no segments"),
    ],
    ids=["absent", "empty", "cut-early", "32-bit", "other-headers", "cut", "no-segments"],
)
def test_recording_goes_on_without(
    contents: bytes | None, why: str, fake: Fake, tmp_path: Path
) -> None:
    if contents is not None:
        (fake.folder / "kcore").write_bytes(contents)
    kbl, said = recorded(fake, tmp_path / "a.kbl")
    (line,) = (line for line in said.splitlines() if "kcore" in line)
    assert line == f"kblrecord: no code of functions is recorded: /proc/kcore: {why}"
    assert Type.CODE not in kbl.tables and Type.END in kbl.tables


def test_segments_without_bytes(fake: Fake, tmp_path: Path) -> None:
    """A segment that the file does not have, and one of zeros: there is no code."""
    headers = core((STEXT, TEXT_SIZE, 0x100000), (MODULE, MODULE_SIZE, 0x4000))
    (fake.folder / "kcore").write_bytes(headers.ljust(0x7000, b"\0"))
    kbl, said = recorded(fake, tmp_path / "a.kbl")
    assert "code of 0 of 4 functions, 0 bytes" in said and Type.CODE not in kbl.tables
