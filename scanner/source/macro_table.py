# SPDX-License-Identifier: MIT
"""The macros of a tree that affect parsing: annotations, loops, function heads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from scanner.facts import Macro
from scanner.source.comment_blanking import Directive

_KEYWORDS_TEXT = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while _Bool "
)
KEYWORDS = frozenset(_KEYWORDS_TEXT.split())
_SEED_ANNOTATIONS_TEXT = (
    "__init __exit __initdata __exitdata __devinit __devexit __devinitdata __cpuinit __user "
    "__kernel __iomem __force __nocast __percpu __rcu __must_check __always_inline __inline "
    "__inline__ noinline notrace noinstr asmlinkage fastcall __extension__ __cold __hot "
    "__pure __read_mostly __cacheline_aligned ____cacheline_aligned "
    "____cacheline_aligned_in_smp __cacheline_aligned_in_smp __packed __weak __used "
    "__maybe_unused __always_unused __unused __deprecated __malloc __visible __net_init "
    "__net_exit __net_initdata __ref __refdata __bpf_kfunc __latent_entropy __ro_after_init "
    "__randomize_layout __no_kasan_or_inline __restrict __restrict__ __const __const__ "
    "__signed__ __volatile__ __volatile ____cacheline_internodealigned_in_smp "
    "__attribute_const__ __kprobes __sched __lockfunc noinline_for_stack __sum16_attr "
    "__private __capability __safe __designated_init __nonstring __flatten "
    "__no_sanitize_address __no_profile __nocfi __net_exitdata __net_initconst __initconst "
    "__devinitconst __devexit_p_attr randomized_struct_fields_start "
    "randomized_struct_fields_end FASTCALL_ATTR __bpf_ops __sk_buff_attr "
    "INDIRECT_CALLABLE_SCOPE "
)
_SEED_ANNOTATIONS = tuple(_SEED_ANNOTATIONS_TEXT.split())
_SEED_ATTRIBUTES_TEXT = (
    "__attribute__ __attribute __asm__ asm __asm __acquires __releases __acquire __release "
    "__must_hold __context__ __printf __scanf __section __aligned __alias __alloc_size "
    "__nonnull __declspec __guarded_by __pt_guarded_by __cond_acquires __cond_releases __free "
    "__counted_by __counted_by_le __counted_by_be __no_sanitize __acquires_shared "
    "__releases_shared __cleanup __cond_lock_attr __error __warning __diag_ignore_all "
    "__diag_ignore __diag _Static_assert static_assert "
)
_SEED_ATTRIBUTES = tuple(_SEED_ATTRIBUTES_TEXT.split())
_STORAGE_TEXT = "static inline extern __inline__ __inline const volatile noinline "
_STORAGE = frozenset(_STORAGE_TEXT.split())
_LOOP_NAME = re.compile(
    r"(?:^|_)for_?each|(?:hlist|list|queue|sk|tree)_walk|^scoped_(?:guard|cond)"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
# The members behind a macro that is used like a member: sk_prot is __sk_common.skc_prot.
MEMBER_PATH = re.compile(r"[A-Za-z_]\w*(?:\s*(?:\.|->)\s*[A-Za-z_]\w*)+")
_DEFINE = re.compile(r"([A-Za-z_]\w*)(?:\(([^()]*)\))?", re.DOTALL)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)\s*(?=$|[A-Za-z_])|__attribute__\s*\(\(.*\)\)")


class MacroTable(NamedTuple):
    """The macros of a whole tree, grouped by what the normaliser does with them.

    `annotations` are blanked; those whose value is "static" are replaced by "static". `attributes`
    are blanked together with their parentheses; `loops` are read as ``while``. `heads` are
    function-like macros whose body ends in the head of a function. `functions` are all other
    function-like macros.
    """

    annotations: dict[str, str]
    attributes: frozenset[str]
    loops: frozenset[str]
    heads: dict[str, Macro]
    functions: frozenset[str]


def read_define(directive: Directive, line: int) -> Macro | None:
    """Return the macro that a #define directive at line `line` defines; None if it has no name."""
    match = _DEFINE.match(directive.rest)
    if not match:
        return None
    params = None
    if match[2] is not None:
        params = tuple(p.strip() for p in match[2].split(",") if p.strip())
    return Macro(match[1], line, params, " ".join(directive.rest[match.end() :].split()))


def worth_keeping(macro: Macro) -> bool:
    """Return whether a macro can affect parsing; plain constants, as most macros are, cannot."""
    if macro.params is not None:
        return True
    body = macro.body
    if not body or any(word in body for word in ("struct", "attribute", "(", "return")):
        return True
    plain = body.split()[0].lstrip("_").isidentifier() or MEMBER_PATH.fullmatch(body)
    return bool(plain) and len(body) < 200


def _is_annotation(body: str, known: dict[str, str], attributes: set[str]) -> bool:
    rest = _ATTRIBUTE.sub(" ", body)
    while match := re.search(r"\b(\w+)\s*\([^()]*\)", rest):
        if match[1] not in attributes:
            return False
        rest = rest[: match.start()] + rest[match.end() :]
    return all(word in known or word in _STORAGE for word in rest.split())


def _learn_annotations(macros: list[Macro], attributes: set[str]) -> dict[str, str]:
    bodies: dict[str, list[str]] = {}
    for macro in macros:
        if macro.params is None and macro.name not in KEYWORDS:
            bodies.setdefault(macro.name, []).append(macro.body)
    known = dict.fromkeys(_SEED_ANNOTATIONS, "")
    for _ in range(5):
        before = len(known)
        for name, texts in bodies.items():
            if name not in known and all(_is_annotation(b, known, attributes) for b in texts):
                words = {word for text in texts for word in text.split()}
                known[name] = "static" if words & {"static"} else ""
        if len(known) == before:
            break
    # A macro of this name that means something as code must stay.
    for name, texts in bodies.items():
        learnt = name in known and name not in _SEED_ANNOTATIONS
        if learnt and not all(_is_annotation(b, known, attributes) for b in texts):
            del known[name]
    return known


def _learn_attributes(macros: list[Macro]) -> set[str]:
    known = set(_SEED_ATTRIBUTES)
    for macro in macros:
        attribute = macro.params is not None and macro.body.startswith("__attribute__")
        if attribute and not _ATTRIBUTE.sub("", macro.body).strip():
            known.add(macro.name)
    return known


def _learn_loops(macros: list[Macro]) -> frozenset[str]:
    first: dict[str, set[str]] = {}
    for macro in macros:
        if macro.params is not None and (match := _WORD.match(macro.body)):
            first.setdefault(macro.name, set()).add(match[0])
    loops = {name for name, words in first.items() if words & {"for", "while"}}
    for _ in range(5):
        more = {n for n, words in first.items() if n not in loops and words & loops}
        if not more:
            break
        loops |= more
    return frozenset(name for name in loops if len(name) >= len("while"))


_HEAD = re.compile(r"[\w*]\s+\**\s*([\w#\s]+)\([^()]*\b(?:struct|int|void|char)\b[^()]*\)$")


def _is_head(macro: Macro) -> bool:
    """Return whether a macro's body ends like a function head whose parameters are types.

    One of the macro's parameters is the function's name, or a part of the name.
    """
    body = macro.body
    if macro.params is None or not body.endswith(")") or "{" in body:
        return False
    found = _HEAD.search(body)
    return found is not None and ("##" in body or found[1].strip() in macro.params)


def learn(macros: Iterable[Macro]) -> MacroTable:
    """Return the macros of a tree, grouped by what they mean to the parser."""
    every = list(macros)
    attributes = _learn_attributes(every)
    annotations = _learn_annotations(every, attributes)
    loops = _learn_loops(every)
    heads = {macro.name: macro for macro in every if _is_head(macro)}
    functions = frozenset(m.name for m in every if m.params is not None) - loops - heads.keys()
    return MacroTable(annotations, frozenset(attributes), loops, heads, functions)


def is_loop(name: str, table: MacroTable) -> bool:
    """Return whether a call of this macro, where a statement may stand, begins a loop."""
    return name in table.loops or (len(name) >= 5 and bool(_LOOP_NAME.search(name)))
