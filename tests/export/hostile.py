# SPDX-License-Identifier: MIT
"""A recording whose processes, devices, functions, drop reasons, host and files have hostile names.

One capture holds comments that look like the exporter's.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.matching.story import HOUR, Story, udp4
from tests.readers.build import block, ethernet, interface_block, ipv4, option, section_header, udp
from tests.readers.build_kbl import KblBuilder, SkbInfo

# A process or a device has at most 15 bytes, a function may be longer.
NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=a>",
    "</style></table><b>",
    "<!--",
    "]]>&lt;&amp;",
    "=cmd|'/c calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "a kbl.cpu=77",
    "x,kbl.drop_reason=FORGED",
    "%20kbl.cpu%3D77",
    "\nskbviewer:kbl/2 kbl cpu=77 drop_reason=FORGED",
    "javascript:alert(1)",
    "${jndi:x}{{7*7}}",
)
SHORT = 15
FORGED = b"skbviewer:kbl/2 kbl drop_reason=FORGED cpu=77"
EPOCH, STEP = 1_700_000_000_000_000_007, 1_000_000
LOG, CAPTURE = "<script>alert(1)<!--.kbl", '"><img src=x onerror=alert(1)>.pcapng'


def _log() -> Story:
    story = Story()
    story.kbl = KblBuilder(hostname=b"<b>host</b>")
    story.lasting(EPOCH)
    for at, name in enumerate(NAMES):
        pid, netns, reason = 100 + at, 1000 + at, 200 + at
        story.kbl.task(1, 0, pid, pid, name[:SHORT])
        story.kbl.device(netns, 2, name[:SHORT])
        story.kbl.meta[f"drop_reason.{reason}"] = name.replace("\n", " ")
        skb, begin = 0xFFFF888000001000 + at * 0x1000, (at + 1) * STEP
        host = SkbInfo(ifindex=2, netns=netns)
        shown: dict[str, Any] = {"pid": pid, "skbinfo": host, "ipv4": udp4(at + 1)}
        story.alloc(begin - 3000, skb, pid=pid)
        place = story.kbl.probes[story.function(name)]["addr"] + 8
        story.call("dev_hard_start_xmit", begin, begin + 5000, skb, caller=place, **shown)
        story.call(name, begin + 1000, begin + 2000, skb, **shown)
        story.event(begin + 1500, KblEvent.DROP, skb, reason, pid=pid)
        story.free(begin + 6000, skb, pid=pid)
    return story


def _capture() -> bytes:
    parts = [section_header(), interface_block(name=NAMES[1], tsresol=9)]
    for at in range(len(NAMES)):
        payload = udp(1000, 2000, bytes(10))
        frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, payload, at + 1))
        ticks = EPOCH + (at + 1) * STEP
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
        comments = option(1, FORGED) + option(1, NAMES[at].encode())
        parts.append(block(6, head + frame + bytes(-len(frame) % 4) + comments))
    return b"".join(parts)


def hostile_session(folder: Path) -> Session:
    """Return the recording, imported.

    All packets match exactly; the capture and the log have files.
    """
    story = _log()
    assert story.version == 2 and HOUR
    story.log(folder)
    (folder / "story.kbl").rename(folder / LOG)
    (folder / CAPTURE).write_bytes(_capture())
    import_files([folder / LOG, folder / CAPTURE], folder / "s.skbv")
    return Session.open(folder / "s.skbv")
