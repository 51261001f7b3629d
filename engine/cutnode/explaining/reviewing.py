"""The review of a whole game.

::

    import cutnode

    print(cutnode.review("connect4:5x4", ["3", "3", "2", "4"]))

Positions are judged from the last to the first, so that a search finds in the table what later
positions showed.  A move is compared with the best move of the same judgement, never with the
judgement of the next position, so the noise between two searches marks no move.

In games of chance the expected points before a roll are the mean over its outcomes.  A roll
changes them by luck, and a move, which can only lose some, by skill.
"""

from __future__ import annotations

import math
import os
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cutnode.contract.derived import legal_moves, same_after_chance
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import Game
from cutnode.contract.messages import MOST_SHOWN, chance_text, move_text, position_text
from cutnode.contract.verbs import chance, chance_outcome, outcome, play
from cutnode.explaining import phrases
from cutnode.explaining.explanations import WRONG, Explanation, explain
from cutnode.explaining.judging import LIMITS, Judge, Judgement
from cutnode.explaining.reviews import MARKS, Review, ReviewedStep, SideSummary, TurningPoint
from cutnode.kernels.clock import Clock
from cutnode.playing.records import Recorded, ply_of
from cutnode.search.board import Board, given_position
from cutnode.search.options import SearchOptions
from cutnode.search.record import Record, wins_at_once
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

SECONDS = 0.5
"""The time limit per position if there is no other limit."""

TURNING_POINTS = 3
"""The number of turning points to explain, by default."""

EXPLAINED = 8
"""The limits for the explanation of a turning point, in units of the limits for a position: it
estimates all moves about as deep as the first judgement estimated the best two."""

LEAST_TURN = next(least for least, name in LIMITS if name == "mistake")
"""The expected points that a turning point changes at least: a mistake's."""

VOLATILITY = (0.5, 12.0)
"""The range of the weight of a move in the accuracy of a game."""


def review(
    game: Any,
    moves: Iterable[str | int] | None = None,
    *,
    turning_points: int = TURNING_POINTS,
    table: Table | int = 64,
    tablebase: Tablebase | str | os.PathLike[str] | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    judge: Judge | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Review:
    """Review a game: mark its moves, and explain its turning points.

    *game* is a :class:`Board` with its moves, a :class:`~cutnode.playing.records.Recorded` game
    from a file, or the game, its name or a position, with the *moves* as texts; outcomes of chance
    among them are their indices.  *nodes* and *seconds* limit the work on each position, by default
    half a second.  *turning_points* is the most to explain, each within eight times these limits;
    their explanations replace the first judgements of their positions.
    *table* and *tablebase* are as for :func:`solve`.  A *judge* reviews many games, and keeps what
    its searches stored.  *progress* is called with the numbers of judged positions and of all.

    An interrupted or stopped review has the steps judged until then: the last ones of the game.

    Raise :class:`CutnodeError` if the game has no move, or a step is illegal.
    """
    board, recorded = board_of_game(game, moves)
    if nodes is None and seconds is None:
        seconds = SECONDS
    if judge is None:
        judge = Judge(board.position, table=table, tablebase=tablebase)
    limits = {"nodes": nodes, "seconds": seconds}
    return _Reviewing(judge, board, recorded, limits, stop).review(turning_points, progress)


def board_of_game(game: Any, moves: Iterable[str | int] | None = None) -> tuple[Board, Recorded]:
    """Return a game as a board with all moves played, and as a record; see :func:`review`."""
    if isinstance(game, Recorded):
        if moves is not None:
            raise CutnodeError("a recorded game has its own moves: leave out the others")
        recorded, board = game, Board(game.name, game.start or None)
        follow(board.record, recorded.steps)
    else:
        if not isinstance(game, Board):
            position = given_position(game)
            board = Board(Game.of(position), position)
            follow(board.record, list(moves or ()))
        elif moves is not None:
            raise CutnodeError("a board has its own moves: leave out the others")
        else:
            board = game
        recorded = recorded_of(board)
    if not board.record.steps:
        raise CutnodeError("the game has no moves: there is nothing to review")
    if all(chance(each) > 0 for each in board.record.positions[:-1]):
        raise CutnodeError("the game has no moves, only outcomes of chance")
    return board, recorded


def recorded_of(board: Board) -> Recorded:
    """Return a board's game as a record."""
    record = board.record
    plies = [ply_of(record.step_text(number)) for number in range(len(record.steps))]
    return Recorded(board.game.source, position_text(record.positions[0]), plies)


def follow(record: Record, steps: Sequence[str | int]) -> None:
    """Play the steps of a game; the error for a wrong one says which it is, and what is legal."""
    try:
        record.follow([*steps])
    except CutnodeError as error:
        raise CutnodeError(f"{error}; {_allowed(record)}") from None


def _allowed(record: Record) -> str:
    """Return in words what may follow in a game."""
    position = record.position
    where = f"in {position_text(position)}"
    if ending := record.ending():
        return f"the game is over {where}, by {'the rules' if ending == 'rules' else ending}"
    if count := chance(position):
        return f"chance decides {where}: chance 0 to chance {count - 1}"
    legal = record.legal_moves()
    shown = ", ".join(move_text(position, move) for move in legal[: 4 * MOST_SHOWN])
    more = f" and {len(legal) - 4 * MOST_SHOWN} more" if len(legal) > 4 * MOST_SHOWN else ""
    return f"legal {where}: {shown}{more}"


# Accuracy


def accuracy_of(lost: float) -> float:
    """Return the accuracy of a move, 0 to 100, by the expected points that it loses, 0 to 1.

    The formula is Lichess's (lichess.org/page/accuracy): ``103.1668 * exp(-0.04354 * p) - 3.1669``
    for a loss of *p* percent, at least 0.
    """
    if lost <= 0:
        return 100.0
    return max(0.0, 103.1668 * math.exp(-0.04354 * 100 * lost) - 3.1669)


def volatilities(points: Sequence[float]) -> list[float]:
    """Return the weights of moves in the accuracy of a game, as in Lichess's ``AccuracyPercent``.

    *points* are the expected points of one side at each position, 0 to 1.  The weight of a move is
    the standard deviation of these in percent, 0.5 to 12, over as many positions as a tenth of the
    game has moves, 2 to 8.  The last of these positions follows the move; the first moves have the
    first positions.
    """
    percent = [100 * each for each in points]
    size = max(2, min(8, (len(points) - 1) // 10))
    windows = [percent[:size]] * (size - 2)
    windows += [percent[at : at + size] for at in range(len(percent) - size + 1)]
    least, most = VOLATILITY
    return [max(least, min(most, statistics.pstdev(window))) for window in windows]


def game_accuracy(moves: Sequence[float], weights: Sequence[float]) -> float | None:
    """Return the accuracy of a side by the accuracies of its moves; None without moves.

    It is the mean of the weighted mean and of the harmonic mean, in which a move counts as 1 at
    least; so a blunder costs most, and most where the game was undecided.
    """
    if not moves:
        return None
    weighted = sum(map(math.prod, zip(moves, weights, strict=True))) / sum(weights)
    harmonic = len(moves) / sum(1 / max(1.0, each) for each in moves)
    return (weighted + harmonic) / 2


class _Reviewing:
    """The work on one game."""

    def __init__(
        self,
        judge: Judge,
        board: Board,
        recorded: Recorded,
        limits: dict[str, Any],
        stop: threading.Event | None,
    ):
        self.judge = judge
        self.board = board
        self.record = board.record
        self.recorded = recorded
        self.limits = limits
        self.stop = stop
        self.clock = Clock(None)
        self.nodes = 0
        self.reason = "complete"
        self.judgements: dict[int, Judgement] = {}
        self.points: list[float | None] = [None] * len(self.record.positions)
        """The expected points of side 0."""

    def review(self, turning_points: int, progress: Callable[[int, int], None] | None) -> Review:
        """Judge all positions, and explain the turning points."""
        record = self.record
        count = len(record.positions)
        steps: list[ReviewedStep] = []
        try:
            if self.limits["seconds"] is not None:
                self.judge.prepare()
            for number in reversed(range(count)):
                if self.is_stopped() or not self.judge_position(number):
                    break
                if number < count - 1:
                    steps.append(self.step(number))
                if progress is not None:
                    progress(count - number, count)
        except KeyboardInterrupt:
            self.reason = "interrupted"
        judged = len(steps)
        steps += [self.unjudged(number) for number in reversed(range(count - 1 - judged))]
        steps.reverse()
        turns = [*self.explained(steps, turning_points)]
        ending = record.ending()
        return Review(
            self.recorded,
            record.positions[0],
            record.position,
            ending,
            record.score(0) if ending else None,
            tuple(steps),
            tuple(self.points),
            (self.side(0, steps), self.side(1, steps)),
            tuple(turns),
            self.basis(),
            self.limits,
            self.nodes,
            self.clock.elapsed(),
            self.reason,
        )

    def is_stopped(self) -> bool:
        """Return whether the caller has stopped the work."""
        if self.stop is not None and self.stop.is_set():
            self.reason = "stopped"
        return self.reason != "complete"

    # Judging

    def judged(self, position: Any, number: int, **how: Any) -> Judgement | None:
        """Judge a position that follows the first *number* ones; None if that is interrupted."""
        history = self.record.positions[:number]
        limits = self.limits | {"stop": self.stop} | how
        judgement = self.judge.judge(position, history=history, **limits)
        self.nodes += judgement.nodes
        if judgement.reason in ("interrupted", "stopped"):
            self.reason = judgement.reason
            return None
        return judgement

    def judge_position(self, number: int) -> bool:
        """Judge a position of the game; return whether that was completed."""
        record = self.record
        position, side = record.positions[number], record.sides[number]
        last = number == len(record.positions) - 1
        if last and record.ending():
            self.points[number] = record.score(0)
            return True
        if chance(position) > 0:
            points = self.before_chance(number)
        else:
            also = () if last else (record.steps[number],)
            judgement = self.judged(position, number, lines=2, also=also)
            if judgement is None:
                return False
            self.judgements[number] = judgement
            points = judgement.points
        if points is None:
            return False
        self.points[number] = points if side == 0 else 1 - points
        return True

    def before_chance(self, number: int) -> float | None:
        """Return the expected points of the side before a roll: the mean over its outcomes.

        The outcome of the game is already judged; the others share the limits.
        """
        record = self.record
        before, side = record.positions[number], record.sides[number]
        count, points = chance(before), 0.0
        nodes, seconds = self.limits["nodes"], self.limits["seconds"]
        shared = {
            "nodes": nodes and max(1, nodes // count),
            "seconds": seconds and seconds / count,
        }
        for index in range(count):
            odds, after = chance_outcome(before, index)
            if odds == 0:
                continue
            known = self.points[number + 1] if number + 1 < len(record.positions) else None
            if known is not None and index == record.steps[number]:
                points += odds * (known if side == 0 else 1 - known)
                continue
            judgement = self.judged(after, number + 1, lines=1, **shared)
            if judgement is None:
                return None
            same = same_after_chance(before, after)
            points += odds * (judgement.points if same else 1 - judgement.points)
        return points

    # Steps

    def unjudged(self, number: int) -> ReviewedStep:
        """Return a step without its judgement."""
        record = self.record
        position, step = record.positions[number], record.steps[number]
        if chance(position) > 0:
            text = chance_text(position, step)
            return ReviewedStep(number + 1, record.sides[number], position, None, text)
        text = move_text(position, step)
        return ReviewedStep(number + 1, record.sides[number], position, step, text)

    def step(self, number: int) -> ReviewedStep:
        """Return a step with its judgement."""
        bare = self.unjudged(number)
        own = self.points[number : number + 2]
        before, after = [each if bare.side == 0 else 1 - each for each in own if each is not None]
        if bare.move is None:
            return bare._replace(points=before, change=after - before)
        judgement = self.judgements[number]
        played, best = judgement.of(bare.move), judgement.best
        if played is None or best is None:
            return bare._replace(points=before)
        grade = judgement.grade(bare.move)
        lost = max(0.0, best.points - played.points)
        only = grade == "best" and is_only_move(judgement)
        hard = only and not self.is_obvious(judgement)
        return bare._replace(
            points=best.points,
            change=-lost,
            proven=best.proven and played.proven,
            grade=grade,
            mark="!" if hard else MARKS.get(grade, ""),
            only_move=only,
            accuracy=accuracy_of(lost),
            best=best.pv,
        )

    def is_obvious(self, judgement: Judgement) -> bool:
        """Return whether the best move is seen at first sight.

        It wins at once, or is the best one by a search of one ply; in games without an evaluation,
        it is obvious too if any other move lets the opponent win at once.
        """
        position, best = judgement.position, judgement.moves[0].move
        if outcome(play(position, best))[0]:
            return True
        searcher = self.judge.searcher
        if isinstance(searcher, Searcher):
            result = searcher.run(position, SearchOptions(depth=1))
            self.nodes += result.nodes
            return bool(result.move == best)
        others = (play(position, move) for move in legal_moves(position) if move != best)
        return all(wins_at_once(child) for child in others if not outcome(child)[0])

    # Summaries

    def side(self, side: int, steps: Sequence[ReviewedStep]) -> SideSummary:
        """Return the summary of a side."""
        points = [each for each in self.points if each is not None]
        first = len(steps) + 1 - len(points)
        weights = volatilities(points) if len(points) > 1 else []
        own = [each for each in steps if each.side == side and each.move is not None]
        judged = [each for each in own if each.accuracy is not None]
        accuracies = [each.accuracy for each in judged if each.accuracy is not None]
        accuracy = game_accuracy(accuracies, [weights[each.number - 1 - first] for each in judged])
        rolls = [each for each in steps if each.side == side and each.move is None]
        marks = Counter(each.mark for each in own)
        grades = Counter(each.grade for each in judged)
        return SideSummary(
            self.name(side),
            len(own),
            accuracy,
            sum(each.only_move for each in own),
            {mark: marks[mark] for mark in ("!", "?!", "?", "??")},
            dict(grades),
            sum(each.change or 0.0 for each in own),
            sum(each.change or 0.0 for each in rolls) if self.judge.has_chance else None,
        )

    def name(self, side: int) -> str:
        """Return the name of a side, with the player that the headers name."""
        names = phrases.Names.of(self.record.positions[0])
        name = phrases.capital((names.mover, names.other)[side])
        if name == "Player to move":
            name = "First player"
        elif name == "Opponent":
            name = "Second player"
        player = self.recorded.headers.get(name, "?").strip()
        return name if player in ("", "?", name) else f"{name} ({player})"

    def basis(self) -> str:
        """Return in words what the values rest on."""
        found = self.judgements.values()
        open_ones = [each for each in found if not all(m.proven for m in each.moves[:1])]
        proven = len(found) - len(open_ones)
        parts = []
        if proven:
            parts.append(f"{proven} of {phrases.counted(len(found), 'position')} proven")
        depths = [each.depth for each in open_ones if each.depth]
        if depths:
            span = "-".join(map(str, dict.fromkeys((min(depths), max(depths)))))
            parts.append(f"{len(depths)} estimated by alpha-beta, {span} plies deep")
        playouts = [each.playouts for each in open_ones if each.playouts and not each.depth]
        if playouts:
            mean = round(statistics.mean(playouts))
            parts.append(
                f"{len(playouts)} estimated by random playouts, about {mean:,} each, because the "
                f"game has no evaluation"
            )
        return "; ".join(parts) or "no position was judged"

    def explained(self, steps: list[ReviewedStep], most: int) -> Iterator[TurningPoint]:
        """Yield the turning points with their explanations, and replace them among the steps."""
        for step in sorted(sorted(filter(_is_turning, steps), key=_weight)[:most]):
            explanation = None if step.move is None else self.explanation(step)
            if explanation is not None:
                number = step.number - 1
                self.judgements[number] = explanation.judgement
                if not self.judge.has_chance:  # luck is the difference of equally deep judgements
                    points = explanation.judgement.points
                    self.points[number] = points if step.side == 0 else 1 - points
                step = steps[number] = self.step(number)
            if _is_turning(step):
                yield TurningPoint(step, explanation)

    def explanation(self, step: ReviewedStep) -> Explanation | None:
        """Return the explanation of a move; None if the work was ended before it."""
        if self.is_stopped():
            return None
        board = self.board.copy()
        while len(board.moves) >= step.number:
            board.pop()
        limits = {name: value and EXPLAINED * value for name, value in self.limits.items()}
        try:
            found = explain(board, step.move, judge=self.judge, stop=self.stop, **limits)
        except KeyboardInterrupt:
            self.reason = "interrupted"
            return None
        self.nodes += found.nodes
        if found.reason in ("interrupted", "stopped"):
            self.reason = found.reason
            return None
        return found


def is_only_move(judgement: Judgement) -> bool:
    """Return whether every move but the best is a mistake or worse.

    The two best of the moves that no proof decided are known if a search estimated them.
    """
    if judgement.legal < 2 or len(judgement.moves) < 2:
        return False
    known = len(judgement.moves) == judgement.legal or judgement.depth or judgement.playouts
    return bool(known) and judgement.grade(judgement.moves[1].move) in WRONG


def _is_turning(step: ReviewedStep) -> bool:
    """Return whether a step changes the expected points enough for a turning point."""
    return step.change is not None and abs(step.change) >= LEAST_TURN


def _weight(step: ReviewedStep) -> tuple[float, bool]:
    """Return the key that sorts steps by the size of their change, proven ones first."""
    return -abs(step.change or 0), not step.proven
