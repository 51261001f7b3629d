"""Puzzles: positions in which exactly one move keeps the result, and it is not the obvious one.

::

    import cutnode

    for puzzle in cutnode.find_puzzles("connect4", 3):
        print(puzzle.text, puzzle.goal(), puzzle.grade)

Positions come from quick games of the engine against itself, or from records.  Each puzzle rests on
a proof, of one of two kinds:

* The values of all moves are proven (by the solver or a tablebase), and exactly one move keeps the
  win, or the draw.
* The search for forced wins proves a win within 2 to :data:`MOST_WIN` moves, and that no other
  first move forces a win within as many.  Another move may still win later.

A solution is obvious, and no puzzle, if a search to depth 1 finds it, if no other move wins as much
at first sight (``gain``), or if every other move loses at once.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError, GameError, require_at_least, require_integer
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import board_of
from cutnode.contract.verbs import gain, moves_again, outcome, play
from cutnode.explaining.changes import cell_name, changes_of
from cutnode.explaining.judging import Judge
from cutnode.explaining.phrases import Names, capital
from cutnode.playing.records import read_record, record_suffix
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import ProofOptions, SearchOptions
from cutnode.search.record import Record, class_key, is_over, wins_at_once
from cutnode.search.results import line_text
from cutnode.tablebases.tablebase import Tablebase

GRADES = ("very easy", "easy", "medium", "hard", "very hard")
"""The grades of puzzles, easiest first."""

GRADE_NODES = (100, 1_000, 10_000, 100_000)
"""The nodes of the searches that grade: the first of them that finds the solution, as all larger
ones do, gives the grade.  A puzzle that the largest search misses is very hard."""

GLANCE_PLAYOUTS = 64
"""The playouts that stand for depth 1 in games without an evaluation."""

PROOF_NODES = 100_000
"""The nodes of the proofs for a position, by default."""

MOST_WIN = 4
"""The most moves of a forced win that is a puzzle."""

PLAY_NODES = 300
"""The nodes of a move in games for puzzles."""

RANDOM = 0.1
"""The share of random moves in games for puzzles."""

FAR_AHEAD = 0.9999
"""The expected points by static evaluation from which a player is far ahead."""

SETTLED = 24
"""The plies in a row with one player far ahead after which a game is left, if it is too large to be
solved: the forced wins of its endgame are no puzzles."""

OPENING = (2, 6)
"""The least and the most random plies with which these games begin."""

GAP = 6
"""The least plies between two puzzles from one game."""

IDLE_GAMES = 200
"""The games in a row without a new puzzle after which the search for puzzles ends."""

Progress = Callable[[str, int], None]
"""A function that is told the game in work, and the number of puzzles found."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position with exactly one solution."""

    position: Any
    """The position."""
    aim: str
    """The result that only the solution keeps: ``"win"`` or ``"draw"``."""
    within: int | None
    """The number of moves in which the solution wins, and no other move does; None if the values of
    all moves are proven."""
    line: tuple[int, ...]
    """The solution and best play after it, as far as it is known."""
    legal: int
    """The number of legal moves."""
    obvious: int
    """The move that is best at first sight, which is wrong."""
    nodes: int | None
    """The nodes with which a search finds the solution, one of :data:`GRADE_NODES`; None if more
    are needed."""
    source: str
    """The game that the position is from, such as ``"seed 0, game 12"``, or the file."""
    ply: int
    """The number of steps in that game before the position."""

    @property
    def game(self) -> str:
        """The name of the game and its variant."""
        return Game.of(self.position).source

    @property
    def text(self) -> str:
        """The position in the game's notation."""
        return position_text(self.position)

    @property
    def move(self) -> int:
        """The solution."""
        return self.line[0]

    @property
    def grade(self) -> str:
        """One of :data:`GRADES`."""
        return GRADES[-1 if self.nodes is None else GRADE_NODES.index(self.nodes)]

    def goal(self) -> str:
        """Return the task in words, such as ``White to move and win in 3``."""
        soon = "" if self.within is None else f" in {self.within}"
        mover = Names.of(self.position).mover
        who = "Move" if mover == "player to move" else f"{capital(mover)} to move"
        return f"{who} and {self.aim}{soon}"

    def claim(self) -> str:
        """Return in words what is proven."""
        solution = move_text(self.position, self.move)
        if self.within is None:
            return f"Of {self.legal} moves, only {solution} keeps the {self.aim} (proven)."
        return (
            f"{solution} wins in {self.within}, and none of the other {self.legal - 1} moves "
            f"forces a win within {self.within} (proven)."
        )

    def hints(self) -> list[str]:
        """Return hints: what is wrong, where to look, and the solution."""
        wrong = move_text(self.position, self.obvious)
        if self.within is None:
            first = f"{wrong} looks best at first, but does not keep the {self.aim}."
        else:
            first = f"{wrong} looks best at first, but does not win in {self.within}."
        changes = changes_of(self.position, self.move)
        words = f": it {', and '.join(changes.words)}" if changes.words else ""
        solution = f"Play {move_text(self.position, self.move)}{words}."
        return [first, *_place_to_look(self.position, self.move), solution]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the position and moves in the game's own notation."""
        line = line_text(self.position, self.line)
        return {
            "game": self.game,
            "position": self.text,
            "mover": Names.of(self.position).mover,
            "goal": self.goal(),
            "aim": self.aim,
            "within": self.within,
            "solution": line[0],
            "line": line,
            "legal": self.legal,
            "obvious": move_text(self.position, self.obvious),
            "grade": self.grade,
            "nodes": self.nodes,
            "claim": self.claim(),
            "hints": self.hints(),
            "source": self.source,
            "ply": self.ply,
        }


def _place_to_look(position: Any, move: int) -> list[str]:
    """Return a hint: the piece that moves, or else the part of the board; none without a board."""
    board, cells = board_of(type(position)), changes_of(position, move).cells
    if board is None or not cells:
        return []
    owners, names = board.owners, list(board.contents.values())
    came = {new for _, _, new in cells}
    for cell, old, new in cells:
        if old and not new and old in came and owners[old] is not None:
            piece = "stone" if names[old].endswith("player") else names[old]
            return [f"Look at the {piece} on {cell_name(board, cell)}."]
    places = board.places
    x, y = (
        _third([places[cell][axis] for cell, _, _ in cells], [place[axis] for place in places])
        for axis in (0, 1)
    )
    words = (("upper", "", "lower")[y], ("left", "", "right")[x])
    part = " ".join(filter(None, words))
    return [f"Look at the {f'{part} part' if part else 'middle'} of the board."]


def _third(chosen: list[float], every: list[float]) -> int:
    """Return 0, 1 or 2: the third of a range in which the mean of some of its values lies."""
    low, high = min(every), max(every)
    share = 0.5 if high == low else (sum(chosen) / len(chosen) - low) / (high - low)
    return min(int(3 * share), 2)


def find_puzzles(  # noqa: PLR0913
    game: Any,
    count: int,
    *,
    records: str | os.PathLike[str] | None = None,
    seed: int = 0,
    nodes: int | None = None,
    seconds: float | None = None,
    tablebase: Tablebase | str | os.PathLike[str] | None = None,
    known: Iterable[tuple[Any, str]] = (),
    progress: Progress | None = None,
    judge: Judge | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Puzzle]:
    """Yield up to *count* puzzles, each as soon as it is found.

    *game* is a game or its name.  Positions are from games that the engine plays against itself,
    which differ by *seed*, or from *records*: a game file, or a folder of them.  *nodes* and
    *seconds* limit the proofs for each position, by default to :data:`PROOF_NODES`.  Equivalent
    positions count as one.  *known* holds positions and sources of puzzles found earlier: these
    are not found again, and the search resumes at the last of their sources.  *judge* proves, in
    place of a new one, and the event *stop* ends the search.

    It ends sooner after the last record, or after :data:`IDLE_GAMES` games without a new puzzle.
    Raise :class:`GameError` for games of chance.
    """
    require_at_least(count, 1, "a number of puzzles")
    require_integer(seed, "a seed")
    chosen = game if isinstance(game, Game) else load_game(game)
    name = chosen.source if isinstance(game, Game) else str(game)
    start = chosen.start()
    if defines(type(start), "chance"):
        raise GameError(f"{game_name(type(start))} has chance, so no move of it is proven the best")
    if nodes is None and seconds is None:
        nodes = PROOF_NODES
    judge = judge or Judge(type(start), tablebase=tablebase)
    finder = _Finder(judge, {"nodes": nodes, "seconds": seconds, "stop": stop})
    files = None if records is None else _record_files(records, type(start))
    return finder.find(chosen, name, files, count, seed, list(known), progress)


def _record_files(records: str | os.PathLike[str], cls: Any) -> list[Path]:
    """Return the game files of a folder, or a single one."""
    path = Path(records)
    if not path.is_dir():
        if not record_suffix(str(path), cls):
            raise CutnodeError(f"{path} is neither a folder nor a game file of {game_name(cls)}")
        return [path]
    files = [each for each in sorted(path.iterdir()) if record_suffix(each.name, cls)]
    files = [each for each in files if each.is_file()]
    if not files:
        raise CutnodeError(f"{path} holds no game files of {game_name(cls)}")
    return files


class _Finder:
    """The searches that find, prove and grade puzzles of a game."""

    def __init__(self, judge: Judge, limits: dict[str, Any]):
        self.judge = judge
        self.player = Judge(judge.cls, table=1).searcher
        self.limits = limits
        self.stop: threading.Event | None = limits["stop"]

    def find(
        self,
        game: Game,
        name: str,
        files: list[Path] | None,
        count: int,
        seed: int,
        known: list[tuple[Any, str]],
        progress: Progress | None,
    ) -> Iterator[Puzzle]:
        """Yield puzzles from records, or from games against itself."""
        seen = {class_key(position) for position, _ in known}
        before = {source for _, source in known}
        sources: Iterable[tuple[str, Callable[[], Sequence[Any]]]]
        if files is None:
            prefix = f"seed {seed}, game "
            ends = [each.removeprefix(prefix) for each in before if each.startswith(prefix)]
            numbers = [int(end) for end in ends if end.isdecimal()]
            sources = (
                (f"{prefix}{number}", functools.partial(self.play, game.start(), seed, number))
                for number in itertools.count(max(numbers, default=1))
            )
        else:
            done = [at for at, file in enumerate(files) if file.name in before]
            sources = [
                (file.name, functools.partial(self.read, game, name, file))
                for file in files[max(done, default=0) :]
            ]
        found = idle = 0
        for source, positions in sources:
            if progress is not None:
                progress(source, found)
            idle += 1
            self.judge.table.forget()  # the puzzles of a game do not depend on other games
            for puzzle in self.among(positions(), source, seen):
                if self.stopped:
                    return
                yield puzzle
                found, idle = found + 1, 0
                if found == count:
                    return
            if self.stopped or (files is None and idle == IDLE_GAMES):
                return

    @property
    def stopped(self) -> bool:
        """Whether the search should end; a proof may then be unfinished."""
        return self.stop is not None and self.stop.is_set()

    def play(self, start: Any, seed: int, number: int) -> list[Any]:
        """Return the positions of a game of the engine against itself, with some random moves."""
        random = Random(f"{seed} puzzles {number}")
        record = Record(start)
        opening = random.randint(*OPENING)
        ahead = 0
        while not record.ending():
            ahead = self.ahead(record.position, ahead)
            if ahead > SETTLED:
                break
            if len(record.steps) < opening or random.random() < RANDOM:
                record.play(random.choice(record.legal_moves()))
            else:
                record.play(self.choice(record.position, nodes=PLAY_NODES))
        return record.positions

    def read(self, game: Game, name: str, file: Path) -> list[Any]:
        """Return the positions of the game in a file, until it is settled."""
        recorded = read_record(str(file), name)
        try:
            record = Record(game.parse(recorded.start))
            record.follow(recorded.steps)
        except CutnodeError as error:
            raise CutnodeError(f"{file}: {error}") from None
        ahead = 0
        for ply, position in enumerate(record.positions):
            ahead = self.ahead(position, ahead)
            if ahead > SETTLED:
                return record.positions[:ply]
        return record.positions

    def ahead(self, position: Any, before: int) -> int:
        """Return the plies in a row with one player far ahead, given their number *before*."""
        if self.judge.solves or not self.judge.has_evaluation:
            return 0
        points = self.judge.static(position)
        return before + 1 if max(points, 1 - points) > FAR_AHEAD else 0

    def among(self, positions: Sequence[Any], source: str, seen: set[Any]) -> Iterator[Puzzle]:
        """Yield the puzzles among the positions of a game; *seen* has the keys of all puzzles."""
        ready = 0
        for ply, position in enumerate(positions):
            if self.stopped:
                return
            key = class_key(position)
            if key in seen:
                ready = ply + GAP
            if ply < ready:
                continue
            puzzle = self.at(position, source, ply)
            if puzzle is not None:
                seen.add(key)
                ready = ply + GAP
                yield puzzle

    def at(self, position: Any, source: str, ply: int) -> Puzzle | None:
        """Return a position as a puzzle, or None if it is none."""
        legal = legal_moves(position)
        if len(legal) < 2 or is_over(position):
            return None
        proof = self.only_move(position, legal)
        if proof is None:
            return None
        aim, within, line = proof
        obvious = self.choice(position)
        if self.is_obvious(position, legal, line[0], obvious):
            return None
        nodes = self.nodes_for(position, line[0])
        return Puzzle(position, aim, within, line, len(legal), obvious, nodes, source, ply)

    def only_move(
        self, position: Any, legal: list[int]
    ) -> tuple[str, int | None, tuple[int, ...]] | None:
        """Return the result that only one move keeps, within how many moves, and its line."""
        result = self.judge.exact(position, ProofOptions(weak=True, **self.limits))
        if result is not None:
            _require_running(result)
            scores = result.scores or {}
            signs = {move: _sign(value) for move, value in scores.items() if value is not None}
            if result.value is not None and len(signs) == len(legal):
                best = _sign(result.value)
                keeping = [move for move in legal if signs[move] == best]
                if best < 0 or len(keeping) != 1:
                    return None
                line = self.best_line(position) or result.pv
                line = line if line[:1] == (keeping[0],) else (keeping[0],)
                return ("win" if best > 0 else "draw"), None, line
        prover = self.judge.prover
        if prover is None:
            return None
        win = _require_running(prover.prove(position, MOST_WIN, **self.limits))
        if win.moves is None or win.moves < 2 or not win.pv:
            return None
        others = [move for move in legal if move != win.pv[0]]
        other = prover.prove(position, win.moves, among=others, **self.limits)
        _require_running(other)
        if other.moves is not None or not other.proven:
            return None
        return "win", win.moves, win.pv

    def best_line(self, position: Any) -> tuple[int, ...]:
        """Return best play by exact values, or nothing if the limits do not allow it."""
        result = self.judge.exact(position, ProofOptions(**self.limits), kind="solve")
        if result is None or _require_running(result).value is None:
            return ()
        return result.pv

    def is_obvious(self, position: Any, legal: list[int], solution: int, glance: int) -> bool:
        """Return whether a solution is found at first sight: see the module."""
        if solution == glance or outcome(play(position, solution))[0]:
            return True
        others = [move for move in legal if move != solution]
        if defines(type(position), "gain"):
            gained = int(gain(position, solution))
            if gained > 0 and gained >= max(int(gain(position, move)) for move in others):
                return True
        return all(_loses_at_once(position, move) for move in others)

    def nodes_for(self, position: Any, solution: int) -> int | None:
        """Return the nodes from which on searches find a solution; None if they do not."""
        fewest = None
        for nodes in reversed(GRADE_NODES):
            if self.choice(position, nodes=nodes) != solution:
                break
            fewest = nodes
        return fewest

    def choice(self, position: Any, nodes: int | None = None) -> int:
        """Return the move of a search with an empty table; without *nodes*, at first sight."""
        self.player.clear()
        if isinstance(self.player, MonteCarlo):
            playouts = GLANCE_PLAYOUTS if nodes is None else None
            options = SearchOptions(nodes=nodes, playouts=playouts, seed=0)
        else:
            options = SearchOptions(nodes=nodes, depth=1 if nodes is None else None)
        return int(_require_running(self.player.run(position, options)).lines[0].move)


def _require_running(result: Any) -> Any:
    """Return a result; raise KeyboardInterrupt if Ctrl-C ended its search."""
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return result


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _loses_at_once(position: Any, move: int) -> bool:
    """Return whether a move loses by itself, or to the opponent's next move."""
    child = play(position, move)
    again = moves_again(position, child)
    over, value = outcome(child)
    if over:
        return bool((value if again else -value) < 0)
    return not again and wins_at_once(child)
