# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np

from skbviewer.readers.tracers.numbers_by_hash import AT_ONCE, HashedNumbers


def test_numbers_are_those_of_a_dictionary() -> None:
    random = np.random.default_rng(7)
    hashes = random.integers(0, 3 * AT_ONCE, 10 * AT_ONCE).astype(np.uint64)
    hashes[1::3] = hashes[::3][: len(hashes[1::3])]  # the same several times in sequence
    table, known = HashedNumbers(), dict[int, int]()
    for part in np.split(hashes, [5, 5, 3 * AT_ONCE]):
        found, new = table.of(part)
        first = list[int]()
        for row, one in enumerate(part.tolist()):
            if one and one not in known:
                known[one] = len(known)
                first.append(row)
        assert found.tolist() == [known[one] if one else -1 for one in part.tolist()]
        assert new.tolist() == first
    assert table.count == len(known)
