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

Is an exact match right? A witness that is not part of skbviewer answers this question. A kernel module of the tests
runs in the kernel that is recorded. This module writes down when each skb was born and freed, and which skb each packet
socket got, with the skb's address, device, time and bytes. For each captured packet, a judge finds what this module
wrote when the sniffer's socket got the packet (the *hit*). Then the judge reads from the session, by SQL, to which skb
lifetime the address belonged at that time. The judge imports nothing of skbviewer.

- **right**: the packet is exact, and its lifetime is that of the skb that the socket got. For a sent packet, it is the
  lifetime of the skb from which the stack cloned the sniffers' skb.
- **wrong**: the packet is exact, but with another lifetime; or the packet is from another recording; or two packets of
  one interface are exact with the same moment at the socket.
- **no witness**: the packet is exact, but the witness cannot say whether this is right. [No witness](#no-witness) lists
  the reasons.

{scenarios} scenarios on kernels {kernels}; {distinct} packets in {captures} captures as they were recorded.
These captures and logs were judged after {treatments} treatments{lossy}.
{judged} packets were judged: {exact} exact, {right} right, **{wrong} wrong**, {unseen} without a witness.
The packets were matched by version {rules} of the matching rules.
"""

_LOSSY = (
    ". In some treatments, the logs lack 1 to 30 % of their\n"
    "chunks, in {seeds} different choices each, or 1 to 10 % of the hits of their probes"
)
_WHOLE = ", with whole logs"

UNJUDGED = """
## What is not judged

- Times and functions: the judge checks only which lifetime a packet has, not how long the packet was in the kernel, or
  in which functions.
- Ambiguous and wire-only packets. In whole logs, *wire-only, yet seen* counts wire-only packets that the log shows.
- Packets whose hit the witness missed: the kernel's probes miss hits that happen within another hit.
- The moment of capture: if one skb passes a socket more than once, all passes belong to the same lifetime.
- Logs and captures of two hosts in one session (tests/e2e/test_match_two_hosts.py).
- Devices whose driver passes on packets that the witness cannot see: the scenarios have no such device. QEMU's hub
  connects the virtio cards. QEMU's hub offers neither checksums nor large segments to the guest, so the kernel itself
  segments what the cards send.
- Logs of a kernel with compiled-in probes (6.1-compiled-in), except in ten scenarios.
- Logs that a recorder of version 2 wrote. The treatment *log of version 2* uses the recorded log, rewritten in the
  format of the first recorders. Like the logs of these recorders, the rewritten log has only events of memory, clones
  and drops. But the times in the rewritten log are from today's recorder.
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
    """Return how many packets are exact, of those that could be: of whole logs, then of others.

    The captures are those that were not treated.
    """
    plain = [cell for cell in cells if cell["treatment"] == "none"]
    whole = [cell for cell in plain if not cell["log lacks"]]
    others = [cell for cell in plain if cell["log lacks"]]
    text = "\n## Whole logs: what could be exact\n\n" + RECALL + _recall_table(whole)
    text += "\n## Logs that lack records: what could be exact\n\n" + LACKING
    return text + _recall_table(others)


def _recall_table(cells: list[Cell]) -> str:
    names = ("packets", "apart", "exact apart", "apart by headers", "exact apart by headers")
    sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        for key in ((cell["scenario"], cell["kernel"]), ("*all*", cell["kernel"])):
            sums[key].update({name: cell[name] for name in names})
            sums[key]["seen"] += cell["wire-only seen"]
    text = _heading("scenario", "kernel", "packets", "apart", "exact", "apart by headers", "exact",
                    "wire-only, yet seen")  # fmt: skip
    for (scenario, kernel), n in sorted(sums.items()):
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
    text = "\n## Right before, not exact now\n\n"
    text += BEFORE.format(right=sum(one["right before"] for one in compared))
    return text + "".join(f"- {number}: {reason}\n" for reason, number in lost.most_common())


def publish(cells: list[Cell], seeds: int, rules: int) -> str:
    """Return the document; `rules` is the number of the matching rules that made the matches."""
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
        wrong=total["wrong"], unseen=total["no witness"], rules=rules,
    )  # fmt: skip
    text += "\n## As recorded\n\n" + _table("scenario, kernel", whole, _place)
    text += _recall(cells)
    text += "\n## By treatment\n\n" + _table("treatment", cells, lambda c: str(c["treatment"]))
    text += "\n## All treatments, by scenario\n\n" + _table("scenario, kernel", cells, _place)
    text += "\n## No witness\n\n" + _reasons(cells)
    return text + _before(cells) + UNJUDGED


BEFORE = """An earlier version of the rules, which had no number yet, was right for {right} packets. Some of these packets are
not exact now. For each reason, the list counts these packets:

"""

RECALL = """A packet is *apart* if no other packet of its capture has the same headers and content within the error of the fitted
clock (50 us if no clock was fitted). A packet is *apart by headers* if no other packet has the same headers within this
error. A log is whole if all functions were probed, no records were lost and no probe missed a hit.

"""

LACKING = """These logs declare that they lack records: probes missed hits, buffers were full, the recorder had a filter or was
stopped. Or only a few functions were probed. A packet near missing records is ambiguous, even if it is apart.

"""


def _place(cell: Cell) -> str:
    return f"{cell['scenario']}, {cell['kernel']}"
