# SPDX-License-Identifier: MIT
"""Pseudonyms of addresses: prefixes, addresses that stay, arrays and texts."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from skbviewer.export.pseudonyms import Pseudonyms, key_of, random_key
from skbviewer.records import BadInput
from skbviewer.records.types import Int64s

KEY = bytes(range(16))
STAY = (
    "0.0.0.0", "127.0.0.1", "127.9.8.7", "224.0.0.1", "239.1.2.3", "255.255.255.255", "::", "::1",
    "ff02::1", "ff02::fb", "ff05::1:3", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff",
    "01:00:5e:00:00:01", "33:33:00:00:00:01", "01:80:c2:00:00:00",
)  # fmt: skip
LOW24 = (1 << 24) - 1


@pytest.fixture(scope="module")
def names() -> Pseudonyms:
    return Pseudonyms(KEY, ["lab", "db-1.example.org"])


def split(numbers: list[int]) -> tuple[Int64s, Int64s]:
    """IPv6 addresses as signed halves."""
    halves = [np.array([n >> s & (1 << 64) - 1 for n in numbers], np.uint64) for s in (64, 0)]
    return halves[0].astype(np.int64), halves[1].astype(np.int64)


def six(names: Pseudonyms, numbers: list[int]) -> list[int]:
    high, low = names.ipv6(*split(numbers))
    pairs = zip(high.astype(np.uint64).tolist(), low.astype(np.uint64).tolist(), strict=True)
    return [upper << 64 | lower for upper, lower in pairs]


def same_bits(one: int, other: int, width: int) -> int:
    """How many of the first bits are equal."""
    return width - (one ^ other).bit_length()


def neighbours(random: Random, width: int, start: Callable[[], int]) -> list[int]:
    """Addresses, each of which differs from the one before in a random bit and what follows it."""
    made = [start()]
    for _ in range(2000):
        bit = random.randrange(width)
        made.append(made[-1] ^ 1 << bit ^ random.getrandbits(bit) if bit else made[-1] ^ 1)
    return made


def test_ipv4_pseudonyms_preserve_exactly_the_common_prefixes(names: Pseudonyms) -> None:
    random = Random(1)
    values = neighbours(random, 32, lambda: random.getrandbits(32))
    made = names.ipv4(np.array(values)).tolist()
    for (one, other), (new, newer) in zip(pairwise(values), pairwise(made), strict=True):
        assert same_bits(one, other, 32) == same_bits(new, newer, 32)


def test_ipv6_pseudonyms_preserve_exactly_the_common_prefixes(names: Pseudonyms) -> None:
    random = Random(2)
    values = neighbours(random, 96, lambda: random.getrandbits(96))
    values = [0x20010DB8 << 96 | value for value in values]
    made = six(names, values)
    for (one, other), (new, newer) in zip(pairwise(values), pairwise(made), strict=True):
        equal = same_bits(one, other, 128)
        if equal >= 104:  # the last 24 bits count by themselves
            equal = 104 + same_bits(one & LOW24, other & LOW24, 24)
        assert equal == same_bits(new, newer, 128)


def test_no_two_addresses_share_a_pseudonym_and_none_becomes_special(names: Pseudonyms) -> None:
    random = Random(3)
    values = np.array([random.getrandbits(32) for _ in range(50_000)])
    made = names.ipv4(values)
    assert len(np.unique(made)) == len(np.unique(values))

    def special(value: Int64s) -> Int64s:
        return np.where(value >> 29 == 7, 7, np.isin(value >> 24, (0, 127)) * (value >> 24) + 1)

    assert (special(values) == special(made)).all()
    macs = np.array([random.getrandbits(48) for _ in range(20_000)])
    assert len(np.unique(names.mac(macs))) == len(np.unique(macs))
    assert ((names.mac(macs) >> 40 & 3) == (macs >> 40 & 3)).all()


@pytest.mark.parametrize("text", STAY)
def test_addresses_that_identify_nobody_stay(names: Pseudonyms, text: str) -> None:
    assert names.text(text) == text


def test_link_local_prefixes_stay(names: Pseudonyms) -> None:
    assert names.text("169.254.1.2").startswith("169.254.")
    assert names.text("169.254.1.2") != "169.254.1.2"
    made = IPv6Address(names.text("fe80::1234"))
    assert int(made) >> 64 == 0xFE80 << 48
    assert str(made) != "fe80::1234"


def test_a_solicited_node_group_fits_the_pseudonym_of_its_address(names: Pseudonyms) -> None:
    address = int(IPv6Address(names.text("2001:db8::12:3456")))
    for text in ("ff02::1:ff12:3456", "33:33:ff:12:34:56"):
        made = names.text(text)
        assert made != text
        assert int(made.replace(":", "")[-6:], 16) == address & LOW24
    assert int(names.text("02:00:00:12:34:56").replace(":", ""), 16) & LOW24 == address & LOW24


def test_embedded_ipv4_addresses_get_their_own_pseudonyms(names: Pseudonyms) -> None:
    four = IPv4Address(names.text("10.1.2.3"))
    mapped = IPv6Address(names.text("::ffff:10.1.2.3"))
    assert mapped.ipv4_mapped == four
    assert int(IPv6Address(names.text("64:ff9b::a01:203"))) & 0xFFFFFFFF == int(four)


def test_texts_and_arrays_agree(names: Pseudonyms) -> None:
    random = Random(4)
    for _ in range(200):
        four, upper = random.getrandbits(32), random.getrandbits(128)
        (made,) = names.ipv4(np.array([four])).tolist()
        assert names.text(f"({IPv4Address(four)})") == f"({IPv4Address(made)})"
        (new,) = six(names, [upper])
        assert ip_address(names.text(str(IPv6Address(upper)))) == IPv6Address(new)


@pytest.mark.parametrize(
    "text", ["12:34:56", "1.2.3", "kernel 6.12.117", "a::b::c", "10.0.0.256", "std::vector", ""]
)
def test_what_is_no_address_stays(names: Pseudonyms, text: str) -> None:
    assert names.text(text) == text


@pytest.mark.parametrize(
    "around", ["dump_{}.pcap", "host:{}", "v{}", "{}x", "{}..{}", "eth0_{}_x.pcap", "<{}>"]
)
def test_addresses_are_found_whatever_is_around_them(names: Pseudonyms, around: str) -> None:
    made = names.text("10.9.0.1")
    assert names.text(around.format(*2 * ["10.9.0.1"])) == around.format(made, made)


def test_mac_addresses_are_found_in_all_notations(names: Pseudonyms) -> None:
    plain = names.text("ba:f4:21:71:8a:b0")
    assert names.text("x_ba:f4:21:71:8a:b0") == f"x_{plain}"
    dotted = names.text("baf4.2171.8ab0")
    assert dotted.replace(".", "") == plain.replace(":", "") != "baf421718ab0"


def test_host_names_are_found_in_upper_case(names: Pseudonyms) -> None:
    assert names.text("LAB.kbl") == f"{names.host('lab')}.kbl"


def test_host_names_are_whole_words(names: Pseudonyms) -> None:
    assert names.text("label of slab") == "label of slab"
    first = names.host("lab")
    assert names.text("lab.kbl on lab") == f"{first}.kbl on {first}"
    assert "example" not in names.text("db-1.example.org")


def test_columns_of_both_kinds_are_replaced(names: Pseudonyms) -> None:
    version = np.array([4, 6, 0])
    high, low = np.array([0, 0x20010DB8 << 32, 0]), np.array([0x0A000001, 1, 7])
    new_high, new_low = names.addresses(version, high, low)
    assert str(IPv4Address(int(new_low[0]))) == names.text("10.0.0.1")
    whole = int(new_high[1]) % (1 << 64) << 64 | int(new_low[1]) % (1 << 64)
    assert str(IPv6Address(whole)) == names.text("2001:db8::1")
    assert (new_high[2], new_low[2]) == (0, 7)
    assert low.tolist() == [0x0A000001, 1, 7]


def test_keys(tmp_path: Path) -> None:
    assert random_key() != random_key()
    other = Pseudonyms(random_key())
    texts = [f"10.0.{n}.1" for n in range(20)]
    assert [other.text(text) for text in texts] != [Pseudonyms(KEY).text(text) for text in texts]
    file = tmp_path / "key"
    file.write_bytes(b"fifteen bytes..")
    with pytest.raises(BadInput, match="at least 16 bytes"):
        key_of(file)
    file.write_bytes(b"sixteen bytes...")
    assert key_of(file) == key_of(file)
    with pytest.raises(BadInput):
        key_of(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="at most"):
        key_of(Path("/dev/zero"))
