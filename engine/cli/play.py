"""The commands ``cutnode play`` and ``cutnode match``.

Exit codes: 0 played, 2 bad input, 130 interrupted (what was played is printed).
"""

from __future__ import annotations

import contextlib
import json
import sys
from contextlib import AbstractContextManager
from random import SystemRandom
from typing import Any

import click

from engine.cli.options import FILE, seconds_option
from engine.contract.errors import CutnodeError
from engine.contract.loading import load_game
from engine.playing.play import PERSON, Session, resume
from engine.playing.players import FULL_STRENGTH, LEVELS

__all__ = ["Terminal", "match", "play"]

INTERRUPTED = 130

CODES = """
\b
Exit codes: 0 played, 1 an unexpected failure, 2 bad input, 130 interrupted
(what was played until then is kept).
"""

POSITIONS = """\
\b
GAME      as in `cutnode solve --help`.
POSITION  where to begin, in the game's own notation; the default is the start.
"""

PLAYERS = """\
\b
GAME  as in `cutnode solve --help`.
A     a player: `random`, or settings separated by commas:
        level=NAME      easy, medium, hard or expert
        strength=N      0..100: errs as a person does, the less the higher N is
        depth=N, nodes=N, seconds=S
                        the limits of an engine
        evaluation=NAME, techniques=X+Y, without=X+Y, exact, driver=NAME, table=MIB
                        as the options of `cutnode search`
B     another, or the same.
"""


class Terminal:
    """A session's view: lines on standard output, and from standard input."""

    def show(self, text: str) -> None:
        click.echo(text)

    def ask(self, prompt: str) -> str | None:
        if sys.stdin.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (lines can be edited then)
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        except KeyboardInterrupt:
            click.echo()
            raise
        if not sys.stdin.isatty():
            click.echo(line)  # so that the record of a script reads well
        return line

    def thinking(self) -> AbstractContextManager[object]:
        if not sys.stderr.isatty():
            return contextlib.nullcontext()
        from rich.console import Console

        return Console(stderr=True).status("thinking")


@click.command(epilog=POSITIONS + CODES)
@click.argument("game", required=False)
@click.argument("position", required=False)
@click.option("--level", type=click.Choice(list(LEVELS)), help="The engine's level.  [medium]")
@click.option(
    "--strength",
    type=click.IntRange(0, FULL_STRENGTH),
    metavar="N",
    help="Instead of a level: the engine errs as a person does, the less the higher N is, to 100.",
)
@seconds_option("The engine thinks for S seconds at most.")
@click.option("--first", "sides", flag_value="first", help="You move first.  [default]")
@click.option("--second", "sides", flag_value="second", help="The engine moves first.")
@click.option("--both", "sides", flag_value="both", help="Two people play.")
@click.option("--watch", "sides", flag_value="watch", help="The engine plays against itself.")
@click.option("--seed", type=int, metavar="N", help="The same game again, if you play the same.")
@click.option("--thoughts", is_flag=True, help="Show the engine's value and line with its moves.")
@click.option("--resume", "file", metavar="FILE", help="Go on with a game that was saved.")
def play(
    game: str | None,
    position: str | None,
    level: str | None,
    strength: int | None,
    seconds: float | None,
    sides: str | None,
    seed: int | None,
    thoughts: bool,
    file: str | None,
) -> None:
    """Play a game in the terminal: write moves in its notation, or `help`.

    Games can be saved, and resumed with --resume, where GAME is needed for your own games
    only.
    """
    if file is not None:
        own: dict[str, object] = {"POSITION": position, "--level": level, "--strength": strength}
        own |= {"--seconds": seconds, "--seed": seed, "a side": sides}
        surplus = [name for name, value in own.items() if value is not None]
        if surplus:
            raise CutnodeError(f"a resumed game has its own settings: leave {surplus[0]} out")
        session = resume(file, game)
        session.thoughts |= thoughts
    else:
        if game is None:
            raise CutnodeError("say which game to play, as in cutnode play connect4")
        if level is not None and strength is not None:
            raise CutnodeError("--level and --strength exclude each other")
        loaded = load_game(game)
        skill = f"level={level or 'medium'}" if strength is None else f"strength={strength}"
        engine = skill if seconds is None else f"{skill},seconds={seconds:g}"
        players = {
            "first": (PERSON, engine),
            "second": (engine, PERSON),
            "both": (PERSON, PERSON),
            "watch": (engine, engine),
        }[sides or "first"]
        session = Session(
            loaded,
            game,
            loaded.parse(position or ""),
            players=players,
            seed=SystemRandom().getrandbits(24) if seed is None else seed,
            thoughts=thoughts,
        )
    session.colours = sys.stdout.isatty()
    if not session.run(Terminal()):
        sys.exit(INTERRUPTED)


@click.command(epilog=PLAYERS + CODES)
@click.argument("game")
@click.argument("a")
@click.argument("b")
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Play N pairs of games.  [50, or as many as there are positions in a FILE]",
)
@click.option(
    "--plies",
    type=click.IntRange(min=0),
    default=4,
    show_default=True,
    metavar="N",
    help="Begin each pair after N random moves.",
)
@FILE
@click.option(
    "--most-plies",
    type=click.IntRange(min=1),
    metavar="N",
    help="A game of N moves is a draw.  [the game's MAX_PLIES]",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Play other games."
)
@click.option("--elo0", type=float, metavar="ELO", help="Stop when A is surely no better than ELO.")
@click.option("--elo1", type=float, metavar="ELO", help="Stop when A is surely as good as ELO.")
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    metavar="P",
    help="Odds to accept elo1 wrongly.",
)
@click.option(
    "--beta",
    type=float,
    default=0.05,
    show_default=True,
    metavar="P",
    help="Odds to accept elo0 wrongly.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    metavar="N",
    help="Play N pairs at a time; the result is the same.",
)
@click.option("--record", metavar="FILE", help="Write the games to FILE, a JSON object per line.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def match(
    game: str,
    a: str,
    b: str,
    file: str | None,
    elo0: float | None,
    elo1: float | None,
    alpha: float,
    beta: float,
    record: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Let A play against B: the score, the difference in Elo, and how sure it is.

    Each opening is played twice, and each of A and B moves first once. With --elo0 and
    --elo1 a sequential test (SPRT) ends the match when it is decided. Games with limits of
    depth or nodes are the same each time.
    """
    from engine.cli.inputs import read_positions
    from engine.cli.progress import progress_bar
    from engine.playing import matches
    from engine.storage.files import check_file, write_whole

    sprt = None
    if elo0 is not None and elo1 is not None:
        sprt = matches.Sprt(elo0, elo1, alpha, beta)
    elif elo0 is not None or elo1 is not None:
        raise CutnodeError("--elo0 and --elo1 go together")
    if record is not None:
        check_file(record)
    loaded, entries = read_positions(game, None, file)
    openings = None if file is None else [position for _, position in entries]
    total = options["pairs"] or len(openings or range(50))
    with progress_bar(total) as progress:
        result = matches.match(
            loaded,
            a,
            b,
            openings=openings,
            sprt=sprt,
            progress=lambda now: progress(sum(now.pairs)),
            **options,
        )
    if record is not None:
        lines = (json.dumps(facts) + "\n" for facts in result.records)
        write_whole(record, "".join(lines).encode())
    click.echo(json.dumps(result.to_dict()) if as_json else result)
    if result.reason == "interrupted":
        sys.exit(INTERRUPTED)
