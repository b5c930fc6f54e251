# SPDX-License-Identifier: MIT
"""docs/recordings.md shows what its commands print."""

from __future__ import annotations

from pathlib import Path

from .documented import BLOCK, DOCUMENT, answers


def test_the_document_shows_what_its_commands_print(tmp_path: Path) -> None:
    text = DOCUMENT.read_text("utf-8")
    assert len(BLOCK.findall(text)) >= 4
    assert answers(text, tmp_path) == text, "python -m tests.e2e.documented writes it anew"
