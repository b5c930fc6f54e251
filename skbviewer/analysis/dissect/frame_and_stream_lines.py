# SPDX-License-Identifier: MIT
"""Lines of the detail tree that describe no bytes: about frame, stream and related packets.

Input: the headers of a packet (detail_tree.py), and what the session knows about the packet.
Output: a node Frame, then the headers, into which Wireshark's generated lines (in brackets) are
inserted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from ..streams.ping_and_arp_links import Link
from .detail_tree_lines import Node

FRAME_FIELDS: tuple[str, ...] = ("frame.time_epoch", "frame.time_delta", "frame.time_relative")
FRAME_FIELDS += ("frame.interface_id", "frame.marked", "frame.ignored")
CHECKSUMS = ("ip", "tcp", "udp", "icmp", "icmpv6")
FIELDS = (*FRAME_FIELDS, *(f"{layer}.checksum.status" for layer in CHECKSUMS))
STREAM_FIELDS = ("tcp.stream", "udp.stream", "tcp.seq", "tcp.ack")  # computed from all packets
OFFLOAD = '[incorrect (maybe caused by "TCP checksum offload"?)]'
VERDICTS = {"Good": "[correct]", "Bad": "[incorrect]", "Unverified": "[unverified]"}
PARTNERS = {
    "icmp": ("Response frame", "Request frame", "Response time"),
    "icmpv6": ("Response In", "Response To", "Response Time"),
}
SYN, FIN, ACK = 0x02, 0x01, 0x10


class PacketFacts(NamedTuple):
    """What the session knows about one packet.

    `shift` is the scale of the TCP window.  `response_ns` is the time between a ping and its
    answer.  `values` has the values of FIELDS and STREAM_FIELDS as they are written in filters; ""
    = unknown.
    """

    number: int
    length: int
    caplen: int
    values: Mapping[str, str]
    shift: int = 0
    payload: int = 0  # bytes of TCP data according to the IP length
    link: Link | None = None
    response_ns: int | None = None
    is_of_log: bool = False  # a kernel log holds its bytes, not a capture


def with_facts(nodes: Sequence[Node], facts: PacketFacts) -> tuple[Node, ...]:
    """Return the headers `nodes` of a packet, with lines for what the session knows about it.

    At least one byte of the packet must have been captured.
    """
    made = [frame(nodes, facts)]
    for node in nodes:
        known = {child.field for child in node.children} - {""}
        for field, explain in _LAYERS.items():
            if field in known:
                node = explain(node, facts)
        made.append(node)
        if "arp.opcode" in known and facts.link is not None and facts.link.claim is not None:
            made.append(_claim(facts.link))
    return tuple(made)


OF_LOG = "[Bytes from the kernel log: no sniffer captured this packet]"


def frame(nodes: Sequence[Node], facts: PacketFacts) -> Node:
    """Return the node Frame: when the packet was captured, and how many bytes of it."""
    sizes = [f"{size} bytes ({size * 8} bits)" for size in (facts.length, facts.caplen)]
    text = f"{sizes[0].replace('bytes', 'bytes on wire')}, "
    text += sizes[1].replace("bytes", "bytes captured")
    return Node(f"Frame {facts.number}: {text}", 0, facts.caplen, tuple(_of_frame(facts, sizes)))


def _of_frame(facts: PacketFacts, sizes: list[str]) -> list[Node]:
    values = facts.values
    lines = [Node(OF_LOG, 0, 0)] if facts.is_of_log else []
    if values["frame.interface_id"]:
        lines.append(_line("Interface id: {}", "frame.interface_id", values))
    if values["frame.time_epoch"]:
        at = values["frame.time_epoch"]
        lines.append(Node(f"Arrival Time: {_arrival(at)}", 0, 0))
        lines.append(_line("Epoch Time: {} seconds", "frame.time_epoch", values))
    for field, text in (
        ("frame.time_delta", "[Time delta from previous captured frame: {} seconds]"),
        ("frame.time_relative", "[Time since reference or first frame: {} seconds]"),
    ):
        if values[field]:
            lines.append(_line(text, field, values))
    lines.append(Node(f"Frame Number: {facts.number}", 0, 0, (), "frame.number", str(facts.number)))
    for label, field, size, value in (
        ("Frame Length", "frame.len", sizes[0], facts.length),
        ("Capture Length", "frame.cap_len", sizes[1], facts.caplen),
    ):
        lines.append(Node(f"{label}: {size}", 0, 0, (), field, str(value)))
    lines.append(_line("[Frame is marked: {}]", "frame.marked", values))
    lines.append(_line("[Frame is ignored: {}]", "frame.ignored", values))
    return lines


def _line(text: str, field: str, values: Mapping[str, str]) -> Node:
    return Node(text.format(values[field]), 0, 0, (), field, values[field])


def _arrival(epoch: str) -> str:
    """Return a time in seconds since 1970 as a date: "Nov 21, 2026 17:54:32.452470746 UTC"."""
    whole, _, part = epoch.partition(".")
    try:
        moment = datetime.fromtimestamp(int(whole), UTC)
    except (ValueError, OverflowError, OSError):
        return f"{epoch} s since 1970"
    return f"{moment:%b} {moment.day:2}, {moment:%Y %H:%M:%S}.{part} UTC"


def _tcp(node: Node, facts: PacketFacts) -> Node:
    """Return the TCP header with relative numbers, stream index and scaled window."""
    node = _checked(node, facts, "tcp")
    values, lines = facts.values, {child.field: child for child in node.children}
    seq, ack = values.get("tcp.seq", ""), values.get("tcp.ack", "")
    flags = int(lines["tcp.flags"].value, 16) if "tcp.flags" in lines else 0
    size = facts.payload
    before: dict[str, list[Node]] = {"tcp.seq_raw": [], "tcp.ack_raw": []}
    after: dict[str, list[Node]] = {"tcp.seq_raw": [], "tcp.window_size_value": []}
    if values.get("tcp.stream"):
        before["tcp.seq_raw"].append(_line("[Stream index: {}]", "tcp.stream", values))
    before["tcp.seq_raw"].append(Node(f"[TCP Segment Len: {size}]", 0, 0, (), "tcp.len", str(size)))
    if seq:
        text = "Sequence Number: {}    (relative sequence number)"
        before["tcp.seq_raw"].append(_place(_line(text, "tcp.seq", values), lines["tcp.seq_raw"]))
        ending = int(seq) + size + bool(flags & SYN) + bool(flags & FIN) & 0xFFFFFFFF
        text = f"[Next Sequence Number: {ending}    (relative sequence number)]"
        after["tcp.seq_raw"].append(Node(text, 0, 0))
    if ack and not flags & ACK:
        before["tcp.ack_raw"].append(
            _place(_line("Acknowledgment Number: {}", "tcp.ack", values), lines["tcp.ack_raw"])
        )
    elif ack:
        text = "Acknowledgment Number: {}    (relative ack number)"
        before["tcp.ack_raw"].append(_place(_line(text, "tcp.ack", values), lines["tcp.ack_raw"]))
    if "tcp.window_size_value" in lines:
        window = int(lines["tcp.window_size_value"].value) << facts.shift
        after["tcp.window_size_value"].append(Node(f"[Calculated window size: {window}]", 0, 0))
        if facts.shift:
            text = f"[Window size scaling factor: {1 << facts.shift}]"
            after["tcp.window_size_value"].append(Node(text, 0, 0))
    title = node.text
    if seq:
        numbers = f"Seq: {seq}, Ack: {ack}" if ack and flags & ACK else f"Seq: {seq}"
        title = f"{title.partition(', Seq: ')[0]}, {numbers}, Len: {size}"
    return _with(node._replace(text=title), before, after)


def _udp(node: Node, facts: PacketFacts) -> Node:
    node = _checked(node, facts, "udp")
    index = facts.values.get("udp.stream")
    lines = [_line("[Stream index: {}]", "udp.stream", facts.values)] if index else []
    return node._replace(children=(*node.children, *lines))


def _icmp(word: str) -> Callable[[Node, PacketFacts], Node]:
    def explain(node: Node, facts: PacketFacts) -> Node:
        node, link = _checked(node, facts, word), facts.link
        if link is None:
            return node
        lines = [Node("[No response seen]", 0, 0)] if link.request and not link.many else []
        if link.partner:
            answer, ping, time = PARTNERS[word]
            text = f"[{answer if link.request else ping}: {link.partner}]"
            lines = [Node(text, 0, 0, packet=link.partner)]
            if facts.response_ns is not None and not link.request:
                lines.append(Node(f"[{time}: {facts.response_ns / 1e6:.3f} ms]", 0, 0))
        return node._replace(children=(*node.children, *lines))

    return explain


def _claim(link: Link) -> Node:
    claim = link.claim
    assert claim is not None
    text = f"[Duplicate IP address detected for {claim.ip} ({claim.mac}) - also in use by "
    earlier = f"[Frame showing earlier use of IP address: {claim.first}]"
    inner = (Node(earlier, 0, 0, packet=claim.first),)
    return Node(f"{text}{claim.other} (frame {claim.first})]", 0, 0, inner, packet=claim.first)


def _checked(node: Node, facts: PacketFacts, layer: str) -> Node:
    """Return the header with its checksum's verdict beside the checksum and in a further line."""
    status, field = facts.values[f"{layer}.checksum.status"], f"{layer}.checksum"
    if not status:
        return node
    verdict = VERDICTS.get(status, "[zero-value ignored]")
    if status == "Bad" and layer in ("tcp", "udp"):  # senders leave it to the network card
        verdict = OFFLOAD
    children = tuple(
        child._replace(text=f"{child.text} {verdict}") if child.field == field else child
        for child in node.children
    )
    title = "Header checksum status" if layer == "ip" else "Checksum Status"
    line = Node(f"[{title}: {status}]", 0, 0, (), f"{field}.status", f'"{status}"')
    return _with(node._replace(children=children), {}, {field: [line]})


def _ip(node: Node, facts: PacketFacts) -> Node:
    return _checked(node, facts, "ip")


def _place(node: Node, like: Node) -> Node:
    """Return `node` with the position and length of the line `like`."""
    return node._replace(offset=like.offset, length=like.length)


def _with(node: Node, before: dict[str, list[Node]], after: dict[str, list[Node]]) -> Node:
    """Return the node with new lines before and after the lines for some of its fields.

    `before` and `after` have the new lines by field.
    """
    children: list[Node] = []
    for child in node.children:
        children += [*before.get(child.field, ()), child, *after.get(child.field, ())]
    return node._replace(children=tuple(children))


# The keys are fields that only this header has.  In tunnels and ICMP errors, lines have no fields.
_LAYERS: dict[str, Callable[[Node, PacketFacts], Node]] = {
    "ip.checksum": _ip,
    "tcp.seq_raw": _tcp,
    "udp.length": _udp,
    "icmp.type": _icmp("icmp"),
    "icmpv6.type": _icmp("icmpv6"),
}
