"""Reviews of whole games: the mark of every move, the accuracy of both sides, turning points.

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
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

from cutnode.contract.derived import legal_moves, same_after_chance
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import Game
from cutnode.contract.messages import MOST_SHOWN, chance_text, move_text, position_text
from cutnode.contract.plies import Ply
from cutnode.contract.verbs import chance, chance_outcome, outcome, play
from cutnode.explaining import phrases
from cutnode.explaining.explanations import WRONG, Explanation, explain
from cutnode.explaining.judging import LIMITS, Judge, Judgement
from cutnode.kernels.clock import Clock
from cutnode.playing.records import Recorded
from cutnode.search.board import Board, given_position
from cutnode.search.options import SearchOptions
from cutnode.search.record import Record, wins_at_once
from cutnode.search.results import line_text
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

SECONDS = 0.5
"""The time limit per position if there is no other limit."""

TURNING_POINTS = 3
"""The number of turning points to explain, by default."""

LEAST_TURN = next(least for least, name in LIMITS if name == "mistake")
"""The expected points that a turning point changes at least: a mistake's."""

MARKS = {"inaccuracy": "?!", "mistake": "?", "missed win": "?", "blunder": "??"}
"""The marks of moves by their grades; ``!`` is the mark of an only move that is not obvious."""

VOLATILITY = (0.5, 12.0)
"""The range of the weight of a move in the accuracy of a game."""


class ReviewedStep(NamedTuple):
    """A step of a reviewed game: a move, or an outcome of chance."""

    number: int
    """The number of the step, counted from 1."""
    side: int
    """The side that moves or rolls: 0 for the side to move at the start, 1 for the other."""
    position: Any
    """The position before the step."""
    move: int | None
    """The move; None for an outcome of chance."""
    text: str
    """The move in the game's notation, or the outcome in words."""
    points: float | None = None
    """The expected points of the side before the step, 0 to 1; None if they are not known."""
    change: float | None = None
    """The change of these by the step: at most 0 for a move, luck for an outcome of chance."""
    proven: bool = False
    """Whether the change is proven."""
    grade: str = ""
    """The grade of the move, one of :data:`~cutnode.explaining.judging.GRADES`; "" if unknown."""
    mark: str = ""
    """Its mark: ``!``, ``?!``, ``?``, ``??`` or ""."""
    only_move: bool = False
    """Whether every other move is a mistake or worse."""
    accuracy: float | None = None
    """The accuracy of the move, 0 to 100: see :func:`accuracy_of`."""
    best: tuple[int, ...] = ()
    """The line that the best move begins; () for an outcome of chance."""

    @property
    def marked(self) -> str:
        """The step with its mark."""
        return f"{self.text}{self.mark or '□' * self.only_move}"

    @property
    def is_turning(self) -> bool:
        """Whether the step changes the expected points enough for a turning point."""
        return self.change is not None and abs(self.change) >= LEAST_TURN

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return {
            "number": self.number,
            "side": self.side,
            "position": position_text(self.position),
            "move": self.text if self.move is not None else None,
            "chance": self.text if self.move is None else None,
            "points": self.points,
            "change": self.change,
            "proven": self.proven,
            "grade": self.grade or None,
            "mark": self.mark or None,
            "only_move": self.only_move,
            "accuracy": self.accuracy,
            "best": line_text(self.position, self.best),
        }


@dataclass(frozen=True, slots=True)
class SideSummary:
    """The moves of a side in numbers."""

    name: str
    """The name of the side, and of its player if that is known."""
    moves: int
    """The number of its moves."""
    accuracy: float | None
    """The accuracy of its moves, 0 to 100; None if no move was judged."""
    only_moves: int
    """The only moves that it found."""
    marks: dict[str, int]
    """How many of its moves have each mark."""
    grades: dict[str, int]
    """How many of its moves have each grade."""
    skill: float
    """The sum of the changes of its expected points by its moves; 0 is perfect."""
    luck: float | None
    """The sum of the changes by its rolls; None if the game has no chance."""


class TurningPoint(NamedTuple):
    """A step that changed the expected points much."""

    step: ReviewedStep
    """The step."""
    explanation: Explanation | None
    """The explanation of the move; None for an outcome of chance, or if the work was ended."""


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewed game."""

    recorded: Recorded
    """The game as it was given, with its headers and comments."""
    start: Any
    """The first position."""
    final: Any
    """The last position."""
    ending: str
    """Why the game ended: ``rules``, ``repetition``, ``plies``, or "" if it did not."""
    result: float | None
    """The points of side 0 in the game; None if it did not end."""
    steps: tuple[ReviewedStep, ...]
    """The steps."""
    points: tuple[float | None, ...]
    """The expected points of side 0 at each position, the last included; None if not known."""
    sides: tuple[SideSummary, SideSummary]
    """Both sides: the side to move at the start, and the other."""
    turning_points: tuple[TurningPoint, ...]
    """The steps that changed the expected points most, in their order."""
    basis: str
    """In words, what the values rest on."""
    limits: dict[str, Any]
    """The limits for each position."""
    nodes: int
    """Nodes visited."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why the work ended: complete, stopped, or interrupted."""

    @property
    def game(self) -> str:
        """The name of the game, with its variant."""
        return self.recorded.name

    @property
    def complete(self) -> bool:
        """Whether all positions were judged."""
        return self.reason == "complete"

    def result_text(self) -> str:
        """Return the result of the game in words."""
        if self.result is None:
            return "not over"
        if self.result == 0.5:
            return "a draw" + (f" by {self.ending}" if self.ending == "repetition" else "")
        return f"won by {self.sides[0 if self.result == 1 else 1].name}"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        moves = phrases.counted(sum(side.moves for side in self.sides), "move")
        yield f"{self.game}: {moves}, {self.result_text()}"
        yield f"{phrases.capital(self.basis)}."
        if not self.complete:
            yield f"The review was {self.reason}: earlier steps are not judged."
        yield ""
        yield from self._table()
        width = max(len(each.marked) for each in self.steps)
        yield ""
        yield f"{'step':>4}  {'':{width}}  {self.sides[0].name} has"
        for each, before, after in zip(self.steps, self.points, self.points[1:], strict=False):
            yield self._step_line(each, before, after, width).rstrip()
        for turn in self.turning_points:
            yield ""
            yield self.turn_title(turn)
            if turn.explanation is not None:
                yield from (f"  {sentence}" for sentence in turn.explanation.sentences())

    def _table(self) -> Iterator[str]:
        has_luck = self.sides[0].luck is not None
        head = ("accuracy", "only moves", *("!", "?!", "?", "??"), "skill", *["luck"] * has_luck)
        width = max(len(side.name) for side in self.sides)
        yield f"{'':{width}}  {'  '.join(head)}"
        for side in self.sides:
            accuracy = "-" if side.accuracy is None else f"{side.accuracy:.1f} %"
            cells = [accuracy, str(side.only_moves), *map(str, side.marks.values())]
            cells += [_signed(side.skill)] + [_signed(side.luck or 0)] * has_luck
            shown = (f"{cell:>{len(name)}}" for cell, name in zip(cells, head, strict=True))
            yield f"{side.name:{width}}  {'  '.join(shown)}"

    def _step_line(
        self, step: ReviewedStep, before: float | None, after: float | None, width: int
    ) -> str:
        line = f"{step.number:>4}  {step.marked:{width}}  {_share(after):>6}"
        if step.mark.startswith("?") and step.best:
            proven = "" if step.proven else ", estimated"
            best = move_text(step.position, step.best[0])
            line += f"  {step.grade}{proven}: {_signed(step.change or 0)}, best is {best}"
        elif step.move is None and step.change is not None:
            line += f"  luck {_signed(step.change)}"
        return line

    def turn_title(self, turn: TurningPoint) -> str:
        """Return a turning point in a line."""
        step = turn.step
        kind = step.grade if step.move is not None else "luck"
        name = self.sides[step.side].name
        after = None if step.points is None else step.points + (step.change or 0)
        shares = f"from {_share(step.points)} to {_share(after)} for {name}"
        return f"Step {step.number}, {step.marked}: {kind}, {shares}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return {
            "game": self.game,
            "start": position_text(self.start),
            "headers": dict(self.recorded.headers),
            "result": self.result,
            "ending": self.ending,
            "sides": [asdict(side) for side in self.sides],
            "points": list(self.points),
            "steps": [step.to_dict() for step in self.steps],
            "turning_points": [
                {
                    "number": turn.step.number,
                    "title": self.turn_title(turn),
                    "explanation": turn.explanation and turn.explanation.to_dict(),
                }
                for turn in self.turning_points
            ],
            "basis": self.basis,
            "limits": self.limits,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


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
    half a second; *turning_points* is the most to explain, each within twice these limits.
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
    texts = map(record.step_text, range(len(record.steps)))
    plies = [Ply(f"chance {text}" if isinstance(text, int) else text) for text in texts]
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
    legal = legal_moves(position)
    shown = ", ".join(move_text(position, move) for move in legal[: 4 * MOST_SHOWN])
    more = f" and {len(legal) - 4 * MOST_SHOWN} more" if len(legal) > 4 * MOST_SHOWN else ""
    return f"legal {where}: {shown}{more}"


# Accuracy


def accuracy_of(lost: float) -> float:
    """Return the accuracy of a move, 0 to 100, by the expected points that it loses, 0 to 1.

    The formula is Lichess's (lichess.org/page/accuracy): ``103.1668 * exp(-0.04354 * p) - 3.1669``
    for a loss of *p* percent, within 0 and 100.
    """
    return max(0.0, min(100.0, 103.1668 * math.exp(-0.04354 * 100 * max(0.0, lost)) - 3.1669))


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

    def review(
        self, turning_points: int, progress: Callable[[int, int], None] | None
    ) -> Review:
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
        turns = sorted(
            sorted(filter(lambda step: step.is_turning, steps), key=_weight)[:turning_points]
        )
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
            tuple(self.explained(turns)),
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
        return name if player in ("", "?") else f"{name} ({player})"

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

    def explained(self, turns: Sequence[ReviewedStep]) -> Iterator[TurningPoint]:
        """Yield the turning points with their explanations."""
        doubled = {name: value and 2 * value for name, value in self.limits.items()}
        for step in turns:
            explanation = None
            if step.move is not None and not self.is_stopped():
                board = self.board.copy()
                while len(board.moves) >= step.number:
                    board.pop()
                try:
                    explanation = explain(
                        board, step.move, judge=self.judge, stop=self.stop, **doubled
                    )
                    self.nodes += explanation.nodes
                except KeyboardInterrupt:
                    self.reason = "interrupted"
            yield TurningPoint(step, explanation)


def is_only_move(judgement: Judgement) -> bool:
    """Return whether every move but the best is a mistake or worse.

    The two best of the moves that no proof decided are known if a search estimated them.
    """
    if judgement.legal < 2 or len(judgement.moves) < 2:
        return False
    known = len(judgement.moves) == judgement.legal or judgement.depth or judgement.playouts
    return bool(known) and judgement.grade(judgement.moves[1].move) in WRONG


def _weight(step: ReviewedStep) -> tuple[float, bool]:
    """Return the key that sorts steps by the size of their change, proven ones first."""
    return -abs(step.change or 0), not step.proven


def _signed(points: float) -> str:
    return f"{points:+.2f}"


def _share(points: float | None) -> str:
    return "-" if points is None else f"{points:.0%}"
