"""Studies as LaTeX and Markdown tables, for papers and pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cutnode.contract.loading import Game
from cutnode.kernels.profiles import DEFAULT, profile_of
from cutnode.kernels.techniques import every_technique, parameters_of
from cutnode.lab.study import Column, Study, one_line

LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{'"': "''", "`": r"\textasciigrave{}"},
}
"""The LaTeX for characters that LaTeX treats specially."""

MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
"""The characters to escape in Markdown."""


def heading(study: Study) -> str:
    """Return the title of a study, with its game, positions, depth and evaluation."""
    settings = study.settings
    parts = [str(settings["game"])] if "game" in settings else []
    positions = settings.get("positions", [])
    if len(positions) == 1:
        parts.append(str(positions[0]))
    elif positions:
        parts.append(f"{len(positions)} positions")
    if "depth" in settings:
        parts.append(f"depth {settings['depth']}")
    if settings.get("evaluation"):
        parts.append(f"evaluation {settings['evaluation']}")
    return f"{study.about}: {', '.join(parts)}" if parts else study.about


def legend(columns: Iterable[Column]) -> dict[str, str]:
    """Return the meanings of columns, by name, for those that have one."""
    return {
        column.name: f"{column.about} (95 % CI)" if column.interval else column.about
        for column in columns
        if column.about
    }


def latex_table(study: Study) -> str:
    """Return LaTeX tables, each with a caption, a label, and a legend below.

    A study too wide for a page is set in a smaller size, or split into several tables that all
    begin with the rows' names.  A table too long for a page is a ``longtable``.
    """
    size, parts = _pages(study)
    tables = [
        _latex_part(study, columns, size, number, len(parts))
        for number, columns in enumerate(parts, 1)
    ]
    packages = (
        "booktabs,longtable" if any("{longtable}" in table for table in tables) else "booktabs"
    )
    about = (
        f"% {one_line(study.run.get('command', 'cutnode'))}\n"
        f"% cutnode {study.machine.get('cutnode', '?')}, {study.run.get('started', '')}\n"
        f"% in the preamble: \\usepackage{{{packages}}}\n"
    )
    return about + "\n".join(tables)


@dataclass(frozen=True, slots=True)
class _Size:
    """A font size, with its measures in points."""

    command: str
    em: float
    line: float
    gap: float
    """The gap between two columns."""


SIZES = (_Size("", 10.0, 12.0, 12.0), _Size("\\small", 9.25, 11.0, 8.0))
SMALLEST = _Size("\\footnotesize", 8.5, 9.5, 8.0)
TEXT_WIDTH, TEXT_HEIGHT = 345.0, 550.0
"""The text area of a page of LaTeX's ``article``, in points."""

WRAPPED = 170.0
"""The greatest width of a text column, in points; longer texts are wrapped."""

Columns = Sequence[Column]


def _pages(study: Study) -> tuple[_Size, list[Columns]]:
    """Return the font size and the columns of each table that make the study fit the page."""
    columns = study.table_columns
    for size in SIZES:
        if sum(_width(study, column, size) for column in columns) <= TEXT_WIDTH + size.gap:
            return size, [columns]
    keys = [column for column in study.key_columns if column in columns]
    room = TEXT_WIDTH + SMALLEST.gap - sum(_width(study, key, SMALLEST) for key in keys)
    parts: list[list[Column]] = [[]]
    left = room
    for column in columns:
        if column in keys:
            continue
        width = _width(study, column, SMALLEST)
        if parts[-1] and width > left:
            parts.append([])
            left = room
        parts[-1].append(column)
        left -= width
    return SMALLEST, [[*keys, *part] for part in parts]


def _width(study: Study, column: Column, size: _Size) -> float:
    """Return the approximate width of a column and its gap, in points."""
    texts = [column.name, *(study.text(row, column) for row in study.rows)]
    width = max(_ems(text.replace(" to ", "-")) for text in texts) * size.em
    return (width if column.form else min(width, WRAPPED)) + size.gap


def _ems(text: str) -> float:
    """Return an upper estimate of a text's width in LaTeX's default font, in ems."""
    return sum(WIDTHS.get(character, 0.72 if character.isupper() else 0.53) for character in text)


WIDTHS = {
    **dict.fromkeys(" .,:;'il|", 0.31),
    **dict.fromkeys("()[]-jftrs", 0.4),
    **dict.fromkeys("0123456789", 0.5),
    **dict.fromkeys("mwMW%+<>", 0.88),
}
"""The widths of some characters, in ems."""


def _latex_part(study: Study, columns: Columns, size: _Size, number: int, parts: int) -> str:
    """Return one of the tables of a study."""
    of = f" (part {number} of {parts})" if parts > 1 else ""
    label = _label(study.name) + (f"-{number}" if number > 1 else "")
    head = _latex_row([_latex_head(column) for column in columns])
    title = f"\\caption{{{_latex(heading(study))}{of}.}}"
    mark = f"\\label{{tab:{label}}}"
    kinds = "".join(_latex_kind(study, column, size) for column in columns)
    rows = [
        _latex_row([_latex_cell(study.text(row, column), column) for column in columns])
        for row in study.rows
    ]
    meanings = "; ".join(
        f"{_latex(name)}: {_latex(about)}" for name, about in legend(columns).items()
    )
    below = [f"\\par\\smallskip\n{{\\footnotesize {meanings}.\\par}}"] if meanings else []
    smaller = [size.command, "\\setlength{\\tabcolsep}{4pt}"] if size.command else []
    words = _ems(meanings) + _ems(title)
    lines_of_rows = sum(_lines(study, row, columns, size) for row in study.rows)
    height = lines_of_rows * size.line + words * SMALLEST.em / TEXT_WIDTH * SMALLEST.line + 60
    if height <= TEXT_HEIGHT:
        lines = ["\\begin{table}[htbp]", "\\centering", title, mark, *smaller]
        lines += [f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", "\\toprule", head, "\\midrule"]
        lines += [*rows, "\\bottomrule", "\\end{tabular}", *below, "\\end{table}", ""]
        return "\n".join(lines)
    lines = ["\\begingroup", *smaller, f"\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}"]
    lines += [f"{title}{mark}\\\\", "\\toprule", head, "\\midrule", "\\endfirsthead"]
    lines += ["\\toprule", head, "\\midrule", "\\endhead", "\\bottomrule", "\\endfoot"]
    lines += [*rows, "\\end{longtable}", *below, "\\endgroup", ""]
    return "\n".join(lines)


def _lines(study: Study, row: dict[str, Any], columns: Columns, size: _Size) -> int:
    """Return the approximate number of lines of a row, from its longest text."""
    texts = (study.text(row, column) for column in columns if not column.form)
    return math.ceil(max((_ems(text) * size.em / WRAPPED for text in texts), default=0)) or 1


def _latex_kind(study: Study, column: Column, size: _Size) -> str:
    """Return the LaTeX column specification of a column."""
    if column.form:
        return "r@{~}l" if column.interval else "r"
    is_wrapped = _width(study, column, size) >= WRAPPED + size.gap
    return f"p{{{WRAPPED:g}pt}}" if is_wrapped else "l"


def _latex_row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_head(column: Column) -> str:
    name = _latex(column.name)
    return f"\\multicolumn{{2}}{{c}}{{{name}}}" if column.interval else name


def _latex_cell(text: str, column: Column) -> str:
    """Return a cell, or two for a figure and its interval, with typographic minus signs."""
    if not column.form:
        return re.sub(r"^[+-](?= )", r"$\g<0>$", _latex(text))
    text = re.sub(r"e([+-]\d+)", lambda found: rf"$\cdot10^{{{int(found[1])}}}$", _latex(text))
    figure, bracket, interval = re.sub(r"(?<!\{)-(?=\d)", "$-$", text).partition(" (")
    if not column.interval:
        return f"{figure}{bracket}{interval}"
    return f"{figure} & {bracket.strip()}{interval.replace(' to ', '--')}"


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in one_line(text))


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", text)


def markdown_table(study: Study) -> str:
    """Return a table in GitHub's Markdown, with a caption above, and a legend and notes below."""
    columns = study.table_columns
    names = [_markdown(column.name) for column in columns]
    sides = ["---:" if column.form else "---" for column in columns]
    rows = [[_markdown(study.text(row, column)) for column in columns] for row in study.rows]
    lines = [f"**{_markdown(heading(study))}**", ""]
    if summary := study.summary():
        lines += [_markdown(" ".join(summary)), ""]
    lines += [f"| {' | '.join(cells)} |" for cells in (names, sides, *rows)]
    lines += [
        "",
        *(f"* {_markdown(name)}: {_markdown(about)}" for name, about in legend(columns).items()),
    ]
    lines += ["", *(f"{_markdown(note)}\n" for note in study.notes)]
    command = str(study.run.get("command", "")).replace("`", "'")
    lines.append(f"`{command}`, cutnode {study.machine.get('cutnode', '?')}")
    return "\n".join([*lines, ""])


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", one_line(text))


COLUMNS = (
    Column("parameter", "name, for `--set` and `parameters=`"),
    Column("value", "value that searches use", "g"),
    Column("default", "value without a game's profile", "g"),
    Column("range", "allowed values"),
    Column("unit", "UNIT: a margin, in the game's UNIT"),
    Column("about", "meaning; depths are remaining depths in plies"),
    Column("measured", "measured effect"),
)


def parameters_study(game: Game | None = None) -> Study:
    """List the parameters of the engine's techniques, with the values of a *game*'s profile."""
    profile = DEFAULT if game is None else profile_of(type(game.start()))
    rows = [
        {
            "parameter": name,
            "value": profile.values.get(name, parameter.default),
            "default": parameter.default,
            "range": f"{parameter.least:,} to {parameter.most:,}",
            "unit": "UNIT" if parameter.margin else "",
            "about": parameter.about,
            "measured": parameter.measured,
        }
        for name, _, parameter in parameters_of(every_technique())
    ]
    settings = {} if game is None else {"game": game.source}
    return Study("parameters", "Parameters of techniques", settings, COLUMNS, rows)
