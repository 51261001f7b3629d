"""Forced wins as data: the number of moves, the line, and the proof.

A proof holds an answer to every reply, and :meth:`Proof.verify` checks it by the rules of the game
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from cutnode.contract.derived import legal_moves, recurs
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.contract.loading import Game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.verbs import drawn, outcome, play, recurrence
from cutnode.search.results import PositionResult


@dataclass(frozen=True, slots=True)
class ForcedWin(PositionResult):
    """The answer to whether the player to move can force a win within some of his moves.

    Within *n* moves means within ``2 * n - 1`` plies.
    """

    position: Any
    """The position."""
    within: int
    """The number of moves searched for."""
    moves: int | None
    """The fewest moves in which a win can be forced; None if none was found, 0 if the game is
    already won."""
    refuted: int
    """The number of moves within which no win exists, as proven."""
    pv: tuple[int, ...]
    """The quickest win against the longest defence."""
    proof: Proof | None
    """The proof of the win, if there is one and it was requested."""
    nodes: int
    """Nodes visited for the answer, without the line and the proof."""
    seconds: float
    """Seconds spent on the answer, without the line and the proof."""
    reason: str
    """Why the search ended: proven, or before all was found, including the line and the proof:
    node limit, time limit, stopped, or interrupted."""

    @property
    def proven(self) -> bool:
        """Whether the question is answered, either way."""
        return self.moves is not None or self.refuted >= self.within

    @property
    def value(self) -> int | None:  # type: ignore[override]
        """The value: 1 if the player to move wins, None if no win was found."""
        return None if self.moves is None else 1

    @property
    def best_move(self) -> int | None:  # type: ignore[override]
        """The winning move; None if none was found."""
        return self.pv[0] if self.pv else None

    def meaning(self) -> str:
        """Return the answer in words."""
        ended = self.ending()
        if ended:
            return ended
        if self.moves is not None:
            return f"the player to move wins in {counted(self.moves)}"
        if self.proven:
            return f"no win within {counted(self.within)}"
        if self.refuted:
            return f"no win within {counted(self.refuted)}, then unknown ({self.reason})"
        return f"unknown ({self.reason})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        line = self.line_text()
        return self._about() | {
            "within": self.within,
            "moves": self.moves,
            "refuted": self.refuted,
            "proven": self.proven,
            "best_move": line[0] if line else None,
            "pv": line,
            "proof": None if self.proof is None else self.proof.to_dict(),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        lines = [f"win    {self.meaning()}"]
        if self.pv:
            lines.append(f"line   {' '.join(self.line_text())}")
        lines.append(self._effort())
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Answer:
    """A move of the attacker, and the number of moves in which it wins."""

    move: int
    """The move."""
    moves: int
    """The number of the attacker's moves to the win, this one included."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof that a position is won within some moves: an answer to every reply.

    ``len`` is the number of positions with an answer.  A position that is reached in several
    ways counts once.
    """

    position: Any
    """The position that is won."""
    answers: Mapping[Any, Answer]
    """The answers by position, for all that can arise with the attacker to move; *position* comes
    first."""
    drawing: frozenset[int] = frozenset()
    """The ``recurrence`` words of positions whose repetition is a draw."""

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def moves(self) -> int:
        """The number of the winner's moves within which he wins."""
        return self.answers[self.position].moves

    def replies(self, position: Any) -> list[tuple[int, Any]]:
        """Return the replies to an answer and the positions after them, longest defence first."""
        after = play(position, self.answers[position].move)
        found = [(reply, play(after, reply)) for reply in legal_moves(after)]
        return sorted(found, key=lambda reply: -self._moves_from(reply[1]))

    def _moves_from(self, position: Any) -> int:
        return self.answers[position].moves if position in self.answers else 0

    def verify(self) -> None:
        """Check the proof by the rules of the game alone; raise :class:`CutnodeError` if it fails.

        Every answer must be a legal move, every reply to it must have an answer or end the game
        with a win of the attacker, no line may be longer than claimed, and no draw by a rule or by
        repetition may come first.
        """
        waiting, seen = [self.position], {self.position}
        words: dict[int, list[Any]] = {}
        while waiting:
            position = waiting.pop()
            answer = self._checked(position)
            after = play(position, answer.move)
            self._refuse_draw(after)
            for reply in legal_moves(after):
                child = play(after, reply)
                over, value = outcome(child)
                if over and value > 0:
                    continue
                if over:
                    raise self._wrong(child, "the game is over but not won")
                self._refuse_draw(child)
                if child not in self.answers:
                    raise self._wrong(child, "there is no answer")
                if self.answers[child].moves >= answer.moves:
                    raise self._wrong(child, "the win is no nearer than a move before")
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
            if recurs(position):
                for met in (position, after):
                    words.setdefault(recurrence(met), []).append(position)
        for group in words.values():
            self._refuse_repetition(group)

    def _checked(self, position: Any) -> Answer:
        """Return the answer in a position; raise if it is illegal or claims too quick a win."""
        answer = self.answers.get(position)
        if answer is None:
            raise self._wrong(position, "there is no answer")
        if outcome(position)[0] or answer.move not in legal_moves(position):
            raise self._wrong(position, "the answer is not a legal move")
        over, value = outcome(play(position, answer.move))
        least = 1 if over else 2
        if (over and value >= 0) or answer.moves < least:
            raise self._wrong(position, f"it is not won in {counted(answer.moves)}")
        return answer

    def _refuse_draw(self, position: Any) -> None:
        if outcome(position)[0]:
            return
        if drawn(position):
            raise self._wrong(position, "it is drawn by a rule")
        if self.drawing and recurrence(position) in self.drawing:
            raise self._wrong(position, "it is drawn by repetition")

    def _refuse_repetition(self, group: list[Any]) -> None:
        """Raise if one position of a group that counts as the same can follow another.

        The win gets nearer with each move, so only a position nearer to it can follow.
        """
        for position in group:
            nearest = min(self.answers[other].moves for other in group)
            waiting = [position] if self.answers[position].moves > nearest else []
            seen = set(waiting)
            while waiting:
                for _, child in self.replies(waiting.pop()):
                    if child in self.answers and child not in seen:
                        if child in group:
                            raise self._wrong(child, "it is a repetition")
                        seen.add(child)
                        waiting.append(child)

    def _wrong(self, position: Any, what: str) -> CutnodeError:
        return CutnodeError(f"the proof is wrong at {position_text(position)}: {what}")

    def lines(self) -> Iterator[str]:
        """Yield the proof tree as text: a line for each reply and its answer, indented by depth.

        A position reached in several ways is shown once with a number, and then by this number.
        """
        numbers = self._numbers()
        shown: set[Any] = set()
        waiting = [(0, "", self.position)]
        while waiting:
            depth, reply, position = waiting.pop()
            line = "  " * depth + reply
            if position not in self.answers:
                yield line
                continue
            answer = self.answers[position]
            label = f"  [{numbers[position]}]" if position in numbers else ""
            text = f"{reply and '  '}{move_text(position, answer.move)}"
            if position in shown and label:
                yield f"{line}{text}  see{label}"
                continue
            shown.add(position)
            yield f"{line}{text}{label}"
            after = play(position, answer.move)
            below = [
                (depth + 1, move_text(after, move), child) for move, child in self.replies(position)
            ]
            waiting += reversed(below)

    def _numbers(self) -> dict[Any, int]:
        """Number the positions reached in several ways that are not won by the next move."""
        met: dict[Any, int] = {}
        for position in self.answers:
            for _, child in self.replies(position):
                if self._moves_from(child) > 1:
                    met[child] = met.get(child, 0) + 1
        several = [position for position in self.answers if met.get(position, 0) > 1]
        return {position: number for number, position in enumerate(several, 1)}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: a list of positions with their answers and replies, proven one first.

        Replies are mapped to the indices of their positions in the list, or to None if they end the
        game with a win.
        """
        numbers = {position: number for number, position in enumerate(self.answers)}
        positions = []
        for position, answer in self.answers.items():
            after = play(position, answer.move)
            replies = {
                move_text(after, move): numbers.get(child) for move, child in self.replies(position)
            }
            positions.append(
                {
                    "position": position_text(position),
                    "moves": answer.moves,
                    "answer": move_text(position, answer.move),
                    "replies": replies,
                }
            )
        return {"moves": self.moves, "positions": positions}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], game: Game) -> Self:
        """Make a proof from the data of :meth:`to_dict`, without verifying it.

        Raise :class:`CutnodeError` for texts that are not positions or moves of the *game*.
        """
        answers = {}
        for each in data["positions"]:
            position = game.parse(each["position"])
            moves = require_integer(each["moves"], "a number of moves")
            answers[position] = Answer(game.parse_move(position, each["answer"]), moves)
        return cls(next(iter(answers)), answers)

    def claim(self) -> str:
        """Return in words what the proof claims."""
        return f"the player to move wins in {counted(self.moves)}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def counted(moves: int) -> str:
    """Return a number of moves in words."""
    return f"{moves} move{'s' * (moves != 1)}"
