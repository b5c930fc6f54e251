# SPDX-License-Identifier: MIT
"""Makes up recordings whose times are as random as real ones: skewed, dependent, with outliers.

One CPU receives packets in bursts.  Each function's self time is lognormal, times a factor that all
functions share and that changes slowly (an autoregressive process, as of a clock rate or a cache),
and one in some thousand is very long.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from skbviewer.records import kbl_layout as kbl
from skbviewer.session import Session, import_files
from tests.bench.log_file import write_slots
from tests.bench.slots import FUNCTIONS, Maker, footprints
from tests.bench.traffic import EPOCH, PACKETS, SKB_BASE, SKB_SIZE, TAP_AT, TCP

Floats = npt.NDArray[np.float64]

# Which function runs, from the arrival of a packet until the stack is done with it.
RUNNING = (
    "__netif_receive_skb_one_core", "ip_rcv", "ip_rcv_core", "ip_rcv", "nf_hook_slow", "ip_rcv",
    "tcp_v4_rcv", "sk_filter_trim_cap", "tcp_v4_rcv", "__skb_checksum_complete", "tcp_v4_rcv",
    "ip_rcv", "__netif_receive_skb_one_core",
)  # fmt: skip
SOMETIMES = "__skb_checksum_complete"  # part of every third path
MEDIANS = {"ip_rcv_core": 180.0, "nf_hook_slow": 900.0, "tcp_v4_rcv": 700.0}  # ns; else 300
EVENTS = 3  # of the hardware counter in a nanosecond, if it counts
SPREAD = 0.45  # of the logarithm of a self time
SHARED, MEMORY = 0.08, 0.9  # of the logarithm of the shared factor; its correlation
RARE, LONG = 0.0005, 40.0  # how often a self time is how many times longer
PAUSE_NS, BURST = 40_000, 30  # between bursts; packets of a burst


def write_recording(
    path: Path,
    packets: int,
    seed: int,
    slower: Mapping[str, float] | None = None,
    counts: bool = False,
) -> None:
    """Write a kernel log; `slower` multiplies the self times of some functions.

    With `counts`, each call counts EVENTS in each nanosecond.
    """
    rng = np.random.default_rng(seed)
    names = np.array(RUNNING)
    spent = _self_times(rng, packets, slower or {})
    there = rng.random(packets) < 1 / 3
    spent[:, names == SOMETIMES] *= there[:, None]
    passed = np.concatenate([np.zeros((packets, 1)), np.cumsum(np.ceil(spent), axis=1)], axis=1)
    some = _packets(rng, passed[:, -1])
    times = (some["begin"] + TAP_AT)[:, None] + passed.astype(np.int64)
    made = Maker()
    made.event(some, kbl.KblEvent.ALLOC, some["begin"] + 2, some["skb"].copy(), 768)
    footprints(made, some)
    for name in dict.fromkeys(RUNNING):
        runs = np.flatnonzero(names == name)
        mine = there if name == SOMETIMES else np.ones(packets, np.bool_)
        begin, end = times[mine, runs[0]], times[mine, runs[-1] + 1]
        counted = (end - begin) * EVENTS if counts else None
        at = FUNCTIONS.index(name), begin, end, some["skb"][mine]
        made.call(some[mine], *at, counted=counted)
    made.event(some, kbl.KblEvent.FREE, times[:, -1] + 200, some["skb"].copy())
    write_slots(path, [made.slots()], int(times.max()))


def recording(
    folder: Path,
    packets: int,
    seed: int,
    slower: Mapping[str, float] | None = None,
    counts: bool = False,
) -> Session:
    """Make a recording and open its session."""
    name = f"made-{packets}-{seed}-{'-'.join(slower or {})}"
    log, out = folder / f"{name}.kbl", folder / f"{name}.skbv"
    write_recording(log, packets, seed, slower, counts)
    import_files([log], out)
    log.unlink()
    return Session.open(out)


def shared_factor(rng: np.random.Generator, count: int) -> Floats:
    """Return the logarithm of the factor that all self times of a packet share."""
    steps = rng.normal(size=count) * np.sqrt(1 - MEMORY**2)
    state, found = rng.normal(), np.empty(count)
    for at, step in enumerate(steps.tolist()):
        state = MEMORY * state + step
        found[at] = SHARED * state
    return found


def _self_times(rng: np.random.Generator, packets: int, slower: Mapping[str, float]) -> Floats:
    runs = {name: RUNNING.count(name) for name in RUNNING}
    scale = [MEDIANS.get(n, 300.0) / runs[n] * slower.get(n, 1.0) for n in RUNNING]
    factor = np.exp(rng.normal(0, SPREAD, (packets, len(RUNNING))))
    factor *= np.exp(shared_factor(rng, packets))[:, None]
    factor[rng.random(factor.shape) < RARE] *= LONG
    return np.asarray(np.maximum(np.array(scale) * factor, 20.0))


def _packets(rng: np.random.Generator, service: Floats) -> npt.NDArray[np.void]:
    count = len(service)
    idle = rng.exponential(500, count) + (np.arange(count) % BURST == 0) * rng.exponential(
        PAUSE_NS, count
    )
    some = np.zeros(count, PACKETS)
    whole = (service + idle + 1000).astype(np.int64)
    some["begin"] = EPOCH + np.cumsum(whole) - whole
    some["skb"] = SKB_BASE + SKB_SIZE * (np.arange(count) % 512)
    some["protocol"], some["saddr"], some["daddr"] = TCP, 0x0A000002, 0x0A000001
    some["sport"], some["dport"], some["flags"] = 40000, 80, 0x10
    some["ip_id"], some["seq"] = np.arange(count) % 65536, np.arange(count) * 1000 % (1 << 32)
    some["payload"], some["thread"] = 1000, 1000
    return some
