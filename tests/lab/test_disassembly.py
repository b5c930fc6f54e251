# SPDX-License-Identifier: MIT
"""Debian's kernels without symbols, disassembled with what a guest recorded on them."""

from __future__ import annotations

from pathlib import Path

from skbviewer.session import Session, import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.reference.layout import EVENT
from tests.reference.slots import read

EXACT = 0.95  # of functions whose end the log knows; the others are mostly assembly
MOST = 60  # functions, because each takes a tenth of a second


def check(kbl: Path, image: Path, folder: Path) -> tuple[int, int]:
    """Disassemble functions in which packets were dropped, or which made recorded calls.

    Returns the number of functions, and of those among them whose end is where the log has it.
    """
    log = read(kbl)
    import_files([kbl], folder / "s.skbv")
    session = Session.open(folder / "s.skbv")
    places = [log.stext + (one.data >> 32) for one in log.events if one.event == EVENT.DROP]
    places += [call.caller for call in log.calls if call.caller]
    names = {log.symbol(place).partition("+0x")[0] for place in places}
    ends = {
        name: after - begin
        for (begin, name), (after, _) in zip(log.symbols, log.symbols[1:], strict=False)
    }
    wanted = sorted(name for name in names if "[" not in name and ends.get(name))[:MOST]
    exact = 0
    for name in wanted:
        shown = session.code.disassemble(name, image)
        padding = ends[name] - (shown.end - shown.begin)
        exact += 0 <= padding < 64
        # Each recorded return address of the function is behind a call.
        after = {one.offset + len(one.data): one for one in shown.instructions}
        mine = {log.symbol(place) for place in places if log.symbol(place).startswith(f"{name}+")}
        for place in mine:
            one = after[int(place.partition("+0x")[2], 16)]
            assert one.kind == "call" and (one.drops or one.calls)
    session.close()
    return len(wanted), exact


def test_marks_are_at_calls_and_ends_are_right(lab: Lab, tmp_path: Path) -> None:
    functions, exact = check(lab.out / "handshake.kbl", lab.built.kernel.image, tmp_path)
    assert functions > 30 and exact >= EXACT * functions
