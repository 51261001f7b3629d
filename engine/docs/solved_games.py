"""The page of solved games: its rows, and a program that solves them again and prints them.

    python engine/docs/solved_games.py [--seconds N] [GAME ...]

A row that is not proven within the seconds (20 by default) is printed as it is; one whose value is
another ends the run.  Nodes and seconds are for one thread with an empty table; seconds are
processor time.
Rows without a second method are solved by another engine as well, if it needs no longer.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import NamedTuple, Self

import cutnode
from cutnode.contract.loading import Game
from cutnode.kernels.scores import is_decisive
from cutnode.search.loops import has_loops

FILE = Path(__file__).with_suffix(".txt")
PROOFS = FILE.parent / "proofs"
SEARCH = "search"
"""The engine that stands in for a tablebase in memory, in games with cycles."""


class Row(NamedTuple):
    """A line of the file."""

    game: str
    """The game, and perhaps moves after a blank."""
    value: str
    """For the player to move, and what else is known, as :func:`value_of` writes it."""
    source: str
    """The key of who published the value first; "-": in no source that was searched."""
    nodes: str
    seconds: str
    options: str
    """Options of ``cutnode solve``; after ``analyse`` of that command."""
    second: str
    """A second method that found the same value, with its nodes."""
    certificate: str
    """The name of a proof in ``engine/docs/proofs``."""

    @classmethod
    def of(cls, line: str) -> Self:
        """Return the row that a line holds."""
        fields = [field.strip() for field in line.split(";")]
        return cls(*fields, *[""] * (len(cls._fields) - len(fields)))

    def line(self) -> str:
        """Return the row as a line of the file."""
        return " ; ".join(self).rstrip(" ;")

    @property
    def asked(self) -> list[str]:
        """The game, and a position if there are moves."""
        return self.game.split(" ", 1)

    def solved(self, seconds: float, engine: str | None = None) -> cutnode.Result:
        """Solve the game with the row's options, or with another engine or "search"."""
        words = self.options.split()
        named = dict(itertools.pairwise(words))
        prove = cutnode.analyse if "analyse" in words else cutnode.solve
        return prove(
            *self.asked,
            weak="--weak" in words,
            engine=named.get("--engine") if engine in (None, SEARCH) else engine,
            table=int(named.get("--table-mb", 256)),
            memory=0 if engine == SEARCH else int(named.get("--memory-mb", 512)) << 20,
            seconds=seconds,
        )


def rows(path: Path = FILE) -> tuple[list[Row], dict[str, str]]:
    """Return the rows of the file, and its sources by their keys."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:1] not in "#"]
    sources = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return [Row.of(line) for line in lines if " = " not in line], sources


def value_of(result: cutnode.Result) -> str:
    """Return a value as the file has it.

    In games that fall apart it has the nimber, or the outcome class; in decisive games with cycles
    a win has its plies; after ``analyse`` the moves follow that win.
    """
    position = result.position
    words = [str(result.value)]
    if result.outcome_class is not None:
        words.append(result.outcome_class if result.nimber is None else f"nimber {result.nimber}")
    if result.value and has_loops(type(position)) and is_decisive(type(position)):
        words.append(f"{result.depth} plies")
    if result.scores:
        text = Game.of(position).move_text
        words.append(" ".join(text(position, m) for m, score in result.scores.items() if score > 0))
    return ", ".join(words)


def table() -> str:
    """Return the table of solved games, and the list of its sources."""
    found, sources = rows()
    numbers = {key: number for number, key in enumerate(sources, 1)}
    lines = [
        "| game | value | first published | nodes | seconds | options | second method | proof |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        published = f"[{numbers[row.source]}](#sources)" if row.source in numbers else "-"
        proof = f"[{row.certificate}](../proofs/{row.certificate})" if row.certificate else ""
        options = f"`{row.options}`" if row.options else ""
        nodes = f"{int(row.nodes):,}"
        lines.append(
            f"| `{row.game}` | {row.value} | {published} | {nodes} | {row.seconds} "
            f"| {options} | {row.second} | {proof} |"
        )
    listed = [f"{number}. {sources[key]}" for key, number in numbers.items()]
    return "\n".join([*lines, "", "## Sources", "", *listed])


def second(row: Row, result: cutnode.Result, seconds: float) -> str:
    """Return another engine that finds the same value, with its nodes; "" if it takes too long."""
    other = "pn" if result.engine == "alphabeta" else "alphabeta"
    if has_loops(type(result.position)):
        other = SEARCH
    again = row.solved(seconds, other)
    if again.proven and again.value != result.value:
        sys.exit(f"{row.game}: {again.value} by {other}, not {result.value}")
    return f"{other} {again.nodes:,}" if again.proven else ""


def main() -> None:
    asked = sys.argv[1:]
    seconds = 20.0
    if asked[:1] == ["--seconds"]:
        seconds, asked = float(asked[1]), asked[2:]
    for row in rows()[0]:
        if asked and row.game not in asked:
            continue
        cutnode.solve(*row.asked, nodes=1, engine=row.solved(1e-3).engine)  # compiles
        began = time.process_time()
        result = row.solved(seconds)
        spent = time.process_time() - began
        if result.proven:
            value = value_of(result)
            if row.value not in ("", value):
                sys.exit(f"{row.game}: {value}, not {row.value}")
            row = row._replace(value=value, nodes=str(result.nodes), seconds=f"{spent:.2f}")
            row = row._replace(second=row.second or second(row, result, seconds))
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
