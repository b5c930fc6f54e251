# SPDX-License-Identifier: MIT
"""``python -m tests.readers.against_tshark FOLDER...``: captures read by skbviewer and by tshark.

Compares of each packet what both take for the outermost IP header: version, addresses, and of IPv4
identification and protocol.  Prints each kind of difference with its protocols as tshark names
them, how often it is there, and a file that shows it; then the sums.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import NamedTuple

from skbviewer.readers import read
from skbviewer.records import BadInput, Capture, Silent

# Nothing is put together or tried by guesses: each packet counts for itself.
ALONE = ("ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE")
FOUR = ("ip.src", "ip.dst", "ip.id", "ip.proto")
SIX = ("ipv6.src", "ipv6.dst")
MOST_SHOWN = 6  # protocols of a packet
SECONDS = 120  # for one file
HALF = 1 << 64

Header = tuple[int | str, ...]


class Difference(NamedTuple):
    """One kind: missing (only tshark has a header), extra (only we have one) or wrong."""

    what: str
    linktype: int
    protocols: str


def tshark_headers(path: Path) -> list[tuple[Header, str]] | None:
    """Return the outermost IP header of each frame, () if there is none, and the frame's protocols.

    None: tshark cannot read the file.
    """
    names = ("frame.encap_type", "frame.protocols", *FOUR, *SIX)
    words = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "occurrence=f"]
    words += [word for name in ALONE for word in ("-o", name)]
    words += [word for name in names for word in ("-e", name)]
    done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode and not lines:
        return None
    rows = (line.split("\t") for line in lines)
    # Blocks of pcapng that are no packets have no encapsulation.
    return [_header(*values) for encapsulation, *values in rows if encapsulation]


def _header(protocols: str, *values: str) -> tuple[Header, str]:
    four, six = values[: len(FOUR)], values[len(FOUR) :]
    ways = protocols.split(":")
    first = next((way for way in ways if way in ("ip", "ipv6")), "")
    if first == "ip" and all(four):
        source, target = (int(IPv4Address(text)) for text in four[:2])
        return (4, source, target, int(four[2], 0), int(four[3])), protocols
    if first == "ipv6" and all(six):
        return (6, *(int(IPv6Address(text)) for text in six)), protocols
    return (), protocols


def our_headers(capture: Capture) -> Iterator[tuple[Header, int]]:
    """Yield the outermost IP header of each packet by our readers, and the link type."""
    names = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol")
    columns = [capture.packets[name].tolist() for name in (*names, "linktype")]
    for version, source_hi, source, target_hi, target, ip_id, protocol, linktype in zip(
        *columns, strict=True
    ):
        if version == 4:
            yield (4, source, target, ip_id, protocol), linktype
        elif version == 6:
            halves = ((source_hi, source), (target_hi, target))
            yield (6, *(hi % HALF << 64 | lo % HALF for hi, lo in halves)), linktype
        else:
            yield (), linktype


def differences(path: Path, sums: Counter[str]) -> Iterator[Difference]:
    """Yield the differences in one file; add its counts to `sums`."""
    try:
        capture = read(path, Silent())
    except BadInput as error:
        sums["files refused"] += 1
        print(f"refused: {error}", file=sys.stderr)
        return
    theirs = tshark_headers(path)
    if theirs is None or not isinstance(capture, Capture):
        sums["files that tshark does not read"] += 1
        return
    ours = list(our_headers(capture))
    sums["files"] += 1
    sums["packets"] += len(theirs)
    if len(ours) != len(theirs):
        sums["files of another number of packets"] += 1
        print(f"{path}: {len(ours)} packets, tshark {len(theirs)}", file=sys.stderr)
    for (mine, linktype), (their, protocols) in zip(ours, theirs, strict=False):
        sums["IP headers"] += bool(their)
        if mine == their:
            sums["equal"] += bool(their)
            continue
        what = "wrong" if mine and their else "missing" if their else "extra"
        sums[what] += 1
        yield Difference(what, linktype, ":".join(protocols.split(":")[:MOST_SHOWN]))


def files_of(paths: list[Path]) -> Iterator[Path]:
    """Yield all files; of folders those inside whose names look like captures."""
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        suffixes = {".pcap", ".pcapng", ".cap", ".ntar"}
        yield from (f for f in inside if f.is_file() and (f == path or suffixes & {*f.suffixes}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    sums: Counter[str] = Counter()
    kinds: Counter[Difference] = Counter()
    shown: dict[Difference, Path] = {}
    for path in files_of(parser.parse_args().paths):
        for found in differences(path, sums):
            kinds[found] += 1
            shown.setdefault(found, path)
    for kind, count in kinds.most_common():
        print(f"{count:7} {kind.what:8} {kind.linktype:4} {kind.protocols}  {shown[kind]}")
    for name, count in sums.items():
        print(f"{count:7} {name}")


if __name__ == "__main__":
    main()
