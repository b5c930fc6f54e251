# SPDX-License-Identifier: MIT
"""Parquet and JSON lines with pseudonyms: the same tables, and none of the addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from skbviewer.export import Request, write_jsonl, write_parquet, write_pcapng
from skbviewer.session import Session
from tests.e2e.samples import open_sample

from ..wireshark.test_with_tshark import tshark

KEY = b"0123456789abcdef"
PACKED = [bytes([10, 9, network, host]) for network in (1, 2) for host in (1, 2)]


@pytest.fixture(scope="module")
def nat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = open_sample("nat", tmp_path_factory.mktemp("nat"))[0]
    yield session
    session.close()


def addresses(folder: Path) -> list[tuple[str, str]]:
    table = duckdb.read_parquet(str(folder / "packets.parquet")).order("number")
    return table.project("saddr, daddr").fetchall()


def test_addresses_of_parquet_are_those_of_the_capture(nat: Session, tmp_path: Path) -> None:
    write_parquet(nat, Request(pseudonym_key=KEY), tmp_path / "tables")
    write_pcapng(nat, Request(pseudonym_key=KEY), tmp_path / "out.pcapng")
    lines = tshark(tmp_path / "out.pcapng", "-Y", "ip && !icmp", "-T", "fields", "-e",
                   "frame.number", "-e", "ip.src", "-e", "ip.dst")  # fmt: skip
    shown = addresses(tmp_path / "tables")
    assert len(lines) > 5
    for line in lines:
        number, source, target = line.split("\t")
        assert shown[int(number) - 1] == (source, target)


def test_no_address_and_no_folder_is_left(nat: Session, tmp_path: Path) -> None:
    write_parquet(nat, Request(pseudonym_key=KEY), tmp_path / "tables")
    data = b"".join(path.read_bytes() for path in sorted((tmp_path / "tables").iterdir()))
    write_jsonl(nat, Request(pseudonym_key=KEY), tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text()
    assert not [packed for packed in PACKED if packed in data]
    for text_ in (text, data.decode("latin1")):
        assert "10.9." not in text_
        assert str(Path(nat.sources()[0].path).parent) not in text_


def test_the_other_columns_stay(nat: Session, tmp_path: Path) -> None:
    write_jsonl(nat, Request(), tmp_path / "plain.jsonl")
    write_jsonl(nat, Request(pseudonym_key=KEY), tmp_path / "other.jsonl")
    changed = set()
    both = [(tmp_path / name).read_text().splitlines() for name in ("plain.jsonl", "other.jsonl")]
    for before, after in zip(*(map(json.loads, lines) for lines in both), strict=True):
        assert before.keys() == after.keys()
        changed |= {(before["table"], key) for key in before if before[key] != after[key]}
    assert changed == {
        ("sources", "path"),
        *((table, column) for table in ("packets", "lifetimes") for column in ("saddr", "daddr")),
        ("packet_bytes", "bytes"),
    }


def test_ipv6_addresses_have_eight_groups(tmp_path: Path) -> None:
    session = open_sample("ipv6-and-fragments", tmp_path)[0]
    write_parquet(session, Request(pseudonym_key=KEY, payload=False), tmp_path / "tables")
    session.close()
    found = {word for row in addresses(tmp_path / "tables") for word in row if word and ":" in word}
    assert found and all(word.count(":") == 7 for word in found)
    assert not any(word.startswith("fd") and "9:" in word for word in found)
