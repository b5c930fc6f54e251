# SPDX-License-Identifier: MIT
"""Commands that take captures and KBLs as they are, as well as the session made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.records import resource

DROPS = resource("samples/drops")
INPUTS = [str(DROPS / "drops.kbl"), str(DROPS / "drops.pcap")]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("direct") / "s.skbv"
    assert main(["import", "-o", str(out), *INPUTS]) == 0
    return str(out)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("packets", ["--csv"]),
        ("packets", ["--kernel-only"]),
        ("info", ["--json"]),
        ("stats", ["drops"]),
        ("path", ["--packet", "5"]),
    ],
)
def test_inputs_say_the_same_as_their_session(
    session: str, command: str, words: list[str], capsys: Captured
) -> None:
    assert main([command, session, *words]) == 0
    wanted = capsys.readouterr().out
    assert wanted and main([command, *INPUTS, *words]) == 0
    assert capsys.readouterr().out == wanted


def test_files_and_the_table_may_stand_around_options(session: str, capsys: Captured) -> None:
    assert main(["stats", *INPUTS, "drops", "--csv"]) == 0
    wanted = capsys.readouterr().out
    for words in (
        ["stats", "drops", *INPUTS, "--csv"],
        ["stats", INPUTS[0], "--csv", INPUTS[1], "drops"],
        ["stats", session, "--csv", "drops"],
    ):
        assert main(words) == 0
        assert capsys.readouterr().out == wanted
    with pytest.raises(SystemExit) as left:
        main(["packets", session, "--jsno"])
    assert left.value.code == 2
    assert "unrecognized arguments: --jsno" in capsys.readouterr().err
    assert main(["stats", session]) == 2
    assert "expected a file and a table" in capsys.readouterr().err


def test_what_is_wrong_with_an_input_is_said(tmp_path: Path, capsys: Captured) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes((DROPS / "drops.pcap").read_bytes()[:-3])
    for command in (["packets", "--json"], ["stats", "drops"], ["path", "--packet", "1"]):
        for _ in range(2):  # also when the session is in the cache
            assert main([command[0], str(cut), *command[1:]]) == 1
            printed = capsys.readouterr()
            assert "cut.pcap at byte" in printed.err.splitlines()[0]
    kept = tmp_path / "kept.skbv"
    assert main(["import", "-o", str(kept), str(cut)]) == 1
    assert main(["packets", str(kept), "--json"]) == 0


def test_the_cache_is_the_users_own(cache: Path, capsys: Captured) -> None:
    assert main(["info", INPUTS[1]]) == 0
    assert capsys.readouterr().out
    folder = cache / "skbviewer" / "sessions"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.iterdir())) == 1


def test_a_row_of_the_kernel_has_a_path_too(session: str, capsys: Captured) -> None:
    assert main(["packets", session, "--kernel-only", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row in (rows[0], rows[-1]):
        assert main(["path", session, "--series", str(row["series"]), "--json"]) == 0
        wanted = capsys.readouterr().out
        for number in (row["number"], row["number"].lower()):
            assert main(["path", session, "--packet", number, "--json"]) == 0
            assert capsys.readouterr().out == wanted
    assert main(["path", session, "--packet", "K9999"]) == 2
    assert capsys.readouterr().err == "skbviewer: no packet K9999\n"


@pytest.mark.parametrize("word", ["abc", "0", "K0", "-3", "1.5", "", "²"])
def test_what_is_no_row_is_said_in_the_users_words(
    session: str, word: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["path", session, f"--packet={word}"])
    assert left.value.code == 2
    assert f"not a packet number: {word}" in capsys.readouterr().err
