"""A study as a single HTML page, with all its data and no external resources.

The page has the study as compressed JSON in a link, which a browser saves as a file and
:func:`study_in_page` reads back.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.lab.plots import can_plot, inline_plot
from cutnode.lab.study import Column, Draw, Study
from cutnode.lab.tables import heading, legend

MOST_SAMPLES = 500
"""The most samples that a page shows; its data has all of them."""

GZIP = "data:application/gzip;base64,"

DATA = re.compile(rf'<a id="cutnode-study"[^>]*? href="{GZIP}([^"]*)"')
"""The link that contains the study."""

LARGEST = 1 << 30
"""The most bytes of a page's study, decompressed."""

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.87rem; }
th, td { padding: 0.15rem 0.7rem; text-align: right; white-space: nowrap; }
thead th { border-bottom: 1.5px solid #222; } tbody tr:nth-child(even) { background: #f5f5f3; }
.text { text-align: left; }
.interval { color: #666; font-size: 0.92em; display: inline-block; min-width: 8.5em;
            text-align: left; }
.facts th, .facts td { text-align: left; white-space: normal; vertical-align: top;
                       overflow-wrap: anywhere; }
.facts th { font-weight: 600; white-space: nowrap; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption, .note { color: #555; font-size: 0.93rem; max-width: 48rem; }
pre { background: #f5f5f3; padding: 0.6rem 0.8rem; overflow-x: auto; font-size: 0.87rem; }
.summary { font-size: 1.06rem; max-width: 48rem; }
.command { white-space: pre-wrap; }
.list { max-height: 12rem; overflow-y: auto; white-space: pre; }
summary { cursor: pointer; } details { margin: 0.8rem 0; }
a { color: #0a5a94; }
@media print { body { margin: 0; max-width: none; font-size: 9px; }
               .wide, .list { overflow: visible; max-height: none; } }
"""


def page(study: Study, draw: Draw | None) -> str:
    """Return the page of a study: its summary, plot, table, settings, samples and machine."""
    return document(heading(study), _body(study, draw))


def document(title: str, body: str, css: str = "") -> str:
    """Return a page with a heading, in the style of all pages; *css* adds to it."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}{css}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def study_in_page(text: str) -> Any:
    """Return the plain data of the study in a page; :class:`CutnodeError` if there is none."""
    found = DATA.search(text)
    if found is None:
        raise CutnodeError("it is not a page of cutnode's laboratory")
    try:
        unpack = zlib.decompressobj(wbits=31)
        data = unpack.decompress(base64.b64decode(found[1], validate=True), LARGEST)
        if not unpack.eof:
            raise CutnodeError("the study in the page is damaged")
        return json.loads(data)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        raise CutnodeError("the study in the page is damaged") from None


def _body(study: Study, draw: Draw | None) -> str:
    command = study.run.get("command", "")
    parts = [
        _summary(study),
        f'<pre class="command">{escape(str(command))}</pre>',
        _plot(study, draw),
        "<h2>Table</h2>",
        _table(study),
        *(f'<p class="note">{escape(note)}</p>' for note in study.notes),
        _facts(legend(study.table_columns)),
        "<h2>Data</h2>",
        _links(study),
        _samples(study),
        "<h2>Settings</h2>",
        _facts(study.settings),
        "<h2>Run and machine</h2>",
        _facts({**study.run, **study.machine}),
        *_files(study),
    ]
    return "\n".join(part for part in parts if part)


def _summary(study: Study) -> str:
    sentences = " ".join(map(escape, study.summary()))
    return f'<p class="summary">{sentences}</p>' if sentences else ""


def _plot(study: Study, draw: Draw | None) -> str:
    if draw is None or not study.rows:
        return ""
    if not can_plot():
        hint = "pip install 'cutnode[plot]'"
        return f'<p class="note">No plot, because matplotlib is not installed: {hint}</p>'
    svg, said = inline_plot(study, draw)
    return f"<figure>{svg}<figcaption>{escape(said)}</figcaption></figure>"


def _table(study: Study) -> str:
    columns = study.table_columns
    head = "".join(_cell("th", escape(column.name), column.form) for column in columns)
    rows = (
        "".join(_cell("td", _text(study, row, column), column.form) for column in columns)
        for row in study.rows
    )
    return table_html(head, rows)


def _text(study: Study, row: dict[str, Any], column: Column) -> str:
    text = escape(study.text(row, column))
    if not column.interval:
        return text
    figure, bracket, interval = text.partition(" (")
    return f'{figure} <span class="interval">{bracket.strip()}{interval}</span>'


def _cell(tag: str, html: str, form: str) -> str:
    return f"<{tag}>{html}</{tag}>" if form else f'<{tag} class="text">{html}</{tag}>'


def table_html(head: str, rows: Iterable[str]) -> str:
    """Return a table by the cells of its head and of its rows."""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _links(study: Study) -> str:
    """Return the link that contains the study, and saves it as a file."""
    text = json.dumps(study.to_dict()).encode()
    packed = base64.b64encode(gzip.compress(text, mtime=0)).decode()
    name = escape(study.name)
    return (
        f'<p><a id="cutnode-study" download="{name}.json.gz" href="{GZIP}{packed}">'
        f"{name}.json.gz</a>: settings, rows, samples and files of this page as JSON. "
        f"<code>cutnode lab show</code> turns it into tables, plots and files, and "
        f"<code>cutnode lab rerun</code> repeats it; both also read this page.</p>"
    )


def _samples(study: Study) -> str:
    columns = study.sample_table().to_columns()
    if not columns:
        return ""
    count = len(study.samples)
    shown = study.samples[:MOST_SAMPLES]
    numbers = {
        name: all(isinstance(value, int | float | None) for value in values)
        for name, values in columns.items()
    }
    forms = {name: "n" if number else "" for name, number in numbers.items()}
    head = "".join(_cell("th", escape(name), form) for name, form in forms.items())
    rows = (
        "".join(_cell("td", escape(_figure(row.get(name))), form) for name, form in forms.items())
        for row in shown
    )
    some = f" (first {len(shown):,} shown)" if count > len(shown) else ""
    return (
        f"<details><summary>{count:,} samples, one per position and row{some}</summary>\n"
        f"{table_html(head, rows)}\n</details>"
    )


def _figure(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _facts(facts: dict[str, Any]) -> str:
    rows = (
        f"<tr><th>{escape(name)}</th><td>{_fact(fact)}</td></tr>" for name, fact in facts.items()
    )
    return '<table class="facts">\n' + "\n".join(rows) + "\n</table>" if facts else ""


def _fact(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) > 1 and any(" " in str(v) for v in value):
        return f'<div class="list">{escape(chr(10).join(map(_shown, value)))}</div>'
    return escape(_shown(value))


def _files(study: Study) -> Sequence[str]:
    """Return the section with the user's own files, so that readers of the page have them too."""
    if not study.files:
        return []
    parts = ["<h2>Files</h2>"]
    for path, about in study.files.items():
        said = f"<code>{escape(path)}</code>, SHA-256 {escape(about.get('sha256', '?'))}"
        if "text" in about:
            code = f"<pre>{escape(about['text'])}</pre>"
            parts.append(f"<details><summary>{said}</summary>\n{code}\n</details>")
        else:
            parts.append(f"<p>{said}</p>")
    return parts


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_shown, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value if isinstance(value, str) else json.dumps(value)
