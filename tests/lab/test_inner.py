# SPDX-License-Identifier: MIT
"""Functions without an skb are recorded inside packet functions, and nowhere else.

The kernel's own kprobe events on the same functions show what ran where.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from skbviewer.session import Session, import_files
from tests.kmod.headers import run
from tests.lab.columns import Large, load
from tests.lab.fixture import SERIES, Lab, inner
from tests.lab.inner_truth import Key, read_truth
from tests.lab.kbl_check import Kind, probes
from tests.lab.nesting import crossing, threads

TASK = int(layout.KblContext.TASK)
# What these files call while a record is written must be refused as a probe.
WRITING = (
    *("call", "call_exit", "call_packet", "inner", "carry", "life", "tap", "footprint", "skb"),
    *("relay_batch", "relay", "clock", "filter_eval", "filter_facts"),
)
# Not functions, or without a place for a probe, or called when a recording begins or ends.
OTHERWISE = re.compile(
    r"kbl_|__x86_|__fentry|__SCT|__stack_chk|__per_cpu|this_cpu|pcpu_hot|const_pcpu|current_task|"
    r"cpu_number|__preempt_count|nr_cpu_ids|__cpu_|page_offset|vmemmap|phys_base|pv_ops|static_key|"
    r"debugfs_|strcmp|BUG_func|__static_call|relay_file|init_net|softnet_data|skb_|tsc_khz|boot_cpu|on_each_cpu|_printk"
)
SAID = "it calls that function itself while it records"


@pytest.fixture(scope="session", params=SERIES)
def inner_lab(request: pytest.FixtureRequest) -> Lab:
    """Return the guest of each kernel."""
    return inner(request.param)


@pytest.fixture
def recorded(inner_lab: Lab) -> Large:
    return load(inner_lab.out / "inner.kbl")


def recorded_inside(recorded: Large) -> tuple[Counter[Key], int]:
    """Return the recorded calls without an skb by the packet function around, and those in none."""
    records, table = recorded.records, probes(recorded.kbl)
    names = {int(row["id"]): (name, bool(row["flags"])) for name, row in table.items()}
    pid, call = threads(records), np.flatnonzero(records.kind == Kind.CALL)
    found, alone, stacks = Counter[Key](), 0, dict[tuple[int, int], list[tuple[int, str]]]()
    for i in sorted(call.tolist(), key=lambda i: (records.ts[i], -records.end[i])):
        (name, is_inner), context = names[int(records.func[i])], int(records.context[i])
        own = context == TASK and pid[i] > 0
        place = (int(pid[i]) if own else -1 - int(records.entry_cpu[i]), context)
        stack = stacks.setdefault(place, [])
        while stack and stack[-1][0] <= records.ts[i]:
            stack.pop()
        if not is_inner:
            stack.append((int(records.end[i]), name))
        elif stack:
            found[name, stack[-1][1], context] += 1
        else:
            alone += 1
    return found, alone


def test_recorded_are_exactly_the_hits_inside(inner_lab: Lab, recorded: Large) -> None:
    """A thread that moves to another CPU inside its call is followed there."""
    truth, (found, alone) = read_truth(inner_lab.out / "inner.trace"), recorded_inside(recorded)
    assert alone == 0 and recorded.torn == 0 and crossing(recorded.records) == []
    assert sum(truth.inside.values()) > 100 and len(truth.inside) > 15
    assert sum(truth.outside.values()) > 10 * sum(truth.inside.values())
    profile = (inner_lab.out / "inner.profile").read_text().splitlines()
    unseen = {name: int(missed) for name, _, missed in map(str.split, profile)}
    for key in truth.inside | found:
        # The kernel's events skip hits, too, and count them.
        assert truth.inside[key] <= found[key] <= truth.inside[key] + unseen[key[0]], key
    assert {key[2] for key in found} >= {0, 1}


def test_hits_in_a_record_are_counted(inner_lab: Lab, recorded: Large) -> None:
    """The module wakes its reader while it writes: these hits are missed, and no packet's are."""
    counters = np.frombuffer(
        recorded.kbl.tables[layout.KblChunkType.COUNTERS], layout.KBL_COUNTERS
    )[0]
    table = probes(recorded.kbl)
    assert counters["inner_missed"] > 0 and table["default_send_IPI_self"]["hits"] == 0
    assert counters["lost"] == counters["nested"] == 0
    assert re.search(r"[1-9]\d* inner missed", (inner_lab.out / "inner.said").read_text())
    truth = read_truth(inner_lab.out / "inner.trace")
    assert counters["inner_outside"] >= sum(truth.outside.values())
    hits = sum(int(row["hits"]) for row in table.values() if row["flags"])
    assert hits == sum(recorded_inside(recorded)[0].values())


def test_functions_of_the_module_are_refused(inner_lab: Lab) -> None:
    refused = (inner_lab.out / "inner.refused").read_text().splitlines()
    assert len(refused) >= 5 and all("Resource deadlock avoided" in line for line in refused)
    said = (inner_lab.out / "inner.said").read_text()
    assert f"the kernel module refuses 'ktime_get_mono_fast_ns': {SAID}" in said


def test_everything_that_the_module_calls_is_refused(inner_lab: Lab) -> None:
    """Compare the list of refused names with the symbols of the module's object files."""
    text = (inner_lab.built.kmod / "kbl_target_refuse.c").read_text()
    globs = re.findall(r'"([^"]+)",', text)
    patterns = [re.compile(re.escape(glob).replace(r"\*", ".*")) for glob in globs]
    objects = [inner_lab.built.kmod / f"kbl_{name}.o" for name in WRITING]
    called = set(re.findall(r" U (\S+)", run("nm", "--undefined-only", *map(str, objects))))
    called = {name for name in called if not OTHERWISE.match(name)}
    assert called >= {"ktime_get_mono_fast_ns", "relay_switch_subbuf"}
    assert {name for name in called if not any(p.fullmatch(name) for p in patterns)} == set()


def test_shown_in_the_path_but_not_matched(inner_lab: Lab, tmp_path: Path) -> None:
    """Each is a call of the packet of the call around it, with the mark."""
    import_files([inner_lab.out / "inner.kbl"], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    met = Counter[bool]()
    for series in range(1, session.info()["series"] + 1):
        for leg in session.paths.path(series=series).legs:
            for call in leg.calls:
                met[call.inner] += 1
                if call.inner:
                    around = leg.calls[call.parent]
                    assert call.parent >= 0 and call.depth == around.depth + 1
                    assert "no skb" in call.note and not call.skb
                    assert around.entry_ns <= call.entry_ns
    assert met[True] > 20 and met[False] > 20
    session.close()
