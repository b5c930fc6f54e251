# SPDX-License-Identifier: MIT
"""Functions of a tree by ctags and by a built kernel's BTF, to judge the scanner by."""

from __future__ import annotations

import json
import subprocess
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from scanner.btf import Btf, Function, Kernel

SEED = "struct sk_buff"
_NAMED = """
netif_receive_skb netif_rx ip_rcv ip_local_deliver tcp_v4_rcv tcp_rcv_established
tcp_event_data_recv skb_copy_datagram_iovec __kfree_skb inet_sendmsg tcp_sendmsg tcp_push_one
tcp_write_xmit tcp_connect tcp_send_ack tcp_send_synack tcp_retransmit_skb tcp_transmit_skb
udp_sendpage udp_sendmsg icmp_send icmp_reply ip_queue_xmit ip_append_page ip_append_data
ip_push_pending_frames ip_output ip_finish_output ip_finish_output2 dev_queue_xmit
__netif_rx_schedule net_tx_action ip_rcv_finish ip_local_deliver_finish tcp_v4_do_rcv tcp_ack
tcp_recvmsg udp_rcv udp_queue_rcv_skb udp_encap_rcv udp_recvmsg icmp_rcv net_rx_action __alloc_skb
tcp_rcv_state_process sk_wait_data
"""
NAMED = tuple(_NAMED.split())


class Score(NamedTuple):
    """found: in both; missed: only the oracle has it; extra: only the scanner has it."""

    found: int
    missed: list[str]
    extra: list[str]

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + len(self.missed))

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + len(self.extra))


def score(ours: set[str], theirs: set[str]) -> Score:
    return Score(len(ours & theirs), sorted(theirs - ours), sorted(ours - theirs))


def ctags(tree: Path, folder: str) -> set[str]:
    """Return "file name" of every function definition that ctags finds."""
    command = ["ctags", "-R", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "-f", "-"]
    command += ["--output-format=json", folder]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    tags = [json.loads(line) for line in done.stdout.splitlines()]
    return {f"{t['path']} {t['name']}" for t in tags if t["_type"] == "tag"}


def definitions(functions: Iterable[dict[str, Any]], folder: str) -> set[str]:
    """Return the scanner's functions; those that a macro defines have its name, too."""
    found = set()
    for row in functions:
        if row["file"].startswith(f"{folder}/"):
            found.add(f"{row['file']} {row['function']}")
            if row["macro"]:
                found.add(f"{row['file']} {row['macro']}")
    return found


def closure(tables: list[Btf], stops: Iterable[str], limit: int | None) -> dict[str, int]:
    """Return the level of each struct that contains the seed, as BTF has it."""
    whole: dict[str, set[str]] = {}
    for table in tables:
        for name, members in table.contents():
            for member in members:
                whole.setdefault(member, set()).add(name)
    stopped = {f"{word} {tag}" for tag in stops for word in ("struct", "union")}
    levels = {SEED: 0}
    queue = deque([SEED])
    while queue:
        name = queue.popleft()
        if limit is not None and levels[name] >= limit:
            continue
        for outer in whole.get(name, ()):
            if outer not in levels and outer not in stopped:
                levels[outer] = levels[name] + 1
                queue.append(outer)
    return levels


def named_structs(tables: list[Btf]) -> set[str]:
    return {name for table in tables for name, _ in table.contents()}


def uses(function: Function, levels: dict[str, int]) -> bool:
    return any(kind[0] in levels for kind in (*function.parameters, function.returns))


def comparable(kernel: Kernel, functions: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows of net/ whose name stands for one function, in source and in BTF.

    Without BPF_CALL_n and SYSCALL_DEFINEn: BTF has their wrapper, which takes plain registers.
    """
    rows = [
        row for row in functions if row["file"].startswith("net/") and row["file"].endswith(".c")
    ]
    count = Counter(row["function"] for row in rows)
    rows = [row for row in rows if not row["macro"]]
    return {
        row["function"]: row
        for row in rows
        if count[row["function"]] == 1 and len(kernel.functions.get(row["function"], ())) == 1
    }


def parameter_counts(kernel: Kernel, rows: dict[str, dict[str, Any]]) -> float:
    """Return the share of functions whose number of parameters equals BTF's."""
    same = sum(
        len(kernel.functions[name][0].parameters) == len(row["parameters"])
        for name, row in rows.items()
    )
    return same / max(1, len(rows))


def direct(
    kernel: Kernel, rows: dict[str, dict[str, Any]], levels: dict[str, int], limit: int | None
) -> Score:
    theirs = {name for name in rows if uses(kernel.functions[name][0], levels)}
    ours = {
        name
        for name, row in rows.items()
        if row["kind"] == "direct" and (limit is None or row["level"] <= limit)
    }
    return score(ours, theirs)
