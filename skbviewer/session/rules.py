# SPDX-License-Identifier: MIT
"""Which matching rules made a session's verdicts, and how it is matched again by today's."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..matching import RULES, UNNUMBERED
from ..records import Progress
from ..store import queries, schema
from .inputs import inputs_as_then

DIGITS = 10  # a longer number is damage


def rules_of(db: Any) -> int:
    """The number of the rules of the open session `db`."""
    number = queries.meta(db, schema.SESSION).get(schema.RULES, "")
    return int(number) if number.isdecimal() and len(number) < DIGITS else UNNUMBERED


def rules_words(rules: int) -> str:
    """ "older rules (0, now 1)"; "" if they are this program's."""
    if rules == RULES:
        return ""
    older = f"older rules ({rules}, now {RULES})"
    return older if are_older(rules) else f"newer rules ({rules}, here {RULES})"


def are_older(rules: int) -> bool:
    """Whether this program has newer ones."""
    return rules < RULES


def rules_warning(file: Path, rules: int) -> str:
    """The line for a session of other rules, with what to do about older ones; else ""."""
    if rules == RULES:
        return ""
    line, name = f"{file}: its verdicts were made by {rules_words(rules)}", shlex.quote(str(file))
    again = f"; match it again: skbviewer import -o {name} {name}"
    return line + again if are_older(rules) else line


def match_again(
    session: Path, progress: Progress | None = None, at: Sequence[Path] | None = None
) -> None:
    """Make the session file anew, by this program's rules, from the inputs it was made of.

    Notes and flags stay.  Raises as inputs_as_then() and import_files(); then it is as it was.
    """
    from .importing import import_files  # loads much

    import_files(inputs_as_then(session, progress, at), session, progress)
