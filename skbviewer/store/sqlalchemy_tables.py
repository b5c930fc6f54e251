# SPDX-License-Identifier: MIT
"""The tables of schema.py as SQLAlchemy tables, from which queries are made."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, Table, Text

from . import schema
from .table_declarations import BLOB, FLOAT, INTEGER, TEXT

_TYPES = {INTEGER: Integer, FLOAT: Float, TEXT: Text, BLOB: LargeBinary}

metadata = MetaData()
for _table in schema.TABLES.values():
    Table(
        _table.name,
        metadata,
        Column("id", Integer, primary_key=True),
        *(Column(c.name, _TYPES[c.type](), nullable=c.nullable) for c in _table.columns),
    )

address = metadata.tables["address"]
annotation = metadata.tables["annotation"]
call = metadata.tables["call"]
change = metadata.tables["change"]
chunk = metadata.tables["chunk"]
clock = metadata.tables["clock"]
code = metadata.tables["code"]
device = metadata.tables["device"]
drop = metadata.tables["drop"]
event = metadata.tables["event"]
event_name = metadata.tables["event_name"]
flag = metadata.tables["flag"]
frame = metadata.tables["frame"]
leg = metadata.tables["leg"]
loss = metadata.tables["loss"]
match = metadata.tables["match"]
merge = metadata.tables["merge"]
meta = metadata.tables["meta"]
moment = metadata.tables["moment"]
oneway = metadata.tables["oneway"]
oneway_bound = metadata.tables["oneway_bound"]
packet = metadata.tables["packet"]
probe = metadata.tables["probe"]
series = metadata.tables["series"]
source = metadata.tables["source"]
record = metadata.tables["record"]
result = metadata.tables["result"]
symbol = metadata.tables["symbol"]
syscall = metadata.tables["syscall"]
task = metadata.tables["task"]
timebase = metadata.tables["timebase"]
wait = metadata.tables["wait"]
