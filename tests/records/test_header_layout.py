# SPDX-License-Identifier: MIT
"""The table of header offsets agrees with the C library's structures, and nobody repeats it."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from skbviewer.records import header_layout

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {
    "ETH_DST": "struct ether_header, ether_dhost",
    "ETH_SRC": "struct ether_header, ether_shost",
    "ETH_TYPE": "struct ether_header, ether_type",
    "IPV4_TOS": "struct iphdr, tos",
    "IPV4_TOT_LEN": "struct iphdr, tot_len",
    "IPV4_ID": "struct iphdr, id",
    "IPV4_FRAG_OFF": "struct iphdr, frag_off",
    "IPV4_TTL": "struct iphdr, ttl",
    "IPV4_PROTOCOL": "struct iphdr, protocol",
    "IPV4_CHECKSUM": "struct iphdr, check",
    "IPV4_SADDR": "struct iphdr, saddr",
    "IPV4_DADDR": "struct iphdr, daddr",
    "IPV6_PAYLOAD_LEN": "struct ip6_hdr, ip6_plen",
    "IPV6_NEXT": "struct ip6_hdr, ip6_nxt",
    "IPV6_HOP_LIMIT": "struct ip6_hdr, ip6_hlim",
    "IPV6_SADDR": "struct ip6_hdr, ip6_src",
    "IPV6_DADDR": "struct ip6_hdr, ip6_dst",
    "EXTENSION_LEN": "struct ip6_ext, ip6e_len",
    "FRAGMENT_FIELD": "struct ip6_frag, ip6f_offlg",
    "FRAGMENT_ID": "struct ip6_frag, ip6f_ident",
    "SPORT": "struct udphdr, source",
    "DPORT": "struct udphdr, dest",
    "UDP_LEN": "struct udphdr, len",
    "UDP_CHECKSUM": "struct udphdr, check",
    "TCP_SEQ": "struct tcphdr, seq",
    "TCP_ACK": "struct tcphdr, ack_seq",
    "TCP_FLAGS": "struct tcphdr, th_flags",
    "TCP_WINDOW": "struct tcphdr, window",
    "TCP_CHECKSUM": "struct tcphdr, check",
    "TCP_URGENT": "struct tcphdr, urg_ptr",
    "ICMP_TYPE": "struct icmphdr, type",
    "ICMP_CHECKSUM": "struct icmphdr, checksum",
    "ICMP_ID": "struct icmphdr, un.echo.id",
    "ICMP_SEQ": "struct icmphdr, un.echo.sequence",
    "ND_TARGET": "struct nd_neighbor_solicit, nd_ns_target",
    "ARP_HW_TYPE": "struct ether_arp, ea_hdr.ar_hrd",
    "ARP_PROTOCOL": "struct ether_arp, ea_hdr.ar_pro",
    "ARP_SIZES": "struct ether_arp, ea_hdr.ar_hln",
    "ARP_OPERATION": "struct ether_arp, ea_hdr.ar_op",
    "ARP_SENDER_MAC": "struct ether_arp, arp_sha",
    "ARP_SENDER": "struct ether_arp, arp_spa",
    "ARP_TARGET_MAC": "struct ether_arp, arp_tha",
    "ARP_TARGET": "struct ether_arp, arp_tpa",
}
SIZES = {
    "ETH_SIZE": "struct ether_header",
    "IPV4_SIZE": "struct iphdr",
    "IPV6_SIZE": "struct ip6_hdr",
    "TCP_SIZE": "struct tcphdr",
    "UDP_SIZE": "struct udphdr",
    "ICMP_SIZE": "struct icmphdr",
    "ARP_SIZE": "struct ether_arp",
}
NUMBERS = {
    "HOPOPTS": "IPPROTO_HOPOPTS",
    "ROUTING": "IPPROTO_ROUTING",
    "FRAGMENT": "IPPROTO_FRAGMENT",
    "AUTH": "IPPROTO_AH",
    "DSTOPTS": "IPPROTO_DSTOPTS",
    "IP_MF": "IP_MF",
    "IP_OFFSET": "IP_OFFMASK",
}
INCLUDES = (
    *("stddef.h", "stdio.h", "net/ethernet.h", "netinet/if_ether.h", "netinet/ip.h"),
    *("netinet/ip6.h", "netinet/ip_icmp.h", "netinet/icmp6.h", "netinet/tcp.h", "netinet/udp.h"),
)
READ = {"u8", "u16", "u32", "i64", "_u16", "_u32", "_u48", "_i64"}
# They read headers that are in the table.
READERS = ("network_layer", "transport_layer", "plain_ip_packets", "header_offsets")


def test_offsets_are_those_of_the_c_library(tmp_path: Path) -> None:
    asked = {name: f"offsetof({where})" for name, where in FIELDS.items()}
    asked |= {name: f"sizeof({what})" for name, what in SIZES.items()} | NUMBERS
    lines = [f"#include <{name}>" for name in INCLUDES]
    lines += ["int main(void) {"]
    lines += [f'printf("{name} %d\\n", (int)({what}));' for name, what in asked.items()]
    (tmp_path / "a.c").write_text("\n".join([*lines, "return 0; }\n"]))
    program = tmp_path / "a"
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-o", program, tmp_path / "a.c"], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found = dict(line.split() for line in printed.splitlines())
    assert len(found) == len(asked)
    assert {name: str(getattr(header_layout, name)) for name in asked} == found


@pytest.mark.parametrize("module", READERS)
def test_no_reader_has_offsets_of_its_own(module: str) -> None:
    """A number beside a position, where bytes are read, is an offset that the table should have."""
    path = ROOT / f"skbviewer/readers/capture/{module}.py"
    own = [
        f"line {node.lineno}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name not in READ
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and _name(call.func) in READ
        for argument in call.args
        if isinstance(argument, ast.BinOp)
        and isinstance(argument.right, ast.Constant)
        and not isinstance(argument.left, ast.BinOp)  # at + IPV6_SADDR + 8: the second half
    ]
    assert not own, f"{path.name}: {own}"


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
