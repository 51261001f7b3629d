"""MkDocs hooks: parts of pages, and whole pages, that are generated from the sources.

On a page, the line ``::: cutnode.NAME`` becomes the reference of a public name, and
``{{ name words }}`` the result of calling a function of :data:`INSERTS` with the words.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from docstrings import ROLE, markdown, summary
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from solved_games import table

from cutnode import _HOMES

__all__ = ["INSERTS", "contract_page", "on_config", "on_files", "on_page_markdown"]

ROOT = Path(__file__).parents[2]
VERBS = ROOT / "engine" / "cutnode" / "contract" / "verbs.py"
MEASURED = ROOT / "engine" / "docs" / "howto" / "literature.json"
"""A study by `cutnode lab literature --out`, of all entries."""

GAMES = {
    path.parent.name if path.name == "__init__.py" else path.stem: path
    for pattern in ("*.py", "*/__init__.py")
    for path in sorted((ROOT / "games").glob(pattern))
    if path.parent.name != "games" or path.name != "__init__.py"
}
"""The source of each game's rules, by its name."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add a page for each game, and the changelog, to the navigation."""
    assert config.nav is not None
    for section in config.nav:
        if "Reference" in section:
            pages = [{name: f"reference/games/{name}.md"} for name in sorted(GAMES)]
            section["Reference"].append({"Games": ["reference/games.md", *pages]})
    config.nav.append({"Changelog": "changelog.md"})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Generate a page from each game's docstring, and one from the changelog."""
    for name, path in GAMES.items():
        files.append(
            File.generated(config, f"reference/games/{name}.md", content=game_page(name, path))
        )
    changelog = (ROOT / "CHANGELOG.md").read_text()
    files.append(File.generated(config, "changelog.md", content=changelog))
    return files


def on_page_markdown(text: str, **context: Any) -> str:
    """Replace the references and inserts on a page."""
    text = re.sub(r"^::: cutnode\.(\w+)$", _reference, text, flags=re.M)
    return re.sub(r"^\{\{ (\w+) ?(.*?) \}\}$", _insert, text, flags=re.M)


def _reference(found: re.Match[str]) -> str:
    name = found[1]
    options = {"heading": f"cutnode.{name}", "toc_label": name}
    lines = [f"::: {_HOMES[name]}.{name}", "    options:"]
    return "\n".join([*lines, *(f"      {key}: {value}" for key, value in options.items())])


def _insert(found: re.Match[str]) -> str:
    return INSERTS[found[1]](*found[2].split())


def docstring(path: Path) -> str:
    """Return the docstring of a module, without importing it."""
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def game_page(name: str, path: Path) -> str:
    """Return the page of a game: the rules, values, texts and encoding from its docstring."""
    title, _, rest = docstring(path).partition("\n\n")
    source = path.relative_to(ROOT)
    head = f"# {name}\n\n{' '.join(title.split())}\n\n```sh\ncutnode play {name}\n```\n\n"
    rest = re.sub(
        r"^(Rules|Values|Variants|Text|Encoding|Hints):\s+(.)", _heading, rest, flags=re.M
    )
    return f"{head}{markdown(rest)}\nSource: `{source}`\n"


def _heading(found: re.Match[str]) -> str:
    return f"## {found[1]}\n\n{found[2].upper()}"


def games() -> str:
    """Return the table of the games."""
    rows = [
        f"| [{name}](games/{name}.md) | {summary(docstring(path))} |"
        for name, path in sorted(GAMES.items())
    ]
    return "\n".join(["| name | game |", "|---|---|", *rows])


def techniques() -> str:
    """Return the table of the techniques of the search."""
    from cutnode.kernels.techniques import every_technique

    rows = [
        f"| `{technique.name}` | {'exact' if technique.exact else 'selective'} "
        f"| {technique.about} | {f'`{technique.needs}`' if technique.needs else ''} |"
        for technique in every_technique()
    ]
    return "\n".join(["| name | | what it does | needs |", "|---|---|---|---|", *rows])


def sources() -> str:
    """Return the table of the techniques' published sources."""
    from cutnode.kernels.techniques import every_technique

    every = (technique for technique in every_technique() if technique.source)
    rows = [f"| `{technique.name}` | {technique.source} |" for technique in every]
    return "\n".join(["| technique | source |", "|---|---|", *rows])


def parameters() -> str:
    """Return the table of the techniques' parameters."""
    from cutnode.kernels.techniques import every_technique, parameters_of

    rows = [
        f"| `{name}` | {each.default:g} | {each.least:g} to {each.most:g} | {each.about}"
        f"{f' ({each.measured})' if each.measured else ''} |"
        for name, _, each in parameters_of(every_technique())
    ]
    return "\n".join(["| parameter | default | range | |", "|---|---|---|---|", *rows])


def literature() -> str:
    """Return the published results, with what a run of the command has measured."""
    from cutnode.lab import read_study
    from cutnode.lab.literature import entries

    study = read_study(str(MEASURED))
    parts = [" ".join(study.summary())]
    for entry in entries():
        rows = [row for row in study.rows if row["entry"] == entry.name]
        cells = [[_cell(study.text(row, column)) for column in study.columns[1:]] for row in rows]
        table = "\n".join(
            ["| | published | measured (95 %) | |", "|---|---|---|---|"]
            + [f"| {' | '.join(row)} |" for row in cells]
        )
        texts = {
            "Source": f"{entry.source} Read: {entry.read}.",
            "Claim": entry.claim,
            "Published set-up": entry.setup,
            "Here": entry.here,
            "A difference": entry.difference,
        }
        about = "\n".join(f"* {name}: {_plain(text)}" for name, text in texts.items())
        parts.append(f"### {entry.name}: {entry.title}\n\n{table}\n\n{about}")
    versions = {key: study.machine[key] for key in ("cutnode", "python", "numba")}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts.append(f"Measured by `{study.run['command']}` with {told}, {study.run['started']}.")
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Return a text in which Markdown finds no markup."""
    return re.sub(r"([*_<|])", r"\\\1", text)


def groups() -> dict[str, list[str]]:
    """Return the names of the verbs of each group, as the contract lists them."""
    rows = re.findall(r"^(\w+) +``([^`]*)``: ", docstring(VERBS), re.M)
    return {group: names.split() for group, names in rows}


def contract_page() -> str:
    """Return the reference of the contract: the text of ``reference/contract.md``."""
    tree = ast.parse(VERBS.read_text())
    known = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    text = re.sub(r"^=+ =+\n(.*\n)*?=+ =+\n", "", docstring(VERBS), flags=re.M)
    parts = ["# The contract", _in_plain_markdown(text)]
    for group, names in groups().items():
        parts.append(f"## {group.capitalize()}: {_purposes()[group]}")
        parts += [_verb(known[name]) for name in names]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _purposes() -> dict[str, str]:
    """Return the purpose of each group of verbs, from the contract's docstring."""
    found = re.findall(r"^(\w+) +``[^`]*``: ((?:.*\n)(?: .*\n)*)", docstring(VERBS), re.M)
    return {group: " ".join(purpose.split()) for group, purpose in found}


def _verb(function: ast.FunctionDef) -> str:
    """Return the reference of a verb: its signature and its docstring."""
    parameters = ", ".join(argument.arg for argument in function.args.args)
    head = f"### {function.name} {{ #cutnode.contract.verbs.{function.name} }}"
    returned = ast.unparse(function.returns).replace("Any", "Position") if function.returns else ""
    call = f"`{function.name}({parameters}) -> {returned}`"
    text = _in_plain_markdown(ast.get_docstring(function) or "")
    return f"{head}\n\n{call}\n\n{text}"


def _in_plain_markdown(text: str) -> str:
    """Return the Markdown of a docstring, with references as plain names, not links."""
    return markdown(re.sub(ROLE, r"``\1``", text))


def module(path: str) -> str:
    """Return the docstring of a module."""
    text = docstring(ROOT / path)
    return markdown(re.sub(r"^=+ =+\n(.*\n)*?=+ =+\n", "", text, flags=re.M))


def package(name: str) -> str:
    """Return the references of the names of a package that ``cutnode`` does not export itself."""
    tree = ast.parse((ROOT / "engine" / "cutnode" / name / "__init__.py").read_text())
    lists = (node.value for node in tree.body if isinstance(node, ast.Assign))
    names = next(ast.literal_eval(value) for value in lists if isinstance(value, ast.List))
    return "\n\n".join(f"::: cutnode.{name}.{public}" for public in names if public not in _HOMES)


def commands() -> str:
    """Return the reference of all commands, generated from their help."""
    from cutnode.cli.main import main

    return "\n\n".join(_described(click.Context(main, info_name="cutnode")))


def _described(context: click.Context) -> Iterator[str]:
    """Yield the reference of a command and of its subcommands."""
    command = context.command
    if context.parent is not None:
        yield f"{'#' * (context.command_path.count(' ') + 1)} {context.command_path}"
        yield "```text\n" + command.get_usage(context).removeprefix("Usage: ") + "\n```"
        yield _paragraphs(command.help or "")
        options = [param for param in command.params if isinstance(param, click.Option)]
        records = filter(None, (option.get_help_record(context) for option in options))
        rows = [f"| `{names}` | {_cell(about)} |" for names, about in records]
        yield "\n".join(["| option | |", "|---|---|", *rows] if rows else [])
        if command.epilog != context.find_root().command.epilog:
            yield _paragraphs(command.epilog or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _described(click.Context(below, context, info_name=name))


def _paragraphs(text: str) -> str:
    """Return the help of a command, without the parts common to all commands.

    Paragraphs that click does not wrap, marked by a backspace, become code blocks.
    """
    parts = [part.strip("\n") for part in inspect.cleandoc(text).split("\n\n")]
    own = [part for part in parts if not re.match(r"(\x08\n)?(Exit codes|GAME and POSITION)", part)]
    blocks = [f"```text\n{part[2:]}\n```" if part.startswith("\b") else part for part in own]
    return "\n\n".join(blocks)


def _cell(text: str) -> str:
    """Return a text for a table cell, with everything escaped except code."""
    return re.sub(r"[|<\[]", lambda found: f"&#{ord(found[0])};", " ".join(text.split()))


INSERTS: dict[str, Callable[..., str]] = {
    "commands": commands,
    "games": games,
    "literature": literature,
    "module": module,
    "package": package,
    "parameters": parameters,
    "solved": table,
    "sources": sources,
    "techniques": techniques,
}

if __name__ == "__main__":
    (ROOT / "engine" / "docs" / "reference" / "contract.md").write_text(contract_page())
