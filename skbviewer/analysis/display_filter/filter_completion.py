# SPDX-License-Identifier: MIT
"""Complete a display filter while it is being typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..fields.all_fields import FIELDS
from ..fields.field_definition import Kind
from .filter_from_value import quote_text

MAX_COMPLETIONS = 200
_WORD = re.compile(r"[\w.]*$")
_IN_STRING = re.compile(r'(?:[^"]|"(?:\\.|[^"\\])*")*"(?P<open>(?:\\.|[^"\\])*)$')
_AFTER_RELATION = re.compile(
    r"(?P<field>[\w.]+)(?:\s*\[[^\]]*\])?\s*"
    r"(?:===?|!==?|<=?|>=?|~|\b(?:eq|ne|gt|lt|ge|le|contains|matches|any_eq|all_ne)\s"
    r"|\bin\s*\{(?:[^{}]*[,\s])?)\s*$",
    re.IGNORECASE,
)
_AFTER_OPERAND = re.compile(r"[\w\"\])}]\s+$")
WORDS = {
    "there": ("and", "or", "xor"),
    "start": ("not", "call(", "all", "any"),
}
RELATIONS = ("==", "!=", ">", "<", ">=", "<=", "contains", "matches", "in {", "&")
Known = Callable[[str], Sequence[str]]


class Completion(NamedTuple):
    """Words that may replace the characters from `begin` to `end` - 1 of the filter's text.

    `values` says that the words are values of a field.  Values of a field are offered even before
    their first character is typed.
    """

    begin: int
    end: int
    words: tuple[str, ...]
    values: bool = False


def complete(text: str, cursor: int, known: Known | None = None) -> Completion:
    """Return the fields, operators or values that fit at the cursor, an index in `text`.

    known(field) returns the texts that a field has in the open session, such as function names.
    """
    before = text[:cursor]
    within = _IN_STRING.match(before)
    begin = within.start("open") - 1 if within else _WORD.search(before).start()  # type: ignore[union-attr]
    typed, head = before[begin:].lstrip('"'), before[:begin]
    relation = _AFTER_RELATION.search(head)
    if relation is not None and relation["field"].lower() in FIELDS:
        return Completion(begin, cursor, _values(relation["field"].lower(), typed, known), True)
    if within:
        return Completion(cursor, cursor, ())
    if _AFTER_OPERAND.search(head) and not _ends_in_operator(head):
        return Completion(begin, cursor, _after(head, typed))
    return Completion(begin, cursor, _fitting(typed, (*WORDS["start"], *sorted(FIELDS))))


def _ends_in_operator(head: str) -> bool:
    return re.search(r"(?:\b(?:and|or|xor|not|any|all)|[!&|^({,])\s*$", head) is not None


def _after(head: str, typed: str) -> tuple[str, ...]:
    """Return relations and joins if a field is before the cursor, otherwise only joins."""
    last = re.search(r"([\w.]+)\s*$", head)
    is_field = last is not None and last[1].lower() in FIELDS
    words = (*RELATIONS, *WORDS["there"]) if is_field else WORDS["there"]
    return tuple(word for word in words if word.startswith(typed.lower()))


def _values(name: str, typed: str, known: Known | None) -> tuple[str, ...]:
    field = FIELDS[name]
    if field.kind is Kind.BOOLEAN:
        return _fitting(typed, ("1", "0", "true", "false"))
    if field.kind is not Kind.STRING:
        return ()
    words = field.words or (known(name) if known else ())
    return tuple(_as_typed(word) for word in _fitting(typed, words))


def _as_typed(word: str) -> str:
    """Return a word in the form in which it must be typed, in quotes if necessary."""
    return (
        word if re.fullmatch(r"[A-Za-z_][\w.]*", word) and word not in FIELDS else quote_text(word)
    )


def _fitting(typed: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that begin with `typed`, then the words that contain it elsewhere."""
    small, first, others = typed.lower(), [], []
    for word in words:
        lowered = word.lower()
        if lowered.startswith(small):
            first.append(word)
        elif small and small in lowered:
            others.append(word)
    return tuple((first + others)[:MAX_COMPLETIONS])
