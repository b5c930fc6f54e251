# SPDX-License-Identifier: MIT
"""The style sheet of a report: light and dark, on a screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence

from ..formats import LayerColours
from .inline_svg import Palette

LIGHT = """--page:#f4f5f7;--card:#fff;--line:#dfe3e8;--text:#1b2126;--dim:#5d6770;--accent:#2f6fd0;
--stripe:#f7f8fa;--exact:#1a7f4b;--ambiguous:#b26a00;--wire-only:#6b7280;--kernel-only:#2563a8;
--drop:#b00020;--bar:#8fb4ea"""
DARK = """--page:#17191d;--card:#1e2126;--line:#343a42;--text:#e3e6ea;--dim:#9aa4b2;
--accent:#7fb0f5;--stripe:#22262c;--exact:#4cc38a;--ambiguous:#f0b24b;--wire-only:#9aa4b2;
--kernel-only:#6fb1f0;--drop:#ff6b6b;--bar:#3f6fb5"""
RULES = """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);line-height:1.45;
font:15px/1.5 "Inter","Segoe UI","Noto Sans","DejaVu Sans",system-ui,sans-serif}
main{max-width:1640px;margin:0 auto;padding:32px 28px 48px}
h1{font-size:30px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:20px;margin:40px 0 12px;letter-spacing:-.01em}
h3{font-size:17px;margin:0 0 6px}.cards+h3{margin-top:16px}
p{margin:0 0 12px;max-width:90ch}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.dim{color:var(--dim)}.mono,code,pre{font-family:"JetBrains Mono","DejaVu Sans Mono",ui-monospace,
monospace}
.mono,code{font-size:12.5px;overflow-wrap:anywhere}
.brand{font-size:13px;letter-spacing:.08em;text-transform:uppercase;color:var(--accent);
font-weight:600;margin:0 0 10px}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0 0;font-size:14px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:12px}
.card,.box{background:var(--card);border:1px solid var(--line);border-radius:10px}
.card{padding:12px 16px}.card b{display:block;font-size:25px;line-height:1.25;font-weight:650;
font-variant-numeric:tabular-nums}.card span{color:var(--dim);font-size:13px}
.box{padding:18px 20px;margin:0 0 18px}
.wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px;
margin:0 0 14px}
.box .wide{border-radius:6px;margin:12px 0 0}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{padding:5px 10px;text-align:left;vertical-align:top;border-top:1px solid var(--line);
overflow-wrap:break-word}
thead th{border-top:0;font-weight:600;color:var(--dim);white-space:nowrap}
tbody tr:nth-child(even){background:var(--stripe)}
.n{text-align:right;white-space:nowrap}.calls code{white-space:nowrap}.calls td{padding-top:3px;
padding-bottom:3px}
.calls td:last-child{min-width:21ch}.stack{color:var(--dim);font-size:12px}
.list td{white-space:nowrap}
.list td:nth-child(6){white-space:normal;min-width:18ch}.list td:last-child{font-size:12.5px}.nb{
white-space:nowrap}
.badge{display:inline-block;white-space:nowrap;font-weight:600}
.badge:before{content:"";display:inline-block;width:8px;height:8px;border-radius:4px;
background:currentColor;margin-right:6px}
.exact{color:var(--exact)}.ambiguous{color:var(--ambiguous)}.wire-only{color:var(--wire-only)}
.kernel-only{color:var(--kernel-only)}.drop{color:var(--drop);font-weight:600}
.chip{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px;
background:var(--layer,#9a9a9a)}
.bar{display:block;width:100%;min-width:110px;height:10px;margin-top:5px}
.bar rect{fill:var(--bar)}
svg.path{display:block;width:100%;height:auto;margin:10px 0 2px;font-family:"DejaVu Sans",
sans-serif}
details{margin:12px 0 0}summary{cursor:pointer;color:var(--accent);font-size:14px}
pre{font-size:12.5px;line-height:1.45;margin:8px 0 0;overflow-x:auto}
ul{margin:8px 0 12px;padding-left:22px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:6px 0 0;font-size:13.5px}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:40px;padding-top:14px;border-top:1px solid var(--line);color:var(--dim);
font-size:13px}
@media print{@page{size:A4 landscape;margin:12mm}
body{font-size:10.5px;background:#fff}main{max-width:none;padding:0}nav{display:none}
h1{font-size:22px}h2{font-size:15px;margin:20px 0 8px;break-after:avoid}h3{break-after:avoid}
table{font-size:9.5px}th,td{padding:2px 7px}.card b{font-size:17px}.card{padding:7px 10px}
.cards{gap:8px}
tr,.card,svg.path{break-inside:avoid}thead{display:table-header-group}
dl,summary,.card span{font-size:9.5px}h3{font-size:12px}.brand{font-size:9px}
.list td:last-child,.stack{font-size:8.5px}
.cards{grid-template-columns:repeat(auto-fit,minmax(80px,1fr))}
#paths,.box~.box{break-before:page}
.wide{overflow:visible}.box{border:0;padding:0;margin:0}summary{break-after:avoid}svg.path{max-height:165mm}
.mono,code,pre{font-size:8.5px}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""


def style(layers: Sequence[LayerColours], palette: Palette) -> str:
    """Return the style sheet; dark colours apply to dark screens, never to paper."""
    light, dark = (
        "".join(
            f".l{number}{{--layer:{(layer.colour_dark if is_dark else layer.colour)}}}"
            for number, layer in enumerate(layers)
        )
        + palette.rules(is_dark)
        for is_dark in (False, True)
    )
    night = f"@media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}{dark}}}"
    return f":root{{color-scheme:light dark;{LIGHT}}}{RULES}{light}{night}"
