# SPDX-License-Identifier: MIT
"""The zoo: every scenario, with what makes it hard.  The script is zoo/NAME.sh."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).resolve().parent / "zoo"


class Scenario(NamedTuple):
    """One scenario, which is recorded with the witness and again without it.

    modules: what the guest loads before.  probes: a list of tests/lab/record.py.  options: further
    arguments of kblrecord, a filter for example.  buffers: the module's parameters.  devices:
    further arguments of QEMU.  scripts: the folder of the script.  patched: probes are armed or
    disarmed while packets flow, see guest.Run.
    """

    name: str
    sentence: str
    tags: tuple[str, ...]
    modules: tuple[str, ...] = ()
    probes: str = "probes"
    options: str = ""
    buffers: str = "subbuf_kb=256 n_subbufs=64"
    devices: tuple[str, ...] = ()
    scripts: Path = SCRIPTS
    patched: bool = False

    @property
    def script(self) -> Path:
        """Return the script that makes the traffic."""
        return self.scripts / f"{self.name}.sh"

    def words(self) -> str:
        """Return the shell variables that the guest reads before the script."""
        return (f"modules='{' '.join(self.modules)}' list={self.probes}.txt\n"
                f"options='{self.options}' buffers='{self.buffers}'\n")  # fmt: skip


NETEM, MANGLE = ("sch_netem",), ("ip_tables", "crc32c_generic", "nf_conntrack", "xt_tcpudp")
NAT = (*MANGLE, "iptable_nat", "xt_nat", "xt_MASQUERADE")
TC = ("sch_ingress", "cls_matchall", "act_mirred")


def _card(number: int) -> tuple[str, ...]:
    """Return a network card at QEMU's hub 0; the script finds it by its address."""
    device = f"virtio-net-pci,netdev=card{number},mac=02:00:00:00:0a:0{number}"
    return ("-netdev", f"hubport,id=card{number},hubid=0", "-device", device)


ZOO = (
    Scenario("baseline", "TCP, UDP and pings between two hosts.", ("plain",)),
    Scenario("constant-id", "All datagrams have one identification.", ("constant id",)),
    Scenario("reused-ids", "Sixteen identifications come again and again.", ("reused ids",)),
    Scenario("same-headers", "All headers are alike; only the payload differs.",
             ("identical headers", "constant id")),
    Scenario("netem-duplicate-reorder", "A qdisc delays, reorders and duplicates one of five.",
             ("netem", "duplicates", "reorder", "constant id"), NETEM),
    Scenario("bridge", "Sniffers stand at both ports of a bridge, at the bridge and behind it.",
             ("bridge", "promiscuous"), ("bridge",)),
    Scenario("tcp-loss", "TCP over a path that loses, delays and reorders.",
             ("netem", "loss", "reorder", "tcp"), NETEM),
    Scenario("tcp-retransmit-waiting", "Segments are sent again while the first clone waits.",
             ("netem", "retransmission", "tcp"), NETEM),
    Scenario("netem-duplicate-many", "Three of ten are duplicated on the way there, one back.",
             ("netem", "duplicates"), NETEM),
    Scenario("container-host", "Two containers call one server through a bridge and NAT.",
             ("bridge", "nat", "colliding clients"), (*NAT, "bridge")),
    Scenario("snat", "Clients with one source port and one identification share an address.",
             ("nat", "colliding clients", "constant id"), NAT),
    Scenario("netem-same-headers", "Packets alike are delayed, duplicated and lost.",
             ("netem", "duplicates", "loss", "identical headers"), NETEM),
    Scenario("netem-corrupt-duplicate", "Packets are duplicated and bits of them changed.",
             ("netem", "duplicates", "corrupt"), NETEM),
    Scenario("lossy", "The recorder is held up, and its small buffers lose records.",
             ("netem", "duplicates", "lossy"), NETEM, buffers="subbuf_kb=4 n_subbufs=8"),
    Scenario("busy", "Bursts of many programs at once, so that probes may miss hits.",
             ("netem", "duplicates", "busy"), NETEM),
    Scenario("ipv6-extensions", "IPv6 with hop-by-hop, routing, destination, fragment headers.",
             ("ipv6", "extension headers")),
    Scenario("fragments", "Fragments with own, constant and reused identifications.",
             ("fragments", "constant id", "reused ids")),
    Scenario("several-sniffers", "Three sniffers at one device, one at the other.",
             ("several sniffers",)),
    Scenario("clock-step", "The wall clock is set between packets and their duplicates.",
             ("netem", "duplicates", "clock step"), NETEM),
    Scenario("vxlan", "Sniffers outside and inside a VXLAN.", ("tunnel",), ("vxlan",)),
    Scenario("segments-on", "Large segments are sent, and merged where they arrive.",
             ("tcp", "tso", "gro")),
    Scenario("any-sll2", "A router's devices all at once, with cooked headers of version 2.",
             ("any", "forwarding")),
    Scenario("wrapping-ids", "Identifications count past 65,535.", ("wrapping ids",)),
    Scenario("zero-id", "Identification 0 with the bit that forbids fragments.",
             ("zero id", "identical headers")),
    Scenario("sizes", "One identification for each of six lengths.", ("constant id",)),
    Scenario("netem-delay", "A qdisc delays and reorders.", ("netem", "reorder"), NETEM),
    Scenario("netem-duplicate-few", "One to three of a hundred are duplicated.",
             ("netem", "duplicates"), NETEM),
    Scenario("netem-loss", "One of eight is lost.", ("netem", "loss"), NETEM),
    Scenario("netem-corrupt", "Bits of one of seven are changed.", ("netem", "corrupt"), NETEM),
    Scenario("netem-loss-reorder", "Loss, and a quarter overtakes the others.",
             ("netem", "loss", "reorder"), NETEM),
    Scenario("netem-loss-duplicate", "Loss and duplicates there, delay and duplicates back.",
             ("netem", "loss", "duplicates", "reorder"), NETEM),
    Scenario("tee", "A rule sends a copy of each datagram to a third host.", ("tee",),
             (*MANGLE, "iptable_mangle", "xt_TEE")),
    Scenario("bonding-broadcast", "Every packet leaves at both devices of a bond.",
             ("bonding", "duplicates"), ("bonding",)),
    Scenario("mirred", "A filter of tc copies all that comes in and goes out.", ("mirred",), TC),
    Scenario("tc-redirect", "Filters of tc join two devices.", ("redirect",), TC),
    Scenario("xdp-redirect", "XDP programs in the driver join two devices.", ("xdp",)),
    Scenario("xdp-generic", "Generic XDP programs join two devices.", ("xdp",)),
    Scenario("bridge-plain", "As bridge, but no sniffer is promiscuous.", ("bridge",),
             ("bridge",)),
    Scenario("vlan", "Sniffers at a VLAN and at the device below it.", ("vlan",), ("8021q",)),
    Scenario("macvlan", "Two macvlan devices on one.", ("macvlan",), ("macvlan",)),
    Scenario("ipvlan", "An ipvlan device.", ("ipvlan",), ("ipvlan",)),
    Scenario("gre", "Sniffers outside and inside a GRE tunnel.", ("tunnel",), ("ip_gre",)),
    Scenario("ipip", "Sniffers outside and inside an IPIP tunnel.", ("tunnel",), ("ipip",)),
    Scenario("wireguard", "Sniffers outside and inside a wireguard tunnel.",
             ("tunnel", "encrypted"), ("wireguard",)),
    Scenario("ipsec", "ESP between two hosts; a sniffer sees what is received twice.",
             ("encrypted",), ("esp4", "xfrm_user", "authenc", "echainiv", "drbg")),
    Scenario("vrf", "A router whose devices belong to a VRF.", ("vrf", "forwarding"), ("vrf",)),
    Scenario("route", "A router.", ("forwarding",)),
    Scenario("dnat", "Two addresses lead to one server.", ("nat", "colliding clients"), NAT),
    Scenario("hairpin", "Packets leave a router where they came in.", ("nat", "bridge"),
             (*NAT, "bridge")),
    Scenario("ipv6", "TCP, UDP and pings over IPv6.", ("ipv6",)),
    Scenario("ipv6-fragments", "Fragments of IPv6, also behind other headers.",
             ("ipv6", "fragments")),
    Scenario("fragments-duplicate", "Fragments, delayed and duplicated.",
             ("fragments", "netem", "duplicates"), NETEM),
    Scenario("multicast", "Multicasts and broadcasts, which the sender hears too.",
             ("multicast", "broadcast")),
    Scenario("sctp", "SCTP associations beside UDP.", ("sctp",), ("crc32c_generic", "sctp")),
    Scenario("loopback", "All traffic of a host with itself.", ("loopback",)),
    Scenario("routing-loop", "Two routers send packets to each other until they expire.",
             ("forwarding", "duplicates")),
    Scenario("tun-echo", "A program gives back what a tun device sends.", ("tun",), ("tun",)),
    Scenario("tap-echo", "A program gives back what a tap device sends.", ("tun",), ("tun",)),
    Scenario("segments-off", "TCP without any segments above the MTU.", ("tcp",)),
    Scenario("segments-routed", "A router merges what it forwards and cuts it again.",
             ("tcp", "gro", "gso", "forwarding")),
    Scenario("udp-segments", "Datagrams that are cut on the way, and merged.",
             ("udp segments", "gro", "gso")),
    Scenario("virtio", "Two virtio cards; what they receive is merged, and then not.",
             ("virtio", "tcp", "gro"), ("virtio_net",), devices=(*_card(1), *_card(2))),
    Scenario("short-connections", "Many handshakes, a third of them from one port, refused.",
             ("tcp",)),
    Scenario("any-sll1", "A router's devices all at once, with cooked headers of version 1.",
             ("any", "forwarding")),
    Scenario("direction", "Sniffers that take one direction only.", ("direction", "duplicates"),
             NETEM),
    Scenario("capture-filter", "Sniffers with a filter, or with a snaplen of 60.",
             ("capture filter", "snaplen")),
    Scenario("sniffer-restarted", "A sniffer ends and another begins half-way.", ("restarted",)),
    Scenario("sent-again", "SYNs are sent again, the same bytes, after the log has ended.",
             ("tcp", "ipv6", "identical headers", "retransmission"), patched=True),
    Scenario("capture-filter-twins", "Filters take some of many packets that look alike.",
             ("capture filter", "identical headers", "constant id")),
    Scenario("any-macvlan", "Macvlan devices of several namespaces, all devices of one sniffed.",
             ("any", "macvlan"), ("macvlan",)),
    Scenario("gro-list", "A router puts what it forwards together, merged or not.",
             ("udp segments", "gro", "gso", "forwarding")),
    Scenario("probes-fifty", "Fifty functions are probed, at a router.",
             ("few probes", "forwarding"), probes="fifty"),
    Scenario("events-only", "One idle function is probed; the log holds events alone.",
             ("events only", "netem", "duplicates"), NETEM, probes="lone"),
    Scenario("stale-stamp", "Copies wait in a qdisc, and have the stamp of their originals.",
             ("tee", "netem", "stamps"), (*MANGLE, "iptable_mangle", "xt_TEE", "sch_netem")),
    Scenario("later-stamp", "Frames are stamped with a time that has not come yet.", ("stamps",)),
    Scenario("equal-networks", "Two networks have the same addresses and the same traffic.",
             ("identical headers", "constant id")),
    Scenario("ifb-delay", "What comes in waits in an ifb device, and is duplicated there.",
             ("netem", "redirect", "duplicates", "any"), (*TC, "ifb", "sch_netem")),
    Scenario("bridge-duplicate", "Packets are duplicated before a bridge and behind it.",
             ("bridge", "any", "netem", "duplicates"), ("bridge", "sch_netem")),
    Scenario("xdp-bounce", "XDP gives frames back, in another skb.", ("xdp", "any", "duplicates")),
    Scenario("xdp-bounce-generic", "Generic XDP gives the very skb back.",
             ("xdp", "any", "duplicates")),
    Scenario("pktgen", "The kernel's generator uses one skb several times.", ("generator",),
             ("pktgen",)),
    Scenario("two-paths", "The same packets come by two cables.", ("mirred", "any", "duplicates"),
             (*TC, "sch_netem")),
    Scenario("frames-alike", "Two programs give the same frames to one device.",
             ("identical headers", "any")),
    Scenario("log-part", "The recording is only of the middle of the traffic.",
             ("netem", "duplicates", "identical headers"), NETEM, patched=True),
    Scenario("log-filter", "The log is filtered.", ("filtered log",), options="udp and port 7"),
)  # fmt: skip

# What the small kernel with probes in its source has the modules for.
COMPILED_IN = (
    "baseline", "constant-id", "reused-ids", "same-headers", "netem-duplicate-reorder",
    "netem-corrupt", "netem-loss-duplicate", "fragments", "segments-on", "tcp-loss",
)  # fmt: skip


def named(name: str) -> Scenario:
    """Return a scenario; raises KeyError if there is none of that name."""
    return {scenario.name: scenario for scenario in ZOO}[name]
