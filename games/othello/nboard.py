"""Othello for NBoard and programs that speak its protocol, version 2.

``python -m cutnode.games.othello.nboard`` reads commands from standard input and writes answers to
standard output, a line each.  The protocol is described by C. Welty in
https://github.com/weltyc/ntest, ``instructions/Protocol.htm``.

A thread reads ahead, so that a ``ping`` stops the current search; the main thread carries out all
commands in order.  There is no book, so ``learn`` and ``set contempt`` change nothing.  A command
that cannot be understood is answered by a status line.  After a game or a move was refused there
is no move, until a game is accepted.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

import click

from cutnode import (
    CutnodeError,
    Iteration,
    PositionError,
    Searcher,
    Table,
    analyse,
    legal_moves,
    quoted,
    solve,
)
from cutnode.contract.verbs import outcome
from cutnode.games.othello import Discs, Position, move_text, parse_position, play_text, start
from cutnode.games.othello.discs import PASS, empties
from cutnode.kernels.clock import Clock
from cutnode.kernels.solver import solve_batch
from cutnode.playing.protocols import lines_of_input, speaking
from cutnode.runtime.running import Limits

__all__ = ["Session", "main", "read_game"]

MOST_DEPTH = 63
USUAL_DEPTH = 12

BEFORE_SOLVING = 8
"""The depth, in plies, of the search that precedes solving, to have something to show."""

SHARE = 0.25
"""The share of the time for that search."""

EXACT = "100%"
"""The depth that is shown for solved positions."""


class Session:
    """A game, and the requests about it.

    *say* gets each line of the answers.  *seconds* limits every answer, *depth* the search
    until a command sets it; positions with at most *exact* empty squares are solved.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        table: int = 64,
        seconds: float = 10.0,
        depth: int = USUAL_DEPTH,
        exact: int = 20,
    ):
        Limits(None, seconds)  # raises if the time is not valid
        self.say = say
        self.seconds = seconds
        self.depth = depth
        self.exact = exact
        self.game: list[Discs] = [start()]
        self.refusal = ""
        """Why the last game or move was refused; the game is still the one before it."""
        self.left: dict[bool, float] = {}
        """Seconds left on the clocks, by whether the clock is white's; empty without clocks."""
        self.engine = Searcher(Position, table=max(1, table // 2))
        self.table = Table(max(1, table // 2))
        solve_batch.specialise(Position)  # compiles, so that the first answer is not late
        self.stop = threading.Event()
        self.pings = 0
        """Pings read but not answered yet: while there are any, no search runs."""
        self.lock = threading.Lock()

    @property
    def position(self) -> Discs:
        """The last position; raises :class:`PositionError` if one after it was refused."""
        if self.refusal:
            raise PositionError(f"there is no position to search: {self.refusal}")
        return self.game[-1]

    def run(self, lines: Iterable[str]) -> None:
        """Carry out commands until there are no more, or ``quit``."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(lines, waiting), daemon=True).start()
        while (line := waiting.get()) != "quit":
            self.obey(line)

    def _read(self, lines: Iterable[str], waiting: queue.SimpleQueue[str]) -> None:
        try:
            for line in lines:
                words = line.split()
                if words[:1] == ["quit"]:
                    break
                if words[:1] == ["ping"]:
                    with self.lock:
                        self.pings += 1
                        self.stop.set()
                waiting.put(line)
        finally:
            with self.lock:
                self.pings += 1  # never answered, so no further search runs
                self.stop.set()
            waiting.put("quit")

    def obey(self, line: str) -> None:
        """Carry out a command, and say what is wrong with it."""
        count = 2 if line.split()[:1] == ["set"] else 1
        words = line.split(maxsplit=count)
        name, text = " ".join(words[:count]), "".join(words[count:]).strip()
        command = COMMANDS.get(name)
        if command is None:
            return  # perhaps of a later version: the protocol wants such lines ignored
        try:
            command(self, text)
        except CutnodeError as error:
            self.say(f"status {quoted(name)}: {error}")
            if name == "set game" or (name == "move" and not self.refusal):
                self.refusal = str(error)

    # Commands

    def greet(self, version: str) -> None:
        self.say("set myname cutnode")

    def set_depth(self, text: str) -> None:
        self.depth = min(max(number(text), 1), MOST_DEPTH)

    def set_game(self, text: str) -> None:
        self.game, self.left = read_game(text)
        self.refusal = ""

    def move(self, text: str) -> None:
        said, _, rest = text.partition("/")
        was = self.position
        self.game.append(play_text(was, said.strip()))
        if was.white in self.left:
            self.left[was.white] -= seconds_in(rest)

    def ping(self, text: str) -> None:
        with self.lock:
            self.pings = max(0, self.pings - 1)
            if not self.pings:
                self.stop.clear()
        self.say(f"pong {text}")

    def hint(self, text: str) -> None:
        count = max(1, number(text or "1"))
        position = self.position
        self.say("status cutnode is analysing")
        self.think(position, count, self.seconds)
        self.say("status")

    def go(self, text: str) -> None:
        position = self.position
        if outcome(position)[0]:
            raise PositionError("the game is over")
        self.say("status cutnode is thinking")
        clock = Clock(None)
        allowed = legal_moves(position)
        if len(allowed) == 1:
            self.say(f"=== {name_of(position, allowed[0])}")
        else:
            move, value = self.think(position, 1, self.time_to_move())
            self.say(f"=== {name_of(position, move)}/{value:.2f}/{clock.elapsed():.2f}")
        self.say("status")

    def learn(self, text: str) -> None:
        self.say("learned")

    def analyze(self, text: str) -> None:
        """Give the value for black of each position of the game, the last first."""
        game = [*self.game[:-1], self.position]
        self.say("status cutnode is analysing the game")
        for made, position in reversed(list(enumerate(game))):
            if self.stop.is_set():
                break
            over, value = outcome(position)
            if not over:
                _, value = self.think(position, 1, self.seconds, aloud=False)
            self.say(f"analysis {made} {-value if position.white else value:.2f}")
        self.say("status")

    # Thinking

    def time_to_move(self) -> float:
        """Return the time for a move, so that the clock lasts for half of the empty squares and
        more.

        Three moves are added as a reserve.
        """
        if self.position.white not in self.left:
            return self.seconds
        moves = empties(self.position) / 2 + 3
        return min(self.seconds, max(0.01, self.left[self.position.white] / moves))

    def think(
        self, position: Discs, count: int, seconds: float, *, aloud: bool = True
    ) -> tuple[int, float]:
        """Return the best move and its value; if *aloud*, show the *count* best moves found."""
        if outcome(position)[0]:
            raise PositionError("the game is over")
        clock = Clock(None)

        def show(iteration: Iteration) -> None:
            depth = EXACT if iteration.proven else str(iteration.depth)
            for line in iteration.lines:
                self.say_line(position, line.pv, line.value, depth)
            self.say_nodes(iteration.nodes, clock)

        to_solve = empties(position) <= self.exact
        found = self.engine.search(
            position,
            depth=min(self.depth, BEFORE_SOLVING) if to_solve else self.depth,
            seconds=seconds * SHARE if to_solve else seconds,
            stop=self.stop,
            lines=count,
            progress=show if aloud else None,
        )
        check(found.reason)
        best = found.lines[0]
        if not to_solve or found.proven or self.stop.is_set():
            return best.move, best.value
        result: Any = (solve if count == 1 else analyse)(
            position,
            table=self.table,
            seconds=max(0.01, seconds - clock.elapsed()),
            stop=self.stop,
        )
        check(result.reason)
        if result.value is None or result.best_move is None:
            return best.move, best.value
        if aloud:
            self.say_line(position, result.pv, result.value, EXACT)
            others = {move: v for move, v in (result.scores or {}).items() if v is not None}
            others.pop(result.best_move, None)
            for move in sorted(others, key=lambda move: -others[move])[: count - 1]:
                self.say_line(position, (move,), others[move], EXACT)
            self.say_nodes(found.nodes + result.nodes, clock)
        return result.best_move, result.value

    def say_line(self, position: Discs, line: Iterable[int], value: float, depth: str) -> None:
        moves = "".join(name_of(position, move) for move in line)
        self.say(f"search {moves} {value:.2f} 0 {depth}")

    def say_nodes(self, nodes: int, clock: Clock) -> None:
        self.say(f"nodestats {nodes} {clock.elapsed():.2f}")


COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "nboard": Session.greet,
    "set depth": Session.set_depth,
    "set game": Session.set_game,
    "set contempt": lambda session, text: None,
    "move": Session.move,
    "ping": Session.ping,
    "hint": Session.hint,
    "go": Session.go,
    "learn": Session.learn,
    "analyze": Session.analyze,
}


def check(reason: str) -> None:
    """Exit if Ctrl-C ended a search."""
    if reason == "interrupted":
        raise KeyboardInterrupt


def name_of(position: Discs, move: int) -> str:
    return "PA" if move == PASS else move_text(position, move).upper()


def number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise CutnodeError(f"{quoted(text)} is not a whole number")
    return int(text)


def seconds_in(text: str) -> float:
    """Return the seconds that a move took, from the text after it, EVAL/TIME; 0 if not given."""
    _, _, time = text.partition("/")
    return float(time) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", time.strip()) else 0.0


def read_game(text: str) -> tuple[list[Discs], dict[bool, float]]:
    """Return the positions of a game in GGF, and the seconds left on the clocks, if it has any."""
    fields = re.findall(r"([A-Z]+)\[([^]]*)\]", text)
    said = dict(fields)
    if "BO" not in said:
        raise PositionError(f"{quoted(text)} is not a game in GGF: it has no board, BO[8 ...]")
    board = re.fullmatch(r"\s*8\s+([^;]*[xo*])\s*", said["BO"], re.IGNORECASE)
    if not board:
        where = quoted(f"BO[{said['BO']}]")
        raise PositionError(f"{where} is not a board of 8x8 squares, BO[8 ...]")
    game = [parse_position(board[1])]
    used = {False: 0.0, True: 0.0}
    made = [(name, move) for name, move in fields if name in ("B", "W")]
    for count, (name, move) in enumerate(made, 1):
        square, _, rest = move.partition("/")
        if legal_moves(game[-1]) == [PASS] and game[-1].white != (name == "W"):
            game.append(play_text(game[-1], "pass"))
        if game[-1].white != (name == "W"):
            where = quoted(f"{name}[{move}]")
            raise PositionError(f"move {count} of the game, {where}, is not that player's")
        try:
            game.append(play_text(game[-1], square.strip()))
        except PositionError as error:
            raise PositionError(f"move {count} of the game: {error}") from None
        used[name == "W"] += seconds_in(rest)
    clock = re.match(r"(?:([0-9]{1,3}):)?([0-9]{1,4}):([0-9]{1,2})", said.get("TI", ""))
    if not clock:
        return game, {}
    hours, minutes, seconds = (int(part or 0) for part in clock.groups())
    total = 3600 * hours + 60 * minutes + seconds
    return game, {white: total - spent for white, spent in used.items()}


@click.command()
@click.option("--table", type=click.IntRange(2), default=64, show_default=True, metavar="MIB")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Time limit for a move, for a hint, and for each position of a game.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, MOST_DEPTH),
    default=USUAL_DEPTH,
    show_default=True,
    metavar="N",
    help="Depth limit in plies, until `set depth` changes it.",
)
@click.option(
    "--exact",
    type=click.IntRange(0, 64),
    default=20,
    show_default=True,
    metavar="N",
    help="Solve positions with at most N empty squares.",
)
def main(table: int, seconds: float, depth: int, exact: int) -> None:
    """Play Othello for NBoard: read its commands from standard input, write answers to output."""
    with speaking():
        session = Session(
            lambda line: print(line, flush=True),
            table=table,
            seconds=seconds,
            depth=depth,
            exact=exact,
        )
        session.run(lines_of_input())


if __name__ == "__main__":
    main()
