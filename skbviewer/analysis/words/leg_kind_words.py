# SPDX-License-Identifier: MIT
"""Words for the kinds of legs, and for how the legs of a branch are related to a packet."""

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
