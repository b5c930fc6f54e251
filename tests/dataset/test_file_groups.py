# SPDX-License-Identifier: MIT
"""The arguments of `dataset add` are grouped into sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.dataset.file_groups import in_order, pairs_of
from skbviewer.records import BadInput
from skbviewer.session import import_files
from tests.dataset.recordings import pair


def _names(words: list[str]) -> list[list[str]]:
    return [[path.name for path in files] for files in pairs_of(words)]


def test_equal_names_of_one_folder_are_a_pair() -> None:
    words = ["x/a.kbl", "y/a.pcap", "x/b.pcapng", "x/a.pcap.zst", "x/c.d.kbl", "x/c.e.pcap"]
    assert _names(words) == [
        ["a.kbl", "a.pcap.zst"], ["a.pcap"], ["b.pcapng"], ["c.d.kbl"], ["c.e.pcap"],
    ]  # fmt: skip


def test_a_pair_is_named_by_plus() -> None:
    assert _names(["x/a.kbl+y/eth0.pcap+y/eth1.pcap", "x/b.kbl"]) == [
        ["a.kbl", "eth0.pcap", "eth1.pcap"], ["b.kbl"],
    ]  # fmt: skip
    assert _names(["a.kbl", "a.kbl"]) == [["a.kbl"]]


def test_a_plus_in_a_name_is_a_name(tmp_path: Path) -> None:
    file = tmp_path / "a+b.pcap"
    file.touch()
    assert pairs_of([str(file)]) == [(file,)]


def test_logs_come_first_and_sessions_are_refused(tmp_path: Path) -> None:
    log, capture = pair("handshake")
    assert in_order((capture, log)) == (log, capture)
    made = tmp_path / "s.skbv"
    import_files((capture,), made)
    with pytest.raises(BadInput, match="is a session: add the captures and kernel logs"):
        in_order((made,))
