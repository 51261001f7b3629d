"""The record of a game: its positions, the steps between them, and its end.

Matches and the games of users are both records, so that both follow the same rules of turns,
repetition and dice.  A search may be given the positions before its root: what a repetition of them
means is here, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from cutnode.contract.derived import legal_moves, same_after_chance
from cutnode.contract.dispatch import game_constant, game_name
from cutnode.contract.errors import CutnodeError, GameError, PositionError, require_integer
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.positions import coerce
from cutnode.contract.text import quoted
from cutnode.contract.verbs import (
    chance,
    chance_outcome,
    drawn,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.kernels.parameters import MOST_BEFORE


def is_over(position: Any) -> bool:
    """Return whether the rules end a game at a position, be it a draw although there are moves."""
    return bool(outcome(position)[0] or drawn(position))


def wins_at_once(position: Any) -> bool:
    """Return whether the player to move has a move that ends the game and wins it."""
    for move in legal_moves(position):
        child = play(position, move)
        over, value = outcome(child)
        if over and (value if moves_again(position, child) else -value) > 0:
            return True
    return False


class Record:
    """A game from the position *start* on.

    A *step* is a move, or the outcome of a chance event (its index).  *Side* 0 is the player
    who is to move in *start*, side 1 the other.  The outcomes of chance follow from *seed*
    and the number of the step alone, so a step that is taken back and played again meets
    the same dice, and so do the two games of a pair.

    A game ends by its rules, and as a draw if a position occurs as often as the game's
    ``REPETITIONS`` with only reversible steps between, or after *plies* steps (the game's
    ``MAX_PLIES``, if None).
    """

    def __init__(self, start: Any, *, seed: int = 0, plies: int | None = None):
        self.seed = require_integer(seed, "a seed")
        if plies is None:
            plies = game_constant(type(start), "MAX_PLIES", 512)
        self.plies = require_integer(plies, "a limit of plies")
        self.repetitions = game_constant(type(start), "REPETITIONS", 2)
        self.positions = [coerce(start)]
        self.steps: list[int] = []
        self.sides = [0]
        self._runs = [0]
        """The reversible moves in a row that led to each position."""

    @property
    def position(self) -> Any:
        """The current position."""
        return self.positions[-1]

    @property
    def side(self) -> int:
        """The side to move, or that meets chance."""
        return self.sides[-1]

    def is_chance(self) -> bool:
        """Return whether chance decides the next step."""
        return not self.ending() and chance(self.position) > 0

    def ending(self) -> str:
        """Return why the game is over: ``rules``, ``repetition``, ``plies``, or "" if it is not."""
        if is_over(self.position):
            return "rules"
        if self._repeats():
            return "repetition"
        return "plies" if len(self.steps) >= self.plies else ""

    def value(self) -> float:
        """Return the value of the game for side 0, in its points; 0 unless the rules ended it."""
        over, value = outcome(self.position)
        points: float = value if over else 0
        return points if self.side == 0 else -points

    def score(self, side: int) -> float:
        """Return the score of a side: 1 for a win, 0.5 for a draw, 0 for a loss."""
        value = self.value() if side == 0 else -self.value()
        return 0.5 + 0.5 * ((value > 0) - (value < 0))

    def play(self, move: int) -> None:
        """Play a move; :class:`PositionError` if it is not a legal one."""
        before = self.position
        if self.ending() or move not in legal_moves(before):
            raise PositionError(f"{move!r} is not a legal move of {position_text(before)}")
        after = play(before, move)
        run = self._runs[-1] + 1 if reversible(before, after) else 0
        self._add(move, after, moves_again(before, after), run)

    def meet(self, index: int) -> None:
        """Take outcome *index* of a chance event; :class:`PositionError` if there is none."""
        before = self.position
        if not self.is_chance() or not 0 <= index < chance(before):
            raise PositionError(f"chance has no outcome {index!r} in {position_text(before)}")
        after = chance_outcome(before, index)[1]
        self._add(index, after, same_after_chance(before, after), 0)

    def draw(self) -> int:
        """Let chance decide, by its probabilities; returns the outcome."""
        number = Random(f"{self.seed} chance {len(self.steps)}").random()
        odds = [chance_outcome(self.position, at)[0] for at in range(chance(self.position))]
        index = next((at for at in range(len(odds)) if number < sum(odds[: at + 1])), -1)
        if index < 0:  # the odds fell short of one by a rounding error
            index = max(at for at, part in enumerate(odds) if part > 0)
        self.meet(index)
        return index

    def take_back(self) -> None:
        """Undo the last step."""
        del self.positions[-1], self.steps[-1], self.sides[-1], self._runs[-1]

    def step_text(self, number: int) -> str | int:
        """Return a step as it is written: a move in the game's notation, or an outcome's index."""
        before, step = self.positions[number], self.steps[number]
        if chance(before) > 0:
            return step
        return move_text(before, step)

    def texts_of(self, line: Iterable[int]) -> Iterator[str]:
        """Yield moves from here on in the game's notation."""
        position = self.position
        for move in line:
            yield move_text(position, move)
            position = play(position, move)

    def to_dict(self) -> dict[str, Any]:
        """Return the game as plain data, from which :meth:`follow` plays it again."""
        texts = [position_text(position) for position in self.positions]
        steps = [self.step_text(number) for number in range(len(self.steps))]
        return {"start": texts[0], "seed": self.seed, "steps": steps, "positions": texts[1:]}

    def follow(self, steps: list[Any]) -> None:
        """Play steps as they are written down; :class:`CutnodeError` says which is none."""
        for number, step in enumerate(steps, 1):
            try:
                if chance(self.position) > 0:
                    self.meet(require_integer(step, "an outcome of chance"))
                elif not isinstance(step, str):
                    raise CutnodeError(f"a move is a text, not {step!r}")
                else:
                    parse = notation_of(type(self.position)).parse_move
                    self.play(parse(self.position, step))
            except CutnodeError as error:
                raise CutnodeError(f"step {number}: {error}") from None

    def _add(self, step: int, after: Any, same_side: bool, run: int) -> None:
        self.steps.append(step)
        self.positions.append(after)
        self.sides.append(self.side if same_side else 1 - self.side)
        self._runs.append(run)

    def _repeats(self) -> bool:
        """Return whether the position occurred often enough for a draw."""
        run = self._runs[-1]
        now = recurrence(self.position)
        earlier = self.positions[-1 - run : -1]
        return 1 + [recurrence(before) for before in earlier].count(now) >= self.repetitions


def require_history(history: Iterable[Any], cls: Any) -> None:
    """:class:`GameError` if *history* is something else than positions of a class."""
    for earlier in history:
        if type(earlier) is not cls:
            raise GameError(
                f"history is a list of earlier positions of {game_name(cls)}; "
                f"this is none: {quoted(repr(earlier))}"
            )


def drawing_words(history: Sequence[Any], position: Any) -> list[int]:
    """Return the words (``recurrence``) of earlier positions that are a draw if they come back.

    *history* leads to *position*.  Those that may come back once more are not among them.
    """
    require_history(history, type(position))
    # What lies before the last irreversible step cannot come back, and is not looked at.
    line = [coerce(position)]
    for earlier in reversed([*history][1 - MOST_BEFORE :]):
        earlier = coerce(earlier)
        if not reversible(earlier, line[-1]):
            break
        line.append(earlier)
    words = [recurrence(earlier) for earlier in reversed(line[1:])]
    often = game_constant(type(position), "REPETITIONS", 2) - 1
    return [word for at, word in enumerate(words) if words[: at + 1].count(word) >= often]
