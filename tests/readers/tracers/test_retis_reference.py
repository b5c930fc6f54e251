# SPDX-License-Identifier: MIT
"""The reader reads the same values from a log as retis' own Python package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import retis as reference

from skbviewer import readers
from skbviewer.records import KernelLog, Silent, resource
from skbviewer.session import import_files
from tests.readers import build_retis, retis_of_recording

MASK64 = (1 << 64) - 1
MACHINE = {"kernel_release": "6.12.9", "kernel_version": "#1", "hardware_name": "x86_64"}


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Make a log of version 1.7 from a bundled recording."""
    folder = tmp_path_factory.mktemp("reference")
    kbl, pcap = (resource(f"samples/drops/drops.{suffix}") for suffix in ("kbl", "pcap"))
    import_files([kbl, pcap], folder / "a.skbv")
    lifetimes = retis_of_recording.exact_lifetimes(folder / "a.skbv")
    made = retis_of_recording.events(kbl, pcap, lifetimes, version="v1.7.0")
    made[0]["startup"] |= {"machine": MACHINE, "cmdline": "retis collect"}
    return made


def as_version(events: list[dict[str, Any]], version: str) -> list[dict[str, Any]]:
    """The events as an older version writes them."""
    first, *rest = json.loads(json.dumps(events))
    first["startup"]["retis_version"] = f"v{version}.0"
    if version != "1.7":
        del first["startup"]["machine"], first["startup"]["cmdline"]
    if version == "1.5":
        rest = [build_retis.older(event) if "dev" in event else event for event in rest]
    return [first, *rest]


def by_reference(path: Path) -> list[tuple[Any, ...]]:
    """Time, symbol, tracking, drop reason, device and bytes of each event, as retis reads it."""
    rows = []
    for event in reference.EventReader(str(path)):
        if "kernel" not in event:
            continue
        tracked = event["skb-tracking"]
        rows.append(
            (
                event["common"].timestamp,
                event["kernel"].symbol,
                (tracked.timestamp, tracked.orig_head, tracked.skb),
                event["skb-drop"].drop_reason if "skb-drop" in event else None,
                event["dev"].ifindex if "dev" in event else -1,
                bytes(event["packet"].data) if "packet" in event else b"",
            )
        )
    return rows


def by_reader(path: Path) -> list[tuple[Any, ...]]:
    """Return what the reader finds in each event: lifetimes as numbers, bytes as an identity."""
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog) and log.warnings == () and log.lifetimes is not None
    rows = log.records[:]
    order = np.argsort(rows["ordinal"])
    return [
        (
            int(row["ts"]),
            log.meta[f"point.{row['func']}"],
            (int(life), int(row["skb"]) & MASK64),
            log.meta[f"drop_reason.{int(row['data']) & 0xFFFFFFFF}"] if row["event"] else None,
            int(row["ifindex"]),
            (int(row["ip_id"]), int(row["tot_len"])),
        )
        for row, life in zip(rows[order], log.lifetimes[order], strict=True)
    ]


@pytest.mark.parametrize("version", ["1.5", "1.6", "1.7"])
def test_same_events(events: list[dict[str, Any]], version: str, tmp_path: Path) -> None:
    path = retis_of_recording.write(tmp_path / "a.data", as_version(events, version))
    theirs, ours = by_reference(path), by_reader(path)
    assert len(theirs) > 1000
    assert [row[:2] + row[3:5] for row in ours] == [row[:2] + row[3:5] for row in theirs]
    # Lifetimes: one number for each (timestamp, orig_head), and the same skbs.
    numbers = {(their[2][:2], our[2][0]) for their, our in zip(theirs, ours, strict=True)}
    assert len(numbers) == len({one for one, _ in numbers}) == len({own for _, own in numbers})
    assert [row[2][2] for row in theirs] == [row[2][1] for row in ours]
    identities = [(int.from_bytes(row[5][18:20], "big"), int.from_bytes(row[5][16:18], "big"))
                  for row in theirs]  # fmt: skip
    is_ip = [row[5][12:14] == b"\x08\x00" for row in theirs]
    assert [row[5] for row, ip in zip(ours, is_ip, strict=True) if ip] == [
        one for one, ip in zip(identities, is_ip, strict=True) if ip
    ]


def test_bytes_are_those_that_retis_reads(events: list[dict[str, Any]], tmp_path: Path) -> None:
    path = retis_of_recording.write(tmp_path / "a.data", events)
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog) and log.own_packets is not None
    packets, contents = log.own_packets.packets, readers.file_bytes(path)
    ours = {
        bytes(contents[offset : offset + length])
        for offset, length in zip(packets["offset"], packets["caplen"], strict=True)
    }
    assert ours == {row[5] for row in by_reference(path)}


def test_sorted_lines(events: list[dict[str, Any]], tmp_path: Path) -> None:
    path = retis_of_recording.write(tmp_path / "sorted.data", events, is_sorted=True)
    lines = retis_of_recording.write(tmp_path / "lines.data", events)
    one, other = by_reader(path), by_reader(lines)
    assert sorted(map(str, (row[:2] + row[3:] for row in one))) == sorted(
        map(str, (row[:2] + row[3:] for row in other))
    )
    count = sum(len(series) for series in reference.SeriesReader(str(path)))
    assert count >= len(one)
