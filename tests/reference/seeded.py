# SPDX-License-Identifier: MIT
"""Faults put into a session on purpose: the comparison has to find each."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

FAULTS = {
    "a sign": "UPDATE call SET self_ns = -self_ns WHERE id = {call}",
    "a missing wait": "DELETE FROM wait WHERE id = {wait}",
    "a wait with another name": "UPDATE wait SET kind = kind + 1 WHERE id = {wait}",
    "a leg twice": "UPDATE packet SET kernel_ns = kernel_ns + {dur} WHERE id = {packet}",
    "a call not taken off": "UPDATE call SET self_ns = dur_ns WHERE id = {call}",
    "an interrupt not taken off": "UPDATE call SET irq_ns = 0 WHERE id = {interrupted}",
    "a depth": "UPDATE call SET depth = depth - 1 WHERE id = {call}",
    "busy less overlap": "UPDATE packet SET busy_ns = busy_ns - 1 WHERE id = {packet}",
    "probes that cost nothing": "UPDATE call SET comp_ns = dur_ns WHERE id = {call}",
    "one function": "UPDATE packet SET functions = functions + 1 WHERE id = {packet}",
    "a busy leg": "UPDATE leg SET busy_ns = busy_ns + 1 WHERE id = {leg}",
    "a leg that ends later": "UPDATE leg SET end_ns = end_ns + 1 WHERE id = {leg}",
    "a leg in the other direction": "UPDATE leg SET kind = 1 - kind WHERE id = {leg}",
    "a leg that is missing": "DELETE FROM leg WHERE id = (SELECT max(id) FROM leg)",
    "a call in another leg": "UPDATE call SET leg = leg + 1 WHERE id = {call}",
    "a call that is missing": "DELETE FROM call WHERE id = {call}",
    "another parent": "UPDATE call SET parent = parent - 1 WHERE id = {call}",
    "an error bar": "UPDATE call SET comp_err_ns = comp_err_ns - 1 WHERE id = {call}",
    "two packets that are one": "UPDATE leg SET series = series - 1 WHERE id = {leg}",
    "a clone of nobody": "UPDATE series SET parent = -1 WHERE id = {clone}",
    "a sniffer's copy": "UPDATE series SET tap = 0 WHERE id = {tap}",
    "an event of another packet": "UPDATE event SET leg = leg - 1 WHERE id = {event}",
    "another reason of a drop": "UPDATE event SET data = data + 1 WHERE id = {drop}",
    "a drop that a leg lacks": "UPDATE leg SET drop_reason = -1 WHERE id = {dropped}",
    "another function": "UPDATE call SET func = {func} WHERE id = {call}",
}
OF_CLOCKS = {
    "a clock that is ahead": "UPDATE clock SET offset_ns = offset_ns + residual_ns WHERE id = 1",
    "an error too small": "UPDATE clock SET residual_ns = residual_ns / 2 WHERE id = 1",
    "an error too large": "UPDATE clock SET residual_ns = residual_ns + 10 WHERE id = 1",
    "an error far too large": "UPDATE clock SET residual_ns = residual_ns * 20 WHERE id = 1",
    "a drift": "UPDATE clock SET drift_ppm = drift_ppm + 500 WHERE id = 1",
    "a pair of nobody": "UPDATE clock SET pairs = pairs + 5 WHERE id = 1",
}
CHOSEN = {
    "call": "SELECT id FROM call WHERE dur_ns > 2 * self_ns AND self_ns > 0 AND depth > 0"
    " AND leg IN (SELECT leg FROM match WHERE verdict = 0)",
    "func": "SELECT func FROM call WHERE depth = 0",
    "wait": "SELECT id FROM wait WHERE kind = 3",
    "packet": "SELECT id FROM packet WHERE kernel_ns > 0",
    "interrupted": "SELECT id FROM call WHERE irq_ns > 0",
    "dur": "SELECT end_ns - begin_ns FROM leg WHERE end_ns > begin_ns",
    "leg": "SELECT id FROM leg WHERE busy_ns > 0 AND series > 1 AND kind < 2",
    "clone": "SELECT id FROM series WHERE parent > 0",
    "tap": "SELECT id FROM series WHERE tap = 1",
    "event": "SELECT id FROM event WHERE leg > 1 AND call > 0",
    "drop": "SELECT id FROM event WHERE event = 7 AND leg > 0",
    "dropped": "SELECT id FROM leg WHERE drop_reason >= 0",
}


def seed(session: Path, out: Path, fault: str) -> None:
    """Copy a session with one fault."""
    shutil.copyfile(session, out)
    db = sqlite3.connect(out)
    chosen = {name: db.execute(f"{query} LIMIT 1").fetchone()[0] for name, query in CHOSEN.items()}
    done = db.execute((FAULTS | OF_CLOCKS)[fault].format(**chosen))
    assert done.rowcount == 1
    db.commit()
    db.close()
