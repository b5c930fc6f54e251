# SPDX-License-Identifier: MIT
"""The edits that put probes into one function, or the reason why it is left out.

There are two modes. Explicit: each return statement becomes a block that keeps the result, passes
it to the probe and returns it; the end of the body gets a probe. Scope: the exit probe is the
cleanup of a variable, for functions whose text does not show all exits (a return in a macro).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from scanner.instrument.function_returns import Return
from scanner.source import inserted_probe_text as marks

_FREED = "__init: its code is freed after boot"
_DROPPED = "__exit: its code may be discarded"
_TRACED = "notrace: tracing itself may call it"
_PROBED = "__kprobes: kprobes themselves may call it"
_ENDLESS = "noreturn: it has no exit"
LEFT_OUT = {
    "naked": "naked: it has no frame",
    "__naked": "naked: it has no frame",
    "__naked__": "naked: it has no frame",
    "noinstr": "noinstr: it must not call probes",
    "notrace": _TRACED,
    "no_instrument_function": _TRACED,
    "__no_instrument_function": _TRACED,
    "__no_instrument_function__": _TRACED,
    "__kprobes": _PROBED,
    "nokprobe_inline": _PROBED,
    "noreturn": _ENDLESS,
    "_Noreturn": _ENDLESS,
    "__noreturn": _ENDLESS,
    "__noreturn__": _ENDLESS,
    "NORET_TYPE": _ENDLESS,
    "__init": _FREED,
    "__initfunc": _FREED,
    "__devinit": _FREED,
    "__cpuinit": _FREED,
    "__meminit": _FREED,
    "__net_init": "__init: its code may be freed after boot",
    "__exit": _DROPPED,
    "__devexit": _DROPPED,
    "__cpuexit": _DROPPED,
    "__memexit": _DROPPED,
    "__net_exit": _DROPPED,
}
_WORD = re.compile(r"\w+")


class Edit(NamedTuple):
    """A replacement: `text` replaces the bytes from start to end."""

    start: int
    end: int
    text: str


class Shape(NamedTuple):
    """A function, as it is in one #if variant of the file.

    `head` is the function's declaration; `brace` and `close` are the offsets of its body's braces.
    `kind` is the type of the function's result, None if only the compiler knows the type; `void`
    and `scalar` say whether this type is void or scalar. `returns` are its return statements.
    `ends` means that control may reach the closing brace of the body. `hidden` says why the text
    may not show all exits of the function; "" if it shows all.
    """

    head: str
    brace: int
    close: int
    kind: str | None
    void: bool
    scalar: bool
    returns: tuple[Return, ...]
    ends: bool
    hidden: str


class Plan(NamedTuple):
    """The edits that put probes into one function; ``@`` stands for the function's id.

    `mode` is "explicit" or "scope", and `why` the reason for "scope". `returns` and `ends` say how
    many return statements and how many ends of the body get a probe. `start` is the offset of the
    body.
    """

    mode: str
    why: str
    edits: tuple[Edit, ...]
    carriers: tuple[str, ...]
    returns: int
    ends: int
    start: int


def left_out(head: str, file: str, name: str) -> str:
    """Return why a function's head forbids probes in the function; "" if it allows them.

    The check ignores the names of the function and of its parameters.
    """
    words = _WORD.findall(_unnamed(head, name))
    for word in words:
        if reason := LEFT_OUT.get(word):
            return reason
    if any(word.strip("_") in ("inline", "always_inline") for word in words):
        if file.endswith(".h"):
            return "inline in a header: probes would go into every file that includes it"
        if "static" not in words:
            return "inline with external linkage: it cannot have static data"
    return ""


def _unnamed(head: str, name: str) -> str:
    """Return a function's `head` without the name and the parentheses after the name."""
    found = re.search(rf"\b{name}\s*(?=\()", head)
    if found is None:
        return head
    depth = 0
    for mark in re.finditer(r"[()]", head[found.end() :]):
        depth += 1 if mark[0] == "(" else -1
        if depth == 0:
            return head[: found.start()] + head[found.end() + mark.end() :]
    return head[: found.start()]


def plan(shapes: list[Shape], call: str, carriers: list[str], text: str, hidden: str) -> Plan:
    """Return the edits that put probes into a function; `shapes` has its form in each #if variant.

    `call` is the text of a call of the function with its own parameters; typeof of this call is the
    result's type. `carriers` are the names of the parameters that carry packets. `text` is the
    file, `hidden` the file without comments, literals and directives, but with all branches.
    """
    first = shapes[0]
    why = _why_scope(shapes, hidden)
    for place, shape in enumerate(shapes):
        after = marks.LOCAL_LABELS.match(hidden, shape.brace + 1)
        shapes[place] = shape._replace(brace=after.end() - 1 if after and after[0] else shape.brace)
    places = {shape.brace + 1 for shape in shapes}
    edits: dict[int, Edit] = {}
    if not why:
        for shape in shapes:
            for edit in _exits(shape, text):
                if edits.setdefault(edit.start, edit) != edit:
                    why = "the function's exits depend on an #if"
    if why:
        edits = {}
    keeps = any(edit.text == marks.KEEP for edit in edits.values())
    kind = (first.kind or f"__typeof__({call})") if keeps else None
    for place in places:
        enter = marks.enter(carriers, kind, bool(why))
        old = edits.get(place)
        edits[place] = Edit(place, old.end, enter + old.text) if old else Edit(place, place, enter)
    ends = {shape.close for shape in shapes if shape.ends}
    starts = {r.start for shape in shapes for r in shape.returns}
    return Plan(
        "scope" if why else "explicit",
        why,
        tuple(edits[start] for start in sorted(edits)),
        tuple(carriers),
        0 if why else len(starts),
        0 if why else len(ends),
        first.brace,
    )


def _why_scope(shapes: list[Shape], hidden: str) -> str:
    """Return why a function's text may hide exits of the function; "" if it shows all exits."""
    first = shapes[0]
    for shape in shapes:
        if shape.hidden:
            return shape.hidden
        if any(r.semicolon < 0 for r in shape.returns):
            return "a return is part of a macro's argument"
        if shape.close != first.close or shape.brace != first.brace:
            return "the function's body begins or ends at different places, depending on an #if"
        if (shape.kind, shape.void) != (first.kind, first.void):
            return "the function's return type depends on an #if"
        if shape.kind is None and shape.head.split() != first.head.split():
            return "the function's parameters depend on an #if"
    seen = {r.start for shape in shapes for r in shape.returns}
    every = {m.start() for m in re.finditer(r"\breturn\b", hidden[first.brace : first.close])}
    if {start + first.brace for start in every} - seen:
        return "a return is in an #if branch that was not parsed"
    if hidden.count("{", first.brace, first.close + 1) != hidden.count(
        "}", first.brace, first.close + 1
    ):
        return "an #if branch opens a block that it does not close"
    return ""


def _exits(shape: Shape, text: str) -> list[Edit]:
    edits = []
    for item in shape.returns:
        word_end = item.start + len("return")
        if item.empty and not text[word_end : item.semicolon].strip(" \t"):
            before, after = marks.PLAIN
            edits.append(Edit(item.start, item.start, before))
            edits.append(Edit(item.semicolon, item.semicolon + 1, ";" + after))
            continue
        opened = marks.NOTHING if item.empty else marks.DROP if shape.void else marks.KEEP
        edits.append(Edit(item.start, word_end, opened))
        closed = marks.leave(opened, shape.scalar)
        edits.append(Edit(item.semicolon, item.semicolon + 1, closed))
    if shape.ends:
        edits.append(Edit(shape.close, shape.close, marks.END))
    return edits


def text_with_edits(text: str, edits: list[Edit]) -> str:
    """Return `text` with `edits` applied; the edits must be sorted and must not overlap."""
    pieces = []
    position = 0
    for start, end, new in edits:
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position:]])
