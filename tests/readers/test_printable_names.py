# SPDX-License-Identifier: MIT
"""A program, a device or a module may have any name: none of them moves the reader's cursor."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.readers.printable_names import printable
from skbviewer.records import KernelLog, Silent
from tests.readers.build_kbl import KblBuilder

NASTY, SHOWN = "a\x1b[31m\x01<&\n", r"a\x1b[31m\x01<&\n"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", ""),
        ("kworker/0:1-mm_percpu_wq", "kworker/0:1-mm_percpu_wq"),
        (r"C:\new", r"C:\new"),
        ("пінг 网络", "пінг 网络"),
        ("a\tb\rc\x7f", r"a\tb\rc\x7f"),
        ("\x9b2J", r"\x9b2J"),
        ("exe\u202etxt", r"exe\u202etxt"),
        ("\uffff\U000e0001", r"\uffff\U000e0001"),
    ],
)
def test_printable(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_all_names_of_a_kbl_are_printable(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe(f"f{NASTY}", module=NASTY)
    build.task(900, 0, 1, 7, NASTY)
    build.device(100, 2, NASTY)
    build.meta = {"one": "1\x1b[2J", "two": "2"}
    build.call(1000, 0, func, 0xFFFF888000001000, 500)
    log = readers.read(build.write(tmp_path / "a.kbl"), Silent())
    assert isinstance(log, KernelLog)
    assert log.tasks == {7: SHOWN}
    assert log.devices == {(100, 2): SHOWN}
    assert (log.probes[func].name, log.probes[func].module) == (f"f{SHOWN}", SHOWN)
    assert (log.meta["one"], log.meta["two"]) == (r"1\x1b[2J", "2")
    assert SHOWN in log.details.names.values()
    texts = [*log.symbols.values(), *log.meta.values(), log.hostname, log.release, log.arch]
    assert all(text.isprintable() for text in texts)
