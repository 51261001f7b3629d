"""The values of all moves of a position, proven where possible, and grades of moves.

A :class:`Judge` first tries to prove the value of every move, by the solver of the game or a
tablebase.  It estimates the moves that remain open by a search of all of them (by alpha-beta, or by
playouts if the game has no evaluation), and checks each win or loss that alpha-beta reports by a
search for forced wins, which prunes nothing.  So what is called proven rests on an exact search.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cutnode.contract.choices import TREE_MEMORY
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.verbs import chance, moves_again, outcome, play
from cutnode.explaining.points import points_of, win_chance
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import MOST_MOVES
from cutnode.kernels.scores import is_decisive, win_distance
from cutnode.runtime.running import is_stopped
from cutnode.search.board import class_of
from cutnode.search.forced_wins import Prover
from cutnode.search.game_solver import GameSolver
from cutnode.search.loops import has_loops
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import ProofOptions, SearchOptions
from cutnode.search.record import allowed_moves, is_over
from cutnode.search.results import MonteCarloResult, Result, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.search.tiers import first_proof
from cutnode.storage.evaluations import installed_weights
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

PROOF_SHARE = 0.4
"""The share of the limits for proofs of all moves; forced wins may take as much as is then left."""

CHECK_SHARE = 0.05
"""The share of the limits for the proof of one win or loss that a search reports."""

PROVER_TABLE = 16
"""The largest table of the search for forced wins, in MiB: at most the size of the other."""

SHORT_WIN = 4
"""The distance in plies up to which a win or loss is checked with ``SHORT_NODES`` at any time."""

SHORT_NODES = 20_000
"""The nodes for the proof of a short win."""

ALMOST = 0.99
"""The expected points of a win that a search reports and no proof confirms."""

GRADES = ("best", "good", "inaccuracy", "mistake", "missed win", "blunder")
"""The grades of a move, from best to worst."""

LIMITS = ((0.15, "blunder"), (0.10, "mistake"), (0.05, "inaccuracy"))
"""The expected points from which an estimated loss is one of these.  Lichess uses the same limits,
written as differences of winning chances from -1 to 1 (0.3, 0.2, 0.1)."""


@dataclass(frozen=True, slots=True)
class JudgedMove:
    """A legal move and what is known about it, for the player to move."""

    move: int
    """The move."""
    value: float
    """Its value if it is proven, else its score."""
    proven: bool
    """Whether *value* is the proven result of perfect play."""
    points: float
    """The expected points, 0 to 1; 0, 0.5 or 1 if proven."""
    pv: tuple[int, ...]
    """The line of play that it begins, as far as it is known."""
    distance: int | None = None
    """The plies to the end of the game by the quickest proven win, or None if that is unknown."""

    @property
    def sort_key(self) -> tuple[float, float, float]:
        """The key by which better moves come first: points, then value, then distance."""
        distance = self.distance or 0
        return (-self.points, -self.value, distance if self.points > 0.5 else -distance)


class Judgement(NamedTuple):
    """The values of all moves of a position, as far as they are known."""

    position: Any
    """The position."""
    moves: tuple[JudgedMove, ...]
    """The judged moves, best first; empty if the game is over or chance decides."""
    legal: int
    """The number of legal moves; moves without any estimate are not among *moves*."""
    value: float
    """The value of the position for the player to move, or its score."""
    proven: bool
    """Whether *value* is proven."""
    points: float
    """The expected points of the player to move."""
    depth: int
    """The depth of the search in plies; 0 if proofs or playouts answered."""
    playouts: int
    """The playouts of a game without an evaluation; else 0."""
    nodes: int
    """Nodes visited by all proofs and searches."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why judging ended: proven, node limit, time limit, stopped, or interrupted."""

    def of(self, move: int) -> JudgedMove | None:
        """Return what is known about a move; None if nothing is."""
        return next((each for each in self.moves if each.move == move), None)

    @property
    def best(self) -> JudgedMove | None:
        """The best move; None if there is none."""
        return self.moves[0] if self.moves else None

    @property
    def keeping(self) -> tuple[JudgedMove, ...]:
        """The moves that keep the result: the same points if proven, else nearly the same."""
        if self.proven:
            return tuple(each for each in self.moves if each.proven and each.points == self.points)
        least = self.points - LIMITS[-1][0]
        return tuple(each for each in self.moves if each.points > least)

    @property
    def open(self) -> int:
        """The number of moves that could still keep a proven result; 0 if nothing is proven."""
        if not self.proven or self.points == 0:
            return 0
        return self.legal - sum(each.proven for each in self.moves)

    def grade(self, move: int) -> str:
        """Return the grade of a move: see :data:`GRADES`; "" if nothing is known about it."""
        judged, best = self.of(move), self.best
        if judged is None or best is None:
            return ""
        lost = best.points - judged.points
        if judged.sort_key <= best.sort_key:
            return "best"
        if best.proven and judged.proven:
            if lost <= 0:
                return "good"
            return "missed win" if judged.points == 0.5 else "blunder"
        if best.proven and best.points == 1.0 and lost >= LIMITS[-1][0]:
            return "blunder" if judged.points < 0.5 - LIMITS[-1][0] else "missed win"
        return next((name for least, name in LIMITS if lost >= least), "good")

    @property
    def only_move(self) -> bool:
        """Whether every other move is known to give up the result."""
        if len(self.moves) != self.legal or self.legal < 2 or len(self.keeping) != 1:
            return False
        return self.points > 0 and (not self.proven or self.open == 0)


class Budget:
    """The limits of several searches together: *nodes*, *seconds*, and the event *stop*.

    The seconds do not count while the *judge* compiles its searches.
    """

    def __init__(
        self,
        judge: Judge,
        nodes: int | None,
        seconds: float | None,
        stop: threading.Event | None,
    ):
        checked = SearchOptions(nodes=nodes, seconds=seconds, stop=stop)
        self.most, self.seconds, self.stop = checked.nodes, checked.seconds, checked.stop
        self.clock = Clock(None)
        self.judge = judge
        self.compiled = judge.compiling
        self.nodes = 0
        """The nodes spent."""
        self.interrupted = False
        """Whether Ctrl-C ended a search."""

    def share(self, part: float = 1.0) -> dict[str, Any]:
        """Return the limits of a search: a part of all, or of what is left if that is less."""
        found: dict[str, Any] = {"stop": self.stop}
        if self.most is not None:
            found["nodes"] = max(1, int(min(part * self.most, self.most - self.nodes)))
        if self.seconds is not None:
            found["seconds"] = max(1e-3, min(part * self.seconds, self.left(self.seconds)))
        return found

    def left(self, seconds: float) -> float:
        """Return how many of the *seconds* are left."""
        return seconds + self.judge.compiling - self.compiled - self.clock.elapsed()

    def spend(self, nodes: int, reason: str) -> None:
        """Count the nodes of a search, which ended for this *reason*."""
        self.nodes += nodes
        self.interrupted |= reason == "interrupted"

    @property
    def stopped(self) -> bool:
        """Whether the event has been set."""
        return self.stop is not None and is_stopped((self.stop,))

    @property
    def ended(self) -> bool:
        """Whether no more work should be begun."""
        out = self.most is not None and self.nodes >= self.most
        late = self.seconds is not None and self.left(self.seconds) <= 0
        return out or late or self.interrupted or self.stopped


class Judge:
    """Judges positions of one game; see the module.

    *game* is a game, a position or a position class.  *table* is a :class:`Table` or its size in
    MiB, *memory* the limit of a tree of playouts in bytes, and *tablebase* one that answers for the
    positions that it holds.  One thread at a time may use a judge.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        memory: int = TREE_MEMORY,
        tablebase: Tablebase | str | os.PathLike[str] | None = None,
    ):
        self.cls: Any = class_of(game)
        self.memory = memory
        self.table = table if isinstance(table, Table) else Table(table)
        self.tablebase = Tablebase.of(tablebase, self.cls)
        self.has_chance = defines(self.cls, "chance")
        self.has_evaluation = (
            defines(self.cls, "evaluate") or installed_weights(self.cls) is not None
        )
        self._solver: GameSolver | None = None
        self._searcher: Searcher | MonteCarlo | None = None
        self._prover: Prover | None = None
        self.compiling = 0.0
        """The seconds spent on compiling."""

    # The three kinds of search, each compiled when it is first needed

    @property
    def solves(self) -> bool:
        """Whether proofs of values are tried: not in games of chance, nor where a value depends on
        the line of play, nor in games with cycles that have an evaluation, which are too large to
        be solved in memory; a tablebase can be."""
        if self.has_chance or repetition_rule(self.cls) != "draw":
            return False
        return self.tablebase is not None or not (has_loops(self.cls) and self.has_evaluation)

    @property
    def solver(self) -> GameSolver:
        """The solver."""
        if self._solver is None:
            self._solver = GameSolver(self.cls, self.table, tablebase=self.tablebase)
            self._compile(self._solver)
        return self._solver

    @property
    def searcher(self) -> Searcher | MonteCarlo:
        """The search that estimates: alpha-beta, or playouts for a game without an evaluation."""
        if self._searcher is None:
            if self.has_evaluation:
                self._searcher = Searcher(
                    self.cls, table=self.table, ready=False, tablebase=self.tablebase
                )
            else:
                self._searcher = MonteCarlo(
                    self.cls, ready=False, rollouts=None, memory=self.memory
                )
            self._compile(self._searcher)
        return self._searcher

    @property
    def prover(self) -> Prover | None:
        """The search for forced wins; None for games that it does not support."""
        if self.has_chance or defines(self.cls, "turn") or not is_decisive(self.cls):
            return None
        if self._prover is None:
            size = min(PROVER_TABLE, self.table.megabytes)
            self._prover = Prover(self.cls, table=size, tablebase=self.tablebase)
            self._compile(self._prover)
        return self._prover

    def _compile(self, searching: GameSolver | Searcher | MonteCarlo | Prover) -> None:
        """Compile a search, and count the time."""
        clock = Clock(None)
        searching.prepare()
        self.compiling += clock.elapsed()

    def prepare(self) -> None:
        """Compile all searches now."""
        _ = self.solver if self.solves else None
        _ = self.searcher, self.prover

    def clear(self) -> None:
        """Forget what searches stored: the next question is answered like the first."""
        self.table.forget()
        if self._searcher is not None:
            self._searcher.clear()
        if self._prover is not None:
            self._prover.table.forget()

    def static(self, position: Any) -> float:
        """Return the expected points of the player to move by the static evaluation."""
        over, value = outcome(position)
        if over:
            return points_of(value)
        if not isinstance(self.searcher, Searcher):
            return 0.5
        return win_chance(self.cls, self.searcher.estimate(position))

    # Judging

    def judge(
        self,
        position: Any,
        *,
        history: Iterable[Any] = (),
        lines: int | None = None,
        also: Iterable[int] = (),
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Judgement:
        """Return what can be found about the moves of a position within the limits.

        *lines* is the number of best moves to estimate, by default all, and *also* lists moves to
        estimate in any case.  The limits are for all proofs and searches together; without *nodes*
        and *seconds*, one second.  *history* holds the positions of the game before this one.
        """
        if type(position) is not self.cls:
            raise GameError(f"this judge is for {game_name(self.cls)}, not {position!r}")
        if nodes is None and seconds is None:
            seconds = 1.0
        budget = Budget(self, nodes, seconds, stop)
        work = _Work(self, coerce(position), tuple(history), budget)
        return work.judge(lines, tuple(also))

    def exact(
        self, position: Any, options: ProofOptions, *, kind: str = "analyse"
    ) -> Result | None:
        """Return a proof of the values of a position's moves, or what was found of it."""
        if not self.solves:
            return None
        chosen = options.of_game(self.cls)
        if self._solver is None and self.tablebase is None:
            self.table.forget()  # a first proof begins with an empty table
            found = first_proof(kind, position, chosen, self.table)
            if found is not None:
                return found
        return self.solver.prove(kind, position, chosen)


class _Work:
    """The proofs and searches for one position, and their limits."""

    def __init__(
        self,
        judge: Judge,
        position: Any,
        history: Sequence[Any],
        budget: Budget,
    ):
        self.of = judge
        self.position = position
        self.history = history
        self.budget = budget
        self.depth = self.playouts = 0
        self.reason = ""
        """Why the last search ended."""
        self.found: dict[int, JudgedMove] = {}

    def spend(self, nodes: int, reason: str) -> None:
        """Count the nodes of a search, which ended for this *reason*."""
        self.budget.spend(nodes, reason)
        self.reason = reason

    def judge(self, lines: int | None, also: tuple[int, ...]) -> Judgement:
        """Judge the moves of the position."""
        over, value = outcome(self.position)
        if over or is_over(self.position):
            return self.judgement(value if over else 0, proven=True, legal=0)
        if self.of.has_chance and chance(self.position):
            return self.judge_chance()
        legal = allowed_moves(self.position, self.history)
        exact = self.prove(legal)
        if exact is None or len(self.found) < len(legal):
            self.estimate(legal, lines, also)
            self.confirm()
        best = min(self.found.values(), key=lambda each: each.sort_key, default=None)
        if exact is not None and exact.value is not None:
            return self.judgement(exact.value, proven=True, legal=len(legal))
        if best is None:
            return self.judgement(0, proven=False, legal=len(legal))
        won = best.proven and best.points == 1.0
        every = all(each.proven for each in self.found.values()) and len(self.found) == len(legal)
        return self.judgement(best.value, proven=won or every, legal=len(legal))

    def judge_chance(self) -> Judgement:
        """Judge a position where chance decides: it has no moves, but an expected value."""
        options = SearchOptions(history=self.history, **self.budget.share())
        result = self.of.searcher.run(self.position, options)
        self.spend(result.nodes, result.reason)
        if isinstance(result, MonteCarloResult):
            self.playouts = result.playouts
        else:
            self.depth = result.depth
        return self.judgement(result.value, proven=False, legal=0)

    def judgement(self, value: float, *, proven: bool, legal: int) -> Judgement:
        """Return the findings."""
        moves = tuple(sorted(self.found.values(), key=lambda each: each.sort_key))
        points = points_of(value) if proven else moves[0].points if moves else 0.5
        if not moves and not proven:
            points = win_chance(self.of.cls, value)
        settled = proven and len(moves) == legal and all(each.proven for each in moves)
        if self.budget.interrupted:
            reason = "interrupted"
        elif settled:
            reason = "proven"
        else:
            reason = "stopped" if self.budget.stopped else self.reason
        return Judgement(
            self.position,
            moves,
            legal,
            value,
            proven,
            points,
            self.depth,
            self.playouts,
            self.budget.nodes,
            self.budget.clock.elapsed(),
            reason,
        )

    def prove(self, legal: list[int]) -> Result | None:
        """Prove the values of as many moves as the share of the limits allows."""
        if not legal:
            return None
        result = self.of.exact(self.position, ProofOptions(**self.budget.share(PROOF_SHARE)))
        if result is None:
            return None
        self.spend(result.nodes, result.reason)
        for move, value in (result.scores or {}).items():
            if value is not None:
                pv = result.pv if result.pv[:1] == (move,) else (move,)
                self.found[move] = JudgedMove(move, value, True, points_of(value), pv)
        best, value = result.best_move, result.value
        if best is not None and value is not None and best not in self.found:
            self.found[best] = JudgedMove(best, value, True, points_of(value), result.pv or (best,))
        return result

    def estimate(self, legal: list[int], lines: int | None, also: tuple[int, ...]) -> None:
        """Estimate the moves whose values are open."""
        wanted = [move for move in legal if move not in self.found]
        if not wanted:
            return
        most = len(wanted) if lines is None else min(lines, len(wanted))
        others = [move for move in also if move in wanted] if most < len(wanted) else []
        left = 1 - PROOF_SHARE if self.budget.nodes else 1 - CHECK_SHARE
        part = left / (1 + len(others))
        searched = self.search(wanted, most, part)
        for move in others:
            if self.budget.ended:
                break
            if move in searched:
                self.search(wanted, most, part)
                continue
            # With the best move, so that both are searched to the same depth.
            best = min(searched, key=lambda each: self.found[each].sort_key)
            self.search([best, move], 2, part)

    def search(self, moves: list[int], lines: int, part: float) -> set[int]:
        """Search the best *lines* of some moves by a part of the limits; return those estimated."""
        searcher = self.of.searcher
        limits = self.budget.share(part)
        options = SearchOptions(moves=moves, lines=lines, history=self.history, **limits)
        result = searcher.run(self.position, options)
        self.spend(result.nodes, result.reason)
        if isinstance(result, SearchResult):
            if result.depth == 0 or len(result.lines) < lines:
                shallow = replace(options, depth=1, nodes=None, seconds=None, stop=None)
                result = searcher.run(self.position, shallow)
                self.budget.spend(result.nodes, result.reason)
            return self.take_lines(result)
        return self.take_playouts(result)

    def take_lines(self, result: Any) -> set[int]:
        """Take the scores of a search by alpha-beta."""
        self.depth = max(self.depth, result.depth)
        for line in result.lines:
            points = win_chance(self.of.cls, line.value)
            if is_decisive(self.of.cls) and win_distance(line.value) is not None:
                points = ALMOST if line.value > 0 else 1 - ALMOST
            self.found[line.move] = JudgedMove(line.move, line.value, False, points, line.pv)
        return {line.move for line in result.lines}

    def take_playouts(self, result: MonteCarloResult) -> set[int]:
        """Take the means of playouts, and what the tree proves."""
        self.playouts += result.playouts
        lines = {line.move: line.pv for line in result.lines}
        for each in result.moves:
            pv = lines.get(each.move, (each.move,))
            won, lost = each.lower > 0, each.upper < 0
            if each.proven or (is_decisive(self.of.cls) and (won or lost)):
                value = each.lower if each.lower > 0 else each.upper
                self.found[each.move] = JudgedMove(each.move, value, True, points_of(value), pv)
            elif each.worth is not None and each.value is not None:
                points = (1 + each.worth) / 2
                self.found[each.move] = JudgedMove(each.move, each.value, False, points, pv)
        return set(self.found)

    def confirm(self) -> None:
        """Prove the wins and losses that alpha-beta reports, the best moves first."""
        for judged in sorted(self.found.values(), key=lambda each: each.sort_key):
            distance = None if judged.proven else win_distance(judged.value)
            if distance is None or distance > 2 * MOST_MOVES:
                continue
            if self.budget.ended and distance > SHORT_WIN:
                continue
            confirmed = self.confirmed(judged, int(distance))
            if confirmed is not None:
                self.found[judged.move] = confirmed

    def confirmed(self, judged: JudgedMove, distance: int) -> JudgedMove | None:
        """Return a move with its win or loss proven; None if no proof was found."""
        prover = self.of.prover
        if prover is None:
            return None
        limits = self.budget.share(CHECK_SHARE)
        if distance <= SHORT_WIN:
            limits = {"stop": self.budget.stop, "nodes": SHORT_NODES}
        child = play(self.position, judged.move)
        over, value = outcome(child)
        if over:
            value = value if moves_again(self.position, child) else -value
            points = points_of(value)
            return JudgedMove(judged.move, value, True, points, (judged.move,), 1)
        won = judged.value > 0
        asked = (self.position if won else child), (distance + 1) // 2 if won else distance // 2
        chosen: dict[str, Any] = {"history": self.history}
        if won:
            chosen["among"] = [judged.move]
        else:
            chosen["history"] = (*self.history, self.position)
        if asked[1] < 1:
            return None
        found = prover.prove(asked[0], min(asked[1], MOST_MOVES), **chosen, **limits)
        self.budget.spend(found.nodes, found.reason)
        if found.moves is None:
            return None
        pv = found.pv if won else (judged.move, *found.pv)
        # An unfinished line of the proof does not tell the distance of the longest defence.
        known = found.reason == "proven"
        plies = 2 * found.moves - 1 + (not won)
        value = 1 if won else -1
        return JudgedMove(judged.move, value, True, points_of(value), pv, plies if known else None)
