# SPDX-License-Identifier: MIT
"""docs/truth.md: what the judge found, so that a person can read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

Cell = dict[str, Any]
NUMBERS = ("packets", "exact", "right", "wrong", "no witness", "ambiguous", "wire-only")

HEAD = """<!-- SPDX-License-Identifier: MIT -->
<!-- Written by python -m tests.truth (make truth): do not edit. -->
# Truth

Is an exact match right? A witness that is not ours answers. A module of the tests writes down, in the kernel that is
recorded, which skb each packet socket was given: its address, device, time and bytes, and when an skb was born and
freed. A judge, which imports nothing of skbviewer, finds each captured packet's hit at its sniffer's socket and reads
from the session by SQL whose lifetime that skb's address was then.

- **right**: the packet is exact with the lifetime of the very skb that the socket held; of a packet that leaves, the
  skb that the stack gave to the sniffers, not the clone they got.
- **wrong**: it is exact with another lifetime; or it is of another recording; or two packets of one interface are exact
  with one moment at the socket.
- **no witness**: it is exact, and the witness cannot say. The reasons are below.

{scenarios} scenarios on kernels {kernels}; {distinct} packets in {captures} captures as they were recorded. Treated in
{treatments} ways{lossy}, {judged} packets were judged: {exact} exact, {right} right, **{wrong}
wrong**, {unseen} without a witness.
"""

_LOSSY = ", and with logs that lack 1 to 30 % of their chunks, {seeds} different choices each"
_WHOLE = ", with whole logs"

UNJUDGED = """
## What is not judged

- Numbers: how long a packet was in the kernel, in which functions. Only whose lifetime it is.
- Ambiguous and wire-only packets, but for those that the log shows: *wire-only, yet seen*, whole logs only.
- Packets whose hit the witness missed, as the kernel's probes miss hits that come within another one.
- Which moment is meant where one skb passes one socket more than once: the lifetime is the same.
- Logs and captures of two hosts joined in one session (tests/e2e/test_match_two_hosts.py).
- Devices whose driver hands over what the witness cannot see: none is among the scenarios. The virtio cards are joined
  by QEMU's hub, which offers no checksums or large segments to the guest: what they send is cut by the kernel.
- Logs of a kernel with compiled-in probes (6.1-compiled-in), but for ten scenarios.
- Logs that a recorder of version 2 wrote: *log of version 2* is the recorded log, rewritten as the first recorders
  wrote it. Its events are those of memory, clones and drops, as then; their times are those of today's recorder.
"""


def _row(words: Iterable[object]) -> str:
    return "| " + " | ".join(str(word) for word in words) + " |\n"


def _heading(*words: str) -> str:
    return _row(words) + _row("---" for _ in words)


def _table(title: str, cells: list[Cell], key: Callable[[Cell], str]) -> str:
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for cell in cells:
        sums[key(cell)].update({name: cell[name] for name in NUMBERS})
    rows = (_row([name, *(count[n] for n in NUMBERS)]) for name, count in sums.items())
    return _heading(title, *NUMBERS) + "".join(rows)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _recall(cells: list[Cell]) -> str:
    """Return how many packets of whole logs and captures are exact, of those that could be."""
    names = ("packets", "apart", "exact apart", "apart by headers", "exact apart by headers")
    sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        if cell["treatment"] == "none":
            count = sums[cell["scenario"], cell["kernel"]]
            count.update({name: cell.get(name, 0) for name in names})
            count["seen"] += cell["wire-only seen"]
    text = _heading("scenario", "kernel", "packets", "apart", "exact", "apart by headers", "exact",
                    "wire-only, yet seen")  # fmt: skip
    for (scenario, kernel), n in sums.items():
        share = _percent(n["exact apart"], n["apart"])
        by_headers = _percent(n["exact apart by headers"], n["apart by headers"])
        text += _row([scenario, kernel, n["packets"], n["apart"], share, n["apart by headers"],
                      by_headers, n["seen"]])  # fmt: skip
    return text


def _reasons(cells: list[Cell]) -> str:
    reasons: Counter[str] = Counter()
    for cell in cells:
        reasons.update(cell["reasons"])
    return (
        "".join(f"- {number}: {reason}\n" for reason, number in reasons.most_common()) or "None.\n"
    )


def _before(cells: list[Cell]) -> str:
    """Return what was exact and right in another version and is not now."""
    compared = [cell["before"] for cell in cells if "before" in cell]
    if not compared:
        return ""
    lost: Counter[str] = Counter()
    for one in compared:
        lost.update(one["lost"])
    text = "\n## Right before, not exact now\n\nBy an earlier version "
    text += f"{sum(one['right before'] for one in compared)} were right. Of these are not exact "
    text += "now, by what else each can have been:\n\n"
    return text + "".join(f"- {number}: {reason}\n" for reason, number in lost.most_common())


def publish(cells: list[Cell], seeds: int) -> str:
    """Return the document."""
    whole = [cell for cell in cells if cell["treatment"] == "none"]
    total = Counter[str]()
    for cell in cells:
        total.update({name: cell[name] for name in NUMBERS})
    text = HEAD.format(
        scenarios=len({cell["scenario"] for cell in cells}),
        kernels=", ".join(sorted({cell["kernel"] for cell in cells})),
        distinct=sum(cell["packets"] for cell in whole),
        captures=len(whole),
        treatments=len({cell["treatment"] for cell in cells}),
        lossy=_LOSSY.format(seeds=seeds) if seeds else _WHOLE,
        judged=total["packets"], exact=total["exact"], right=total["right"],
        wrong=total["wrong"], unseen=total["no witness"],
    )  # fmt: skip
    text += "\n## As recorded\n\n" + _table("scenario, kernel", whole, _place)
    text += "\n## Whole logs: what could be exact\n\n" + RECALL + _recall(cells)
    text += "\n## By treatment\n\n" + _table("treatment", cells, lambda c: str(c["treatment"]))
    text += "\n## All treatments, by scenario\n\n" + _table("scenario, kernel", cells, _place)
    text += "\n## No witness\n\n" + _reasons(cells)
    return text + _before(cells) + UNJUDGED


RECALL = """*Apart* are packets that no other one of their capture equals, in headers and contents, within what the fitted
clock may be off (50 us where none was fitted); *apart by headers* those whose headers none equals.

"""


def _place(cell: Cell) -> str:
    return f"{cell['scenario']}, {cell['kernel']}"
