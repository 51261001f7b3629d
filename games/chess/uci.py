"""Chess by the Universal Chess Interface (UCI), for graphical interfaces and tournament managers.

``cutnode uci``, or ``python -m cutnode.games.chess.uci``, reads commands from standard input and
writes answers to standard output, a line each.  The protocol is S. Meyer-Kahlen's (2004), with the
additions of Stockfish and of tournament managers (``UCI_Chess960``, ``go perft``).

Three threads share the work.  One reads commands, and obeys at once those that need no search, so
``stop`` and ``isready`` are never late.  The main thread searches, one ``go`` after another.  The
third compiles the search, from the start on: ``uci`` is answered before that, and ``isready`` after
it.  A command that cannot be understood is answered by an ``info string``, and changes nothing; but
a position with an illegal move is refused as a whole: until one is accepted, each ``go`` is
answered by ``bestmove 0000``.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, NamedTuple

import click

from cutnode import (
    CutnodeError,
    Engine,
    ForcedWin,
    Iteration,
    Line,
    PositionError,
    Prover,
    SearchResult,
    legal_moves,
    perft,
    quoted,
)
from cutnode.contract.notes import notes_to
from cutnode.contract.verbs import check, play
from cutnode.games.chess import MAX_MOVES, UNIT, Position, parse_position, start
from cutnode.games.chess.notation import parse_move, uci
from cutnode.kernels.clock import Allowance, Clock, allot, settle
from cutnode.kernels.parameters import MOST_DEPTH, MOST_MOVES
from cutnode.kernels.scores import WIN, win_distance
from cutnode.playing.protocols import installed_version, lines_of_input

__all__ = ["OPTIONS", "Option", "Session", "main", "nodes_at"]

LEAST_ELO, MOST_ELO = 1000, 2400
"""The range of ``UCI_Elo``."""
FEWEST_NODES = 100
"""The nodes of a move at the least Elo."""
ELO_OF_DOUBLING = 117
"""The Elo difference that doubles the nodes."""
MOST_DOUBT = 0.8
"""The standard deviation of the error of scores at the least Elo, in pawns; it falls to 0."""
DOUBTFUL_LINES = 4
"""The number of lines among which scores with that error decide.

In games against Stockfish 15.1 at the same ``UCI_Elo``, at 250,000 nodes a move, these nodes scored
these points: at 1500, 2,245 scored 8.5 of 20 and 3,597 scored 43 of 52; at 2000, 40,000 scored 10
of 20 and 161,000 scored 15.5 of 20.  At 2400, 1,600,000 scored 2.5 of 4, and without error and
other lines some 500,000 play at 2465.  An earlier network played these games; with the present one,
at 2000, 18,000 scored 2.5 of 20 and 37,411 scored 13.5 of 20.  Below 1500 the nodes are a guess.
"""

BOUNDS_AFTER = 0.5
"""Seconds of search before its bounds are shown: most are exact scores a moment later."""

PORTION = 5
"""Plies that perft counts between two checks of the stop flag."""

NEWS_AFTER = 8.0
"""Seconds of compiling after which a message says (again) that it continues."""


class Option(NamedTuple):
    """A setting, as UCI declares it."""

    kind: str
    """check, spin or button."""
    default: Any = None
    least: int = 0
    most: int = 0

    def declaration(self, name: str) -> str:
        said = f"option name {name} type {self.kind}"
        if self.kind == "check":
            return f"{said} default {str(self.default).lower()}"
        if self.kind == "spin":
            return f"{said} default {self.default} min {self.least} max {self.most}"
        return said

    def read(self, text: str) -> Any:
        """Return the value that a text means; :class:`CutnodeError` if none."""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise CutnodeError(f"must be true or false, got {quoted(text)}")
            return text.lower() == "true"
        value = number(text)
        if not self.least <= value <= self.most:
            raise CutnodeError(f"must be {self.least}..{self.most}, got {quoted(text)}")
        return value


OPTIONS = {
    "Hash": Option("spin", 64, 1, 1 << 20),
    "Clear Hash": Option("button"),
    "Threads": Option("spin", 1, 1, 256),
    "MultiPV": Option("spin", 1, 1, MAX_MOVES),
    "Ponder": Option("check", False),
    "Move Overhead": Option("spin", 20, 0, 5000),
    "UCI_Chess960": Option("check", False),
    "UCI_AnalyseMode": Option("check", False),
    "UCI_LimitStrength": Option("check", False),
    "UCI_Elo": Option("spin", MOST_ELO, LEAST_ELO, MOST_ELO),
}
"""All settings.  Ponder and UCI_AnalyseMode change nothing: the interface says when to ponder."""

NUMBERS = (
    *("wtime", "btime", "winc", "binc", "movestogo", "movetime"),
    *("depth", "nodes", "mate", "perft"),
)
"""The words of ``go`` that take a number; times are milliseconds."""

GO_WORDS = {*NUMBERS, "searchmoves", "infinite", "ponder"}


@dataclass(eq=False, slots=True)
class Task:
    """A ``go``: its limits, and what has been heard about it since."""

    game: list[Any]
    """The position to search, after the earlier positions of the game."""
    settings: dict[str, Any]
    numbers: dict[str, int] = field(default_factory=dict)
    moves: list[int] | None = None
    infinite: bool = False
    ponder: bool = False
    """Whether the opponent has yet to make the expected move."""
    refusal: str = ""
    """Why there is no position to search."""
    clock: Clock = field(default_factory=partial(Clock, None))
    stop: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    """Whether the best move may be sent when it is found."""
    alarm: threading.Timer | None = None

    def __post_init__(self) -> None:
        if not (self.infinite or self.ponder):
            self.released.set()

    @property
    def position(self) -> Any:
        return self.game[-1]

    @property
    def is_limited(self) -> bool:
        """Return whether the search ends without another command."""
        numbers = self.numbers
        limited = numbers.keys() & {"depth", "nodes", "perft"} or numbers.get("mate", 0) > 0
        return self.released.is_set() and bool(limited or self.allowance())

    def allowance(self) -> Allowance | None:
        """Return the time for the move, if it is limited."""
        overhead = self.settings["Move Overhead"] / 1000
        if "movetime" in self.numbers:
            seconds = self.numbers["movetime"] / 1000
            seconds = max(seconds - overhead, seconds / 2, 0.001)
            return Allowance(math.inf, seconds)
        white = not self.position.ply & 1
        left = self.numbers.get("wtime" if white else "btime")
        if left is None or self.infinite:
            return None
        return allot(
            left / 1000,
            self.numbers.get("winc" if white else "binc", 0) / 1000,
            self.numbers.get("movestogo"),
            overhead=overhead,
            choices=len(legal_moves(self.position) if self.moves is None else self.moves),
        )


class Session:
    """A conversation.  *say* gets each line of the answers, from any thread."""

    def __init__(self, say: Callable[[str], None]):
        self.say = say
        self.settings = {name: option.default for name, option in OPTIONS.items()}
        self.root = "startpos"
        self.texts: list[str] = []
        """The moves played from there, as they were written."""
        self.game: list[Any] = [start()]
        self.refusal = ""
        """Why the last position was refused; the game is still the one before it."""
        self.debug = False
        self.greeted = False
        self.engine: Engine | None = None
        self._prover: Prover | None = None
        self.failure: BaseException | None = None
        self.ready = threading.Event()
        self.prepared = False
        """Whether the compiled search is ready, so that a running search can be answered for."""
        self.lock = threading.Lock()
        self.owed = 0
        """The number of ``readyok`` to send as soon as the compiled search is ready."""
        self.tasks: list[Task] = []
        """The tasks without an answer yet; the first is being searched."""
        self.waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def run(self, lines: Iterable[str]) -> None:
        """Obey commands until ``quit``, or until there are no more and all are answered.

        A ``go`` without a limit is then answered at once.
        """
        threading.Thread(target=self._prepare, daemon=True).start()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        while not self.ready.wait(NEWS_AFTER):
            if self.greeted:
                self.say("info string compiling the search: this happens once")
        if self.failure is not None:
            raise self.failure
        if self.engine is None:
            return  # the commands ended before anything was ready
        with self.lock:
            owed, self.prepared = self.owed, True
        for _ in range(owed):
            self.say("readyok")
        while (job := self.waiting.get()) is not None:
            job()

    def _prepare(self) -> None:
        try:
            engine = Engine(Position, table=self.settings["Hash"])
            engine.prepare()
            self.engine = engine
        except BaseException as error:
            self.failure = error
        finally:
            self.ready.set()

    def _read(self, lines: Iterable[str]) -> None:
        quitting = False
        try:
            with contextlib.suppress(OSError):  # nobody listens, or nobody speaks
                for line in lines:
                    quitting = line.split()[:1] == ["quit"]
                    if quitting:
                        break
                    self.obey(line)
        finally:
            for task in list(self.tasks):
                if quitting or not task.is_limited:
                    self._halt(task)
            if quitting or self.waiting.empty():
                self.ready.set()  # nobody waits for compiled code any more
            self.waiting.put(None)

    def obey(self, line: str) -> None:
        """Carry out a command or pass it to the main thread; report what is wrong with it."""
        name, _, text = " ".join(line.split()).partition(" ")
        if not name:
            return
        try:
            command = COMMANDS.get(name)
            if command is None:
                raise CutnodeError("there is no such command")
            command(self, text)
        except CutnodeError as error:
            self.complain(name, error)

    def complain(self, name: str, error: CutnodeError) -> None:
        self.say(f"info string {quoted(name)}: {' '.join(str(error).split())}")

    # Commands

    def greet(self, text: str) -> None:
        self.greeted = True
        self.say(f"id name cutnode {installed_version()}")
        self.say("id author the cutnode authors")
        for name, option in OPTIONS.items():
            self.say(option.declaration(name))
        self.say("uciok")

    def is_ready(self, text: str) -> None:
        """Answer at once during a search, and otherwise when all commands before it are done."""
        with self.lock:
            thinking, prepared = bool(self.tasks), self.prepared
            self.owed += thinking and not prepared
        if thinking and prepared:
            self.say("readyok")
        elif not thinking:
            self.waiting.put(self._be_ready)

    def _be_ready(self) -> None:
        self._equip(self.settings)
        self.say("readyok")

    def set_option(self, text: str) -> None:
        _, _, said = f" {text} ".partition(" name ")
        said, _, value = said.partition(" value ")
        names = {name.lower(): name for name in OPTIONS}
        name = names.get(" ".join(said.lower().split()))
        if name is None:
            raise CutnodeError(f"there is no option {quoted(said.strip())}")
        if OPTIONS[name].kind == "button":
            self.waiting.put(self._forget)
            return
        try:
            self.settings = self.settings | {name: OPTIONS[name].read(value.strip())}
        except CutnodeError as error:
            raise CutnodeError(f"{name}: {error}") from None

    def set_debug(self, text: str) -> None:
        self.debug = text != "off"

    def new_game(self, text: str) -> None:
        self.waiting.put(self._forget)

    def _forget(self) -> None:
        assert self.engine is not None
        self.engine.new_game()

    def set_position(self, text: str) -> None:
        """Set a position and play the moves from there; if one is wrong, there is no position."""
        try:
            with notes_to(lambda text: self.say(f"info string {text}")):
                self._read_position(text)
        except CutnodeError as error:
            self.refusal = str(error)
            raise
        self.refusal = ""

    def _read_position(self, text: str) -> None:
        before, _, after = f"{text} ".partition(" moves ")
        root, texts = before.strip(), after.split()
        if root.startswith("fen "):
            root = root.removeprefix("fen ").strip()
        elif root != "startpos":
            raise PositionError(f"write startpos or fen ..., not {quoted(root)}")
        if root == self.root:  # usually the same game, some moves later
            game = self.game[: common(texts, self.texts) + 1]
        else:
            game = [start() if root == "startpos" else parse_position(root)]
        for count, move in enumerate(texts[len(game) - 1 :], len(game)):
            try:
                game.append(play(game[-1], parse_move(game[-1], move)))
            except PositionError as error:
                raise PositionError(f"move {count}: {error}") from None
        self.root, self.texts, self.game = root, texts, game

    def go(self, text: str) -> None:
        asked = self._read_go(text)
        task = Task(self._history(), self.settings, refusal=self.refusal, **asked)
        with self.lock:
            self.tasks.append(task)
        self.waiting.put(partial(self._think, task))

    def _history(self) -> list[Any]:
        """Return the positions that can occur again, with the last."""
        return self.game[-1 - self.game[-1].clock :]

    def _read_go(self, text: str) -> dict[str, Any]:
        """Read a ``go``; words that are not understood are reported and skipped."""
        numbers: dict[str, int] = {}
        moves: list[int] = []
        flags = {"infinite": False, "ponder": False}
        words = text.split()
        while words:
            word = words.pop(0)
            try:
                if word in flags:
                    flags[word] = True
                elif word in NUMBERS:
                    numbers[word] = number(words.pop(0) if words else "")
                elif word == "searchmoves":
                    moves += self._read_moves(words)
                else:
                    raise CutnodeError("there is no such limit")
            except CutnodeError as error:
                self.complain(f"go {word}", error)
        return {"numbers": numbers, "moves": sorted(set(moves)) or None, **flags}

    def _read_moves(self, words: list[str]) -> list[int]:
        """Remove the moves that words begin with, and return the legal ones; report the others."""
        moves = []
        while words and words[0] not in GO_WORDS:
            word = words.pop(0)
            if self.refusal:
                continue
            try:
                moves.append(parse_move(self.game[-1], word))
            except CutnodeError as error:
                self.complain("go searchmoves", error)
        return moves

    def stop(self, text: str) -> None:
        for task in list(self.tasks):
            self._halt(task)

    def _halt(self, task: Task) -> None:
        """End a search, now or when it begins, and let its answer be sent."""
        task.released.set()
        self._enough(task)

    def _enough(self, task: Task) -> None:
        """End a search; its answer waits for the interface if it has to."""
        with self.lock:
            task.stop.set()
            if self.engine is not None and self.tasks[:1] == [task]:
                self.engine.stop()

    def ponder_hit(self, text: str) -> None:
        """Start the clock: the expected move was made."""
        with self.lock:
            pondered = [task for task in self.tasks if task.ponder and not task.infinite]
        for task in pondered:
            task.ponder = False
            allowance = task.allowance()
            if allowance is not None and task.clock.elapsed() >= allowance.soft:
                self._halt(task)
            elif allowance is not None:
                seconds = min(allowance.hard, threading.TIMEOUT_MAX)
                task.alarm = threading.Timer(seconds, self._halt, (task,))
                task.alarm.daemon = True
                task.alarm.start()
            task.released.set()

    # Searching, in the main thread

    def _equip(self, settings: dict[str, Any]) -> None:
        assert self.engine is not None
        try:
            kept = self.engine.table
            wanted = settings["Hash"], settings["Threads"]
            if wanted != (kept.megabytes, self.engine.threads):
                table = kept if kept.megabytes == settings["Hash"] else settings["Hash"]
                old, self.engine = self.engine, Engine(Position, table=table, threads=wanted[1])
                old.close()
        except CutnodeError as error:
            self.complain("setoption", error)

    def _think(self, task: Task) -> None:
        """Carry out a ``go``, up to its answer."""
        best = "bestmove (none)"
        try:
            self._equip(task.settings)
            if task.refusal:
                self.say(f"info string no position to search: {' '.join(task.refusal.split())}")
                best = "bestmove 0000"
            elif not legal_moves(task.position):
                lost = check(task.position)
                self.say(f"info depth 0 score {'mate' if lost else 'cp'} 0")
            elif "perft" in task.numbers:
                self._count(task)
                best = ""
            else:
                best = self._best(task)
        except CutnodeError as error:
            self.complain("go", error)
            moves = task.moves or legal_moves(task.position)
            best = f"bestmove {self._text(task, moves[0])}"
        if best:
            task.released.wait()
            self.say(best)
        with self.lock:
            self.tasks.remove(task)
            if task.alarm is not None:
                task.alarm.cancel()

    def _text(self, task: Task, move: int, plies: int = 0) -> str:
        """Return a move *plies* plies after the position, as the interface reads it."""
        seen = task.position._replace(ply=task.position.ply + plies)
        return uci(seen, move, chess960=task.settings["UCI_Chess960"])

    def _count(self, task: Task) -> None:
        """Count perft, divided by moves."""
        depth = min(task.numbers["perft"], MOST_DEPTH)
        total = 1 if depth < 1 else 0
        for move in legal_moves(task.position) if depth > 0 else ():
            count = lines_of_play(play(task.position, move), depth - 1, task.stop)
            if task.stop.is_set():
                return
            self.say(f"{self._text(task, move)}: {count}")
            total += count
        self.say(f"\nNodes searched: {total}")

    def _best(self, task: Task) -> str:
        forced = self._prove(task)
        if forced is not None and forced.pv:
            return self._answer(task, forced.pv)
        result, line = self._search(task)
        if result.iterations and line.move != result.iterations[-1].lines[0].move:
            if line is result.lines[0]:  # found at the depth that was not completed
                self._report(task, unfinished(result))
        return self._answer(task, line.pv)

    def _answer(self, task: Task, line: Sequence[int]) -> str:
        """Return the best move, and the reply to ponder on if the line has one."""
        words = ["bestmove", self._text(task, line[0])]
        if len(line) > 1:
            words += ["ponder", self._text(task, line[1], 1)]
        return " ".join(words)

    def _prove(self, task: Task) -> ForcedWin | None:
        """Look for the mate that a task asks for, if it asks for one at full strength.

        If none is found within the limits, the usual search follows.
        """
        assert self.engine is not None
        mate, allowance = task.numbers.get("mate", 0), task.allowance()
        if mate < 1 or task.settings["UCI_LimitStrength"]:
            return None

        def tell(moves: int, nodes: int, score: str = "", line: str = "") -> None:
            seconds, depth = task.clock.elapsed(), 2 * moves - 1
            self.say(
                f"info depth {depth} seldepth {depth}{score} nodes {nodes} "
                f"nps {int(nodes / max(seconds, 0.0001))} time {int(1000 * seconds)}{line}"
            )

        seconds = None
        if allowance is not None and not task.ponder:
            seconds = max(allowance.hard - task.clock.elapsed(), 0.001)
        nodes = task.numbers.get("nodes")
        if self._prover is None:
            self.say("info string compiling the search for mates: this happens once")
            self._prover = Prover(Position, table=self.engine.table)
        self._prover.table = self.engine.table
        result = self._prover.prove(
            task.position,
            min(mate, MOST_MOVES),
            among=task.moves,
            nodes=None if nodes is None else max(nodes, 1),
            seconds=seconds,
            stop=task.stop,
            history=task.game[:-1],
            progress=tell,
        )
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        if result.moves:
            moves = " ".join(self._text(task, move, n) for n, move in enumerate(result.pv))
            score = f" multipv 1 score mate {result.moves}"
            tell(result.moves, result.nodes, score, f" pv {moves}")
        return result

    def _search(self, task: Task) -> tuple[SearchResult, Line]:
        """Search within the limits of a task; return the result, and the line to play."""
        assert self.engine is not None
        numbers, settings = task.numbers, task.settings
        depth, nodes, lines = numbers.get("depth"), numbers.get("nodes"), settings["MultiPV"]
        mate = 2 * numbers["mate"] - 1 if numbers.get("mate", 0) > 0 else None
        if mate is not None:
            depth = min(depth or mate, mate)
        weaker = settings["UCI_LimitStrength"]
        if weaker:
            nodes = min(nodes or math.inf, nodes_at(settings["UCI_Elo"]))
            lines = max(lines, DOUBTFUL_LINES)
            self.engine.new_game()
        pondering = task.ponder
        allowance = task.allowance()
        seconds = None
        if allowance is not None and not pondering:
            seconds = max(allowance.hard - task.clock.elapsed(), 0.001)
        if self.debug and allowance is not None:
            said = f"{allowance.soft:.4f} to {allowance.hard:.4f}"
            self.say(f"info string {said} seconds for this move")
        best: list[int] = []
        scores: list[float] = []

        def follow(iteration: Iteration) -> None:
            self._report(task, iteration)
            best.append(iteration.lines[0].move)
            scores.append(iteration.value * 100 / UNIT)
            if mate is not None and iteration.value >= WIN - mate:
                self._enough(task)
            if allowance is not None and not task.ponder:
                soft = min(allowance.soft * settle(best, scores), allowance.hard)
                if task.clock.elapsed() >= soft:
                    self._enough(task)

        def tell(iteration: Iteration) -> None:
            if task.clock.elapsed() >= BOUNDS_AFTER:
                self._report(task, iteration)

        history = task.game[:-1]
        result = self.engine.search(
            task.position,
            history=history,
            depth=None if depth is None else min(max(depth, 1), MOST_DEPTH),
            nodes=None if nodes is None else max(int(nodes), 1),
            seconds=seconds,
            stop=task.stop,
            lines=lines,
            moves=task.moves,
            progress=follow,
            bounds=tell,
        )
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        if result.depth == 0:  # stopped before it began: one ply takes no time
            result = self.engine.search(
                task.position,
                history=history,
                depth=1,
                lines=lines,
                moves=task.moves,
                progress=follow,
            )
        line = result.lines[0]
        if weaker:
            line = doubtful_choice(result.lines, settings["UCI_Elo"], seed_of(task.game))
        return result, line

    def _report(self, task: Task, iteration: Iteration) -> None:
        assert self.engine is not None
        seconds = task.clock.elapsed()
        nodes = iteration.nodes
        bound = ("", " lowerbound", " upperbound")[iteration.bound]
        deepest = max(iteration.deepest, iteration.depth)
        full = int(1000 * self.engine.table.fill())
        for rank, line in enumerate(iteration.lines[: task.settings["MultiPV"]], 1):
            moves = " ".join(self._text(task, move, n) for n, move in enumerate(line.pv))
            self.say(
                f"info depth {iteration.depth} seldepth {deepest} multipv {rank} "
                f"score {score_text(line.value)}{bound} nodes {nodes} "
                f"nps {int(nodes / max(seconds, 0.0001))} hashfull {full} "
                f"time {int(1000 * seconds)} pv {moves}"
            )


COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "uci": Session.greet,
    "isready": Session.is_ready,
    "setoption": Session.set_option,
    "debug": Session.set_debug,
    "ucinewgame": Session.new_game,
    "position": Session.set_position,
    "go": Session.go,
    "stop": Session.stop,
    "ponderhit": Session.ponder_hit,
    "register": lambda session, text: None,
}


def lines_of_play(position: Any, depth: int, stop: threading.Event) -> int:
    """Count perft in portions of a moment each, so that it can be stopped."""
    if depth <= PORTION:
        return perft(position, depth)
    moves = legal_moves(position)
    return sum(
        lines_of_play(play(position, move), depth - 1, stop) for move in moves if not stop.is_set()
    )


def common(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return how many items two sequences have in common at the beginning."""
    pairs = zip(first, second, strict=False)
    equal = min(len(first), len(second))
    return next((n for n, (one, other) in enumerate(pairs) if one != other), equal)


def nodes_at(elo: int) -> int:
    """Return the nodes of a move of a player with a rating."""
    return int(FEWEST_NODES * 2 ** ((elo - LEAST_ELO) / ELO_OF_DOUBLING))


def doubtful_choice(lines: Sequence[Line], elo: int, seed: int) -> Line:
    """Return the line that looks best to a player with a rating, who misjudges scores a little."""
    doubt = MOST_DOUBT * UNIT * (MOST_ELO - elo) / (MOST_ELO - LEAST_ELO)
    random = Random(seed)
    return max(lines, key=lambda line: random.gauss(line.value, doubt))


def seed_of(game: Sequence[Any]) -> int:
    """Return a seed for the last position: in the same position the choice is the same."""
    return int(game[-1].zobrist) ^ game[-1].ply << 64


def unfinished(result: SearchResult) -> Iteration:
    """Return the result of a depth that a limit ended: its score is a lower bound."""
    counts = result.statistics
    return Iteration(
        result.depth + 1,
        result.value,
        False,
        result.lines[:1],
        result.nodes,
        result.seconds,
        deepest=counts.deepest,
        bound=1,
    )


def score_text(value: float) -> str:
    """Return a score as UCI writes it: in moves to mate, or in hundredths of a pawn."""
    distance = win_distance(value)
    if distance is None:
        return f"cp {int(value * 100 / UNIT)}"
    plies = int(distance)
    return f"mate {(plies + 1) // 2 if value > 0 else -(plies // 2)}"


def number(text: str) -> int:
    """Return a whole number of any sign; :class:`CutnodeError` if it is none."""
    try:
        if len(text) <= 19:
            return int(text)
    except ValueError:
        pass
    raise CutnodeError(f"{quoted(text)} is not a whole number")


@click.command("uci")
def main() -> None:
    """Play chess by UCI, on standard input and output."""
    lock = threading.Lock()

    def say(line: str) -> None:
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        with lock:
            while data:  # unbuffered: nothing is left to fail when Python ends
                data = data[os.write(1, data) :]

    session = Session(say)
    code = 0
    try:
        session.run(lines_of_input())
    except CutnodeError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt as end:
        code = 128 + (end.args[0] if end.args else signal.SIGINT)
    except BrokenPipeError:
        pass  # nobody listens
    if session.engine is None:
        os._exit(code)  # a thread that compiles cannot be ended otherwise
    sys.exit(code)


if __name__ == "__main__":
    main()
