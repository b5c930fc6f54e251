# SPDX-License-Identifier: MIT
"""Join address lifetimes into series and number them: loops of skb_lifetimes.py."""

from __future__ import annotations

from ...records.compiled import allocation_free
from ...records.kernel_events import SEGMENT, START_XMIT
from ...records.types import Bools, Int32s, UInt8s
from ..record_kinds import ENTRY, EVENT


@allocation_free
def note_headers(
    kind: UInt8s,
    event: UInt8s,
    func: Int32s,
    footprint: Int32s,
    of: Int32s,
    has_ip: Bools,
    probes: UInt8s,
    shows_ip: Bools,
    wired: Bools,
) -> None:
    """Set flags of lifetimes by the records of a block.

    By lifetime: `shows_ip` becomes True if a record shows an IP header.  By lifetime: `wired`
    becomes True if a driver or the receiving stack had the skb, or if the skb was cut from a larger
    skb for a driver.

    `kind` to `footprint` are columns of the block, and `of` is the lifetime of each record;
    `has_ip` is by footprint; `probes` is not 0 for functions that send or receive.
    """
    for i in range(len(of)):
        if has_ip[footprint[i]]:
            shows_ip[of[i]] = True
        if kind[i] == ENTRY and 0 <= func[i] < len(probes) and probes[func[i]] != 0:
            wired[of[i]] = True
        # A driver's call names only the first skb of a list; net_dev_start_xmit names each.
        if kind[i] == EVENT and (event[i] == SEGMENT or event[i] == START_XMIT):
            wired[of[i]] = True


@allocation_free
def join_clones(
    of: Int32s, birth: Int32s, parent: Int32s, child: Int32s, root: Int32s, following: Int32s
) -> None:
    """Move records before a clone's birth from parent to clone, then all records to their roots.

    `of` is the address lifetime of each record, and is changed to the root.  Clone `child[i]` of
    `parent[i]` was born at the record `birth[i]`; `birth` is sorted.  By lifetime: `root` is the
    lifetime that stands for its series.  `following` is scratch space by lifetime, filled with -1.
    """
    born = len(birth) - 1
    for i in range(len(of) - 1, -1, -1):
        while born >= 0 and birth[born] >= i:
            following[parent[born]] = child[born]
            born -= 1
        if of[i] >= 0:
            life = following[of[i]] if following[of[i]] >= 0 else of[i]
            of[i] = root[life]


@allocation_free
def number_series(of: Int32s, rank: Int32s, ordered: Int32s, size: Int32s) -> int:
    """Replace lifetimes in `of` by series, numbered by their first record; count their records.

    `rank` is the series of each lifetime, `ordered` the lifetime of each series, and `size` its
    number of records.  Returns the number of series.
    """
    count = 0
    for i in range(len(of)):
        if of[i] >= 0:
            if rank[of[i]] < 0:
                rank[of[i]], ordered[count] = count, of[i]
                count += 1
            of[i] = rank[of[i]]
            size[of[i]] += 1
    return count
