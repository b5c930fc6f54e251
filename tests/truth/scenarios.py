# SPDX-License-Identifier: MIT
"""The zoo: every scenario, with what makes it hard.  The script is zoo/NAME.sh."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).resolve().parent / "zoo"


class Scenario(NamedTuple):
    """One scenario, recorded once with the witness and once without it.

    modules: what the guest loads before.  probes: a list of tests/lab/record.py.  options: further
    arguments of kblrecord, a filter for example.  buffers: sub-buffers of 256 KiB.
    """

    name: str
    sentence: str
    tags: tuple[str, ...]
    modules: tuple[str, ...] = ()
    probes: str = "probes"
    options: str = ""
    buffers: int = 64

    @property
    def script(self) -> Path:
        """The script that makes the traffic."""
        return SCRIPTS / f"{self.name}.sh"

    def words(self) -> str:
        """Return the shell variables that the guest reads before the script."""
        return (f"modules='{' '.join(self.modules)}' list={self.probes}.txt\n"
                f"options='{self.options}' subbufs={self.buffers}\n")  # fmt: skip


ZOO = (
    Scenario("baseline", "TCP, UDP and pings between two hosts.", ("plain",)),
    Scenario("constant-id", "All datagrams have one identification.", ("constant id",)),
    Scenario("reused-ids", "Sixteen identifications come again and again.", ("reused ids",)),
    Scenario("same-headers", "All headers are alike; only the payload differs.",
             ("identical headers", "constant id")),
    Scenario("netem-duplicate-reorder", "A qdisc delays, reorders and duplicates one of five.",
             ("netem", "duplicates", "reorder", "constant id"), ("sch_netem",)),
    Scenario("bridge", "Sniffers stand at both ports of a bridge, at the bridge and behind it.",
             ("bridge", "promiscuous"), ("bridge",)),
)  # fmt: skip


def named(name: str) -> Scenario:
    """Return a scenario; raises KeyError if there is none of that name."""
    return {scenario.name: scenario for scenario in ZOO}[name]
