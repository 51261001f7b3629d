"""Studies as tables of LaTeX and Markdown, for papers and pages."""

from __future__ import annotations

import re

from engine.lab.study import Column, Study, one_line

__all__ = ["heading", "latex_table", "legend", "markdown_table"]

LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{'"': "''", "`": r"\textasciigrave{}"},
}
"""What LaTeX takes for a command or sets as something else, and how to get the character."""

MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
"""What Markdown takes for a mark."""


def heading(study: Study) -> str:
    """Return what the study is about, and what was searched."""
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


def legend(study: Study) -> dict[str, str]:
    """Return the meaning of the columns that say one."""
    return {
        column.name: f"{column.about} (95 % interval)" if column.interval else column.about
        for column in study.columns
        if column.about
    }


def latex_table(study: Study) -> str:
    """Return a table of LaTeX: the package ``booktabs``, a caption, a label, and a legend below."""
    kinds = "".join(
        "r@{~}l" if column.interval else "r" if column.form else "l" for column in study.columns
    )
    lines = [
        f"% {one_line(study.run.get('command', 'cutnode'))}",
        f"% cutnode {study.machine.get('cutnode', '?')}, {study.run.get('started', '')}",
        "% in the preamble: \\usepackage{booktabs}",
        "\\begin{table}[htbp]",
        "\\centering",
        f"\\caption{{{_latex(heading(study))}.}}",
        f"\\label{{tab:{_label(study.name)}}}",
        f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        "\\toprule",
        _latex_row([_latex_head(column) for column in study.columns]),
        "\\midrule",
        *(
            _latex_row([_latex_cell(study.text(row, column), column) for column in study.columns])
            for row in study.rows
        ),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    meanings = [f"{_latex(name)}: {_latex(about)}" for name, about in legend(study).items()]
    if meanings:
        lines.append(f"\\par\\smallskip\n{{\\footnotesize {'; '.join(meanings)}.\\par}}")
    return "\n".join([*lines, "\\end{table}", ""])


def _latex_row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_head(column: Column) -> str:
    name = _latex(column.name)
    return f"\\multicolumn{{2}}{{c}}{{{name}}}" if column.interval else name


def _latex_cell(text: str, column: Column) -> str:
    """Return a cell, or two of a figure and its interval, with minus signs as papers have them."""
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
    """Return a table of Markdown (GitHub's) below its caption; a legend and the notes follow."""
    names = [_markdown(column.name) for column in study.columns]
    sides = ["---:" if column.form else "---" for column in study.columns]
    rows = [[_markdown(study.text(row, column)) for column in study.columns] for row in study.rows]
    lines = [f"**{_markdown(heading(study))}**", ""]
    lines += [f"| {' | '.join(cells)} |" for cells in (names, sides, *rows)]
    lines += [
        "",
        *(f"* {_markdown(name)}: {_markdown(about)}" for name, about in legend(study).items()),
    ]
    lines += ["", *(f"{_markdown(note)}\n" for note in study.notes)]
    command = str(study.run.get("command", "")).replace("`", "'")
    lines.append(f"`{command}`, cutnode {study.machine.get('cutnode', '?')}")
    return "\n".join([*lines, ""])


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", one_line(text))
