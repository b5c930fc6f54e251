# SPDX-License-Identifier: MIT
"""Names of numbers in the events of a kernel log."""

from __future__ import annotations

import pytest

from skbviewer.analysis.words.kernel_log_names import Names
from skbviewer.records.kbl_layout import KBL_SYSCALL_32BIT


@pytest.mark.parametrize(
    ("arch", "number", "name"),
    [
        ("x86_64", 39, "getpid"),
        ("x86_64", 462, "mseal"),
        ("x86_64", 999, "syscall 999"),
        ("x86_64", 20 | KBL_SYSCALL_32BIT, "getpid (32-bit)"),
        ("x86_64", 999 | KBL_SYSCALL_32BIT, "syscall 999 (32-bit)"),
        ("aarch64", 172, "getpid"),
        ("aarch64", 20 | KBL_SYSCALL_32BIT, "syscall 20 (32-bit)"),
        ("riscv64", 172, "syscall 172"),
    ],
)
def test_system_calls_have_the_names_of_their_machine(arch: str, number: int, name: str) -> None:
    assert Names({}, {}, {}, {"arch": arch}).syscall(number) == name
