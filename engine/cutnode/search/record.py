"""The record of a game: its positions, the steps between them, and its end.

Matches and games with users are both records, so they follow the same rules for turns, repetition
and dice.  This module also decides which positions before a search's root count if repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

from cutnode.contract.derived import legal_moves, recurs, require_moves, same_after_chance
from cutnode.contract.dispatch import game_constant, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, PositionError, require_integer
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import bans_repetition, repetition_rule, worst_value
from cutnode.contract.text import quoted
from cutnode.contract.verbs import (
    canonical,
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
    """Return whether the rules end the game here, including draws although moves are left."""
    return bool(outcome(position)[0] or drawn(position))


def wins_at_once(position: Any) -> bool:
    """Return whether the player to move has an immediately winning move."""
    for move in legal_moves(position):
        child = play(position, move)
        over, value = outcome(child)
        if over and (value if moves_again(position, child) else -value) > 0:
            return True
    return False


def class_key(position: Any) -> Any:
    """Return a key that equivalent positions share, and no others."""
    return position if is_plain(type(position)) else int(canonical(position)[0])


class Record:
    """A game from the position *start* on.

    A *step* is a move, or the index of an outcome of chance.  Side 0 is the player to move in
    *start*, side 1 the other.  The outcomes of chance depend only on *seed* and the number of the
    step, so a step that is taken back and played again meets the same dice, and so do the two
    games of a pair.

    A game ends by its rules, by repetition, or as a draw after *plies* steps (by default, the
    game's ``MAX_PLIES``).  ``REPETITION`` says how it ends when a position has occurred
    ``REPETITIONS`` times with only reversible steps between; where such a move is illegal, the
    mover loses when he has no other.
    """

    def __init__(self, start: Any, *, seed: int = 0, plies: int | None = None):
        self.seed = require_integer(seed, "a seed")
        if plies is None:
            plies = game_constant(type(start), "MAX_PLIES", 512)
        self.plies = require_integer(plies, "a limit of plies")
        self.repetitions = game_constant(type(start), "REPETITIONS", 2)
        self.rule = repetition_rule(type(start))
        self.positions = [coerce(start)]
        self.steps: list[int] = []
        self.sides = [0]
        self._runs = [0]
        """The number of reversible moves in a row that led to each position."""
        self._words = [_word(self.position)]
        """The ``recurrence`` of each position."""

    @property
    def position(self) -> Any:
        """The current position."""
        return self.positions[-1]

    @property
    def side(self) -> int:
        """The side to move, or to roll."""
        return self.sides[-1]

    def legal_moves(self) -> list[int]:
        """Return the legal moves; none if the game is over or chance decides."""
        return [] if self.ending() else [*self._allowed()]

    def line(self) -> dict[str, Any]:
        """Return the earlier positions that may occur again, as an option of searches."""
        run = self._runs[-1]
        return {"history": self.positions[-1 - run : -1]} if run else {}

    def is_chance(self) -> bool:
        """Return whether chance decides the next step."""
        return not self.ending() and chance(self.position) > 0

    def ending(self) -> str:
        """Return why the game is over: ``rules``, ``repetition``, ``plies``, or "" if it is not."""
        if outcome(self.position)[0]:
            return "rules"
        repeats = self._ends_by_repetition()
        # A win or a loss by repetition comes before a draw by another rule.
        if drawn(self.position) and not (repeats and self.rule in ("loss", "win")):
            return "rules"
        if repeats:
            return "repetition"
        return "plies" if len(self.steps) >= self.plies else ""

    def value(self) -> float:
        """Return the value of the game for side 0 in points; 0 if it is not over, or a draw."""
        over, value = outcome(self.position)
        points: float = value if over else 0
        if self.rule != "draw" and self.ending() == "repetition":
            points = worst_value(type(self.position))
            if self.rule != "illegal" and (self.sides[-2] != self.side) == (self.rule == "loss"):
                points = -points
        return points if self.side == 0 else -points

    def score(self, side: int) -> float:
        """Return the score of a side: 1 for a win, 0.5 for a draw, 0 for a loss."""
        value = self.value() if side == 0 else -self.value()
        return 0.5 + 0.5 * ((value > 0) - (value < 0))

    def play(self, move: int) -> None:
        """Play a move; raise :class:`PositionError` if it is illegal."""
        before = self.position
        if self.ending() or move not in legal_moves(before):
            raise PositionError(f"{move!r} is not a legal move of {position_text(before)}")
        if move not in self._allowed():
            raise PositionError(
                f"{move_text(before, move)!r} brings an earlier position back, which is illegal"
            )
        after = play(before, move)
        run = self._runs[-1] + 1 if reversible(before, after) else 0
        self._add(move, after, moves_again(before, after), run)

    def meet(self, index: int) -> None:
        """Take outcome *index* of chance; raise :class:`PositionError` if there is none."""
        before = self.position
        if not self.is_chance() or not 0 <= index < chance(before):
            raise PositionError(f"chance has no outcome {index!r} in {position_text(before)}")
        after = chance_outcome(before, index)[1]
        self._add(index, after, same_after_chance(before, after), 0)

    def draw(self) -> int:
        """Draw an outcome of chance by its probability, and return its index."""
        number = Random(f"{self.seed} chance {len(self.steps)}").random()
        odds = [chance_outcome(self.position, at)[0] for at in range(chance(self.position))]
        index = next((at for at in range(len(odds)) if number < sum(odds[: at + 1])), -1)
        if index < 0:  # the odds fell short of one by a rounding error
            index = max(at for at, part in enumerate(odds) if part > 0)
        self.meet(index)
        return index

    def take_back(self) -> None:
        """Undo the last step."""
        for each in (self.positions, self.steps, self.sides, self._runs, self._words):
            del each[-1]

    def step_text(self, number: int) -> str | int:
        """Return a step as it is saved: a move in the game's notation, or an outcome's index."""
        before, step = self.positions[number], self.steps[number]
        if chance(before) > 0:
            return step
        return move_text(before, step)

    def texts_of(self, line: Iterable[int]) -> Iterator[str]:
        """Yield the moves of a line from the current position in the game's notation."""
        position = self.position
        for move in line:
            yield move_text(position, move)
            position = play(position, move)

    def to_dict(self) -> dict[str, Any]:
        """Return the game as plain data, which :meth:`follow` can replay."""
        texts = [position_text(position) for position in self.positions]
        steps = [self.step_text(number) for number in range(len(self.steps))]
        return {"start": texts[0], "seed": self.seed, "steps": steps, "positions": texts[1:]}

    def follow(self, steps: list[Any]) -> None:
        """Play saved steps; raise :class:`CutnodeError` with the number of a wrong one."""
        for number, step in enumerate(steps, 1):
            try:
                if chance(self.position) > 0:
                    self.meet(require_integer(step, "an outcome of chance"))
                elif not isinstance(step, str):
                    raise CutnodeError(f"a move must be a string, got {step!r}")
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
        self._words.append(_word(after))

    def _ends_by_repetition(self) -> bool:
        """Return whether the position occurred too often, or no move is left that repeats none."""
        if self.rule == "illegal":
            by_chance = chance(self.position) > 0
            return not by_chance and next(self._allowed(), None) is None
        run, now = self._runs[-1], self._words[-1]
        if self.rule != "draw" and run > 0 and now == self._words[-2]:
            return False
        return 1 + self._words[-1 - run : -1].count(now) >= self.repetitions

    def _allowed(self) -> Iterator[int]:
        """Yield the legal moves, without illegal repetitions."""
        earlier = self._words[-1 - self._runs[-1] : -1]
        return _without_repetitions(self.position, legal_moves(self.position), earlier)


def _word(position: Any) -> int:
    return int(recurrence(position)) if recurs(position) else 0


def _without_repetitions(
    position: Any, legal: Iterable[int], earlier: Sequence[int]
) -> Iterator[int]:
    """Yield the moves that bring none of the *earlier* words back, if that is illegal."""
    if not bans_repetition(position):
        yield from legal
        return
    now = recurrence(position)
    for move in legal:
        child = play(position, move)
        if reversible(position, child) and not outcome(child)[0]:
            word = recurrence(child)
            if word != now and word in earlier:
                continue
        yield move


def allowed_moves(position: Any, history: Sequence[Any]) -> list[int]:
    """Return the legal moves of a position that *history* leads to, without illegal repetitions."""
    legal = legal_moves(position)
    if not history or not bans_repetition(position):
        return legal
    return [*_without_repetitions(position, legal, counted_words(history, position))]


def position_of_game(
    start: Any, plies: int, random: Random, choose: Callable[[Any], int] | None = None
) -> Any | None:
    """Play a game; return its position after *plies* moves, or None if it ended sooner.

    *choose* returns the move of a position; by default it is a random one.  *random* also decides
    the outcomes of chance.
    """
    record = Record(start, seed=random.getrandbits(32))
    while not record.ending():
        if record.is_chance():
            record.draw()
        elif plies == 0:
            return record.position
        else:
            at = record.position
            legal = record.legal_moves()
            record.play(random.choice(legal) if choose is None else choose(at))
            plies -= 1
    return None


def require_searchable(position: Any, cls: Any) -> None:
    """Raise :class:`GameError` unless a searcher for *cls* can search a position."""
    if type(position) is not cls:
        given = type(position).__name__
        if hasattr(position, "_fields"):
            given = f"{game_name(type(position))} ({given})"
        raise GameError(f"this searcher is for {game_name(cls)} ({cls.__name__}), not {given}")
    require_moves(position)


def require_history(history: Iterable[Any], cls: Any) -> None:
    """Raise :class:`GameError` if *history* contains anything but positions of a class."""
    for earlier in history:
        if type(earlier) is not cls:
            raise GameError(
                f"history must be earlier positions of {game_name(cls)}, "
                f"got {quoted(repr(earlier))}"
            )


def counted_words(history: Sequence[Any], position: Any) -> list[int]:
    """Return the ``recurrence`` words of earlier positions whose next repetition counts.

    *history* leads to *position*.
    """
    require_history(history, type(position))
    # Positions before the last irreversible step cannot recur.
    line = [coerce(position)]
    for earlier in reversed([*history][1 - MOST_BEFORE :]):
        earlier = coerce(earlier)
        if not reversible(earlier, line[-1]):
            break
        line.append(earlier)
    words = [recurrence(earlier) for earlier in reversed(line[1:])]
    often = game_constant(type(position), "REPETITIONS", 2) - 1
    return [word for at, word in enumerate(words) if words[: at + 1].count(word) >= often]
