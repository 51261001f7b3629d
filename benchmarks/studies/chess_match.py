"""Chess: a match of two programs that speak UCI, over paired openings.

    python -m benchmarks.studies.chess_match "python -m cutnode.games.chess.uci" stockfish \\
        --limit nodes=2000000 --peer-limit nodes=250000 --pairs 50 --jobs 2 --adjudicate \\
        --peer-option UCI_LimitStrength=true --peer-option UCI_Elo=2300

Programs are commands.  The score is reported for the first one.  Options and limits of the second
begin with ``--peer``; its limit is the same by default.  A limit is ``nodes=20000``, ``depth=8`` or
``seconds=0.1`` per move, or ``clock=1+0.01``: seconds for the game and an increment per move; a
player who runs out of time loses.  Each opening is played twice with colours reversed.

Games end by the laws of chess: mate, stalemate, insufficient material, the fifty-move rule, and
threefold repetition.  ``--adjudicate`` ends games when both programs agree: won with ten pawns for
four moves, or drawn from move 40 on within a tenth of a pawn for eight.  A program that crashes,
stops answering or moves illegally loses the game and is restarted.  (pip install chess)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn

from benchmarks.positions import DATA
from cutnode.playing.elo import CONFIDENCE, POINTS, elo_difference, mean_and_error

OPENINGS = DATA / "chess_openings.epd"

STARTING = 300.0
"""The seconds until a program must be ready: it may have to compile."""

PATIENCE = 60.0
"""The seconds beyond its limit after which a program counts as dead."""

LOST, LOST_PLIES = 1000, 8
DRAWN, DRAWN_PLIES, DRAWN_MOVE = 10, 16, 40
"""Adjudicating draws: the centipawns, the plies in a row, and the first move."""

FAULTS = ("time", "crash", "illegal")


@dataclass(frozen=True)
class Limits:
    """The limits of a program, for a move or for a game."""

    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None
    clock: float | None = None
    increment: float = 0.0

    @classmethod
    def read(cls, text: str) -> Limits:
        name, _, value = text.partition("=")
        if name == "clock":
            clock, _, increment = value.partition("+")
            return cls(clock=float(clock), increment=float(increment or 0))
        kinds = {"nodes": int, "depth": int, "seconds": float}
        return cls(**{name: kinds[name](value)})  # type: ignore[arg-type]

    def for_move(
        self, clocks: dict[bool, float], increments: dict[bool, float]
    ) -> chess.engine.Limit:
        if self.clock is None:
            return chess.engine.Limit(time=self.seconds, nodes=self.nodes, depth=self.depth)
        return chess.engine.Limit(
            white_clock=max(clocks[chess.WHITE], 0.001),
            black_clock=max(clocks[chess.BLACK], 0.001),
            white_inc=increments[chess.WHITE],
            black_inc=increments[chess.BLACK],
        )


def limits_of(text: str) -> Limits:
    """Read a limit from the command line; an error says what a limit is."""
    try:
        return Limits.read(text)
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(
            f"a limit is nodes=N, depth=N, seconds=S or clock=S+S, not {text!r}"
        ) from None


class FaultError(Exception):
    """A program lost a game other than on the board; the text is one of FAULTS."""


@dataclass
class Program:
    """A program that speaks UCI, its settings, and the resources that it used."""

    command: list[str]
    options: dict[str, str]
    limits: Limits
    label: str = ""
    moves: int = 0
    spent: float = 0.0
    longest: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.label = self.command[0]

    def seat(self) -> Seat:
        return Seat(self)

    def summary(self) -> str:
        mean = self.spent / self.moves if self.moves else 0.0
        faults = ", ".join(f"{name} {self.faults[name]}" for name in FAULTS)
        return (
            f"{self.label}: {1000 * mean:.1f} ms a move, the longest {1000 * self.longest:.0f}; "
            f"games lost by {faults}"
        )


class Seat:
    """A program's process in one of the concurrent games."""

    def __init__(self, program: Program):
        self.program = program
        self.engine: Any = None

    async def start(self) -> None:
        opened = chess.engine.popen_uci(self.program.command, stderr=asyncio.subprocess.DEVNULL)
        _, self.engine = await asyncio.wait_for(opened, STARTING)
        await self.engine.configure(self.program.options)
        await asyncio.wait_for(self.engine.ping(), STARTING)
        settings = " ".join(f"{name}={value}" for name, value in self.program.options.items())
        name = self.engine.id.get("name", self.program.command[0])
        self.program.label = f"{name} ({settings})" if settings else name

    async def stop(self) -> None:
        if self.engine is not None:
            with contextlib.suppress(chess.engine.EngineError, TimeoutError):
                await asyncio.wait_for(self.engine.quit(), 5)
            with contextlib.suppress(ProcessLookupError):
                self.engine.transport.kill()
            self.engine = None

    async def choose(
        self, board: chess.Board, limit: chess.engine.Limit, game: object
    ) -> tuple[chess.Move, int | None, float]:
        """Return a move, its score in centipawns for the mover if any, and the seconds."""
        clocks = limit.white_clock, limit.black_clock
        most = sum(part or 0.0 for part in (limit.time, *clocks)) + PATIENCE
        try:
            started = time.perf_counter()
            asked = self.engine.play(board, limit, game=game, info=chess.engine.INFO_SCORE)
            answer = await asyncio.wait_for(asked, most)
            seconds = time.perf_counter() - started
        except chess.engine.EngineTerminatedError:
            raise FaultError("crash") from None
        except chess.engine.EngineError:
            raise FaultError("illegal") from None
        except TimeoutError:
            raise FaultError("time") from None
        if answer.move is None:
            raise FaultError("illegal")
        self.program.moves += 1
        self.program.spent += seconds
        self.program.longest = max(self.program.longest, seconds)
        score = answer.info.get("score")
        return answer.move, score and score.relative.score(mate_score=100_000), seconds


def ending(board: chess.Board) -> tuple[float, str] | None:
    """Return White's points and the reason by the laws of chess; None if the game is not over."""
    if board.is_checkmate():
        return float(board.turn == chess.BLACK), "mate"
    if board.is_stalemate():
        return 0.5, "stalemate"
    if board.is_insufficient_material():
        return 0.5, "material"
    if board.halfmove_clock >= 100:
        return 0.5, "fifty moves"
    if board.is_repetition(3):
        return 0.5, "repetition"
    return None


def adjudicated(board: chess.Board, scores: list[int | None]) -> tuple[float, str] | None:
    """Return the same by adjudication, from the scores of both programs for White, ply by ply."""
    last = scores[-LOST_PLIES:]
    for sign in (1, -1):
        if len(last) == LOST_PLIES and all(s is not None and sign * s >= LOST for s in last):
            return float(sign > 0), "adjudicated"
    last = scores[-DRAWN_PLIES:]
    if board.fullmove_number > DRAWN_MOVE and len(last) == DRAWN_PLIES:
        if all(s is not None and abs(s) <= DRAWN for s in last):
            return 0.5, "adjudicated"
    return None


async def play_game(
    seats: dict[bool, Seat], opening: str, adjudicate: bool
) -> tuple[float, str, chess.Board]:
    """Play a game; return White's points, the reason, and the board.  *seats* are by colour."""
    board, _ = chess.Board.from_epd(opening)
    game = object()
    clocks = {colour: seat.program.limits.clock or 0.0 for colour, seat in seats.items()}
    increments = {colour: seat.program.limits.increment for colour, seat in seats.items()}
    scores: list[int | None] = []
    while True:
        over = ending(board) or (adjudicate and adjudicated(board, scores))
        if over:
            return *over, board
        mover = board.turn
        seat = seats[mover]
        limits = seat.program.limits
        try:
            move, score, seconds = await seat.choose(
                board, limits.for_move(clocks, increments), game
            )
            clocks[mover] -= seconds
            if limits.clock is not None and clocks[mover] < 0:
                raise FaultError("time")
        except FaultError as fault:
            seat.program.faults[str(fault)] += 1
            await seat.stop()
            await seat.start()
            return float(mover == chess.BLACK), str(fault), board
        clocks[mover] += increments[mover]
        scores.append(score if score is None or mover == chess.WHITE else -score)
        board.push(move)


@dataclass
class Tally:
    """The results so far, from the first program's point of view."""

    pairs: list[int] = field(default_factory=lambda: [0] * len(POINTS))
    results: Counter[float] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.perf_counter)

    def add(self, games: Iterable[tuple[float, str]]) -> None:
        points = 0.0
        for score, how in games:
            self.results[score] += 1
            self.endings[how] += 1
            points += score
        self.pairs[POINTS.index(points / 2)] += 1

    def __str__(self) -> str:
        mean, error = mean_and_error(self.pairs)
        margin = CONFIDENCE * error
        elo, low, high = (elo_difference(mean + sign * margin) for sign in (0, -1, 1))
        won, drawn, lost = (self.results[score] for score in (1.0, 0.5, 0.0))
        return (
            f"{2 * sum(self.pairs)} games +{won} ={drawn} -{lost}: "
            f"score {mean:.3f} +- {margin:.3f}, Elo {elo:+.0f} ({low:+.0f} to {high:+.0f}), "
            f"pairs {' '.join(map(str, self.pairs))}, {time.perf_counter() - self.started:.0f} s"
        )


def pgn(board: chess.Board, white: str, black: str, turn: str, score: float, how: str) -> str:
    game = chess.pgn.Game.from_board(board)
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[score]
    for name, value in (("White", white), ("Black", black), ("Round", turn), ("Result", result)):
        game.headers[name] = value
    game.headers["Termination"] = how
    return f"{game}\n\n"


async def play_match(
    programs: tuple[Program, Program], openings: list[str], options: argparse.Namespace
) -> Tally:
    tally = Tally()
    waiting = list(enumerate(openings[: options.pairs], 1))[::-1]

    async def work(seats: tuple[Seat, Seat]) -> None:
        mine, theirs = seats
        while waiting:
            number, opening = waiting.pop()
            games = []
            for part, white in ((1, mine), (2, theirs)):
                black = theirs if white is mine else mine
                placed = {chess.WHITE: white, chess.BLACK: black}
                points, how, board = await play_game(placed, opening, options.adjudicate)
                games.append((points if white is mine else 1 - points, how))
                if options.pgn:
                    names = white.program.label, black.program.label
                    with options.pgn.open("a") as file:
                        file.write(pgn(board, *names, f"{number}.{part}", points, how))
            tally.add(games)
            if sum(tally.pairs) % options.every == 0:
                print(f"  {tally}", flush=True)

    tables = [(programs[0].seat(), programs[1].seat()) for _ in range(options.jobs)]
    seats = [seat for table in tables for seat in table]
    try:
        for seat in seats:  # one by one: the first may compile what the others load
            await seat.start()
        print(f"{programs[0].label} against {programs[1].label}", flush=True)
        tally.started = time.perf_counter()
        await asyncio.gather(*map(work, tables))
    finally:
        for seat in seats:
            await seat.stop()
    return tally


def read_openings(path: Path, seed: int | None) -> list[str]:
    """Return the positions of an EPD file, in order or shuffled."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    openings = [line for line in lines if line and not line.startswith("#")]
    if seed is not None:
        random.Random(seed).shuffle(openings)
    return openings


def settings(texts: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="a command, such as 'python -m cutnode.games.chess.uci'")
    parser.add_argument("peer", help="another program")
    for prefix, whose in (("", "the program's"), ("peer-", "the peer's")):
        parser.add_argument(
            f"--{prefix}option", action="append", default=[], metavar="NAME=VALUE", help=whose
        )
        parser.add_argument(f"--{prefix}limit", type=limits_of, metavar="LIMIT", help=whose)
    parser.add_argument("--pairs", type=int, default=50, help="pairs of games, one per opening")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="an EPD file")
    parser.add_argument("--seed", type=int, help="shuffles the openings")
    parser.add_argument("--jobs", type=int, default=1, help="games at once")
    parser.add_argument("--every", type=int, default=10, help="pairs between lines of progress")
    parser.add_argument("--adjudicate", action="store_true", help="end games that are decided")
    parser.add_argument("--pgn", type=Path, help="a file to append the games to")
    options = parser.parse_args()
    limits = options.limit or Limits(seconds=0.1)
    theirs = options.peer_limit or limits
    programs = (
        Program(shlex.split(options.program), settings(options.option), limits),
        Program(shlex.split(options.peer), settings(options.peer_option), theirs),
    )
    openings = read_openings(options.openings, options.seed)
    if len(openings) < options.pairs:
        sys.exit(f"{options.openings} has {len(openings)} openings, {options.pairs} are needed")
    try:
        tally = asyncio.run(play_match(programs, openings, options))
    except (OSError, chess.engine.EngineError, TimeoutError) as error:
        sys.exit(f"a program does not start: {error!r}")
    print(tally)
    print("ended by", ", ".join(f"{how} {count}" for how, count in tally.endings.most_common()))
    for program in programs:
        print(program.summary())


if __name__ == "__main__":
    main()
