"""``cutnode solve --value``: canonical values of positions."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import NOT_PROVEN, interrupted
from cutnode.cli.live import live
from cutnode.cli.output import json_of_value
from cutnode.storage.files import check_file

if TYPE_CHECKING:
    from cutnode.cgt import Value
    from cutnode.search.canonical_values import ValueTable
    from cutnode.search.handles import Progress

MOST_TERMS = 2_000
"""The most terms of a value that is printed in full and has its temperature computed."""


def table_of(values: str, cls: Any) -> ValueTable:
    """Load the values of a game's parts from a file; :class:`CutnodeError` if it has others."""
    from cutnode.search.canonical_values import ValueTable, require_values

    table = ValueTable.load(values)
    require_values(table, cls)
    return table


def print_values(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    told: bool,
    limits: Any,
    values: str | None,
) -> None:
    """Print the canonical values of positions; *limits* are for each of them.

    Known values are taken from the file *values*, if it exists, and new ones are added to it.
    """
    from cutnode.search.canonical_values import ValueTable

    cls = type(entries[0][1])
    if values is None:
        _print_values(ValueTable(cls), entries, file, as_json, told, limits)
        return
    check_file(values)
    table = table_of(values, cls) if Path(values).exists() else ValueTable(cls)
    try:
        _print_values(table, entries, file, as_json, told, limits)
    finally:
        table.save(values)


def _print_values(
    table: ValueTable,
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    told: bool,
    limits: Any,
) -> None:
    from cutnode.search.canonical_values import UnknownValueError

    width = max(len(text) for text, _ in entries)
    unknown = 0
    for text, position in entries:
        if file is None and not as_json:
            click.echo(f"{drawn(position)}\n")
        started = time.perf_counter()

        def look(started: float = started) -> Progress:
            from cutnode.search.handles import Progress

            seconds = time.perf_counter() - started
            return Progress(0, None, None, None, (), table.positions, seconds, 0.0)

        value, reason = None, "proven"
        try:
            with live(position, look, told=told):
                value = table.value(position, limits)
        except UnknownValueError as error:
            click.echo(f"cutnode: {error}", err=True)
            reason = error.reason
            unknown += 1
        except KeyboardInterrupt:
            interrupted()
        seconds = time.perf_counter() - started
        if as_json:
            facts = {} if value is None else facts_of(value)
            click.echo(json_of_value(position, text, facts, table.positions, seconds, reason))
        elif file is not None:
            shown = "?" if value is None else text_of(value)
            click.echo(f"{text:{width}}  {shown}")
        elif value is not None:
            click.echo(described(value, table.positions, seconds))
    if unknown:
        sys.exit(NOT_PROVEN)


def text_of(value: Value) -> str:
    """Return a value in the notation of the field, or its size if it is large."""
    return str(value) if value.terms <= MOST_TERMS else f"a form of {value.terms:,} terms"


def facts_of(value: Value) -> dict[str, Any]:
    """Return what is said of a value; its temperature and mean are None if it is large."""
    graph = value.thermograph() if value.terms <= MOST_TERMS else None
    return {
        "canonical_value": text_of(value),
        "outcome_class": value.outcome,
        "nimber": value.nimber,
        "birthday": value.birthday,
        "terms": value.terms,
        "temperature": None if graph is None else str(graph.temperature),
        "mean": None if graph is None else str(graph.mean),
    }


def described(value: Value, positions: int, seconds: float) -> str:
    """Return a value in some lines for people."""
    from cutnode.search.results import CLASSES

    facts = facts_of(value)
    lines = [
        f"value        {facts['canonical_value']}  (Left is the player to move)",
        f"class        {value.outcome}  ({CLASSES[value.outcome]})",
        f"birthday     {value.birthday}",
    ]
    lines += [
        f"{name:12} {facts[name]}" for name in ("temperature", "mean") if facts[name] is not None
    ]
    return "\n".join([*lines, f"positions    {positions:,}  in {seconds:.3g} s"])
