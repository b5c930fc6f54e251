# SPDX-License-Identifier: MIT
"""``python -m tests.truth.three_hosts``: record three guests in a row at once, each with a witness.

The guests a - r - b share memory, in which they wait for each other and compare their clocks
(programs/meet.c).  The recordings of the three are in build/truth/recordings/6.12-hosts/.

On a busy machine, a guest pauses for tens of milliseconds at a time, also between a packet's stamp
and its records; the matches of such a recording are ambiguous.  So the guests have priority.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab import guest
from tests.lab.two_hosts import free_ports
from tests.truth import guests, layout
from tests.truth.report import write
from tests.truth.scenarios import NAT, Scenario

SERIES, FOLDER, STEP = "6.12", "6.12-hosts", "three-hosts"
ROLES = ("a", "r", "b")
TIMEOUT_S, MEMORY_MB, SHARED = 2400, 768, 1 << 20
PRIORITY = -15  # of root; others cannot raise it, and `nice` goes on without
CABLES = (("a", "r"), ("r", "b"))
CARDS = {("a", "r"): (1, 2), ("r", "b"): (3, 4)}  # numbers of the cards at the cable's ends
THREE = Scenario(
    STEP, "Two hosts and a router between them, each a guest of its own.",
    ("across hosts", "nat", "clock step"), (*NAT, "virtio_net"),
    scripts=Path(__file__).resolve().parent / "hosts",
)  # fmt: skip


def devices(shared: Path) -> dict[str, tuple[str, ...]]:
    """Return QEMU's options by role: the shared memory, and a card at the end of each cable."""
    memory = f"memory-backend-file,id=shm,share=on,mem-path={shared},size={SHARED}"
    made = {
        role: ["-object", memory, "-device", "ivshmem-plain,memdev=shm"] for role in ROLES
    }  # fmt: skip
    for cable in CABLES:
        ports = free_ports(cable)
        for role, other, card in zip(cable, cable[::-1], CARDS[cable], strict=True):
            ends = f"udp=127.0.0.1:{ports[other]},localaddr=127.0.0.1:{ports[role]}"
            made[role] += ["-netdev", f"socket,id=n{card},{ends}"]
            made[role] += [
                "-device", f"virtio-net-pci,netdev=n{card},mac=02:00:00:00:0c:0{card}"
            ]  # fmt: skip
    return {role: tuple(words) for role, words in made.items()}


def record(less: int) -> int:
    """Run the three guests, which send `less` times less than they can; return how many failed."""
    kit = guests.kit(SERIES)
    image = guests.pack(kit, [THREE])
    with tempfile.TemporaryDirectory() as memory:
        shared = Path(memory) / "shared"
        shared.write_bytes(bytes(SHARED))
        options = devices(shared)

        def one(role: str) -> bool:
            return _boot(kit, image, (f"role={role}", f"less={less}"), role, options[role])

        with ThreadPoolExecutor(len(ROLES)) as pool:
            return list(pool.map(one, ROLES)).count(False)


def _boot(
    kit: guests.Kit, image: Path, said: tuple[str, ...], role: str, options: tuple[str, ...]
) -> bool:
    """Run one guest and move its recording to its place; return whether it is complete."""
    folder = kit.folder / "guest" / role
    folder.mkdir()
    disk, left = folder / "disk.img", folder / "left"
    left.mkdir()
    words = (f"zoo={STEP}", "pass=with", *said)
    how = guest.Run((), words, patched=True, memory_mb=MEMORY_MB, timeout_s=TIMEOUT_S,
                    devices=options)  # fmt: skip
    line = ["nice", "-n", str(PRIORITY), *guest.command(kit.kernel, image, disk, how)]
    console = guest.console_of(line, disk, folder, TIMEOUT_S)
    subprocess.run(["tar", "-x", "-i", "-f", str(disk), "-C", str(left)], check=False,
                   capture_output=True)  # fmt: skip
    disk.unlink()
    found, target = left / STEP, layout.place(FOLDER, role)
    if not (found / "whole").exists():
        print(f"FAILED: {role}\n{console[-4000:]}", flush=True)
        return False
    write(found, THREE, kit.kernel.release)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    shutil.move(found, target)
    return True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--less", type=int, default=1, help="send so many times less")
    sys.exit(1 if record(parser.parse_args().less) else 0)
