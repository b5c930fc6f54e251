# SPDX-License-Identifier: MIT
"""A display filter selects the same packets of a dataset as of its sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skbviewer.analysis.display_filter import FilterError, parse
from skbviewer.analysis.fields.all_fields import FIELDS as ALL
from skbviewer.analysis.fields.field_definition import Kind
from skbviewer.analysis.fields.field_source_tables import ROW
from skbviewer.analysis.stats.statistic_types import quote_text
from skbviewer.dataset.duckdb_filter_connection import filter_connection
from skbviewer.dataset.filter_fields import FIELDS
from skbviewer.dataset.filter_sql import condition
from tests.dataset.recordings import Both

MOST = 2  # values of a field
JOINED = (
    "call(kbl.func == ip_rcv && kbl.dur > 1us)",
    "kbl.func == ip_rcv && kbl.dur > 1ms",
    "call(kbl.dev == eth0 && kbl.layer == ip)",
    "call(kbl.drop_reason)",
    "call(kbl.comm contains swap && kbl.cpu == 0)",
    "!call(kbl.context == task)",
    "call(!(kbl.layer == ip))",
    "tcp.srcport == tcp.dstport",
    "ip.src == ip.dst",
    "kbl.dur == kbl.self",
    "kbl.func == kbl.caller",
    "tcp ^^ kbl.drop_reason",
    "ip.ttl <= 64 && (udp || icmp) && !kbl.drop_reason",
    "all ip.addr == 10.9.0.0/24",
    "tcp.flags & 0x12 == 0x10",
)


def test_all_fields_that_a_dataset_has(both: Both) -> None:
    wrong, decisive = [], 0
    with filter_connection(both.folder) as db:
        for text in (*JOINED, *(text for name in FIELDS for text in _filters(both, name))):
            where = condition(text)
            sql = f"SELECT session, number FROM packets p WHERE {where}"
            found = set(db.execute(sql).fetchall())
            wanted = {
                (name, number)
                for name, session in both.sessions.items()
                for number in session.packets.select(text).tolist()  # type: ignore[union-attr]
            }
            decisive += 0 < len(wanted) < sum(s.packets.count() for s in both.sessions.values())
            if found != wanted:
                wrong.append((text, len(found), len(wanted)))
    assert not wrong
    assert decisive > 400  # neither all packets nor none


def _filters(both: Both, name: str) -> Iterator[str]:
    kind = ALL[name].kind
    yield name
    if kind in (Kind.LABEL, Kind.PROTOCOL):
        return
    values = _values(both, name)
    operators = ["==", "!=", "===", "!=="] + ([] if kind is Kind.BOOLEAN else ["<", ">", ">="])
    if kind is Kind.STRING:
        operators.append("contains")
    for value in values:
        yield from (f"{name} {operator} {value}" for operator in operators)
        yield f"!({name} == {value})"
    if kind is Kind.UNSIGNED:
        yield from (
            f"{name} & 2",
            f"all {name} > 5",
            f"{name} in {{1..9, {(values or ['5'])[-1]}}}",
        )
    elif kind is Kind.IPV4:
        yield from (f"{name} == 10.0.0.0/8", f"{name} < 10.9.0.2", f"{name} <= 10.9.0.0/30")
    elif kind is Kind.IPV6:
        yield from (f"{name} == fd09::/64", f"{name} < fd09::2", f"{name} >= fe80::/10")
    elif kind is Kind.STRING and values:
        yield f"{name} in {{{', '.join(values)}}}"


def _values(both: Both, name: str) -> list[str]:
    field = ALL[name]
    if field.table != ROW and field.kind is not Kind.STRING:
        return ["0", "1", "5000"] if field.kind is Kind.UNSIGNED else ["0", "700ns", "20us"]
    found: set[str] = set()
    for session in both.sessions.values():
        if field.kind is Kind.STRING:
            found |= set(session.fields.texts(name))
        else:
            rows = list(range(1, session.packets.count() + 1))
            found |= {text for text in session.fields.values(name, rows) if text}
    few = sorted(found)[:: max(len(found) // MOST, 1)]
    if field.kind in (Kind.STRING, Kind.TIME):
        return [quote_text(text) for text in few]
    return [text.split(" ")[0].rstrip(",") for text in few]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tcp && eth.src == 00:11:22:33:44:55", "eth.src"),
        ("frame.comment == x", "frame.comment"),
        ("frame contains GET", "frame"),
        ("kbl.func matches '^ip'", "kbl.func"),
        ("kbl.func[0:3] == tcp", "kbl.func"),
        ("lower(kbl.comm) == curl", "kbl.comm"),
        ("tcp.analysis.retransmission", "tcp.analysis.retransmission"),
    ],
)
def test_what_a_dataset_cannot_answer_is_refused(text: str, place: str) -> None:
    parse(text)  # is right in a session
    with pytest.raises(FilterError, match="works only on a session") as raised:
        condition(text)
    assert text[raised.value.position :].startswith(place)


def test_values_cannot_end_the_text_in_sql(both: Both) -> None:
    with filter_connection(both.folder) as db:
        for text in (
            "kbl.func == \"x' OR true OR '\"",
            'kbl.comm contains "\'; DROP VIEW calls; --"',
        ):
            sql = f"SELECT count(*) FROM packets p WHERE {condition(text)}"
            assert db.execute(sql).fetchall() == [(0,)]
