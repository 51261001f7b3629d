"""The command ``cutnode play``.

Exit codes: 0 played, 2 bad input, 130 interrupted (the command to continue is printed).
"""

from __future__ import annotations

import contextlib
import sys
from contextlib import AbstractContextManager
from random import SystemRandom
from typing import Any

import click

from cutnode.cli.boards import look_of_terminal
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import INTERRUPTED
from cutnode.cli.options import (
    ANY_GAME,
    ENGINE,
    EVALUATION,
    PLAYOUTS,
    POSITION,
    depth_option,
    integer,
    nodes_option,
    seconds_option,
    seed_option,
    tablebase_option,
)
from cutnode.contract.choices import ENGINES
from cutnode.contract.errors import CutnodeError
from cutnode.playing.levels import FULL_STRENGTH, LEVELS

PLAYED = """
\b
Exit codes: 0 played, 1 an unexpected failure, 2 bad input, 130 interrupted
(the games or moves played so far are kept).
"""

POSITIONS = """\
\b
GAME      as in `cutnode solve --help`.
POSITION  in the game's own notation; the default is the start.
"""


ENGINE_SECONDS = 1
"""The default time limit per move with --engine or --evaluation."""


class Terminal:
    """A session's view on standard output and standard input."""

    def show(self, text: str) -> None:
        click.echo(text)

    def ask(self, prompt: str) -> str | None:
        if sys.stdin.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (makes lines editable)
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        except KeyboardInterrupt:
            click.echo()
            raise
        if not sys.stdin.isatty():
            click.echo(line)  # so that the output of a script reads like a session
        return line

    def thinking(self) -> AbstractContextManager[object]:
        if not sys.stderr.isatty():
            return contextlib.nullcontext()
        from rich.console import Console

        return Console(stderr=True).status("thinking")


@click.command(epilog=POSITIONS + PLAYED)
@ANY_GAME
@POSITION
@click.option(
    "--level", type=click.Choice(list(LEVELS)), help="The engine's level.  [default: medium]"
)
@integer(
    "--strength",
    "Strength instead of a level: 0 errs most, 100 not at all.",
    least=0,
    most=FULL_STRENGTH,
)
@ENGINE
@depth_option("The engine searches N plies deep (alphabeta).", least=1)
@PLAYOUTS
@nodes_option("The engine visits at most N positions per move.")
@seconds_option("The engine thinks at most S seconds per move.")
@EVALUATION
@click.option("--first", "sides", flag_value="first", help="You move first (the default).")
@click.option("--second", "sides", flag_value="second", help="The engine moves first.")
@click.option("--both", "sides", flag_value="both", help="Two people play.")
@click.option("--watch", "sides", flag_value="watch", help="The engine plays against itself.")
@tablebase_option("The engine and its hints use the tablebase in FOLDER.")
@seed_option("Random seed: the same N and the same moves give the same game.", None)
@click.option("--thoughts", is_flag=True, help="Show the engine's value and line with its moves.")
@click.option(
    "--resume",
    "file",
    metavar="FILE",
    shell_complete=complete_file,
    help="Resume a saved game.",
)
def play(
    game: str | None,
    position: str | None,
    level: str | None,
    strength: int | None,
    engine: str,
    sides: str | None,
    tablebase: str | None,
    seed: int | None,
    thoughts: bool,
    file: str | None,
    **options: Any,
) -> None:
    """Play a game in the terminal.

    Enter moves in the game's notation, or `help`.

    Games can be saved, and resumed with --resume, which needs GAME only for your own games. A
    .json file holds the whole session. A .pgn (chess) or .txt file holds only the moves; such a
    game resumes with the players that you choose.

    With --depth, --playouts, --nodes or --seconds but no --level or --strength, the engine plays
    as well as it can within these limits.
    """
    from cutnode.contract.loading import load_game
    from cutnode.playing.play import PERSON, Session, resume
    from cutnode.playing.records import read_record, record_suffix
    from cutnode.search.record import Record

    evaluation = options.pop("evaluation")
    given = {name: value for name, value in options.items() if value is not None}
    recorded = None
    if file is not None and record_suffix(file):
        recorded = read_record(file, game)
        game = recorded.name
    if file is not None and recorded is None:
        other = None if engine == ENGINES[0] else engine
        named = {"level": level, "strength": strength, "engine": other, **given}
        named |= {"evaluation": evaluation, "tablebase": tablebase, "seed": seed}
        own: dict[str, object] = {"POSITION": position, "a side": sides}
        own |= {f"--{name}": value for name, value in named.items()}
        surplus = [name for name, value in own.items() if value is not None]
        if surplus:
            raise CutnodeError(f"a resumed game keeps its settings: leave out {surplus[0]}")
        session = resume(file, game)
        session.thoughts |= thoughts
    else:
        if game is None:
            raise CutnodeError("say which game to play, as in cutnode play connect4")
        if recorded is not None and position is not None:
            raise CutnodeError(f"{file} says where the game begins: leave out POSITION")
        loaded = load_game(game)
        opponent = configuration(level, strength, engine, given, evaluation, tablebase)
        players = {
            "first": (PERSON, opponent),
            "second": (opponent, PERSON),
            "both": (PERSON, PERSON),
            "watch": (opponent, opponent),
        }[sides or "first"]
        seed = SystemRandom().getrandbits(24) if seed is None else seed
        try:
            start = loaded.parse((recorded.start if recorded else position) or "")
            record = Record(start, seed=seed)
            record.follow(recorded.steps if recorded else [])
        except CutnodeError as error:
            raise CutnodeError(f"{file}: {error}" if recorded else str(error)) from None
        # Players last: engines may have to be compiled.
        session = Session(
            loaded, game, record, players=players, thoughts=thoughts, tablebase=tablebase
        )
    session.look = look_of_terminal(type(session.record.position))
    if not session.run(Terminal()):
        sys.exit(INTERRUPTED)


def configuration(
    level: str | None,
    strength: int | None,
    engine: str,
    limits: dict[str, float],
    evaluation: str | None,
    tablebase: str | None,
) -> str:
    """Return the engine's configuration, as :func:`cutnode.make_player` takes it."""
    if level is not None and strength is not None:
        raise CutnodeError("--level and --strength exclude each other")
    is_other = engine != ENGINES[0]
    if is_other and (level is not None or strength is not None):
        kind = "level" if strength is None else "strength"
        raise CutnodeError(f"--{kind} needs alpha-beta: it does not go with --engine {engine}")
    if level is not None and evaluation is not None:
        raise CutnodeError("--level and --evaluation exclude each other: a level sets both")
    surplus = [name for name in limits if level is not None and name != "seconds"]
    if surplus:
        raise CutnodeError(f"--level and --{surplus[0]} exclude each other: a level sets its depth")
    settings = [
        f"{name}={value:g}" if name == "seconds" else f"{name}={value}"
        for name, value in limits.items()
    ]
    if (is_other or evaluation is not None) and strength is None and not limits:
        settings.append(f"seconds={ENGINE_SECONDS}")
    if is_other:
        settings.insert(0, f"engine={engine}")
    elif strength is not None:
        settings.insert(0, f"strength={strength}")
    elif level is not None or not settings:
        settings.insert(0, f"level={level or 'medium'}")
    if evaluation is not None:
        settings.append(f"evaluation={evaluation}")
    if tablebase is not None:
        settings.append(f"tablebase={tablebase}")
    return ",".join(settings)
