"""Reviewed games: the mark of every move, the accuracy of both sides, and turning points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

from cutnode.contract.messages import move_text, position_text
from cutnode.explaining import phrases
from cutnode.explaining.explanations import Explanation
from cutnode.playing.records import Recorded
from cutnode.search.results import line_text

MARKS = {"inaccuracy": "?!", "mistake": "?", "missed win": "?", "blunder": "??"}
"""The marks of moves by their grades; ``!`` is the mark of an only move that is not obvious."""


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

    @property
    def subject(self) -> str:
        """The name within a sentence."""
        general = self.name.startswith(("First player", "Second player"))
        return f"the {self.name[0].lower()}{self.name[1:]}" if general else self.name


class TurningPoint(NamedTuple):
    """A step that changed the expected points much."""

    step: ReviewedStep
    """The step."""
    explanation: Explanation | None
    """The explanation of the move; None for an outcome of chance, or if it was not begun."""


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewed game: its marked steps, both sides in numbers, and its turning points."""

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
        return f"won by {self.sides[0 if self.result == 1 else 1].subject}"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        moves = phrases.counted(sum(side.moves for side in self.sides), "move")
        yield f"{self.game}: {moves}, {self.result_text()}"
        yield f"{phrases.capital(self.basis)}."
        if not self.complete:
            yield f"The review was {self.reason}: earlier steps are not judged."
        yield ""
        yield from aligned(self.table())
        width = max(len(each.marked) for each in self.steps)
        yield ""
        yield f"{'step':>4}  {'':{width}}  {self.sides[0].name} has"
        for each, before, after in zip(self.steps, self.points, self.points[1:], strict=False):
            yield self._step_line(each, before, after, width).rstrip()
        for turn in self.turning_points:
            yield ""
            yield self.title_of(turn.step)
            if turn.explanation is not None:
                yield from (f"  {sentence}" for sentence in turn.explanation.sentences())

    def table(self) -> list[list[str]]:
        """Return the numbers of both sides as rows of texts, below a row of headings."""
        has_luck = self.sides[0].luck is not None
        rows = [["", "accuracy", "only moves", "!", "?!", "?", "??", "skill", *["luck"] * has_luck]]
        for side in self.sides:
            accuracy = "-" if side.accuracy is None else f"{side.accuracy:.1f} %"
            counts = map(str, (side.only_moves, *side.marks.values()))
            luck = [signed(side.luck)] if side.luck is not None else []
            rows.append([side.name, accuracy, *counts, signed(side.skill), *luck])
        return rows

    def _step_line(
        self, step: ReviewedStep, before: float | None, after: float | None, width: int
    ) -> str:
        line = f"{step.number:>4}  {step.marked:{width}}  {share(after):>6}"
        if step.mark.startswith("?") and step.best:
            proven = "" if step.proven else ", estimated"
            best = move_text(step.position, step.best[0])
            line += f"  {step.grade}{proven}: {signed(step.change or 0)}, best is {best}"
        elif step.move is None and step.change is not None:
            line += f"  luck {signed(step.change)}"
        return line

    def change_words(self, step: ReviewedStep) -> str:
        """Return in words what a step changed: ``blunder, from 50% to 0% for White``."""
        kind = step.grade if step.move is not None else "luck"
        after = None if step.points is None else step.points + (step.change or 0)
        shares = f"from {share(step.points)} to {share(after)}"
        return f"{kind}, {shares} for {self.sides[step.side].subject}"

    def title_of(self, step: ReviewedStep) -> str:
        """Return a step and what it changed in a line."""
        return f"Step {step.number}, {step.marked}: {self.change_words(step)}"

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
                    "title": self.title_of(turn.step),
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


def signed(points: float) -> str:
    """Return a change of points as text."""
    return f"{points:+.2f}" if round(points, 2) else "0.00"


def share(points: float | None) -> str:
    """Return expected points as text."""
    return "-" if points is None else f"{points:.0%}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, its first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([f"{first:{widths[0]}}", *cells]).rstrip()
