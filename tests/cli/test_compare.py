# SPDX-License-Identifier: MIT
"""skbviewer compare: text, JSON, packets side by side, stacks, and wrong arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.cli import main

SAMPLES = Path("resources/samples").absolute()
BULK = [str(SAMPLES / "bulk" / f"bulk.{kind}") for kind in ("kbl", "pcap")]
NAME = "arp-and-neighbour"
ARP = [str(SAMPLES / NAME / f"{NAME}.{kind}") for kind in ("kbl", "pcap")]
BOTH = [*BULK, "--with", *ARP]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["compare", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *BOTH)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("A  ") and "439 passes, 41 copies for sniffers" in lines[0]
    assert lines[1].startswith("B  ") and "76 passes, 15 copies for sniffers" in lines[1]
    (rx,) = (line for line in lines if line.startswith("  netif_rx_internal, self time: "))
    assert rx.startswith(
        "  netif_rx_internal, self time: 0.735 us -> 0.806 us a call, +9.8 % (95 % inter"
    )
    assert any(line.startswith("functions (15 of ") for line in lines)
    _, every, _ = run(capsys, *BOTH, "--all")
    assert len(every) > len(out)
    assert any(line.startswith("FUNCTIONS") for line in every.splitlines())


def test_a_file_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, BULK[0], BULK[0])
    assert code == 0
    assert "\nBoth recordings were made in the same way " in out
    assert "\nNo change: " in out
    assert "CHANGED" not in out


def test_recordings_that_could_not_be_judged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """That nothing changed and that nothing could be judged are different answers."""
    for words, why in (
        ([BULK[1], BULK[1]], "A and B have no kernel log"),
        ([BULK[0], BULK[1]], "B has no kernel log"),
        ([*BULK, "--with", *BULK, "--filter-b", "arp"], "B has 4 legs, fewer than 64"),
        (
            [*BULK, "--with", *BULK, "--filter", "udp"],
            "A and B have no leg that matches the filter",
        ),
    ):
        _, out, _ = run(capsys, *words)
        assert f"\nThe recordings could not be compared, because {why}.\n" in out
        assert "No change" not in out
        _, out, _ = run(capsys, *words, "--json")
        assert (json.loads(out)["changes"], json.loads(out)["unjudged"]) == (None, why)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *BOTH, "--json")
    found = json.loads(out)
    assert found["a"]["files"] == BULK
    assert (found["b"]["passes"], found["b"]["copies"]) == (76, 15)
    assert found["unjudged"] is None
    assert found["changes"] == sum(row["changed"] for row in found["rows"])
    assert found["method"]["tests"] == sum(row["p"] is not None for row in found["rows"])
    times = [row for row in found["rows"] if row["unit"] == "ns"]
    assert {type(row[key]) for row in times for key in "ab"} == {int, type(None)}
    (row,) = (
        row
        for row in times
        if (row["section"], row["name"], row["measure"])
        == ("functions", "netif_rx_internal", "self time")
    )
    assert (row["a"], row["b"], row["number_a"], row["changed"]) == (735, 806, 214, True)
    assert row["low"] < row["change"] < row["high"]
    shares = [row["name"] for row in found["rows"] if row["unit"] == "share"]
    assert set(shares) <= set(found["paths"])
    assert found["paths"][shares[0]]["steps"][0].keys() == {"depth", "function"}


def test_packets(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*BULK, "--with", *BULK, "--packets", "24,26")
    _, out, _ = run(capsys, *words)
    assert out.startswith(f"A  packet 24 of {BULK[0]}")
    assert "... softirq" in out
    _, text, _ = run(capsys, *words, "--json")
    found = json.loads(text)
    softirq = next(step for step in found["steps"] if step["name"] == "softirq")
    assert softirq["longer_ns"] == softirq["b"]["self_ns"] - softirq["a"]["self_ns"]
    assert found["steps"][found["apart"]]["b"] is None


def test_packets_without_a_path_are_not_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, BULK[1], BULK[1], "--packets", "1,2")
    assert "The paths of both packets are unknown" in out
    _, out, _ = run(capsys, BULK[1], "--with", *BULK, "--packets", "24,24")
    assert "The path of packet A is unknown; the listed steps are those of packet B." in out


def test_a_capture_alone_has_no_conditions_of_its_kernel(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, BULK[1], "--with", *BULK)
    assert "A recording without a kernel log cannot be compared." in out
    assert "architecture" not in out and "recorder's filters differ" not in out


def test_stacks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folded, profile = tmp_path / "x.folded", tmp_path / "x.json"
    run(capsys, *BOTH, "--folded", str(folded), "--speedscope", str(profile))
    lines = [line.rsplit(" ", 2) for line in folded.read_text().splitlines()]
    assert all(one.isdigit() and two.isdigit() for _, one, two in lines)
    assert any(stack.endswith("__icmp_send") and one == "0" for stack, one, _ in lines)
    assert len(json.loads(profile.read_text())["profiles"]) == 2


def test_stacks_to_standard_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is written there, and no file has the name "-"."""
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capsys, *BOTH, "--folded", "-")
    assert all(len(line.rsplit(" ", 2)) == 3 for line in out.splitlines())
    assert any(";ip_rcv" in line for line in out.splitlines())
    _, out, _ = run(capsys, *BOTH, "--speedscope", "-")
    assert len(json.loads(out)["profiles"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_an_error_names_the_option_of_the_filter(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *BOTH, "--filter", "tcp", "--filter-b", "udp &&")
    assert code == 2
    assert err.startswith("skbviewer: --filter-b: a field or a value")


def test_filters(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        capsys, *BULK, "--with", *BULK, "--filter", "tcp", "--filter-b", "tcp.len > 9", "--json"
    )
    found = json.loads(out)
    assert found["a"]["packets"] > found["b"]["packets"] > 0
    code, _, err = run(capsys, *BOTH, "--filter", "nonsense")
    assert code == 2
    assert "unknown field nonsense" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (BULK[:1], "expected two files, or '--with' before the files of B"),
        ([*BULK, ARP[0]], "expected two files, or '--with' before the files of B"),
        ([BULK[0], "/none.skbv"], "/none.skbv"),
        ([BULK[0], ARP[0], "--packets", "99999,1"], "no packet 99999"),
        ([*BOTH, "--packets", "1,1", "--folded", "-"], "'--packets' and '--folded' exclude"),
        ([*BOTH, "--packets", "1,1", "--filter-b", "tcp"], "'--packets' and '--filter-b' exclude"),
        ([*BOTH, "--packets", "1,1", "--least", "50"], "'--least' has no effect with '--packets'"),
        ([*BOTH, "--packets", "1,1", "--all"], "'--all' has no effect with '--packets'"),
        ([*BOTH, "--json", "--folded", "-"], "--folded - and --json exclude each other"),
        ([*BOTH, "--folded", "-", "--speedscope", "-"], "--folded - and --speedscope - exclude"),
    ],
)
def test_wrong_arguments(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *words)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [["--packets", "1"], ["--packets", "x,2"], ["--least", "-1"]])
def test_wrong_options(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *BOTH, *words])
    assert ended.value.code == 2
    assert "error: argument --" in capsys.readouterr().err
