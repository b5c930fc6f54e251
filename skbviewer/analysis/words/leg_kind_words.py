# SPDX-License-Identifier: MIT
"""The words for kinds of legs, and for the relations of a branch's legs to a packet."""

from __future__ import annotations

from ...records.view_rows import LEG_KINDS, RELATIONS

KIND_WORDS = dict(zip(LEG_KINDS, ("sending", "receiving", "forwarding"), strict=True))
RELATION_WORDS = dict(
    zip(
        RELATIONS,
        ("cloned or cut from", "merged into", "clone or segment", "merged into this"),
        strict=True,
    )
)
