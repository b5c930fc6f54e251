# SPDX-License-Identifier: MIT
"""Disassembly of a recording's functions: its marks, counted again from the raw log."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.records import BadInput, resource
from skbviewer.records import kbl_layout as kbl
from skbviewer.session import Session, import_files
from tests.readers.build_kbl import chunk_bytes
from tests.readers.build_kernel_image import BANNER, Function, build, strip
from tests.reference.layout import EVENT
from tests.reference.slots import Log, read

FUNCTION = "__dev_queue_xmit"
PADDING = b"\xcc" * 3
LOG = resource("samples/drops/drops.kbl")


class Marked(NamedTuple):
    """For each offset in the function, the packets dropped and the calls of each function."""

    drops: Counter[int]
    calls: dict[int, Counter[str]]


def marked(log: Log, begin: int) -> Marked:
    """Return what the raw log has in FUNCTION, which begins at `begin`."""
    made = Marked(Counter(), {})
    for event in log.events:
        address = log.stext + (event.data >> 32)
        name, _, offset = log.symbol(address).partition("+0x")
        if event.event == EVENT.DROP and name == FUNCTION:
            made.drops[int(offset, 16)] += 1
    for call in log.calls:
        name, _, offset = log.symbol(call.caller).partition("+0x") if call.caller else ("", "", "")
        if name == FUNCTION:
            at = made.calls.setdefault(int(offset, 16), Counter())
            at[log.functions[call.func]] += 1
            assert call.caller - begin == int(offset, 16)
    return made


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    out = tmp_path_factory.mktemp("code") / "s.skbv"
    import_files([LOG, LOG.with_suffix(".pcap")], out)
    return Session.open(out)


@pytest.fixture(scope="module")
def expected(session: Session) -> Marked:
    return marked(read(LOG), _address(session))


@pytest.fixture(scope="module")
def image(session: Session, expected: Marked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    places = {*expected.drops, *expected.calls}
    calls = {at: f"callee_{at:x}" for at in places}
    at = _address(session) - read(LOG).stext
    source = session.sources()[0]
    with closing(sqlite3.connect(session.file)) as db:
        (build_,) = db.execute("SELECT value FROM meta WHERE key = 'kernel'").fetchone()
    banner = BANNER.format(source.detail["release"], build_)
    return build(tmp_path_factory.mktemp("image"), [Function(FUNCTION, at, calls)], banner)


def _address(session: Session) -> int:
    with closing(sqlite3.connect(session.file)) as db:
        rows = db.execute("SELECT address FROM probe WHERE name = ?", (FUNCTION,)).fetchone()
    return int(rows[0]) + (1 << 64)


@pytest.mark.parametrize("symbols", [True, False])
def test_marks_are_those_of_the_raw_log(
    symbols: bool, session: Session, expected: Marked, image: Path
) -> None:
    shown = session.code.disassemble(FUNCTION, image if symbols else strip(image))
    after = {one.offset + len(one.data): one for one in shown.instructions}
    assert Counter({at: one.drops for at, one in after.items() if one.drops}) == expected.drops
    assert {
        at: Counter(dict(one.calls)) for at, one in after.items() if one.calls
    } == expected.calls
    assert sum(expected.drops.values()) == 3 and len(expected.calls) > 3
    assert all(after[at].kind == "call" for at in expected.calls)


def test_an_image_that_is_replaced_is_read_again(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(b"no kernel")
    with pytest.raises(BadInput, match="is not a kernel image"):
        session.code.disassemble(FUNCTION, path)
    with pytest.raises(BadInput, match="No such file"):
        session.code.disassemble(FUNCTION, tmp_path / "nothing")


def test_another_build_is_refused(session: Session, tmp_path: Path) -> None:
    made = build(tmp_path, [Function(FUNCTION, 0x1000, {})])
    with pytest.raises(
        BadInput, match=re.escape(f"is another build: {FUNCTION} is at _stext+0x1000")
    ):
        session.code.disassemble(FUNCTION, made)


def test_a_recording_without_a_log(tmp_path: Path) -> None:
    import_files([LOG.with_suffix(".pcap")], tmp_path / "s.skbv")
    only = Session.open(tmp_path / "s.skbv")
    with pytest.raises(BadInput, match="no kernel log of the recording contains addresses"):
        only.code.disassemble(FUNCTION, build(tmp_path, [Function(FUNCTION, 0x1000, {})]))
    only.close()


def test_releases(session: Session) -> None:
    assert session.code.releases() == ("6.12.117+deb12-cloud-amd64",)


@pytest.fixture(scope="module")
def with_code(
    session: Session, image: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Session, bytes]:
    """Return a session of the same log with recorded code of FUNCTION, and this code.

    It is the code of the image, as objcopy gives it, with another first instruction.
    """
    folder = tmp_path_factory.mktemp("with-code")
    section, out = f"code_{FUNCTION}", folder / "code"
    command = ["objcopy", "-O", "binary", "-j", section, str(image), str(out)]
    subprocess.run(command, check=True, timeout=60)
    data = bytes.fromhex("0f1f440000") + out.read_bytes()[5:] + PADDING
    row = np.array([(_address(session), 0, len(data), 0, 0)], kbl.KBL_CODE)
    copy = folder / "drops.kbl"
    copy.write_bytes(
        LOG.read_bytes()
        + chunk_bytes(kbl.KblChunkType.CODE_BYTES, data, items=1)
        + chunk_bytes(kbl.KblChunkType.CODE, row.tobytes(), items=1)
    )
    import_files([copy, LOG.with_suffix(".pcap")], folder / "s.skbv")
    return Session.open(folder / "s.skbv"), data


def test_recorded_code_has_the_same_marks(
    with_code: tuple[Session, bytes], expected: Marked, image: Path
) -> None:
    opened, data = with_code
    assert opened.code.is_recorded(FUNCTION) and not opened.code.is_recorded("ip_rcv")
    for shown in (
        opened.code.disassemble(FUNCTION),
        opened.code.disassemble(FUNCTION, image),
        opened.code.disassemble(FUNCTION, strip(image)),
    ):
        assert shown.recorded and shown.image.endswith("drops.kbl")
        assert shown.begin == _address(opened)
        code = b"".join(one.data for one in shown.instructions)
        assert data.startswith(code) and not data[len(code) :].strip(b"\xcc")
        after = {one.offset + len(one.data): one for one in shown.instructions}
        assert Counter({at: one.drops for at, one in after.items() if one.drops}) == expected.drops
        calls = {at: Counter(dict(one.calls)) for at, one in after.items() if one.calls}
        assert calls == expected.calls
    assert [one.offset for one in shown.instructions if one.linked] == [0]


def test_neither_code_nor_image(with_code: tuple[Session, bytes], tmp_path: Path) -> None:
    opened, _ = with_code
    with pytest.raises(BadInput, match=r"has no machine code of ip_rcv: .* 'kblrecord --code'"):
        opened.code.disassemble("ip_rcv")
    other = build(tmp_path, [Function(FUNCTION, 0x1000, {})])
    with pytest.raises(BadInput, match="is another build"):
        opened.code.disassemble(FUNCTION, other)


def test_a_session_of_an_earlier_build_has_no_table_of_code(
    session: Session, image: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.skbv"
    shutil.copy(session.file, old)
    with closing(sqlite3.connect(old)) as db:
        db.execute("DROP TABLE code")
        db.commit()
    opened = Session.open(old)
    assert not opened.code.is_recorded(FUNCTION)
    assert not opened.code.disassemble(FUNCTION, image).recorded
    opened.close()
