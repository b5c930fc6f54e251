# SPDX-License-Identifier: MIT
"""No name of a process, device, function or drop reason forges a field in Wireshark."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.export import Request, write_pcapng
from skbviewer.export.wireshark.comment_format import PARTS
from skbviewer.export.wireshark.lua_script import lua_script
from skbviewer.readers.printable_names import printable
from tests.export.hostile import FORGED, NAMES, SHORT, hostile_session

from .test_with_tshark import tshark

FIELDS = ("func", "comm", "dev", "drop_reason", "caller", "cpu", "verdict", "functions")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_pcapng(hostile_session(folder), Request(), folder / "out.pcapng")
    (folder / "kbl.lua").write_text(lua_script())
    return folder / "out.pcapng"


def shown(file: Path, *words: str) -> list[str]:
    script = ("-X", f"lua_script:{file.parent / 'kbl.lua'}")
    return tshark(file, *script, "-T", "fields", "-E", "aggregator=~", *words)


def test_each_field_has_the_values_of_the_recording(exported: Path) -> None:
    words = [word for name in FIELDS for word in ("-e", f"kbl.{name}")]
    lines = shown(exported, *words)
    assert len(lines) == len(NAMES)
    for name, line in zip(NAMES, lines, strict=True):
        # tshark writes a backslash as two.
        func, comm, dev, reason, caller, cpu, verdict, functions = (
            cell.replace("\\\\", "\\").split("~") for cell in line.split("\t")
        )
        assert set(func) == {"__alloc_skb", "dev_hard_start_xmit", printable(name), "kfree_skbmem"}
        assert comm == [printable(name[:SHORT])]
        assert dev == [printable(name[:SHORT])]
        assert reason == [printable(name.replace("\n", " "))]
        assert all(printable(name).startswith(text.rpartition("+")[0]) for text in caller)
        assert (cpu, verdict, functions) == (["0"], ["exact"], ["4"])


@pytest.mark.parametrize(
    "text", ["kbl.cpu == 77", 'kbl.drop_reason == "FORGED"', 'kbl.func == "FORGED"']
)
def test_no_filter_finds_a_forged_value(exported: Path, text: str) -> None:
    assert shown(exported, "-Y", text, "-e", "frame.number") == []


def test_comments_of_the_capture_are_kept_but_are_not_the_exporters(exported: Path) -> None:
    lines = shown(exported, "-e", "frame.comment")
    disarmed = FORGED.decode().replace(":", ";", 1)
    for line in lines:
        first, _, *ours = line.split("~")
        assert first == disarmed
        starts = [f" {part.name} " if part.name else " kbl " for part in PARTS]
        assert len(ours) == len(starts) == line.count("skbviewer:kbl/2")
        for text, start in zip(ours, starts, strict=True):
            assert text.startswith(f"skbviewer:kbl/2{start}")
