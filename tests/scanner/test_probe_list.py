# SPDX-License-Identifier: MIT
"""Probe lists from source, from a compiled object's BTF, and from both."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scanner.cli import main

SOURCE = """
#define notrace
#define __init
#define NOKPROBE_SYMBOL(x) extern int nokprobe
struct sk_buff { int len; };
struct sock { int a; struct sk_buff *queue; };
struct sk_buff_head { struct sk_buff *next; };
struct list_head { struct list_head *next; };
typedef struct sk_buff *packet_t;
typedef enum { NO, YES } answer_t;

struct sk_buff *skb_clone(struct sk_buff *skb, int priority) { return skb; }
int ip_rcv(struct sk_buff *skb, void *dev) { return skb->len; }
int tcp_sendmsg(struct sock *sk, void *msg, unsigned long size) { return sk->a; }
void both(struct sock *sk, packet_t skb) { skb->len = sk->a; }
_Bool replaced(int hook, struct sk_buff **skb) { return hook; }
void purge(struct sk_buff_head *queue) { queue->next = 0; }
unsigned long many(struct sk_buff *a, struct sk_buff *b, struct sk_buff *c,
    struct sk_buff *d, struct sk_buff *e) { return a->len; }
void receive_list(struct list_head *head) { struct sk_buff *skb = 0; ip_rcv(skb, head); }
answer_t plain(int a) { return a; }
static int inlined(struct sk_buff *skb) { return skb->len; }
__attribute__((noinline)) int notrace hidden(struct sk_buff *skb) { return skb->len; }
int __init early(struct sk_buff *skb) { return skb->len; }
int held(struct sk_buff *skb) { return skb->len; }
NOKPROBE_SYMBOL(held);
int user(struct sk_buff *skb) { return inlined(skb); }
"""
LINES = [
    "both skb@1 void",
    "ip_rcv skb@0 int",
    "many skb@0 skb@1 skb@2 skb@3",
    "purge queue@0 void",
    "replaced skbp@1 bool",
    "skb_clone skb@0 skb@ret clone",
    "tcp_sendmsg sock@0 int",
    "user skb@0 int",
]
FORBIDDEN = ["early skb@0 int", "held skb@0 int", "hidden skb@0 int"]
LISTED = "receive_list list@0 void"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "a.c").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def kernel(tree: Path) -> Path:
    """An object file with BTF, in place of a kernel, and a System.map beside it."""
    command = ["gcc", "-O2", "-gbtf", "-c", "net/a.c", "-o", "vmlinux.o"]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    return tree / "vmlinux.o"


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_from_source(tree: Path) -> None:
    out = tree / "probes.txt"
    assert main(["probes", str(tree), "--no-cache", "-q", "-o", str(out)]) == 0
    assert lines(out) == sorted([*LINES, LISTED, "inlined skb@0 int"])


def test_from_btf(tree: Path, kernel: Path) -> None:
    out = tree / "probes.txt"
    assert main(["probes", "--btf", str(kernel), "-q", "-o", str(out)]) == 0
    # gcc's BTF, unlike pahole's, has functions that were inlined.
    assert lines(out) == sorted([*LINES, *FORBIDDEN, "inlined skb@0 int"])


def test_joined(tree: Path, kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    symbols = tree / "System.map"
    names = [line.split()[0] for line in [*LINES, LISTED] if not line.startswith("many")]
    text = [f"{n:016x} T {name}" for n, name in enumerate([*names, "user"])]
    symbols.write_text("\n".join([*text, f"{99:016x} t many.constprop.0"]) + "\n")
    out, report = tree / "probes.txt", tree / "report.json"
    arguments = ["probes", str(tree), "--btf", str(kernel), "--system-map", str(symbols)]
    arguments += ["--no-cache", "-q", "-o", str(out), "--report", str(report)]
    assert main(arguments) == 0
    assert lines(out) == sorted(
        [*(n for n in LINES if n.split()[0] not in ("many", "user")), LISTED]
    )
    reasons = {row["function"]: row["reason"] for row in json.loads(report.read_text())}
    assert reasons == {
        "hidden": "the source forbids it: notrace",
        "held": "the source forbids it: NOKPROBE_SYMBOL",
        "early": "in memory only while the kernel starts, or while a module is unloaded (__init)",
        "inlined": "BTF has the function, but System.map has no such symbol",
        "user": "the name has 2 addresses",
        "many": "BTF has the function, but System.map has no such symbol",
    }
    assert "left out" in capsys.readouterr().err


@pytest.mark.parametrize("end", [0, 10, 30, 60, 100, 400])
def test_cut_btf_is_one_line(
    tree: Path, kernel: Path, end: int, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tree / "btf"
    command = [
        "objcopy",
        "-O",
        "binary",
        "--only-section=.BTF",
        "--set-section-flags",
        ".BTF=alloc",
        str(kernel),
        str(dump),
    ]
    subprocess.run(command, check=True)
    dump.write_bytes(dump.read_bytes()[:end])
    assert main(["probes", "--btf", str(dump), "-q"]) == 2
    printed = capsys.readouterr().err
    assert str(dump) in printed and printed.count("\n") == 1


INDIRECT = """
#define __init
struct sk_buff { int len; void *head; };
int note(void *packet) { return packet != 0; }
void copied(struct sk_buff **skb) { *skb = 0; }
int __init early(void *packet) { return packet != 0; }
int ip_rcv(struct sk_buff *skb) { copied(&skb); early(skb); return note(skb); }
int apart(int a) { return a; }
"""


@pytest.mark.parametrize("more", [[], ["--btf", "vmlinux.o"]])
def test_functions_of_the_table_indirect_without_a_carrier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """Those with a packet are in the other list; apart() is in no table."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "a.c").write_text(INDIRECT)
    command = ["gcc", "-O0", "-gbtf", "-c", "net/a.c", "-o", "vmlinux.o"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    words = ["probes", ".", "-q", "--no-cache"]
    assert main([*words, *more, "--inner", "-o", "inner.txt", "--report", "left.json"]) == 0
    assert (tmp_path / "inner.txt").read_text().splitlines()[2:] == ["note int inner"]
    assert [row["function"] for row in json.loads((tmp_path / "left.json").read_text())] == [
        "early"
    ]


def test_inner_list_needs_source(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probes", "--btf", str(kernel), "--inner"]) == 2
    assert "--inner needs a TREE" in capsys.readouterr().err
