# SPDX-License-Identifier: MIT
"""No cell of a CSV file is a formula."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.export.csv_cells import comment_lines, csv_cell
from tests.export.hostile import NAMES, hostile_session

BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n")
WRITTEN = (
    ("export", "--csv", "OUT", "--packet", "7"),
    ("export", "--csv", "OUT", "--packet", "8"),
    ("export", "--csv", "OUT", "--filter", ""),
    ("export", "--csv", "OUT", "--lanes", "cpu", "--size", "3000x2000"),
    ("packets", "--csv"),
    ("stats", "functions", "--csv"),
    ("stats", "drops", "--csv"),
    ("stats", "processes", "--csv"),
)


@pytest.mark.parametrize(
    ("value", "cell"),
    [("=1+1", "'=1+1"), ("+x", "'+x"), ("-x", "'-x"), ("@x", "'@x"), ("\tx", "'\tx"),
     ("-1.5", "-1.5"), ("+3", "+3"), ("-1,234.5", "-1,234.5"), (-5, -5), (None, None),
     (" =1", "' =1"), ("\n=1", "'\n=1"), ("a=b", "a=b"), ("", "")],
)  # fmt: skip
def test_texts_that_look_like_formulas_begin_with_an_apostrophe(
    value: object, cell: object
) -> None:
    assert csv_cell(value) == cell


def test_comments_that_a_spreadsheet_divides_hold_no_formula() -> None:
    lines = [
        "kbl a,=1+1.kbl",
        "pcap b;@SUM(1)",
        "--range -1,-2.5 --markers=-1,+2",
        "x,-1+2",
        "a, =1",
        'a,"=1"',
        "udp\n=1+1",
    ]
    assert list(comment_lines(lines)) == [
        "# kbl a,'=1+1.kbl\n", "# pcap b;'@SUM(1)\n", "# --range -1,-2.5 --markers=-1,+2\n",
        "# x,'-1+2\n", "# a, '=1\n", "# a,\"'=1\"\n", "# udp\\n=1+1\n",
    ]  # fmt: skip


@pytest.mark.parametrize("words", WRITTEN, ids=" ".join)
def test_no_command_writes_a_formula(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    session, out = hostile_session(tmp_path), tmp_path / "out.csv"
    command, *rest = (str(out) if word == "OUT" else word for word in words)
    assert main([command, str(session.file), *rest]) == 0
    text = out.read_text() if "OUT" in words else capsys.readouterr().out
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    cells = [cell for row in csv.reader(io.StringIO("\n".join(lines))) for cell in row]
    formulas = [c for c in cells if c.startswith(BEGINS) and not c.lstrip("-").isdigit()]
    assert formulas == []
    named = [name for name in NAMES if name.startswith(BEGINS)]
    assert any(cell.startswith(f"'{name[:4]}") for cell in cells for name in named)
