# SPDX-License-Identifier: MIT
"""Loads and stores between marks, and exceptions, in files of the emulator's plugin."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from skbviewer.readers.kernel_image.emulator_cache_lines import read_executed_touches
from skbviewer.readers.kernel_image.emulator_exception_counts import ExceptionCount, read_exceptions
from skbviewer.records import BadInput
from tests.readers.build_executed_blocks import build

FUNCTION, LINE = 0xFFFFFFFF81000000, 0xFF00000000001040
TOUCHES = [(0, FUNCTION, 0, 0, 0), (3, FUNCTION, LINE, 5, 2)]
NAMES = ["asm_exc_page_fault", "asm_sysvec_apic_timer_interrupt"]


def version_2(path: Path, durations: tuple[int, ...] = (), **other: int) -> Path:
    """Write a file with one mark, TOUCHES and an exception for each of NAMES.

    With three `durations` of each exception, the file has version 3.
    """
    head = {
        "version": 3 if durations else 2, "marks": 1, "blocks": 0, "accesses": 0, "kernel": 0,
        "probe": 0, "user": 0, "cuts": 0, "faults": 0, "marks_lost": 0, "accesses_lost": 0,
        "touches": len(TOUCHES), "exceptions": len(NAMES), "touches_lost": 0,
    }  # fmt: skip
    data = b"KBLINSNS" + struct.pack("<14Q", *(head | other).values()) + bytes(6 * 8)
    data += b"".join(struct.pack("<5Q", *row) for row in TOUCHES)
    for number, name in enumerate(NAMES):
        words = (FUNCTION + number, 3, 2, number, *durations)
        data += struct.pack(f"<{len(words)}Q48s", *words, name.encode())
    path.write_bytes(data)
    return path


def test_loads_and_stores_between_marks(tmp_path: Path) -> None:
    found = read_executed_touches(version_2(tmp_path / "insns", touches_lost=6))
    assert found.made.tolist() == [0, 3] and found.lost == 6
    assert found.function.tolist() == 2 * [FUNCTION - (1 << 64)]
    assert found.line.tolist() == [0, LINE - (1 << 64)]
    assert (found.loads.tolist(), found.stores.tolist()) == ([0, 5], [0, 2])


def test_exceptions_have_the_names_of_their_entries(tmp_path: Path) -> None:
    assert read_exceptions(version_2(tmp_path / "insns")) == [
        ExceptionCount("exc_page_fault", 3, 2, 0),
        ExceptionCount("sysvec_apic_timer_interrupt", 3, 2, 1),
    ]


def test_version_3_says_how_long_exceptions_took(tmp_path: Path) -> None:
    path = version_2(tmp_path / "insns", (4, 900, 700))
    assert read_exceptions(path) == [
        ExceptionCount("exc_page_fault", 3, 2, 0, 4, 900, 700),
        ExceptionCount("sysvec_apic_timer_interrupt", 3, 2, 1, 4, 900, 700),
    ]
    path = version_2(tmp_path / "insns", (4, 900, 700), exceptions=3)
    with pytest.raises(BadInput, match="at byte 456: has 456 bytes instead of 560"):
        read_exceptions(path)


def test_version_1_has_neither(tmp_path: Path) -> None:
    path = build(tmp_path / "insns", [])
    assert not len(read_executed_touches(path).made) and not read_exceptions(path)


def test_a_file_that_is_cut_is_one_line(tmp_path: Path) -> None:
    path = version_2(tmp_path / "insns", exceptions=3)
    with pytest.raises(BadInput, match="at byte 408: has 408 bytes instead of 488"):
        read_exceptions(path)
    path.write_bytes(path.read_bytes()[:112])
    with pytest.raises(BadInput, match="ends in its header"):
        read_executed_touches(path)
