# SPDX-License-Identifier: MIT
"""Judges pairs of packets across hosts by the truth that host_tables.py wrote.

It shares no code with skbviewer: its input is plain arrays.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
NAMES = ("saddr", "daddr", "protocol", "ip_id", "sport", "dport", "seq", "ack", "flags", "payload")


class Judged(NamedTuple):
    """`exact` pairs were judged; `wrong` ones join two packets; `outside`: interval without truth.

    `unique` pairs of the truth have an identity that no other packet has; of these, `found` are
    exact.
    `bounded` exact pairs have an interval with two ends, of the median width `width_ns`.
    """

    exact: int
    wrong: int
    outside: int
    unique: int
    found: int
    bounded: int
    width_ns: int


class Claimed(NamedTuple):
    """skbviewer's exact pairs by host and packet number, and transit times in ns."""

    host_a: Ints
    number_a: Ints
    host_b: Ints
    number_b: Ints
    least: Ints
    most: Ints


def judge(truth_file: Path, said: Claimed, no_bound: int) -> Judged:
    """Compare claimed pairs with the truth."""
    truth = dict(np.load(truth_file))
    width = int(truth["number"].max()) + 1
    place = np.argsort(code := truth["host"] * width + truth["number"])
    a = place[np.searchsorted(code[place], said.host_a * width + said.number_a)]
    b = place[np.searchsorted(code[place], said.host_b * width + said.number_b)]
    wrong = truth["packet"][a] != truth["packet"][b]
    transit = truth["real"][b] - truth["real"][a]
    outside = (transit < said.least) | (transit > said.most)
    bounded = (said.least > -no_bound) & (said.most < no_bound)
    identity = _numbers([truth[name] for name in NAMES])
    unique = _unique(identity, truth["packet"])
    possible = _pairs(identity, truth["host"], unique)
    claims = _pair_codes(identity[a], said.host_a, said.host_b)
    claims = claims[~wrong & unique[a]]
    widths = (said.most - said.least)[bounded]
    return Judged(
        len(a), int(wrong.sum()), int(outside[~wrong].sum()), len(possible),
        len(np.intersect1d(possible, claims)), int(bounded.sum()),
        int(np.median(widths)) if len(widths) else -1,
    )  # fmt: skip


def _numbers(columns: list[Ints]) -> Ints:
    """Return a number for each row, equal for equal rows."""
    made = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, at = np.unique(column, return_inverse=True)
        _, made = np.unique(made * (int(at.max()) + 1) + at, return_inverse=True)
    return made.astype(np.int64)


def _unique(identity: Ints, packet: Ints) -> npt.NDArray[np.bool_]:
    """Return by row whether only one packet has the identity of the row."""
    size = int(identity.max()) + 1
    low, high = np.full(size, 1 << 60), np.full(size, -1)
    np.minimum.at(low, identity, packet)
    np.maximum.at(high, identity, packet)
    return np.asarray((low == high)[identity], np.bool_)


def _pair_codes(identity: Ints, one: Ints, other: Ints) -> Ints:
    return (identity * 16 + np.minimum(one, other)) * 16 + np.maximum(one, other)


def _pairs(identity: Ints, host: Ints, unique: npt.NDArray[np.bool_]) -> Ints:
    """Return a code for each pair of hosts that saw the same unique packet with one header."""
    seen = np.unique(identity[unique] * 16 + host[unique])
    names, hosts = seen // 16, seen % 16
    found = []
    for apart in range(1, 10):
        same = names[apart:] == names[:-apart]
        found.append(_pair_codes(names[:-apart][same], hosts[:-apart][same], hosts[apart:][same]))
    return np.concatenate(found)
