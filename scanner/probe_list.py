# SPDX-License-Identifier: MIT
"""The probe list for an unmodified kernel, and the reasons why functions are not in it.

A line is ``NAME [CARRIER...] [EVENT] [module=M] [void|bool|int] [inner]``. A carrier is KIND@WHERE.
The kinds are skb, skbp (a ``struct sk_buff **``), queue (a ``struct sk_buff_head *``), list (a
``struct list_head *`` that leads to packets) and sock. WHERE is the number of an argument, from 0,
or ret. An `inner` function has no carrier, and is recorded only inside calls of other functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from scanner.btf import Function, Kernel
from scanner.tables.three_tables import Result

MAX_CARRIERS = 4
LAST_ARGUMENT = 14
INDIRECT = ("caller", "callee")  # kinds of functions in the table indirect
_KINDS = {
    ("struct sk_buff", 1): "skb",
    ("struct sk_buff", 2): "skbp",
    ("struct sk_buff_head", 1): "queue",
    ("struct sock", 1): "sock",
}
# The events of an skb's lifetime that these functions cause.
EVENTS = {
    "__alloc_skb": "alloc", "__build_skb": "alloc", "slab_build_skb": "alloc",
    "__napi_build_skb": "alloc", "skb_clone": "clone", "skb_copy": "copy",
    "__pskb_copy_fclone": "copy", "skb_copy_expand": "copy", "skb_segment": "segment",
    "kfree_skbmem": "free", "napi_skb_cache_put": "free", "kfree_skb_reason": "drop",
    "consume_skb": "consume", "skb_attempt_defer_free": "defer_free",
    "skb_morph": "morph",
}  # fmt: skip

_GONE_TEXT = "__init __initfunc __exit __devinit __devexit __cpuinit __cpuexit __meminit __memexit"
_GONE = frozenset(_GONE_TEXT.split())
_NAMESPACES = frozenset(("__net_init", "__net_exit"))  # stay where there are network namespaces
_Type = tuple[str, int, int]


class Probe(NamedTuple):
    """A line of the list."""

    name: str
    carriers: tuple[str, ...]
    event: str
    module: str
    returns: str
    inner: bool = False


class Listed(NamedTuple):
    """The probes, and a row in `unprobed` with the reason for each function that was left out."""

    probes: list[Probe]
    unprobed: list[dict[str, Any]]


def carriers(
    parameters: list[_Type], returns: _Type, listed: bool = False, every: bool = False
) -> tuple[str, ...]:
    """Return the carriers of a function (arguments and results with packets), at most four.

    `listed` means that a struct list_head of the function is a list of packets.

    With `every`, queues and the first sock are always included. Otherwise a sock is included only
    for functions without a packet, because a packet has its own sock. A queue is included only for
    functions without an skb, because the skb is put into the queue or taken from it.
    """
    kinds = [_KINDS.get(p[:2], "") for p in parameters[: LAST_ARGUMENT + 1]]
    gives = _KINDS.get(returns[:2]) == "skb"
    if listed and (every or "skb" not in kinds):
        kinds = [
            "list" if p[:2] == ("struct list_head", 1) else k
            for p, k in zip(parameters, kinds, strict=False)
        ]
    if every:
        wanted = {*_KINDS.values(), "list"}
    elif gives or "skb" in kinds:
        wanted = {"skb"}
    elif {"skbp", "queue", "list"} & {*kinds}:
        wanted = {"skbp", "queue", "list"}
    else:
        wanted = {"sock"}
    found = [f"{kind}@{i}" for i, kind in enumerate(kinds) if kind in wanted]
    socks = [place for place in found if place.startswith("sock@")]
    found = [place for place in found if place not in socks[1:]][: MAX_CARRIERS - gives]
    return (*found, "skb@ret") if gives else tuple(found)


def result_word(returns: _Type) -> str:
    """Return a result's word: void, bool (one byte), int (at most four), "" (a register)."""
    name, stars, size = returns
    if stars or name.startswith(("struct ", "union ", "function")):
        return ""
    if name == "void":
        return "void"
    return "bool" if size == 1 else "int" if 1 < size <= 4 else ""


_SIZES = {
    "bool": 1,
    "_Bool": 1,
    "char": 1,
    "u8": 1,
    "__u8": 1,
    "unsigned char": 1,
    "int": 4,
    "u16": 2,
    "unsigned int": 4,
    "unsigned": 4,
    "u32": 4,
    "__u32": 4,
    "__be32": 4,
    "__be16": 2,
    "__wsum": 4,
    "__sum16": 2,
    "netdev_tx_t": 4,
    "gfp_t": 4,
    "short": 2,
    "unsigned short": 2,
    "signed char": 1,
}


def _of_text(text: str) -> _Type:
    """Return the type that the text `text` of a table row means."""
    if text.endswith("(*)()"):
        return "function", 1, 8
    base = text.rstrip("*").rstrip()
    return base, text.count("*"), _SIZES.get(base, 4 if base.startswith("enum") else 0)


def probe_list(result: Result | None, kernel: Kernel | None, level: int | None = None) -> Listed:
    """Return the probe list for a source tree, for a kernel image, or for both together.

    `level` is the highest level of forms, None for any.
    """
    if result is None:
        assert kernel is not None
        found = [_from_btf(f) for fs in kernel.functions.values() for f in fs]
        return _usable([p for p in found if p.carriers], kernel, {})
    probes: dict[str, Probe] = {}
    rows: dict[str, dict[str, Any]] = {}
    for row in result.functions:
        if row["kind"] is None or (level is not None and (row["level"] or 0) > level):
            continue
        parameters = [_of_text(kind) for _, _, kind in row["parameters"]]
        returns = _of_text(row["returns_stripped"])
        places = carriers(parameters, returns, row["skb_list"])
        name = row["function"]
        if places and (name not in probes or not row["inline"]):
            event = EVENTS.get(name, "")
            probes[name] = Probe(name, places, event, "", result_word(returns))
            rows[name] = dict(row)
    if kernel is None:
        reasons = {name: _forbidden(rows[name]) or _inlined(rows[name]) for name in probes}
        kept = [probe for name, probe in probes.items() if not reasons[name]]
        return Listed(sorted(kept), [_reason(rows[n], why) for n, why in reasons.items() if why])
    # If BTF has none of a file's functions, the file was not compiled.
    built = {row["file"] for row in result.functions if row["function"] in kernel.functions}
    for row in rows.values():
        row["built"] = row["file"] in built or row["file"].endswith(".h")
    return _usable(list(probes.values()), kernel, rows)


def inner_list(result: Result, kernel: Kernel | None) -> Listed:
    """Return the functions of table `indirect` that have no carrier.

    If a kernel is given, a function is returned only if the kernel's BTF shows no carrier of it
    either.
    """
    kept, left = set[Probe](), list[dict[str, Any]]()
    for row in result.functions:
        if row["kind"] not in INDIRECT:
            continue
        types = [_of_text(kind) for _, _, kind in row["parameters"]]
        returns = _of_text(row["returns_stripped"])
        if carriers(types, returns, row["skb_list"], every=True):
            continue
        name, module = row["function"], ""
        reason = _forbidden(row) or _inlined(row)
        if kernel is not None and not reason:
            reason = _why_not(name, kernel, dict(row, built=True))
            found = kernel.functions.get(name, [])
            module = found[0].module if found and not reason else ""
            if not reason and _from_btf(found[0]).carriers:
                reason = "one of its arguments carries a packet or a socket in this kernel"
        if reason:
            left.append(_reason(row, reason))
        else:
            kept.add(Probe(name, (), "", module, result_word(returns), True))
    return Listed(sorted(kept), left)


def _inlined(row: dict[str, Any]) -> str:
    inline = row["inline"] and row["file"].endswith(".h")
    return "inline function in a header" if inline else ""


def _forbidden(row: dict[str, Any]) -> str:
    annotation = row.get("annotation", "")
    if annotation in _GONE:
        return (
            f"in memory only while the kernel starts, or while a module is unloaded ({annotation})"
        )
    if annotation and annotation not in _NAMESPACES:
        return f"the source forbids it: {annotation}"
    return ""


def _from_btf(function: Function) -> Probe:
    places = carriers(list(function.parameters), function.returns)
    return Probe(
        function.name,
        places,
        EVENTS.get(function.name, ""),
        function.module,
        result_word(function.returns),
    )


def _usable(wanted: list[Probe], kernel: Kernel, rows: dict[str, dict[str, Any]]) -> Listed:
    kept: list[Probe] = []
    left: list[dict[str, Any]] = []
    for probe in sorted(set(wanted)):
        row = rows.get(probe.name, {"function": probe.name, "file": "", "line": 0})
        reason = _why_not(probe.name, kernel, row)
        if reason:
            left.append(_reason(row, reason))
            continue
        for function in kernel.functions[probe.name]:
            real = _from_btf(function)
            if not rows and real != probe:
                continue
            places = real.carriers or probe.carriers
            if "list@" in " ".join(probe.carriers):
                places = probe.carriers
            if places:
                kept.append(real._replace(carriers=places))
            else:
                left.append(_reason(row, "no argument carries a packet in this kernel"))
    return Listed(sorted(set(kept)), left)


def _why_not(name: str, kernel: Kernel, row: dict[str, Any]) -> str:
    if forbidden := _forbidden(row):
        return forbidden
    found = kernel.functions.get(name, [])
    addresses = kernel.symbols.get(name, 0)
    if addresses > 1:
        return f"the name has {addresses} addresses"
    if len(found) > 1:
        modules = ", ".join(sorted({f.module or "vmlinux" for f in found}))
        return f"the name has {len(found)} addresses ({modules})"
    if found:
        return (
            ""
            if found[0].module or not kernel.symbols or addresses
            else "BTF has the function, but System.map has no such symbol"
        )
    copies = kernel.variants.get(name)
    if copies:
        return f"left only as compiler-made variants: {', '.join(sorted(copies))}"
    if addresses:
        return "BTF has no prototype of the function"
    if not row["built"]:
        return "its file is not built into this kernel"
    if not (row["inline"] or row["static"]):
        return "not built into this kernel"
    return (
        "inlined"
        if kernel.symbols
        else "inlined, or only a variant made by the compiler is left (.isra, .constprop)"
    )


def _reason(row: dict[str, Any], reason: str) -> dict[str, Any]:
    return {"function": row["function"], "file": row["file"], "line": row["line"], "reason": reason}


def lines(found: Listed) -> Iterator[str]:
    """Yield the lines of the probe list file."""
    yield "# SPDX-License-Identifier: MIT"
    grammar = "NAME [CARRIER...] [EVENT] [module=M] [void|bool|int] [inner]"
    yield f"# Written by skbscan probes: {grammar}"
    for probe in found.probes:
        module = f"module={probe.module}" if probe.module else ""
        inner = "inner" if probe.inner else ""
        words = [probe.name, *probe.carriers, probe.event, module, probe.returns, inner]
        yield " ".join(word for word in words if word)


def report(found: Listed) -> Iterator[str]:
    """Yield lines: the number of listed functions, then the numbers left out for each reason."""
    yield f"{len(found.probes)} functions listed, {len(found.unprobed)} left out"
    reasons = Counter(row["reason"].partition(":")[0].partition(" (")[0] for row in found.unprobed)
    for reason, count in reasons.most_common(12):
        yield f"  {count} left out: {reason}"
