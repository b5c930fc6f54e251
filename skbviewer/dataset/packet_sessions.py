# SPDX-License-Identifier: MIT
"""Find the sessions that may contain a packet: its own session, and those of similar packets."""

from __future__ import annotations

from pathlib import Path

from ..records import Progress
from . import session_manifests
from .find_packet import find
from .session_manifests import Manifest


def sessions_of_packet(
    folder: Path, word: str, window_ns: int, progress: Progress
) -> list[Manifest]:
    """Return the session of the packet `word` ("SESSION:N"), and the sessions that `find` lists.

    Raises what find() raises.
    """
    answer = find(folder, word, window_ns, progress)
    at = answer.columns.index("session")
    names = {str(row[at]) for row in answer.rows}
    own, _, number = word.partition(":")

    def is_own(each: Manifest) -> bool:
        return each.session.startswith(own) and each.rows("packets") >= int(number)

    found = session_manifests.read_all(folder)
    return [each for each in found if each.session in names or is_own(each)]
