"""The command ``cutnode``: solve, count and show positions from a shell.

Standard output holds results and nothing else; progress and summaries go to standard
error, and only where a person is watching.  Exit codes: 0 all is done and proven, 1 an
unexpected failure, 2 bad input, 3 a limit ended a search before the proof, 4 a game breaks
the contract, 130 interrupted (what was found until then is printed).
"""

from __future__ import annotations

import errno
import functools
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

import engine
from engine.cli.inputs import chosen_techniques, read_positions
from engine.cli.lab import lab
from engine.cli.options import (
    DEPTH_IN,
    EVALUATION,
    EXACT,
    FILE,
    TECHNIQUES,
    WITHOUT,
    nodes_option,
    seconds_option,
    table_mb,
    threads_option,
)
from engine.cli.play import match
from engine.cli.play import play as play_game
from engine.cli.progress import progress_bar
from engine.cli.tree import tree
from engine.contract.dispatch import defines
from engine.contract.errors import ContractError, CutnodeError
from engine.contract.messages import board, explained, forgiving, move_text, position_text
from engine.contract.text import quoted
from engine.contract.verbs import outcome, play
from engine.kernels.mate import MOST_MOVES
from engine.playing.record import is_over
from engine.search.results import Result, score_text
from engine.search.searcher import DRIVERS
from engine.storage.tables import Table

__all__ = ["main"]

BAD_INPUT = 2
NOT_PROVEN = 3
BREAKS_CONTRACT = 4
INTERRUPTED = 130

WITHOUT_CHANCE = ("all_moves", "weak", "nodes", "threads", "table_mb", "cold")
WITH_CHANCE = ("positions", "tolerance")
"""Options of how a game without chance is solved, and one with chance."""

COMMANDS = "cutnode.commands"
"""Entry points of this group, ``name = "module:command"``, are commands of click."""

EPILOG = """\
\b
GAME      the name of a game (`cutnode games` lists them), a module such as
          my_package.my_game, or a path such as my_game.py; a variant may
          follow after a colon: connect4:8x7.
POSITION  in the game's own notation, for instance the columns played; the
          default is the start. Before one that begins with '-', write --.

\b
Exit codes: 0 all done and proven, 1 an unexpected failure, 2 bad input,
3 a limit ended a search before the proof, 4 a game breaks the contract, 130
interrupted (what was found until then is printed).
"""


class Commands(click.Group):
    """A group whose commands fail with one line and a documented exit code.

    Games add commands of their own by entry points of the group ``COMMANDS``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *commands_of_games()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        added = commands_of_games().get(name) if name not in self.commands else None
        return super().get_command(ctx, name) if added is None else loaded_command(added)

    def invoke(self, ctx: click.Context) -> Any:
        with forgiving() as failures:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                sys.exit(INTERRUPTED)
            except CutnodeError as error:
                fail(error)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                    written = error.filename or "standard output"
                    fail(CutnodeError(f"{written} cannot be written: {error.strerror}"))
                failure = explained(error)
                if failure is None:
                    raise
                fail(failure)
            finally:
                if failures and not isinstance(sys.exc_info()[1], Exception):
                    fail(failures[0])


@functools.cache
def commands_of_games() -> dict[str, metadata.EntryPoint]:
    """The commands that installed games add, by name."""
    return {entry.name: entry for entry in metadata.entry_points(group=COMMANDS)}


def loaded_command(entry: metadata.EntryPoint) -> click.Command:
    """The command that an entry point means, or one that says why it cannot be had."""
    try:
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"it is {command!r}, no command of click")
        return command
    except Exception as error:
        owner = "" if entry.dist is None else f" of {entry.dist.name}"
        reason = f"{type(error).__name__}: {error}"
        broken = CutnodeError(f"{entry.name}{owner} ({entry.value}) cannot be loaded: {reason}")

        def refuse(args: tuple[str, ...]) -> NoReturn:
            fail(broken)

        rest = click.Argument(["args"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True}
        return click.Command(
            entry.name, settings, refuse, [rest], short_help=f"Cannot be loaded: {reason}"
        )


def fail(error: CutnodeError) -> NoReturn:
    """End with one line that says what is wrong."""
    click.echo(f"cutnode: {' '.join(str(error).split())}", err=True)
    sys.exit(BREAKS_CONTRACT if isinstance(error, ContractError) else BAD_INPUT)


def installed_version() -> str:
    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "(not installed)"


@click.group(cls=Commands, epilog=EPILOG)
@click.version_option(installed_version(), prog_name="cutnode")
def main() -> None:
    """Solve positions of board games, play, count lines of play, and show boards."""
    sys.path.append(os.getcwd())  # where modules named by a person may be


main.add_command(lab)
main.add_command(play_game)
main.add_command(match)
main.add_command(tree)


def positions_of_game(command: Callable[..., None]) -> Callable[..., None]:
    """What all verbs take: a game, and a position of it or a file of positions."""

    @functools.wraps(command)
    def with_position(*, position: str | None, fen: str | None, **given: Any) -> None:
        if position is not None and fen is not None:
            raise CutnodeError("a position and --fen exclude each other")
        command(position=position if fen is None else fen, **given)

    decorated: Callable[..., None] = with_position
    for parameter in (
        click.option("--json", "as_json", is_flag=True, help="One JSON object per line."),
        FILE,
        click.option("--fen", metavar="TEXT", help="The position, written as an option."),
        click.argument("position", required=False),
        click.argument("game"),
    ):
        decorated = parameter(decorated)
    return decorated


@main.command(epilog=EPILOG)
@positions_of_game
@click.option("--all", "all_moves", is_flag=True, help="Prove the value of every move as well.")
@click.option("--weak", is_flag=True, help="Prove only who wins: 1 the mover, 0 nobody, -1.")
@nodes_option("At most N nodes for a position.")
@seconds_option("At most S seconds for a position.")
@threads_option("Search with N threads: all on one position, or each with a part of a file.")
@table_mb(256)
@click.option("--cold", is_flag=True, help="Start each position of a file with an empty table.")
@click.option(
    "--positions",
    type=click.IntRange(min=1),
    default=10_000_000,
    show_default=True,
    metavar="N",
    help="With chance: keep at most N positions, some 200 bytes each.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-9,
    show_default=True,
    metavar="X",
    help="With chance: how close the bounds of a value have to be.",
)
def solve(
    game: str,
    position: str | None,
    file: str | None,
    as_json: bool,
    all_moves: bool,
    table_mb: int,
    cold: bool,
    positions: int,
    tolerance: float,
    **search: Any,
) -> None:
    """Prove the value, a best move, and the line of best play.

    Values are for the player to move. At a terminal the value of every move is shown as
    well; elsewhere, and for files, only with --all.

    With --file each line is: position, value (or lower..upper if it is not proven), best
    move, nodes, seconds; with --all also the values of all moves.

    Games of chance are solved by value iteration over all positions that can be reached. The
    values of all moves or rolls are shown, and with --file the number of positions for nodes.
    """
    _, entries = read_positions(game, position, file)
    has_chance = defines(type(entries[0][1]), "chance")
    refuse_options(game, has_chance)
    if has_chance:
        limits = {"positions": positions, "tolerance": tolerance, "seconds": search["seconds"]}
        solve_by_iteration(entries, as_json=as_json, lines=file is not None, limits=limits)
        return
    table = Table(table_mb)
    started = time.perf_counter()
    results: Iterator[Result]
    if file is not None:
        results = solve_file([entry for _, entry in entries], table, all_moves, cold, search)
    else:
        start = entries[0][1]
        if not as_json:
            click.echo(f"{board(start)}\n")
        scored = all_moves or (sys.stdout.isatty() and not as_json)
        results = iter([(engine.analyse if scored else engine.solve)(start, table=table, **search)])

    width = max(len(text) for text, _ in entries)
    solved, nodes, interrupted = 0, 0, False
    for (text, _), result in zip(entries, results, strict=False):
        if result.reason == "interrupted":
            interrupted = True
            if file is not None and not result.nodes:
                continue  # its turn never came
        if as_json:
            click.echo(json.dumps(result.to_dict() | {"position": text}))
        elif file is None:
            click.echo(result)
        else:
            click.echo(f"{text:{width}}  {one_line(result)}")
        solved += result.reason == "proven" if all_moves else result.proven
        nodes += result.nodes

    if file is not None and sys.stderr.isatty():
        seconds = time.perf_counter() - started
        click.echo(
            f"{solved:,} of {len(entries):,} positions solved, "
            f"{nodes:,} nodes in {seconds:.3g} s ({nodes / seconds:,.0f} per second)",
            err=True,
        )
    if interrupted:
        sys.exit(INTERRUPTED)
    if solved < len(entries):
        sys.exit(NOT_PROVEN)


def refuse_options(game: str, has_chance: bool) -> None:
    """Fail if an option was given that says nothing about how such a game is solved."""
    ctx = click.get_current_context()
    refused = WITHOUT_CHANCE if has_chance else WITH_CHANCE
    for option in ctx.command.params:
        name = option.name or ""
        if name in refused and ctx.get_parameter_source(name) != ParameterSource.DEFAULT:
            kind = "a game of chance" if has_chance else "no game of chance"
            raise CutnodeError(f"{game} is {kind}: {option.opts[0]} does not apply")


def solve_by_iteration(
    entries: list[tuple[str, Any]], *, as_json: bool, lines: bool, limits: dict[str, Any]
) -> None:
    """Solve positions of a game of chance, and print what was found."""
    width = max(len(text) for text, _ in entries)
    proven = 0
    for text, start in entries:
        result = engine.iterate(start, **limits)
        data = result.to_dict()
        if as_json:
            click.echo(json.dumps(data | {"position": text}))
        elif not lines:
            click.echo(f"{board(start)}\n\n{result}")
        else:
            value = (
                f"{result.lower:.9g}..{result.upper:.9g}"
                if result.value is None
                else f"{result.value:.9g}"
            )
            click.echo(
                f"{text:{width}}  {value:>14}  {data['best_move'] or '-':>8}  "
                f"{result.positions:>12}  {result.seconds:>10.6f}"
            )
        proven += result.proven
        if result.reason == "interrupted":
            sys.exit(INTERRUPTED)
    if proven < len(entries):
        sys.exit(NOT_PROVEN)


def solve_file(
    positions: list[Any], table: Table, all_moves: bool, cold: bool, search: dict[str, Any]
) -> Iterator[Result]:
    """The results of many positions, in order; ends early if it is interrupted."""
    if not all_moves:
        with progress_bar(len(positions)) as progress:
            batch = engine.solve_many(
                positions, table=table, cold=cold, lines=True, progress=progress, **search
            )
        yield from itertools.islice(batch, len(batch) - 1)
        yield replace(batch[-1], reason=batch.reason) if batch.reason else batch[-1]
        return
    # At a terminal the lines show the progress, and a bar would get between them.
    with progress_bar(len(positions), wanted=not sys.stdout.isatty()) as progress:
        for done, position in enumerate(positions, 1):
            if cold:
                table.forget()
            result = engine.analyse(position, table=table, **search)
            progress(done)
            yield result
            if result.reason == "interrupted":
                return


def one_line(result: Result) -> str:
    """A result among others: value, best move, nodes, seconds, and scores if it has any."""
    data = result.to_dict()
    value = result.value if result.proven else f"{result.lower}..{result.upper}"
    best = data["best_move"] or "-"
    line = f"{value:>8}  {best:>4}  {result.nodes:>12}  {result.seconds:>10.6f}"
    for move, score in (data["scores"] or {}).items():
        line += f"  {move}:{'?' if score is None else score}"
    return line


@main.command(epilog=EPILOG)
@positions_of_game
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="At most N plies deep.")
@nodes_option()
@seconds_option("At most S seconds; 1 if no limit is given.")
@click.option("--lines", type=click.IntRange(min=1), default=1, metavar="N", help="N best moves.")
@EXACT
@TECHNIQUES
@WITHOUT
@click.option(
    "--driver",
    type=click.Choice(DRIVERS),
    default="alphabeta",
    show_default=True,
    help="How a depth is searched: mtdf uses null windows only.",
)
@EVALUATION
@DEPTH_IN
@click.option("--seed", type=int, metavar="N", help="Choose among equal moves by N.")
@threads_option("Search each position with N threads.")
@table_mb(64)
@click.option("--statistics", is_flag=True, help="Print what the search counted.")
@click.option("--debug", is_flag=True, help="Check a game of chance while it is searched.")
def search(
    game: str,
    position: str | None,
    file: str | None,
    as_json: bool,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    lines: int,
    exact: bool,
    techniques: str | None,
    without: str | None,
    driver: str,
    evaluation: str | None,
    depth_in: str,
    seed: int | None,
    threads: int,
    table_mb: int,
    statistics: bool,
    debug: bool,
) -> None:
    """Find the best move as deep as limits allow, with the game's estimates.

    Scores are for the player to move. Each position starts from an empty table.
    """
    _, entries = read_positions(game, position, file)
    if depth is None and nodes is None and seconds is None:
        seconds = 1.0
    engine_of_game = engine.Engine(
        entries[0][1],
        table=table_mb,
        threads=threads,
        evaluation=evaluation,
        techniques=chosen_techniques(type(entries[0][1]), techniques, without, exact),
        exact=exact,
        driver=driver,
        depth_in=depth_in,
        debug=debug,
    )
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        engine_of_game.new_game()
        result = engine_of_game.search(
            start, depth=depth, nodes=nodes, seconds=seconds, lines=lines, seed=seed
        )
        data = result.to_dict()
        if as_json:
            click.echo(json.dumps(data | {"position": text}))
        elif file is None:
            drawn = is_over(start) and not outcome(start)[0]
            note = "\na draw by the rules; if play goes on:" * drawn
            click.echo(f"{board(start)}\n{note}\n{result}")
        else:
            best = data["best_move"] or "-"
            click.echo(
                f"{text:{width}}  {score_text(result.value):>8}  {best:>4}  {result.depth:>3}  "
                f"{result.nodes:>12}  {result.seconds:>10.6f}"
            )
        if statistics and not as_json:
            for name, value in data["statistics"].items():
                number = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
                click.echo(f"  {name.replace('_', ' '):24}{number:>16}")
        if result.reason == "interrupted":
            sys.exit(INTERRUPTED)


@main.command(epilog=EPILOG)
@positions_of_game
@click.option(
    "--moves",
    type=click.IntRange(1, MOST_MOVES),
    default=3,
    show_default=True,
    metavar="N",
    help="Look for a win within N moves of the player to move.",
)
@click.option("--proof", is_flag=True, help="Print the answers to all replies, once verified.")
@nodes_option()
@seconds_option()
@table_mb(64)
def mate(
    game: str,
    position: str | None,
    file: str | None,
    as_json: bool,
    moves: int,
    proof: bool,
    nodes: int | None,
    seconds: float | None,
    table_mb: int,
) -> None:
    """Prove whether the player to move wins by force within N moves, and how.

    The win is the quickest one, and the line that of the longest defence. A proof is a tree: a
    reply and the answer to it, and indented what follows. What is reached in several ways is
    shown once and referred to by a number.

    With --file each line is: position, moves to win (- for no win, ? for not decided), best
    move, nodes, seconds. Each position starts from an empty table.
    """
    _, entries = read_positions(game, position, file)
    prover = engine.Prover(entries[0][1], table=table_mb)
    width = max(len(text) for text, _ in entries)
    done = True
    for text, start in entries:
        prover.table.forget()
        result = prover.prove(start, moves, proof=proof, nodes=nodes, seconds=seconds)
        if result.proof is not None:
            result.proof.verify()
        if as_json:
            click.echo(json.dumps(result.to_dict() | {"position": text}))
        elif file is None:
            click.echo(f"{board(start)}\n\n{result}")
        else:
            found = result.moves if result.moves is not None else "-" if result.proven else "?"
            best = result.line_text()[0] if result.pv else "-"
            spent = f"{result.nodes:>12}  {result.seconds:>10.6f}"
            click.echo(f"{text:{width}}  {found:>2}  {best:>5}  {spent}")
        if result.proof is not None and not as_json:
            click.echo(f"proof  {len(result.proof):,} positions, verified\n")
            for line in result.proof.lines():
                click.echo(f"  {line}")
        if result.reason == "interrupted":
            sys.exit(INTERRUPTED)
        done = done and result.reason == "proven"
    if not done:
        sys.exit(NOT_PROVEN)


@main.command(epilog=EPILOG)
@positions_of_game
@click.option(
    "--depth", type=click.IntRange(min=0), required=True, metavar="N", help="Count N moves deep."
)
@click.option("--divide", is_flag=True, help="Also count behind each move.")
@click.option("--finished", is_flag=True, help="Count lines that end the game earlier, too.")
@click.option("--no-bulk", is_flag=True, help="Make the last moves, too, instead of counting them.")
def perft(
    game: str,
    position: str | None,
    file: str | None,
    as_json: bool,
    depth: int,
    divide: bool,
    finished: bool,
    no_bulk: bool,
) -> None:
    """Count the lines of exactly N moves, a test of the rules."""
    _, entries = read_positions(game, position, file)
    count_lines = functools.partial(engine.perft, finished=finished, bulk=not no_bulk)
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        engine.perft(start, 0)  # compiles, so that the clock sees only the counting
        started = time.perf_counter()
        behind = {
            move_text(start, move): count_lines(play(start, move), depth - 1)
            for move in (engine.legal_moves(start) if divide and depth > 0 else ())
        }
        lines = sum(behind.values())
        if not behind:
            lines = count_lines(start, depth)
        seconds = time.perf_counter() - started
        if as_json:
            data = {"position": text, "depth": depth, "lines": lines, "seconds": seconds}
            click.echo(json.dumps(data | ({"moves": behind} if divide else {})))
        else:
            click.echo(lines if file is None else f"{text:{width}}  {lines}")
            for move, count in behind.items():
                click.echo(f"  {move}: {count}")
        if sys.stderr.isatty():
            rate = f"{lines / seconds:,.0f} per second"
            click.echo(f"{lines:,} lines in {seconds:.3g} s ({rate})", err=True)


@main.command(epilog=EPILOG)
@positions_of_game
def show(game: str, position: str | None, file: str | None, as_json: bool) -> None:
    """Print a position: the board, its text, and the legal moves."""
    _, entries = read_positions(game, position, file)
    for number, (text, shown) in enumerate(entries):
        line = position_text(shown)
        moves = [move_text(shown, move) for move in engine.legal_moves(shown)]
        if as_json:
            data = {"position": text, "board": line, "moves": moves, "over": is_over(shown)}
            click.echo(json.dumps(data))
        else:
            click.echo("\n" * (number > 0) + f"{board(shown, colours=True)}\n\ntext   {line}")
            why = "the game is over" if outcome(shown)[0] else "chance decides"
            click.echo(f"moves  {' '.join(moves) or f'none: {why}'}")
            if moves and is_over(shown):
                click.echo("over   a draw by the rules, whatever is played")


@main.command(epilog=EPILOG)
@click.argument("game")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Play N games.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Play other games."
)
@click.option("--rules", is_flag=True, help="Only the rules as plain Python, in a second or two.")
def check(game: str, games: int, seed: int, rules: bool) -> None:
    """Play a game at random and say what breaks the contract, and where.

    Checks that moves are legal and made once, keys, texts, bounds and all else that a game
    says against plain minimax, and the compiled rules against the same in plain Python.
    """
    from engine import conformance

    loaded = engine.load_game(game)
    findings = conformance.check(loaded, games=games, seed=seed, compile=not rules)
    for finding in findings:
        click.echo(finding)
    if findings:
        count = len(findings)
        click.echo(f"{count} finding{'s' * (count > 1)}", err=True)
        sys.exit(BREAKS_CONTRACT)
    click.echo(f"{loaded.name}: nothing found in {games} random games")


@main.command(epilog="\b\nFILE      a new file such as my_game.py; nothing is overwritten.")
@click.argument("file")
def new(file: str) -> None:
    """Write a small game to FILE, which passes `cutnode check`, to be replaced by yours."""
    path = Path(file)
    taken = path.stem in {*sys.stdlib_module_names, "engine", "games", "numba", "numpy"}
    if path.suffix != ".py" or not path.stem.isidentifier() or taken:
        raise CutnodeError(f"{quoted(file)} is not a name for a game: write one such as my_game.py")
    template = Path(__file__).with_name("template.py").read_text()
    try:
        with path.open("x") as target:
            target.write(template)
    except FileExistsError:
        raise CutnodeError(f"{file} is there already") from None
    except OSError as error:
        raise CutnodeError(f"{file} cannot be written: {error.strerror}") from None
    click.echo(f"{file}: a game of Nim. Try: cutnode check {file}; cutnode solve {file}")


@main.command()
def games() -> None:
    """List the games that have a name."""
    names = engine.game_names()
    width = max(map(len, names))
    failures = []
    for name in names:
        try:
            about = engine.load_game(name).module.__doc__ or ""
            click.echo(f"{name:{width}}  {about.partition(chr(10))[0]}")
        except CutnodeError as error:
            failures.append(str(error))
    if failures:
        raise CutnodeError("\n".join(failures))
