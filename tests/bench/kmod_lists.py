# SPDX-License-Identifier: MIT
"""The lists of functions that are probed: 50, 500 and all that a kernel has.

50 are those of functions-50.txt.  500 are those of kmod/probes.txt, which is what the recorder
is made for, filled up with others by name.  All are those of probes.txt and every function of
the kernel and of veth that takes or returns an sk_buff.  Inner are those of functions-inner.txt,
which have no skb, alone and beside the 50.
"""

from __future__ import annotations

from pathlib import Path

from tests.lab import debs
from tests.lab.record import KMOD, load_gen_probes

FIFTY = Path(__file__).resolve().parent / "functions-50.txt"
INNER = FIFTY.with_name("functions-inner.txt")
FEW, MANY = 50, 500
# What function_graph traces as "net functions": globs over the kernel's function names.
NET = (
    "*skb*", "tcp_*", "__tcp_*", "udp_*", "__udp*", "ip_*", "__ip_*", "icmp_*", "inet_*", "__inet*",
    "arp_*", "neigh_*", "__neigh*", "dev_*", "__dev_*", "netif_*", "__netif*", "net_*", "napi_*",
    "__napi*", "sock_*", "__sock*", "sk_*", "__sk_*", "nf_*", "fib_*", "veth_*", "dst_*", "qdisc_*",
)  # fmt: skip


def names_of(path: Path) -> list[str]:
    """Return the names in a list."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def write(kernel: debs.Kernel, folder: Path) -> dict[str, Path]:
    """Write the lists of a kernel below ``folder``; returns their paths by name.

    Raises RuntimeError if the kernel does not have 50 of functions-50.txt.
    """
    veth = next((kernel.modules / "lib/modules").rglob("veth.ko*"))
    names = KMOD / "probes.txt"
    lines, _ = load_gen_probes().generate(names, kernel.image, {"veth": veth}, every=True)
    wanted = set(names_of(FIFTY))
    few = [line for line in lines if line.split()[0] in wanted]
    if len(few) != FEW:
        missing = wanted - {line.split()[0] for line in few}
        raise RuntimeError(f"{kernel.release} has no {sorted(missing)} of {FIFTY.name}")
    inner = [f"{name} inner" for name in names_of(INNER)]
    paths, lists = {}, {"50": few, "500": lines[:MANY], "all": lines, "net": NET}
    for name, text in (lists | {"inner": inner, "inner-50": few + inner}).items():
        paths[name] = folder / f"list-{name}"
        paths[name].write_text("".join(f"{line}\n" for line in text))
    return paths
