# SPDX-License-Identifier: MIT
"""skbviewer query, as a user calls it: formats, one line for an error, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.session.query_thread import Bounds
from tests.cli.commands import wait_for_threads
from tests.e2e.samples import open_sample

ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT sum(x) FROM t"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_sample("drops", tmp_path_factory.mktemp("query"))[0].file


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["query", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def test_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT reason, count(*) AS n, NULL AS empty FROM drops GROUP BY reason ORDER BY n DESC"
    code, out, _ = run(capsys, file, sql)
    assert code == 0
    assert out.splitlines()[:2] == ["reason           n  empty", "NETFILTER_DROP  22"]


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT 1 AS a, 2 AS a, x'ff00' AS b, 1e999 AS c, NULL AS d, 'é\"' AS e"
    code, out, _ = run(capsys, "--json", file, sql)
    row = {"a": 1, "a_2": 2, "b": "ff00", "c": None, "d": None, "e": 'é"'}
    assert (code, json.loads(out)) == (0, [row])
    assert json.loads(run(capsys, file, "SELECT id FROM calls WHERE 0", "--json")[1]) == []


def test_csv_has_no_formulas(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, file, "--csv", "SELECT '=1+1' AS a, -5 AS b, '@x' AS \"=c\"")
    assert (code, out.splitlines()) == (0, ["a,b,'=c", "'=1+1,-5,'@x"])


def test_csv(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, file, "--csv", "SELECT number, saddr FROM packets")
    rows = list(csv.reader(io.StringIO(out)))
    assert code == 0 and rows[:2] == [["number", "saddr"], ["1", ""]] and len(rows) == 31


def test_no_rows(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, file, "SELECT id, leg FROM calls WHERE 0")[:2] == (0, "id  leg\n")


def test_an_error_is_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for sql in (
        "SELECT * FROM nothing",
        "DELETE FROM call",
        "SELECT zeroblob(2e9)",
        "ATTACH 'x' AS y",
    ):
        code, out, err = run(capsys, file, sql)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"skbviewer: {file}: query: ")


def test_missing_rows_are_a_warning(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.cli.query.Bounds", lambda: Bounds(rows=5))
    code, out, err = run(capsys, file, "SELECT id FROM calls", "--csv")
    assert (code, len(out.splitlines()), err) == (1, 6, "warning: only the first 5 rows\n")


def test_control_characters_are_escaped(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT char(27) || '[31m' AS a, 'x' || char(10) || 'y' AS b, 7 AS c"
    _, out, _ = run(capsys, file, sql)
    assert out.splitlines() == ["a         b     c", r"\x1b[31m  x\ny  7"]


def test_ctrl_c_cancels_at_once(file: Path) -> None:
    command = [sys.executable, "-m", "skbviewer", "query", str(file), ENDLESS]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_threads(process.pid, 2)  # the query has its own
    time.sleep(0.3)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 3  # a loaded machine; alone it takes 0.1 s
    assert (process.returncode, err) == (2, "skbviewer: cancelled\n")


def test_captures_and_logs_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from skbviewer.records import resource

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    log = resource("samples/nat/nat.kbl")
    assert run(capsys, log, "SELECT kind FROM sources", "--csv")[:2] == (0, "kind\nkbl\n")


def test_the_statement_on_standard_input(file: Path) -> None:
    command = [sys.executable, "-m", "skbviewer", "query", "--csv", str(file), "-"]
    sql = "SELECT 'ä' AS a".encode()
    done = subprocess.run(command, input=sql, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["a", "ä"]
    long = "SELECT 'ä" + "ä" * 60_000 + "'"
    for wrong, why in ((b"SELECT '\xff'", "not UTF-8 (byte 8)"), (long.encode(), "longer than")):
        done = subprocess.run(command, input=wrong, capture_output=True, check=False)
        assert done.returncode == 2 and why in done.stderr.decode()
        assert len(done.stderr.splitlines()) == 1
