# SPDX-License-Identifier: MIT
"""Link types have the names Wireshark gives them."""

from __future__ import annotations

from skbviewer.analysis.words.link_type_names import NAMES, link_name
from skbviewer.readers.capture.link_layers import LINK_LAYERS


def test_what_is_understood_has_a_name() -> None:
    assert set(NAMES) == set(LINK_LAYERS)
    assert link_name(1) == "Ethernet"


def test_another_one_has_the_name_of_libpcap_or_its_number() -> None:
    assert link_name(147) == "LINKTYPE_USER0 (147)"
    assert link_name(4000) == "link type 4000"
