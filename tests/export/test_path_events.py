# SPDX-License-Identifier: MIT
"""Events and compensated times in a path's text, table and XML."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

from skbviewer.export import has_line, path_lines, path_xml, write_path_csv
from skbviewer.records import PacketPath, PathEvent

from .paths import SOURCE, path

DROP = PathEvent(1250, "drop", "drop NO_SOCKET at udp_rcv+0x4", 2, 1, "softirq", 7, "client",
                 False, ("udp_rcv+0x4", "ip_rcv+0x8"))  # fmt: skip
NEIGH = PathEvent(1700, "neigh", "neigh 10.0.0.1 on eth0", -1, 0, "task", 8, "", True, ())
FREE = DROP._replace(event="free", text="free", stack=())


def path_with_events() -> PacketPath:
    """The path with a drop in its third call, a change beside all calls, and a birth or death."""
    whole = path()
    (leg,) = whole.legs
    calls = (leg.calls[0]._replace(comp_ns=432, counter=17, sock=0xAB, mark=5), *leg.calls[1:])
    return whole._replace(legs=(leg._replace(events=(DROP, FREE, NEIGH), calls=calls),))


def test_the_tree_shows_events_where_they_happened() -> None:
    lines = list(path_lines(path_with_events()))
    (drop,) = [number for number, line in enumerate(lines) if "* drop" in line]
    assert "udp_rcv" in lines[drop - 1]
    assert lines[drop].split()[0] == "0.250"
    assert lines[drop].endswith("* drop NO_SOCKET at udp_rcv+0x4")
    assert [line.strip() for line in lines[drop + 1 : drop + 3]] == [
        "by udp_rcv+0x4",
        "by ip_rcv+0x8",
    ]
    assert lines[drop].index("*") == lines[drop - 1].index("udp_rcv") + 2
    assert any(line.endswith("* this packet caused: neigh 10.0.0.1 on eth0") for line in lines)
    assert not any("* free" in line for line in lines)


def test_the_tree_shows_compensated_times() -> None:
    lines = [line for line in path_lines(path_with_events()) if "without probes" in line]
    assert len(lines) == 1 and "netif_receive_skb" in lines[0]
    assert "0.432 us without probes" in lines[0]


def test_births_and_deaths_are_quiet() -> None:
    assert [has_line(event) for event in (DROP, FREE, NEIGH)] == [True, False, True]


def test_the_table_has_columns_for_them(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    write_path_csv(path_with_events(), [SOURCE], out)
    text = out.read_text(encoding="utf-8")
    assert "#   1250 ns: drop NO_SOCKET at udp_rcv+0x4\n" in text
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert [rows[0][name] for name in ("comp_ns", "counter", "sock", "mark")] == [
        "432",
        "17",
        "0xab",
        "5",
    ]
    assert [rows[1][name] for name in ("comp_ns", "counter", "sock")] == ["", "", ""]


def test_the_table_has_sections_and_stacks_below_their_event(tmp_path: Path) -> None:
    whole = path_with_events()
    (leg,) = whole.legs
    point = DROP._replace(event="point", text="seen at f", details=("ct: new, =1+1", "nft: drop"))
    write_path_csv(whole._replace(legs=(leg._replace(events=(point,)),)), [SOURCE], tmp_path / "a")
    lines = (tmp_path / "a").read_text(encoding="utf-8").splitlines()
    at = lines.index("#   1250 ns: seen at f")
    assert lines[at + 1 : at + 5] == [
        "#     ct: new, '=1+1", "#     nft: drop", "#     by udp_rcv+0x4", "#     by ip_rcv+0x8",
    ]  # fmt: skip


def test_xml_holds_events_in_their_calls() -> None:
    root = ElementTree.fromstring(path_xml(path_with_events()))
    (drop,) = root.findall(".//call[@function='udp_rcv']/event[@event='drop']")
    assert drop.get("text") == DROP.text and drop.get("caused") is None
    assert [frame.get("by") for frame in drop.findall("frame")] == list(DROP.stack)
    (neigh,) = root.findall("leg/event")
    assert neigh.get("caused") == "yes"
    assert root.find(".//call[@comp_ns='432']") is not None
