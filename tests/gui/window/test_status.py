# SPDX-License-Identifier: MIT
"""What the status bar shows of a recording's clocks."""

from __future__ import annotations

from pathlib import Path

from skbviewer.gui.base.status_text import clock_texts, status_text
from skbviewer.gui.files.import_summary import summary_html
from tests.session.two_logs import two_logs

from ..fake import FakeRecording


def test_a_single_clock_needs_no_names() -> None:
    (text,) = clock_texts(FakeRecording())
    assert text.startswith("Clock offset: ")


def test_kernel_only_is_one_word_with_one_meaning() -> None:
    """Lives without an address are not in the list until asked for: they are counted apart."""

    class Nameless(FakeRecording):
        def all_kernel_only_count(self) -> int:
            return self.kernel_only_count() + 161

    assert "Kernel-only: 3 (+ 161 without an address)" in status_text(Nameless())
    assert "Kernel-only: 3 (+ 2 without an address)" in status_text(FakeRecording())
    assert "3 packets with an address are kernel-only" in summary_html(Nameless())


def test_the_status_names_clocks_of_two_logs_and_how_they_are_joined(tmp_path: Path) -> None:
    session = two_logs(tmp_path)
    *fits, between = clock_texts(session)
    names = {text.partition(":")[0] for text in fits}
    captures = ("10.0.0.1.pcap", "10.0.0.2.pcap")
    assert names == {
        f"Clock offset of {capture} to {log}" for capture in captures for log in ("left", "right")
    }
    assert between.startswith("Clock of right to left: ± ")
    session.close()
