# SPDX-License-Identifier: MIT
"""Scenarios that provoke one cause each, and what a diagnosis must and may say about them.

A scenario's script is scripts/NAME.sh.  `must`: rules that have to find something.  `may`: rules
that may, because the scenario has that, too.  Any other rule that finds something is
wrong.  So a scenario is also the near miss of all rules that it does not name.

Rules in SYMPTOMS are left out of that count.  They state waits and work that any emulated guest
has, and the records themselves are their evidence.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).resolve().parent / "scripts"


class Provoked(NamedTuple):
    """One scenario.

    `counter`: the kernel's own count that equals the packets of the first rule of `must`, else of
    `may`: (file, name); see judge.py.  `modules`: what the guest loads.
    `ordered`: the first findings of the rules of `must` have to come in their order.
    """

    name: str
    sentence: str
    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    counter: tuple[str, str] | None = None
    buffers: str = "subbuf_kb=256 n_subbufs=64"
    ordered: bool = False

    @property
    def script(self) -> Path:
        """Return the script that makes the traffic."""
        return SCRIPTS / f"{self.name}.sh"

    def words(self) -> str:
        """Return the shell variables that the guest reads before the script."""
        return f"modules='{' '.join(self.modules)}' buffers='{self.buffers}'\n"


SYMPTOMS = frozenset(
    {
        *("slow-packets", "other-packets", "softirq-wait", "interrupts", "switched-out"),
        *("socket-lock", "cpu-migration", "unexplained", "probe-cost", "copies"),
    }
)
NETEM = ("sch_netem",)
FILTER = ("ip_tables", "crc32c_generic", "nf_conntrack", "xt_tcpudp", "iptable_filter")
ESP = ("esp4", "xfrm_user", "authenc", "echainiv", "drbg")
TRACKED = (*FILTER, "iptable_nat", "xt_MASQUERADE")
QDISC, FULL, DROP = "queueing-discipline", "receive-queue-full", "drop"
LATE, SENT_AGAIN = "late-reader", "retransmission"

PROVOKED = (
    Provoked("quiet", "A few packets, far apart."),
    Provoked("qdisc-delay", "A queueing discipline holds each packet.", (QDISC,), (), NETEM),
    Provoked("late-reader", "The reader sleeps before each read.", (LATE,)),
    Provoked("receive-queue-full", "The reader sleeps, and its queue is short.", (FULL,), (LATE,),
             counter=("server.counters", "Udp.RcvbufErrors")),
    Provoked("drop-by-rule", "A rule drops what goes to one port.", (DROP,), ("netfilter",),
             FILTER, ("server.rules", "dpt:9")),
    Provoked("wire-loss", "A path loses some TCP segments.", (DROP, SENT_AGAIN), ("send-queue",),
             NETEM, ("client.qdisc", "dropped")),
    Provoked("reordered", "A path sends some TCP segments before others.",
             ("reordering", QDISC), (SENT_AGAIN, "send-queue", LATE), NETEM),
    Provoked("neighbour-late", "The answer about a hardware address takes long.", ("neighbour",),
             (QDISC,), NETEM),
    Provoked("fragments-late", "Fragments wait for the last one.", ("reassembly", QDISC), (),
             NETEM),
    Provoked("segments-cut", "A queueing discipline has the CPU cut segments.",
             (QDISC,), ("segmentation", "send-queue", LATE), ("sch_tbf",)),
    Provoked("segments-small", "The same traffic without segments above the MTU.", (),
             ("send-queue", LATE)),
    Provoked("checksum-by-cpu", "The sender's device computes no checksums.",
             (), ("software-checksum", "send-queue")),
    Provoked("many-rules", "Each packet passes hundreds of rules.", ("netfilter",), (), FILTER),
    # The threads share one CPU, so the reader is late, too.
    Provoked("lock-contention", "Page faults of the reader wait for its address space's lock.",
             ("lock-contention",), (LATE, "send-queue")),
    # The reader ends before it has read all: what is in its queue is dropped, truly.
    Provoked("lost-records", "Small buffers lose records.", ("lost-records",), (LATE, DROP),
             buffers="subbuf_kb=4 n_subbufs=4"),
    # Probes of the closed window are segments that are sent again.
    Provoked("send-window", "The receiver's window closes.", ("send-queue", LATE), (SENT_AGAIN,)),
    Provoked("delay-and-full-queue", "Two causes: a delay, and a short queue.", (FULL, QDISC),
             (LATE,), NETEM, ("server.counters", "Udp.RcvbufErrors"), ordered=True),
    Provoked("rule-and-late-reader", "Two causes: a rule drops, a reader sleeps.", (DROP, LATE),
             ("netfilter",), FILTER, ("server.rules", "dpt:9"), ordered=True),
    Provoked("long-delay-and-late-reader", "Two causes: a long delay, a short sleep.",
             (QDISC, LATE), (), NETEM, ordered=True),
    Provoked("delay-and-later-reader", "Two causes: a short delay, a long sleep.",
             (LATE, QDISC), (), NETEM, ordered=True),
    Provoked("segments-by-cpu", "A queueing discipline has the CPU cut datagrams.",
             ("segmentation", QDISC), (), ("sch_tbf",)),
    Provoked("segments-whole", "The same datagrams stay whole.", (), (QDISC,), ("sch_tbf",)),
    Provoked("crc-by-cpu", "CPUs compute the CRC of large SCTP packets.",
             ("software-checksum",), ("send-queue", LATE), ("crc32c_generic", "sctp")),
    Provoked("crc-by-device", "Devices compute the CRC of the same packets.", (),
             ("send-queue", LATE), ("crc32c_generic", "sctp")),
    Provoked("many-classifiers", "Classifiers of tc take long: no rule covers them.",
             ("slow-packets", "unexplained"), (), ("sch_ingress", "cls_u32")),
    # For a new connection, a bucket of the table is emptied: its entries are dropped, not packets.
    Provoked("connections-full", "The table of connections is full.",
             ("conntrack",), ("netfilter",), TRACKED),
    Provoked("connections-few", "The table of connections has room.", (), ("netfilter",), TRACKED),
    Provoked("nobody-answers", "Nobody has the address of the next hop.", (DROP, "neighbour")),
    Provoked("corrupt-and-slow-link", "Two causes: changed bits, and a slow link.",
             (DROP, QDISC), ("software-checksum",), ("sch_tbf", *NETEM),
             ("server.counters", "Udp.InCsumErrors"), ordered=True),
    Provoked("ipsec-large", "IPsec encrypts large packets: no rule covers that.",
             ("slow-packets", "unexplained"), (), ESP),
    Provoked("delay-grows", "A delay grows, so TCP sends again what was not lost.",
             (SENT_AGAIN, QDISC), ("send-queue", LATE), NETEM),
    # A server answers a copy of a SYN with another SYN/ACK.
    Provoked("duplicated", "A path sends some segments twice; the sender does not.", (),
             (SENT_AGAIN, "send-queue", LATE), NETEM, ("server.counters", "Tcp.RetransSegs")),
    # The client reads answers only before it sends again.
    Provoked("hub", "A third host ignores what a bridge without memory sends to all.", (),
             (LATE,), ("bridge",)),
    Provoked("wrong-neighbour", "A permanent neighbour entry has another host's address.",
             (DROP,)),
    Provoked("path-mtu-hole", "Two causes: segments are too large, and no host learns that.",
             (DROP, SENT_AGAIN), ("send-queue",), FILTER, ("router.counters", "Ip.FragFails")),
    Provoked("hops-route-and-slow-link", "Three causes at a router: hops, no route, a slow link.",
             (DROP, QDISC), (), ("sch_tbf",), ordered=True),
    Provoked("stopped-and-starved", "Two causes: a stopped reader, and one without a CPU.",
             (LATE,)),
    Provoked("congestion-marked", "A slow link marks segments; it drops none.",
             (QDISC,), ("send-queue", LATE), ("sch_tbf", "sch_codel")),
)  # fmt: skip


def named(name: str) -> Provoked:
    """Return the scenario of this name; raises StopIteration."""
    return next(one for one in PROVOKED if one.name == name)
