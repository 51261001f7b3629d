"""Go by the Go Text Protocol (GTP), version 2, for graphical interfaces and referees.

``cutnode gtp``, or ``python -m cutnode.games.go.gtp``, reads commands from standard input and
writes answers to standard output.  The protocol is G. Farneback's ("Specification of the Go Text
Protocol, version 2, draft 2", 2002).

Boards are square, of 1x1 to 9x9 points.  A move of the player who is not to move is accepted, as
the protocol wants, and so are moves after two passes.  ``final_score`` counts all stones on the
board as alive.

The engine plays to win, by whatever margin.  By default it is alpha-beta on boards of less than
``TREE_SIZE`` rows, and Monte Carlo tree search on larger ones.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import click

from cutnode import CutnodeError, MonteCarlo, PositionError, Searcher
from cutnode.contract.boards import board, remade
from cutnode.contract.choices import ENGINES
from cutnode.contract.notation import board_text
from cutnode.contract.verbs import play
from cutnode.games.go import (
    GOALS,
    KO,
    NO_POINT,
    YES_NO,
    area,
    lead,
    move_text,
    parse_move,
    places,
    rules,
    start,
)
from cutnode.kernels.clock import Clock, allot
from cutnode.playing.protocols import installed_version, lines_of_input, speaking
from cutnode.search.record import allowed_moves

__all__ = ["Session", "main"]

TREE_SIZE = 5
"""The rows from which Monte Carlo tree search is the default: at 0.1 s a move it scored all of 16
points against alpha-beta on 5x5, and on 7x7."""

TREE: dict[str, Any] = {"rave": 300, "exploration": 0.5}
"""The options of Monte Carlo tree search: 0.5 scored 8 of 10 points on 9x9 against the default of
1.5, at 6,000 playouts a move."""

COLOURS = {"b": False, "black": False, "w": True, "white": True}


class RefusedError(CutnodeError):
    """A command that fails, with the message of the protocol."""


class Session:
    """A game, and the commands about it.

    *seconds* limits a move where the controller sets no clock, and *nodes* in any case.  *engine*
    is one of ``ENGINES``; by default the size of the board decides.  *table*, in MiB, is the memory
    of either.  *ko* and *suicide* choose the rules as in variants of the game.  The same *seed* and
    *nodes* give the same game, as long as no clock ends a search.
    """

    def __init__(
        self,
        *,
        seconds: float = 5.0,
        nodes: int | None = None,
        seed: int | None = None,
        engine: str | None = None,
        table: int = 256,
        ko: str = KO[0],
        suicide: str = YES_NO[0],
    ):
        self.seconds = seconds
        self.nodes = nodes
        self.seed = seed
        self.engine = engine
        self.table = table
        self.rules = KO.index(ko), YES_NO.index(suicide), GOALS.index("win")
        self.komi = 0
        """In half points."""
        self.size = 5
        self.clocks: dict[bool, tuple[float, int]] = {}
        """Seconds and stones left, 0 without a count, by whether the clock is white's."""
        self.periods = (math.inf, 0.0, 0)
        """Main time, byo-yomi time and its stones, as ``time_settings`` gives them."""
        self.over = False
        self.searcher = functools.lru_cache(1)(self.new_searcher)
        self.lines: list[list[Any]] = []
        """The positions of the game after each command that changed it."""
        self.clear_board([])

    @property
    def position(self) -> Any:
        return self.lines[-1][-1]

    def answer(self, line: str) -> str:
        """Return the answer to a command; "" for an empty line or a comment."""
        text = "".join(c for c in line.replace("\t", " ") if c >= " " and c != "\x7f")
        words = text.partition("#")[0].split()
        if not words:
            return ""
        number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
        try:
            if not words or words[0] not in COMMANDS:
                raise RefusedError("unknown command")
            return f"={number} {COMMANDS[words[0]](self, words[1:])}".rstrip() + "\n\n"
        except CutnodeError as error:
            return f"?{number} {error}\n\n"

    # Administration

    def quit(self, words: list[str]) -> str:
        self.over = True
        return ""

    def known_command(self, words: list[str]) -> str:
        return str(words[0] in COMMANDS if words else False).lower()

    # The board

    def boardsize(self, words: list[str]) -> str:
        (size,) = numbers(words, 1)
        if size != int(size) or not 1 <= size <= 9:
            raise RefusedError("unacceptable size")
        self.size = int(size)
        most = 2 * self.size**2
        self.komi = max(-most, min(self.komi, most))
        return self.clear_board([])

    def clear_board(self, words: list[str]) -> str:
        self.lines = [[start(self.cls().VARIANT)]]
        self.clocks = {}
        self.searcher.cache_clear()  # a game depends on no earlier one
        return ""

    def set_komi(self, words: list[str]) -> str:
        (komi,) = numbers(words, 1)
        most = self.size**2
        if 2 * komi != int(2 * komi) or abs(komi) > most:
            raise RefusedError(f"komi must be {-most} to {most} in steps of 0.5, got {words[0]}")
        self.komi = int(2 * komi)
        cls = self.cls()
        self.lines = [[cls(*position) for position in line] for line in self.lines]
        return ""

    def cls(self) -> Any:
        """Return the position class of the board and the rules."""
        return rules(self.size, self.size, self.komi, *self.rules)

    def new_searcher(self, cls: Any) -> Searcher | MonteCarlo:
        """Return the engine for a position class."""
        if (self.engine or ENGINES[cls.HEIGHT >= TREE_SIZE]) == "mcts":
            return MonteCarlo(cls, memory=self.table << 20, **TREE)
        return Searcher(cls, table=self.table)

    # Moves

    def with_mover(self, word: str) -> list[Any]:
        """Return the positions of the game, where the last one has a colour to move."""
        colour = COLOURS.get(word.lower())
        if colour is None:
            raise RefusedError("syntax error")
        *before, position = self.lines[-1]
        mine, theirs = board(position, 0), board(position, 1)
        if position.second != colour:
            position = remade(position, theirs, mine, NO_POINT, 0, colour)
        return [*before, position._replace(passes=position.passes % 2)]

    def play(self, words: list[str]) -> str:
        if len(words) != 2:
            raise RefusedError("syntax error")
        game = self.with_mover(words[0])
        try:
            move = parse_move(game[-1], words[1])
        except PositionError:
            raise RefusedError("illegal move") from None
        if move not in allowed_moves(game[-1], game[:-1]):
            raise RefusedError("illegal move")
        self.lines.append([*game, play(game[-1], move)])
        return ""

    def genmove(self, words: list[str], *, keep: bool = True) -> str:
        if len(words) != 1:
            raise RefusedError("syntax error")
        game = self.with_mover(words[0])
        position, clock = game[-1], Clock(None)
        move = position.AREA
        if places(position):
            limits = {"seconds": self.time_to_move(position.second), "nodes": self.nodes}
            searcher = self.searcher(type(position))
            found = searcher.search(position, history=game[:-1], seed=self.seed, **limits)
            if found.reason == "interrupted":
                raise KeyboardInterrupt
            move = found.lines[0].move
        if keep:
            self.lines.append([*game, play(position, move)])
            if position.second in self.clocks:
                left, stones = self.clocks[position.second]
                self.clocks[position.second] = left - clock.elapsed(), max(0, stones - 1)
        return move_text(position, move)

    def reg_genmove(self, words: list[str]) -> str:
        return self.genmove(words, keep=False)

    def undo(self, words: list[str]) -> str:
        if len(self.lines) == 1:
            raise RefusedError("cannot undo")
        self.lines.pop()
        return ""

    # Time

    def time_settings(self, words: list[str]) -> str:
        main, extra, stones = numbers(words, 3)
        self.periods = (math.inf if extra and not stones else main, extra, int(stones))
        self.clocks = {}
        return ""

    def time_left(self, words: list[str]) -> str:
        if len(words) != 3 or words[0].lower() not in COLOURS:
            raise RefusedError("syntax error")
        seconds, stones = numbers(words[1:], 2)
        self.clocks[COLOURS[words[0].lower()]] = seconds, int(stones)
        return ""

    def time_to_move(self, white: bool) -> float:
        """Return the seconds for a move, by the clock if there is one."""
        main, extra, stones = self.periods
        if main + extra == 0 or main == math.inf:
            main, extra, stones = math.inf, 0.0, 0
        usual = (main, 0) if main > 0 else (extra, stones)
        left, moves = self.clocks.get(white, usual)
        if left == math.inf:
            return self.seconds
        return min(self.seconds, allot(left, moves_to_go=moves or None, overhead=0.05).soft)

    # Results

    def final_score(self, words: list[str]) -> str:
        position = self.position
        points = lead(position, area(position)) / position.SCALE
        points = -points if position.second else points
        return "0" if points == 0 else f"{'B' if points > 0 else 'W'}+{abs(points):g}"


def numbers(words: list[str], count: int) -> list[float]:
    """Return *count* words as finite numbers; :class:`RefusedError` if they are anything else."""
    if len(words) != count:
        raise RefusedError("syntax error")
    try:
        found = [float(word) for word in words]
    except ValueError:
        raise RefusedError("syntax error") from None
    if not all(map(math.isfinite, found)):
        raise RefusedError("syntax error")
    return found


COMMANDS: dict[str, Callable[[Session, list[str]], str]] = {
    "protocol_version": lambda session, words: "2",
    "name": lambda session, words: "cutnode",
    "version": lambda session, words: installed_version(),
    "known_command": Session.known_command,
    "list_commands": lambda session, words: "\n".join(COMMANDS),
    "quit": Session.quit,
    "boardsize": Session.boardsize,
    "clear_board": Session.clear_board,
    "komi": Session.set_komi,
    "play": Session.play,
    "genmove": Session.genmove,
    "reg_genmove": Session.reg_genmove,
    "undo": Session.undo,
    "showboard": lambda session, words: f"\n{board_text(session.position)}",
    "time_settings": Session.time_settings,
    "time_left": Session.time_left,
    "final_score": Session.final_score,
}


def run(session: Session, lines: Iterable[str], say: Callable[[str], None]) -> None:
    """Answer commands until there are no more, or ``quit``."""
    for line in lines:
        if said := session.answer(line):
            say(said)
        if session.over:
            break


@click.command("gtp", epilog="For example: cutnode gtp --seconds 2")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="S",
    help="Time limit of a move; a clock of the controller may leave less.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    metavar="N",
    help="Node limit of a move.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Random seed: of Monte Carlo tree search, or to choose among moves of the same value.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="Alpha-beta, or Monte Carlo tree search (mcts).  [default: mcts from "
    f"{TREE_SIZE}x{TREE_SIZE} on]",
)
@click.option(
    "--table",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    metavar="MIB",
    help="Memory of the transposition table or the tree.",
)
@click.option("--ko", type=click.Choice(KO), default=KO[0], show_default=True)
@click.option("--suicide", type=click.Choice(YES_NO), default=YES_NO[0], show_default=True)
def main(**settings: Any) -> None:
    """Play Go by GTP, on standard input and output."""
    with speaking():
        run(Session(**settings), lines_of_input(), lambda text: print(text, end="", flush=True))


if __name__ == "__main__":
    main()
