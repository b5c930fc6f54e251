# SPDX-License-Identifier: MIT
"""Find the legs of packets; for few packets, whole columns are not read."""

from __future__ import annotations

import numpy as np

from ..matching import EXACT
from ..records.types import Bools, Int64s
from ..store import Columns
from .row_number_sets import distinct


def legs_of_rows(columns: Columns, rows: Int64s) -> Int64s:
    """Return the legs (0-based, rising) of rows of the packet list.

    `rows` has the number n of a packet, or -n for row K<n>.  A packet has the legs that match it
    exactly; a row K<n> has all legs of its lifetime.
    """
    rows = distinct(rows)
    _, legs = exact_matches(columns, rows[rows > 0])
    alone = -rows[rows < 0][::-1]
    if len(alone):
        series, _ = columns.rows_with("series", "kernel_only", alone)
        legs = np.concatenate([legs, columns.rows_with("leg", "series", series + 1)[0]])
    return distinct(legs)


def exact_matches(columns: Columns, packets: Int64s) -> tuple[Int64s, Int64s]:
    """Return (packet, 0-based leg) of the exact matches of `packets`, in table order.

    `packets` are packet numbers, rising.
    """
    rows, packet = columns.rows_with("match", "packet", packets)
    exact = np.flatnonzero(columns.near("match", "verdict", rows) == EXACT)
    leg = columns.near("match", "leg", rows)[exact].astype(np.int64) - 1
    return packet[exact].astype(np.int64), leg


def packets_of_legs(columns: Columns, legs: Int64s) -> Int64s:
    """Return the numbers (rising) of packets that match one of `legs` (0-based, rising) exactly."""
    rows, _ = columns.rows_with("match", "leg", legs + 1)
    rows = rows[columns.near("match", "verdict", rows) == EXACT]
    return distinct(columns.near("match", "packet", rows).astype(np.int64))


def first_packets(columns: Columns, legs: Int64s) -> Int64s:
    """Return the first packet that matches each of `legs` (0-based) exactly; 0 if none does."""
    used, place = np.unique(legs, return_inverse=True)
    match, of = columns.rows_with("match", "leg", used + 1)
    exact = np.flatnonzero(columns.near("match", "verdict", match) == EXACT)[::-1]
    packet = np.zeros(len(used), np.int64)
    at = np.searchsorted(used, of[exact].astype(np.int64) - 1)
    packet[at] = columns.near("match", "packet", match)[exact]
    return packet[place.reshape(-1)]


def have_identity(columns: Columns, legs: Int64s) -> Bools:
    """Return for each of `legs` (0-based, rising) whether its lifetime has a network identity.

    Lifetimes of netlink messages and of unix sockets, for example, have no network identity.
    """
    if columns.bounds("series", "identity")[0] >= 0:
        return np.ones(len(legs), np.bool_)
    series = np.asarray(columns.near("leg", "series", legs), np.int64) - 1
    return np.asarray(columns.take("series", "identity", series) >= 0)
