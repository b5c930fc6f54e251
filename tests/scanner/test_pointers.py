# SPDX-License-Identifier: MIT
"""Calls through pointers to functions: in arrays, in members, in variables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from scanner import call_graph_drawing
from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.tables.three_tables import Options, Result

HEAD = """
struct sk_buff { struct dst *dst; };
typedef int (*handler)(void *any);
struct dst { int (*input)(void *any); handler out[2]; };
struct command { const char *name; handler run; int flags; };
struct nested { int a; struct { handler one, two; } in; handler last; };
int f(void *any) { return 1; }
int g(void *any) { return 2; }
int h(void *any) { return 3; }
int other(void *any) { return 4; }
"""


def scanned(root: Path, text: str) -> Result:
    (root / "a.c").write_text(HEAD + text)
    return tables(Run(root, [], 1, None), Options(), Progress(quiet=True))


@pytest.mark.parametrize(
    ("text", "call", "found", "by"),
    [
        ("int (*all[])(void *) = { f, &g, [4] = (handler)h };", "all[i](skb)", "fgh", "pointer"),
        ("handler all[2][1] = { { f }, { g } };", "(*all[1][0])(skb)", "fg", "pointer"),
        ("handler hook = f; void set(void) { hook = g; }", "hook(skb)", "fg", "pointer"),
        ("handler all[2]; void set(void) { all[0] = h; }", "all[0](skb)", "h", "pointer"),
        ("", "handler own[] = { f, g }; own[i](skb)", "fg", "pointer"),
        ("", "handler own = i ? f : h; own(skb)", "fh", "pointer"),
        ("void set(struct dst *d) { d->input = f; }", "skb->dst->input(skb)", "f", "table"),
        ("void set(struct dst *d) { d->out[1] = g; }", "skb->dst->out[i](skb)", "g", "table"),
        ("struct dst d = { f, { g, h } };", "skb->dst->out[0](skb)", "gh", "table"),
        ("struct dst d = { .out = { h } };", "skb->dst->out[0](skb)", "h", "table"),
        ('struct command c[] = { { "a", f }, { "b", g } };', "c[i].run(skb)", "fg", "table"),
        ("struct nested n = { 1, { f, g }, h };", "n.in.two(skb)", "g", "table"),
        ("struct nested n = { 1, { f, g }, h };", "n.last(skb)", "h", "table"),
        ("", "int other(void *any); other(skb)", ["other"], "call"),  # a prototype hides nothing
    ],
)
def test_what_a_pointer_holds_is_called(
    tmp_path: Path, text: str, call: str, found: Iterable[str], by: str
) -> None:
    user = f"int rx(struct sk_buff *skb, int i)\n{{\n\t{call};\n\treturn 0;\n}}\n"
    result = scanned(tmp_path, f"{text}\n{user}")
    called = {row["function"]: row["witness"]["by"] for row in result.indirect}
    assert called == dict.fromkeys(found, by)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("struct other { handler input; } o = { f };", "skb->dst->input(skb)"),
        ("handler mine(void) { handler own = f; return own; }", "own(skb)"),
        ("int out = 0;", "skb->dst->out[0](skb)"),
        ("int number(void) { return f; }", "number2(skb)"),
    ],
)
def test_what_it_cannot_hold_is_not(tmp_path: Path, text: str, call: str) -> None:
    user = f"int rx(struct sk_buff *skb)\n{{\n\t{call};\n\treturn 0;\n}}\n"
    assert not scanned(tmp_path, f"{text}\n{user}").indirect


def test_a_graph_goes_through_an_assigned_member(tmp_path: Path) -> None:
    """Example: dst_input() calls ip_local_deliver(), which ip_route_input() assigned."""
    result = scanned(
        tmp_path,
        "int ip_local_deliver(struct sk_buff *skb) { return 0; }\n"
        "void route(struct dst *dst) { dst->input = ip_local_deliver; }\n"
        "int dst_input(struct sk_buff *skb) { return skb->dst->input(skb); }\n",
    )
    seen, _ = call_graph_drawing.reachable(result.functions, result.edges, "dst_input", 1)
    assert {result.functions[n]["function"] for n in seen} == {"dst_input", "ip_local_deliver"}
