# SPDX-License-Identifier: MIT
"""kbl.lost says of each row with a drop what the packet list shows: whether the drop is red."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.export.wireshark.profile import COLOURS
from skbviewer.session import open_files

SAMPLES = Path("resources/samples")


@pytest.mark.parametrize(
    ("name", "lost", "freed"),
    [("drops", 27, 1), ("arp-and-neighbour", 4, 17), ("ipv6-and-fragments", 2, 21)],
)
def test_the_field_is_what_the_list_shows(name: str, lost: int, freed: int) -> None:
    session = open_files([SAMPLES / name / f"{name}.{kind}" for kind in ("kbl", "pcap")])
    packets = session.packets
    ids = np.r_[1 : packets.count() + 1, -np.arange(1, packets.kernel_only_count() + 1)]
    rows = dict(zip(ids.tolist(), packets.rows(ids), strict=True))

    def listed(text: str) -> set[int]:
        found = packets.listed(text, None, True, None)
        assert found is not None
        return set(found.tolist())

    red = {number for number, row in rows.items() if row.lost}
    assert listed("kbl.lost == 1") == red and len(red) == lost
    others = {number for number, row in rows.items() if row.drop and not row.lost}
    assert listed("kbl.lost == 0") == others and len(others) == freed
    assert listed("kbl.lost") == red | others == listed("kbl.drop_reason")
    session.close()


def test_the_profile_for_wireshark_colours_the_same_packets() -> None:
    assert "kbl.lost == 1" in {text for _, text, _, _ in COLOURS}
    assert not any("drop_reason" in text for _, text, _, _ in COLOURS)
