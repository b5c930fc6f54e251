# SPDX-License-Identifier: MIT
"""First table: every form of a struct, found by repeated searches over any number of levels.

Level 0 is the struct itself. A struct that contains or points to a type of level n has level n + 1.
A typedef or an alias has the level of the type it names.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import FileFacts
from scanner.tables.type_graph import Part, Types, macros_naming

# Almost every type of a modern kernel reaches these types, so the search ends at them.
_HUBS_TEXT = (
    "file_lock inode file dentry page folio task_struct device kobject module cgroup "
    "user_namespace nsproxy super_block mm_struct bio request_queue net work_struct "
    "workqueue_struct bpf_prog bpf_map pid cred key seq_file "
)
HUBS = tuple(_HUBS_TEXT.split())
# Most forms that a chain names; thousands of chains of thousands of forms would fill the memory.
LONGEST = 50
_WORD = re.compile(r"[A-Za-z_]\w*")
_VIEW = re.compile(r"\(\s*(?:const\s+)?(?:struct|union)\s+\w+\s*\*\s*\).*->\s*cb\b")


class Form(NamedTuple):
    """A type that refers to the struct, directly or through the type `via`.

    `how` says how this form refers to the next form (see Part); `member` is the referring member.
    """

    name: str
    kind: str
    level: int
    via: str
    how: str
    member: str


class Closure(NamedTuple):
    """A struct and all its forms, by name."""

    seed: str
    forms: dict[str, Form]

    def level(self, base: str) -> int | None:
        """Return the level of the type `base`; None if it is not a form of the struct."""
        form = self.forms.get(base)
        return form.level if form else None

    def chain(self, name: str) -> list[str]:
        """Return the names of types from `name` down to the struct; each type refers to the next.

        If there are more than LONGEST forms, "..." and the struct follow the first LONGEST ones.
        """
        found = [name]
        while name != self.seed and len(found) < LONGEST:
            name = self.forms[name].via
            found.append(name)
        return found if name == self.seed else [*found, "...", self.seed]


class Limits(NamedTuple):
    """Limits of the search.

    `max_level` is the highest level that is followed, None for no limit.  `stops` are tags that are
    not followed.  With `function_pointers`, members that point to functions are followed, too.
    """

    max_level: int | None = None
    stops: tuple[str, ...] = HUBS
    function_pointers: bool = False


def closure(types: Types, seed: str, limits: Limits) -> Closure:
    """Return the struct `seed` and all its forms that `limits` allow."""
    own = seed.partition(" ")[0] if " " in seed else "typedef"
    forms = {seed: Form(seed, own, 0, "", "", "")}
    stops = {f"{word} {tag}" for tag in limits.stops for word in ("struct", "union")}
    queue = deque([seed])
    while queue:
        name = queue.popleft()
        level = forms[name].level
        for part in _parts(types, name, limits):
            same = part.how in ("typedef", "alias")
            reached = level if same else level + 1
            if part.whole in forms and forms[part.whole].level <= reached:
                continue
            if part.whole.partition("@")[0] in stops:
                continue
            if limits.max_level is not None and reached > limits.max_level:
                continue
            kind = part.how if same else part.whole.partition(" ")[0]
            kind = kind if " " in part.whole or same else "typedef"
            forms[part.whole] = Form(part.whole, kind, reached, name, part.how, part.member)
            (queue.appendleft if same else queue.append)(part.whole)
    return Closure(seed, forms)


def _parts(types: Types, name: str, limits: Limits) -> list[Part]:
    found = types.parts.get(name, [])
    if limits.function_pointers:
        found = found + [
            Part(whole, "function", member)
            for whole, member, inner in types.function_members
            if inner == name
        ]
    return found


def function_types(types: Types, found: Closure) -> Iterator[tuple[str, str, int]]:
    """Yield (typedef, form that it names, level) of function types that take or return a form."""
    for name, signature in types.signatures.items():
        levels = [(found.forms[t.base].level, t.base) for t in signature if t.base in found.forms]
        if levels:
            level, base = min(levels)
            yield name, base, level


class Alias(NamedTuple):
    """A macro that is another name for the struct.

    `how` is "names" (the macro names the struct), "chain" (it names another such macro) or "view"
    (it casts the struct's cb).
    """

    name: str
    file: str
    line: int
    how: str
    via: str


def aliases(files: list[FileFacts], found: Closure) -> list[Alias]:
    """Return macros that name the struct or such a macro, and macros that cast the struct's cb."""
    direct = {
        m.name: Alias(m.name, f.path, m.line, "names", found.seed)
        for f, m in macros_naming(files, found.seed)
    }
    every = dict(direct)
    objects = [(f, m) for f in files for m in f.macros]
    for facts, macro in objects:
        if macro.name in every:
            continue
        used = [word for word in _WORD.findall(macro.body) if word in direct]
        if used:
            every[macro.name] = Alias(macro.name, facts.path, macro.line, "chain", used[0])
        elif found.seed == "struct sk_buff" and _VIEW.search(macro.body):
            every[macro.name] = Alias(macro.name, facts.path, macro.line, "view", found.seed)
    return sorted(every.values(), key=lambda a: (a.file, a.line))


def typedefs_naming(files: list[FileFacts], seed: str) -> list[str]:
    """Return the typedefs whose own text names the struct.

    The typedef may name the struct as its target, as a member, or in the signature of a function
    type.
    """
    found = []
    for facts in files:
        members = {r.base: r.members for r in facts.records if " " not in r.base}
        for typedef in facts.typedefs:
            bases = [
                typedef.type.base,
                *(t.base for t in typedef.signature),
                *(m.type.base for m in members.get(typedef.name, ())),
                *(t.base for m in members.get(typedef.name, ()) for t in m.signature),
            ]
            if seed in bases:
                found.append(typedef.name)
    return sorted(set(found))
