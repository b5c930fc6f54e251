# SPDX-License-Identifier: MIT
"""JSON lines hold every row of every table of the session."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode
from contextlib import closing
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

from skbviewer.export import Request, jsonl, write_jsonl
from skbviewer.records import Cancelled, Silent, resource
from skbviewer.records.table_columns import Vector
from skbviewer.store.views.declared_views import VIEWS
from tests.e2e.samples import NAMES, open_sample


def rows_of(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Objects by their table's name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row.pop("table"), []).append(row)
    return found


@pytest.mark.parametrize("name", ("handshake", *NAMES))
def test_objects_are_the_rows_of_the_views(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "AT_ONCE", 100)
    session = open_sample(name, tmp_path)[0]
    write_jsonl(session, Request(), tmp_path / "out.jsonl")
    found = rows_of(tmp_path / "out.jsonl")
    with closing(sqlite3.connect(session.file)) as db:
        db.row_factory = sqlite3.Row
        for table in VIEWS:
            assert found[table] == [dict(row) for row in db.execute(f"SELECT * FROM {table}")]  # noqa: S608
    with resource(f"samples/{name}/{name}.pcap").open("rb") as file:
        frames = [bytes(frame) for _, frame in dpkt.pcap.Reader(file)]
    assert [b64decode(row["bytes"]) for row in found["packet_bytes"]] == frames


def test_chosen_packets_and_short_bytes(tmp_path: Path) -> None:
    session, out = open_sample("nat", tmp_path)[0], tmp_path / "out.jsonl"
    write_jsonl(session, Request(rows=(2, 3), snaplen=14), out)
    found = rows_of(out)
    assert [row["number"] for row in found["packets"]] == [2, 3]
    assert {len(b64decode(row["bytes"])) for row in found["packet_bytes"]} == {14}
    write_jsonl(session, Request(rows=(2,), payload=False), out)
    assert "packet_bytes" not in rows_of(out)


def test_hostile_texts_and_numbers_stay_valid_json() -> None:
    words = ['a"b\\', "%s\n\x1b", "\u2028é"]
    block = {
        'na"me': Vector(np.array([0, 1, 2, -1], np.int32), None, words),
        "x": Vector(np.array([np.nan, np.inf, 0.1, 1e300]), np.array([False, False, True, False])),
        "n": Vector(np.array([-(1 << 63), 2, 3, (1 << 63) - 1]), None),
    }
    lines = "".join(jsonl.block_lines("t", block)).splitlines(keepends=True)
    made = [json.loads(line) for line in "".join(lines).split("\n") if line]
    assert [row['na"me'] for row in made] == [*words, None]
    assert [row["x"] for row in made] == [None, None, None, 1e300]
    assert [row["n"] for row in made] == [-(1 << 63), 2, 3, (1 << 63) - 1]


def test_cancelling_leaves_nothing(tmp_path: Path) -> None:
    class AtCalls(Silent):
        def report(self, what: str, done: int, total: int) -> None:
            if what == "writing calls":
                raise Cancelled

    session = open_sample("nat", tmp_path)[0]
    (tmp_path / "out").mkdir()
    with pytest.raises(Cancelled):
        write_jsonl(session, Request(progress=AtCalls()), tmp_path / "out/x.jsonl")
    assert list((tmp_path / "out").iterdir()) == []
