# SPDX-License-Identifier: MIT
"""recording.json, made of the files that the guest left."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.truth.layout import Capture, Recording, Witness
from tests.truth.scenarios import Scenario

SOCK = re.compile(rb" sock=(0x[0-9a-f]+) inode=([0-9]+)")
# Which event a probed function makes; see witness.c.
EVENTS = {
    "tpacket_rcv": "rcv",
    "packet_rcv": "rcv",
    "dev_queue_xmit_nit": "nit",
    "kfree_skbmem": "freed",
    "skb_release_head_state": "released",
    "napi_skb_free_stolen_head": "stolen",
    "__alloc_skb": "born",
    "build_skb": "born",
    "napi_build_skb": "born",
    "skb_clone": "cloned",
}


def sockets(witness: bytes) -> dict[str, str]:
    """Return the address of each packet socket by its inode."""
    pairs = set(SOCK.findall(witness))
    return {inode.decode(): sock.decode() for sock, inode in pairs if inode != b"0"}


def captures(folder: Path) -> dict[str, Capture]:
    """Return what the guest wrote about each sniffer; a line each: see steps.sh."""
    socks = sockets((folder / "witness.txt").read_bytes())
    dropped = re.findall(r"^(\S+) (\d+) packets", (folder / "dropped").read_text(), re.MULTILINE)
    lost = {name: int(count) for name, count in dropped}
    found: dict[str, Capture] = {}
    for line in (folder / "captures").read_text().splitlines():
        name, _, netns, device, index, inodes, words = line.split("|", 6)
        sock = next((socks[inode] for inode in inodes.split() if inode in socks), "")
        found[name] = Capture(device=device, netns=int(netns), ifindex=int(index), sock=sock,
                              arguments=words.split(), kernel_dropped=lost[name])  # fmt: skip
    return found


def witness(folder: Path) -> Witness:
    """Return what the witness counted."""
    profile: dict[str, list[int]] = {}
    said = {"entries": 0, "overrun": 0}
    for words in map(str.split, (folder / "witness.stats").read_text().splitlines()):
        if words[0] == "event":
            profile[words[1]] = [int(words[2]), 0]
        elif words[0] == "missed":
            profile[EVENTS[words[1]]][1] += int(words[3])
        else:
            said[words[0]] = int(words[1])
    return Witness(kprobe_profile=profile, overrun=said["overrun"], entries=said["entries"])


def missed(folder: Path) -> dict[str, list[int]]:
    """Return how many hits the recorder missed, and how many records it wrote, by pass."""
    found = {}
    for path in sorted(folder.glob("stats.*")):
        counts = dict(re.findall(r"^(missed|written) (\d+)$", path.read_text(), re.MULTILINE))
        found[path.suffix[1:]] = [int(counts["missed"]), int(counts["written"])]
    return found


def write(folder: Path, scenario: Scenario, release: str) -> None:
    """Write recording.json, after all else."""
    said = Recording(
        scenario=scenario.name,
        kernel=release,
        captures=captures(folder),
        witness=witness(folder),
        missed=missed(folder),
        tags=list(scenario.tags),
    )
    new = folder / "recording.new"
    new.write_text(json.dumps(said, indent=1) + "\n")
    new.rename(folder / "recording.json")
