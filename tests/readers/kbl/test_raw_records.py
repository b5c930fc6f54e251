# SPDX-License-Identifier: MIT
"""Single records as they stand in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.records import BadInput, KernelLog, Silent, resource

from ..build_kbl import Ipv4, KblBuilder

SKB = 0xFFFF888000001000


def build(order: str, path: Path) -> Path:
    kbl = KblBuilder(3, per_chunk=2)
    func = kbl.probe("ip_rcv")
    kbl.footprint(900, 0, SKB, ipv4=Ipv4("10.0.0.1", "10.0.0.2", 77, 17, 5, 6))
    for n in range(6):
        kbl.call(1000 + n, 0, func, SKB, dur=50 + n)
        kbl.call(2000 + n, 1, func, SKB, dur=10)
    return kbl.write(path, order)


@pytest.mark.parametrize("order", ["<", ">"])
def test_fields_and_footprint(tmp_path: Path, order: str) -> None:
    path = build(order, tmp_path / "a.kbl")
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    records = log.records
    wanted = next(
        n for n in range(len(records)) if records["ts"][n] == 1004 and records["kind"][n] == 1
    )
    footprint, call = readers.raw_records(path, int(records["ordinal"][wanted]), Silent())
    whole = path.read_bytes()
    for record in (footprint, call):
        assert whole[record.offset : record.offset + len(record.data)] == record.data
        assert record.cpu == 0
    (slot,) = readers.slots_of(call)
    shown = {field.name: field.value for field in slot.fields}
    assert slot.title == "CALL"
    assert (shown["ts"], shown["dur"], shown["skb"]) == ("1004", "54", f"0x{SKB:x}")
    titles = [slot.title for slot in readers.slots_of(footprint)]
    assert titles[:2] == ["EVENT FOOTPRINT", "EXT IPV4"]
    fields = {f.name: f for slot in readers.slots_of(footprint) for f in slot.fields}
    place = fields["ip_id"]
    assert place.value == "77"
    byteorder = "little" if order == "<" else "big"
    raw = footprint.data[place.offset : place.offset + place.length]
    assert int.from_bytes(raw, byteorder) == 77  # type: ignore[arg-type]


def test_without_a_footprint_on_its_cpu_it_stands_alone(tmp_path: Path) -> None:
    path = build("<", tmp_path / "a.kbl")
    found = [readers.raw_records(path, n, Silent()) for n in range(13)]
    assert sorted(len(records) for records in found) == [1] * 7 + [2] * 6


def test_every_record_of_a_recording(tmp_path: Path) -> None:
    path = resource("samples/handshake/handshake.kbl")
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    for n in range(0, len(log.records), 97):
        ordinal, ts = (int(log.records[c][n]) for c in ("ordinal", "ts"))
        record = readers.raw_records(path, ordinal, Silent())[-1]
        assert record.ordinal == ordinal
        (slot, *_) = readers.slots_of(record)
        shown = {field.name: field.value for field in slot.fields}
        assert (
            int(shown["ts"]) <= ts <= int(shown["ts"]) + int(shown.get("dur", 0)) or "ext" in shown
        )


def test_there_is_no_such_record(tmp_path: Path) -> None:
    path = build("<", tmp_path / "a.kbl")
    for ordinal in (-1, 13, 1 << 40):
        with pytest.raises(BadInput, match="has no record"):
            readers.raw_records(path, ordinal, Silent())
