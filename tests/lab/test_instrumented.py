# SPDX-License-Identifier: MIT
"""A kernel that carries its probes: built, booted, recorded, imported, matched."""

from __future__ import annotations

import errno
import json
from collections import Counter
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from skbviewer.session import Session, import_files
from tests.lab import small_kernel
from tests.lab.identity import frames
from tests.lab.instrumented import Instrumented, instrumented
from tests.lab.kbl_check import Kbl, Kind, Type, one, probes, read
from tests.remade import kernel_sizes

pytestmark = pytest.mark.lab

CAPTURES = ("basic", "loopback")
# What a TCP segment runs through on its way from one namespace to the other, in net/.
PATH = (
    "tcp_sendmsg", "__tcp_transmit_skb", "__ip_queue_xmit", "ip_output", "__dev_queue_xmit",
    "ip_rcv", "ip_local_deliver", "tcp_v4_rcv", "tcp_rcv_established", "icmp_rcv", "udp_rcv",
    "arp_rcv",
)  # fmt: skip
# Sent again after a second or so, with nothing that numbers them.
REPEATED = (
    "Multicast Listener Report Message",
    "Neighbor Advertisement",
    "Neighbor Solicitation",
    "Router Solicitation",
)


@pytest.fixture(scope="module")
def lab() -> Instrumented:
    """The guest has run."""
    return instrumented()


@pytest.fixture(scope="module")
def kbl(lab: Instrumented) -> Kbl:
    """Its recording."""
    return read(lab.out / "basic.kbl")


@pytest.fixture(scope="module")
def session(lab: Instrumented, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Its recording and captures, as the viewer sees them."""
    out = tmp_path_factory.mktemp("instrumented") / "basic.skbv"
    files: list[Path] = [lab.out / "basic.kbl", *(lab.out / f"{c}.pcap" for c in CAPTURES)]
    assert import_files(files, out).warnings == ()
    return Session.open(out)


def test_kernel_is_compiled_without_a_warning(lab: Instrumented) -> None:
    said = lab.small.said.splitlines()
    assert [line for line in said if "warning" in line.lower()] == []


def test_the_compiler_split_no_function(lab: Instrumented) -> None:
    """The exits in f.part.0 have another frame than the entry in f, so they would be lost."""
    names = small_kernel.symbols(lab.small.kernel)
    assert "tcp_v4_rcv" in names
    assert [name for name in names if ".part." in name] == []


def test_most_functions_of_the_folders_have_probes(lab: Instrumented) -> None:
    folders = Counter("/".join(str(row["file"]).split("/")[:2]) for row in manifest(lab))
    assert set(folders) == set(small_kernel.FOLDERS)
    assert min(folders.values()) > 500


def test_its_size_is_about_that_in_the_documentation(lab: Instrumented) -> None:
    """Debian's source and compiler may be newer than those of docs/remade.md."""
    kept = json.loads(kernel_sizes.KEPT.read_text("utf-8"))["instrumented"]
    found = kernel_sizes.sizes(lab.folder, lab.small.kernel, probes=True)
    del kept["bss"], found["bss"]  # contains what fills a page of 2 MiB
    assert found == pytest.approx(kept, rel=0.1)


def manifest(lab: Instrumented) -> list[dict[str, object]]:
    """What has probes."""
    return small_kernel.manifest(lab.folder)


def test_probes_of_the_source_are_armed_and_hit(lab: Instrumented, kbl: Kbl) -> None:
    source = layout.KblMechanism.SOURCE
    table = {name: row for name, row in probes(kbl).items() if row["mechanism"] == source}
    assert len(table) > 150
    assert set(PATH) <= set(table)
    assert {name for name in PATH if not table[name]["hits"]} == set()
    known = {row["function"] for row in manifest(lab)}
    assert {name for name in table if name.partition(".")[0] not in known} == set()


def test_functions_that_were_inlined_tell_of_their_calls(lab: Instrumented, kbl: Kbl) -> None:
    table = probes(kbl)
    symbols = {name.partition(".")[0] for name in small_kernel.symbols(lab.small.kernel)}
    inlined = {name: row for name, row in table.items() if name.partition(".")[0] not in symbols}
    hit = {name for name, row in inlined.items() if row["hits"] > 0}
    assert len(hit) > 20


def test_nothing_is_lost_and_hits_are_the_calls(kbl: Kbl) -> None:
    last = one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)
    assert (last["lost"], last["nested"]) == (0, 0)
    assert last["written"] == len(kbl.records) > 1000
    entered = Counter(
        int(r.head["func"]) for r in kbl.records if r.head["kind"] in (Kind.CALL, Kind.ENTRY)
    )
    hits = {
        int(row["id"]): int(row["hits"])
        for row in probes(kbl).values()
        if row["hits"] and int(row["id"]) in entered
    }
    assert entered == hits


def test_every_caller_is_in_the_kernel(kbl: Kbl) -> None:
    size = len(kbl.tables[Type.SYMBOLS]) // layout.KBL_SYMBOL_SIZE
    addresses = np.frombuffer(kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL, size)["addr"]
    callers = [
        int(kbl.header["stext"]) + int(r.head["caller"])
        for r in kbl.records
        if r.head["kind"] == Kind.CALL and not r.head["flags"] & layout.KBL_FLAG_NO_CALLER
    ]
    at = np.searchsorted(addresses, np.array(callers, np.uint64), side="right")
    assert len(callers) > 1000
    assert (at > 0).all()


def test_sites_of_a_module_come_and_go_with_it(lab: Instrumented) -> None:
    rows = {
        name: (lab.out / name).read_text().split()
        for name in ("module-armed", "module-gone", "module-again")
    }
    # id addr armed error hits missed mechanism carriers name module
    for name in ("module-armed", "module-again"):
        assert rows[name][2:4] == ["1", "0"] and rows[name][6] == "source"
        assert int(rows[name][4]) >= 3
    assert int(rows["module-gone"][3]) == -errno.ENODEV
    where = [(lab.out / f"sites-{name}").read_text().split() for name in ("loaded", "again")]
    assert [row[1:] for row in where] == [["netem_enqueue", "sch_netem"]] * 2


def test_the_viewer_matches_every_packet_exactly(lab: Instrumented, session: Session) -> None:
    """On a busy machine, some of the repeated packets are ambiguous."""
    sent = sum(
        isinstance(frame.data, dpkt.ip.IP | dpkt.ip6.IP6)
        for name in CAPTURES
        for _, frame in frames(lab.out / f"{name}.pcap")
    )
    packets = [
        p for p in session.packets.numbered(1, session.packets.count()) if p.protocol is not None
    ]
    matched = [p for p in packets if p.saddr is not None]
    assert len(matched) == sent > 40
    assert {p.verdict for p in matched} <= {"exact", "ambiguous"}
    ambiguous = [p.info for p in matched if p.verdict == "ambiguous"]
    assert [info for info in ambiguous if not info.startswith(REPEATED)] == []
    assert session.info()["lost_records"] == 0


def test_the_viewer_shows_the_path_of_the_syn(session: Session) -> None:
    packets = session.packets.numbered(1, session.packets.count())
    syn = next(p for p in packets if "[SYN]" in p.info)
    path = session.paths.path(packet=syn.number)
    names = {call.function for leg in path.legs for call in leg.calls}
    assert {"__tcp_transmit_skb", "__dev_queue_xmit", "ip_rcv", "tcp_v4_rcv"} <= names
