# SPDX-License-Identifier: MIT
"""docs/remade.md has the tables that the bundled recordings give now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.remade.__main__ import main
from tests.remade.document import DOCUMENT, names_in, part_of, with_part
from tests.remade.parts import PARTS

TEXT = DOCUMENT.read_text("utf-8")


def test_every_part_is_in_the_document_once() -> None:
    assert sorted(names_in(TEXT)) == sorted(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_the_document_has_what_the_recordings_give(name: str) -> None:
    made = PARTS[name]()
    assert part_of(TEXT, name) == made, f"python -m tests.remade {name}"
    assert made.count("\n") > 2


def test_run_times_are_stated_for_each_part() -> None:
    stated = set(re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.MULTILINE))
    assert stated == set(PARTS)


def test_one_part_is_written_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "remade.md"
    copy.write_text(with_part(TEXT, "throughput", "nothing\n"), "utf-8")
    assert main(["throughput"], copy) == 0
    assert copy.read_text("utf-8") == TEXT
    assert main(["no-such"], copy) == 2
    assert "throughput" in capsys.readouterr().out
