# SPDX-License-Identifier: MIT
"""The keys of retis events that skbviewer reads, as tables for the compiled scanner.

Layout: retis-events of https://github.com/retis-org/retis, versions 1.5 to 1.7.  Each key belongs
to a section of an event.  The value of a key is a number or text with a place of its own, or a
section of the event, or it is kept as raw JSON.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import LATEST_NS, Int32s

WORD, INODE, INT32, TIME = (1 << 64) - 1, (1 << 32) - 1, (1 << 31) - 1, LATEST_NS

# The numbers of an event in the order of a row, and the greatest value of each.
NUMBERS = {
    "ts": TIME, "cpu": INT32, "pid": INT32, "skb": WORD, "tracked": WORD, "head": WORD,
    "later_skb": WORD, "later_tracked": WORD, "later_head": WORD, "ifindex": INT32,
    "netns": INODE, "skb_len": INT32, "gso_size": INT32, "gso_segs": INT32, "length": INT32,
}  # fmt: skip
TEXTS = ("symbol", "type", "comm", "device", "subsystem", "reason", "packet", "user", "user_type")
SECTIONS = (
    "event", "common", "task", "kernel", "userspace", "skb-tracking", "tracking", "later",
    "skb-drop", "packet", "netns", "dev", "skb", "meta", "gso",
)  # fmt: skip

# (section, key): the index in a row, the section that it opens, whether it is kept as raw JSON.
_KEYS: dict[tuple[str, str], tuple[str, str, bool]] = {
    **{("event", name): ("", name, name in ("userspace", "netns", "dev")) for name in SECTIONS[1:]
       if name not in ("task", "later", "meta", "gso", "event")},
    ("event", "startup"): ("startup", "", False),
    ("common", "timestamp"): ("ts", "", False),
    ("common", "smp_id"): ("cpu", "", False),
    ("common", "task"): ("", "task", True),
    ("task", "pid"): ("pid", "", False),
    ("task", "comm"): ("comm", "", False),
    ("kernel", "symbol"): ("symbol", "", False),
    ("kernel", "probe_type"): ("type", "", False),
    ("kernel", "stack_trace"): ("", "", True),
    ("userspace", "symbol"): ("user", "", False),
    ("userspace", "probe_type"): ("user_type", "", False),
    ("skb-tracking", "skb"): ("skb", "", False),
    ("skb-tracking", "timestamp"): ("tracked", "", False),
    ("skb-tracking", "orig_head"): ("head", "", False),
    ("tracking", "skb"): ("", "later", False),
    ("later", "skb"): ("later_skb", "", False),
    ("later", "timestamp"): ("later_tracked", "", False),
    ("later", "orig_head"): ("later_head", "", False),
    ("skb-drop", "subsys"): ("subsystem", "", False),
    ("skb-drop", "drop_reason"): ("reason", "", False),
    ("packet", "len"): ("length", "", False),
    ("packet", "data"): ("packet", "", False),
    ("packet", "raw"): ("packet", "", False),
    ("packet", "packet"): ("packet", "", False),
    ("netns", "inum"): ("netns", "", False),
    ("netns", "netns"): ("netns", "", False),
    ("dev", "name"): ("device", "", False),
    ("dev", "ifindex"): ("ifindex", "", False),
    ("skb", "meta"): ("", "meta", False),
    ("skb", "gso"): ("", "gso", True),
    ("skb", "vlan_accel"): ("", "", True),
    ("skb", "data_ref"): ("", "", True),
    ("skb", "packet"): ("", "packet", False),  # these three: version 1.5
    ("skb", "dev"): ("", "dev", True),
    ("skb", "ns"): ("", "netns", True),
    ("meta", "len"): ("skb_len", "", False),
    ("gso", "size"): ("gso_size", "", False),
    ("gso", "segs"): ("gso_segs", "", False),
}  # fmt: skip

# The values that a section must have.
REQUIRED = {
    "kernel": ("ts", "symbol", "type"),
    "userspace": ("ts", "user", "user_type"),
    "skb-tracking": ("skb", "tracked", "head"),
    "later": ("later_skb", "later_tracked", "later_head"),
    "skb-drop": ("reason",),
    "packet": ("packet",),
}

PLACES = {name: at for at, name in enumerate((*NUMBERS, *TEXTS, "startup"))}
FIRST_TEXT, STARTUP = len(NUMBERS), len(NUMBERS) + len(TEXTS)
NO_PLACE = NO_SECTION = -1
SLOT_BITS = 8  # of the hash table of keys
LONGEST_KEY = 16  # bytes
# By length of a key: masks of those of its first and second eight bytes that belong to it.
FIRST_MASK = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
SECOND_MASK = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)


class Keys(NamedTuple):
    """The keys in tables: `slot` is a hash table of their rows (-1 = none).

    The other arrays have a row for each key.  A key's name is in `first` and `second`, eight bytes
    each; its hash is made from them with `factor`.
    """

    slot: Int32s
    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]
    factor: npt.NDArray[np.uint64]
    section: Int32s
    length: Int32s
    place: Int32s
    opens: Int32s
    is_raw: Int32s
    limit: npt.NDArray[np.uint64]  # by index of a number
    required: npt.NDArray[np.int64]  # by section: bits of indices that must be set


def section_number(name: str) -> int:
    """Return the number of the section `name` of an event."""
    return SECTIONS.index(name)


def _slot(first: int, second: int, section: int, factor: int) -> int:
    """Return the slot of a key in the hash table; json_token_loops.key_row() computes it, too."""
    return ((first ^ second * 3 ^ section) * factor & WORD) >> 64 - SLOT_BITS


def _keys() -> Keys:
    rows, words = [], []
    for (section, name), (place, opens, is_raw) in _KEYS.items():
        raw = name.encode().ljust(LONGEST_KEY, b"\0")
        words.append((int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")))
        opened = section_number(opens) if opens else NO_SECTION
        in_row = PLACES[place] if place else NO_PLACE
        rows.append((section_number(section), len(name), in_row, opened, int(is_raw)))
    section, length, in_rows, opened_by, is_raw_of = np.array(rows, np.int32).T.copy()
    factor, slot = _perfect(words, section.tolist())
    required = np.zeros(len(SECTIONS), np.int64)
    for name, places in REQUIRED.items():
        required[section_number(name)] = sum(1 << PLACES[place] for place in places)
    limit = np.array(list(NUMBERS.values()), np.uint64)
    first, second = np.array(words, np.uint64).T.copy()
    factors = np.array([factor], np.uint64)
    of_key = (section, length, in_rows, opened_by, is_raw_of)
    return Keys(slot, first, second, factors, *of_key, limit, required)


def _perfect(words: list[tuple[int, int]], sections: list[int]) -> tuple[int, Int32s]:
    """Return a factor for the hash that gives each key its own slot, and the key of each slot."""
    factor = 0x9E3779B97F4A7C15
    while True:
        slots = [_slot(*both, at, factor) for both, at in zip(words, sections, strict=True)]
        if len(set(slots)) == len(slots):
            made = np.full(1 << SLOT_BITS, -1, np.int32)
            made[slots] = np.arange(len(slots))
            return factor, made
        factor = (factor * 6364136223846793005 + 1442695040888963407) & WORD | 1


KEYS = _keys()
