# SPDX-License-Identifier: MIT
"""Match a session again if its verdicts were made by other matching rules."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from ..matching import RULES, UNNUMBERED
from ..records import Progress
from ..store import Database, queries, schema
from .input_files import inputs_as_then

DIGITS = 10  # a longer number is corrupt


def rules_of(db: Database) -> int:
    """Return the number of the matching rules by which the open session `db` was made."""
    number = queries.meta(db, schema.SESSION).get(schema.RULES, "")
    return int(number) if number.isdecimal() and len(number) < DIGITS else UNNUMBERED


def rules_words(rules: int) -> str:
    """Return a text such as "older rules (0, now 1)"; "" if this program has the same rules."""
    if rules == RULES:
        return ""
    older = f"older rules ({rules}, now {RULES})"
    return older if are_older(rules) else f"newer rules ({rules}, here {RULES})"


def are_older(rules: int) -> bool:
    """Return whether this program has newer matching rules than `rules`."""
    return rules < RULES


def rules_warning(file: Path, rules: int) -> str:
    """Return a warning about a session that was made by other rules; "" if the rules are the same.

    If the rules are older, the warning contains the command that matches the session again.
    """
    if rules == RULES:
        return ""
    line, name = f"{file}: its verdicts were made by {rules_words(rules)}", shlex.quote(str(file))
    again = f"; match it again: skbviewer import -o {name} {name}"
    return line + again if are_older(rules) else line


def match_again(
    session: Path, progress: Progress | None = None, at: Sequence[Path] | None = None
) -> None:
    """Make the session file again from its inputs, with this program's matching rules.

    If the inputs have moved, `at` are their new paths.  Notes and flags are kept.  Raises the
    errors of inputs_as_then() and import_files(); the file is unchanged then.
    """
    from .importing import import_files  # slow to import

    import_files(inputs_as_then(session, progress, at), session, progress)
