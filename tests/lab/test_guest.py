# SPDX-License-Identifier: MIT
"""Which deaths of a guest are the emulator's fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import guest
from tests.lab.debs import Kernel
from tests.lab.guest import GuestFailed, is_emulators_fault

DOUBLE_FAULT = """\
[  103.186718] traps: PANIC: double fault, error_code: 0x0
[  103.196239] RIP: 0010:__kmalloc_cache_node_noprof+0xe7/0x330
[  103.200851] RSP: 0018:ff363eb58001bad0 EFLAGS: {}
[  103.201606] RAX: ff207f9f7f5b2ea0 RBX: ff207f9f7f5b2180 RCX: 0000000002cd2000
"""


@pytest.mark.parametrize(
    ("console", "is_fault"),
    [
        (DOUBLE_FAULT.format("7f5b2ee2"), True),
        (DOUBLE_FAULT.format("00010246"), False),
        (DOUBLE_FAULT.format("00250246"), False),
        ("[   12.0] Oops: int3: 0000 [#1] PREEMPT SMP", True),
        ("no end after 300 s", False),
    ],
)
def test_a_processor_has_no_such_flags(console: str, is_fault: bool) -> None:
    assert is_emulators_fault(console) is is_fault


def test_a_guest_that_met_a_stale_breakpoint_boots_again_in_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[list[str]] = []

    def console_of(line: list[str], *_: object) -> str:
        lines.append(line)
        return "Oops: int3: 0000 [#1] PREEMPT SMP"

    monkeypatch.setattr(guest, "console_of", console_of)
    with pytest.raises(GuestFailed):
        guest.boot(Kernel("6.12", tmp_path, tmp_path, tmp_path), tmp_path, tmp_path)
    assert ["tcg,thread=single" in line for line in lines] == [False, True]
