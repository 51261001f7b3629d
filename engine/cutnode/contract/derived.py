"""Functions derived from the rules of a game: legal moves, for Python, and functions for kernels.

The latter are chosen for a class of positions when a kernel is compiled for it; what a game does
not use (extra turns, repetition, chance) is a constant there and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from cutnode.contract.choices import ORDERING
from cutnode.contract.dispatch import (
    constant_of,
    defines,
    derived,
    game_constant,
    is_plain,
    module_of,
    value_limit,
)
from cutnode.contract.errors import ContractError
from cutnode.contract.messages import breach, contract_violation, no_number, no_outcome, not_kept
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.stop import MOVES, PROBABILITIES
from cutnode.contract.verbs import (
    MOVES_ROOM,
    NO_MOVE,
    chance,
    chance_outcome,
    evaluate,
    free_move,
    key,
    moves,
    outcome,
    part,
    parts,
    play,
    same_turn,
    turn,
)


@derived
def same_after_chance(cls: type) -> Callable[..., Any]:
    """``same_after_chance(position, child)``: whether a chance event keeps the mover."""
    return same_turn(cls, True)


@derived
def side(cls: type) -> Callable[..., Any]:
    """``side(position, ply)``: a number, 0 or 1, for the player to move."""
    if defines(cls, "turn"):
        return lambda position, ply: turn(position)
    return lambda position, ply: ply & 1


recurs = constant_of(lambda cls: defines(cls, "reversible"))
"""Whether positions of the game can occur again."""


def is_ordered(cls: type) -> bool:
    """Return whether a game tells good moves or leaves from others."""
    return any(defines(cls, verb) for verb in ORDERING)


orders_nothing = constant_of(lambda cls: not is_ordered(cls))
knows_gains = constant_of(lambda cls: defines(cls, "gain"))
gives_hints = constant_of(lambda cls: defines(cls, "hint"))
least_focus = constant_of(lambda cls: game_constant(cls, "FOCUS", 1))
most_moves = constant_of(lambda cls: game_constant(cls, "MAX_MOVES", 256))
most_value = constant_of(lambda cls: int(value_limit(cls)))
"""The largest absolute value of the game, rounded down."""


@derived
def is_free_move(cls: type) -> Callable[..., Any]:
    """``is_free_move(position, move, child, actions, turns)``: whether a move costs no depth.

    *actions* consecutive free moves came before it; *turns* says whether depth counts turns.
    """
    if not (defines(cls, "turn") or defines(cls, "free_move")):
        return lambda position, move, child, actions, turns: False
    most = game_constant(cls, "MAX_ACTIONS", 4)
    return lambda position, move, child, actions, turns: (
        turns != 0 and actions < most and free_move(position, move, child)
    )


SAME = 1e-9
"""The largest difference between sums of probabilities that count as equal."""

LOOKED_AT = 200
"""The plies of random games in which moves are checked before the first search of a game."""

_seen: set[Any] = set()


def legal_moves(position: Any) -> list[int]:
    """Return the legal moves, in the game's order; none if it is over or if chance decides.

    :class:`ContractError` if there are more than ``MAX_MOVES``, or one is not a move.
    """
    if outcome(position)[0] or _events(position) > 0:
        return []
    most = game_constant(type(position), "MAX_MOVES", 256)
    buffer: list[int] = [0] * most
    try:
        listed = buffer[: end_of(position, moves(position, buffer, 0))]
        if len(buffer) > most:
            raise breach(position, "moves are written, not appended: buffer[at] = move")
        if not all(map(is_move, listed)):
            raise _no_move(position, listed)
        return listed
    except IndexError:
        room: list[int | None] = [None] * (most + MOVES_ROOM)
        try:
            if moves(position, room, 0) <= most:
                raise
        except IndexError:
            if room[-1] is None:
                raise
            raise breach(
                position, f"moves wrote more than {len(room)} moves: does its loop end?"
            ) from None
    raise contract_violation(position, MOVES)


MOST_PARTS = 64
"""The most parts of a position: each has a bit of its own."""


def masks_of(position: Any) -> list[int]:
    """Return the parts of a position, each as a mask in the game's own encoding."""
    buffer: list[int] = [0] * MOST_PARTS
    return buffer[: parts(position, buffer, 0)]


def cells_of_parts(position: Any) -> list[list[int]] | None:
    """Return the cells of each part of a position; None if the game defines no parts or no board.

    A cell belongs to the part without which it would have another content.
    """
    cls = type(position)
    if not (defines(cls, "parts") and board_of(cls)):
        return None
    nothing = contents_of(part(position, 0))
    alone = [contents_of(part(position, mask)) for mask in masks_of(position)]
    return [[n for n, none in enumerate(nothing) if contents[n] != none] for contents in alone]


def require_moves(position: Any) -> None:
    """Raise :class:`ContractError` if a search would meet a number that is not a move.

    Compiled searches do not check each move.  So the moves at this position are checked here, and
    before the first search of a game also the moves and answers of its rules in random games.
    """
    cls = type(position)
    try:
        legal, drawn = _checked(position)
        if cls not in _seen:
            start, random = position, Random(0)
            for _ in range(LOOKED_AT - 1):
                if drawn:
                    position = random.choice(drawn)
                else:
                    position = play(position, random.choice(legal)) if legal else start
                legal, drawn = _checked(position)
    except ContractError:
        raise
    except Exception:  # a rule that fails: the compiler or the search says more, if it gets there
        pass
    _seen.add(cls)


def _checked(position: Any) -> tuple[list[int], list[Any]]:
    """Return the legal moves, and the positions after a chance event, with all answers checked."""
    for verb, message in wrong_answers(position):
        raise breach(position, f"{verb} {message}")
    legal = legal_moves(position)
    if len(set(legal)) < len(legal):
        raise breach(position, f"moves: a move is listed twice: {legal}")
    by_chance = not legal and defines(type(position), "chance") and not outcome(position)[0]
    return legal, _after_chance(position) if by_chance and _events(position) > 0 else []


def wrong_answers(position: Any) -> Iterator[tuple[str, str]]:
    """Yield the plain rules whose answer has a type that no search can use, and the reason."""
    cls = type(position)
    if not is_plain(cls):
        return
    if wrong := not_kept(position):
        yield "play", f"leads to a position that {wrong}"
    answer = outcome(position)
    if wrong := no_outcome(answer):
        yield "outcome", wrong.removeprefix("outcome ")
    over, value = answer
    by_chance = defines(cls, "chance")
    if not hasattr(value, "__float__" if by_chance else "__index__"):
        yield "outcome", f"returns a value that {no_number(value, not by_chance)}"
    for verb in (chance, turn, key, evaluate):
        name = verb.__name__
        if not defines(cls, name) or (over and verb in (chance, evaluate)):
            continue
        answer, whole = verb(position), verb is not evaluate or not by_chance
        if not hasattr(answer, "__index__" if whole else "__float__"):
            yield name, no_number(answer, whole)
        elif verb is turn and answer not in (0, 1):
            yield name, f"is {answer}, not 0 or 1"
        elif verb is chance and answer < 0:
            yield name, f"is {answer}, not the number of outcomes: return 0 if there is no event"
    if by_chance and not defines(cls, "chance_outcome"):
        yield "chance_outcome", "is not defined, but chance is"
        return
    for index in range(chance(position)) if by_chance and not over else ():
        answer = chance_outcome(position, index)
        answer = answer if isinstance(answer, tuple) else (answer,)
        if len(answer) != 2 or not hasattr(answer[0], "__float__"):
            kinds = ", ".join(type(part).__name__ for part in answer)
            yield (
                "chance_outcome",
                f"returns {kinds}; the contract is a probability, and the position after it",
            )


def _events(position: Any) -> int:
    """Return the number of outcomes of a chance event; :class:`ContractError` if it is none."""
    count = chance(position)
    if not hasattr(count, "__index__"):
        raise breach(position, f"chance {no_number(count)}")
    return int(count)


def _after_chance(position: Any) -> list[Any]:
    """Return the positions after an event; :class:`ContractError` if probabilities are invalid."""
    odds, following = [], []
    for index in range(chance(position)):
        probability, child = chance_outcome(position, index)
        odds.append(probability)
        following.append(child)
    if min(odds) < 0 or abs(sum(odds) - 1) > SAME:
        raise contract_violation(position, PROBABILITIES)
    return following


def is_move(number: Any) -> bool:
    """Return whether a number can be a move."""
    return hasattr(number, "__index__") and 0 <= number < NO_MOVE


def _no_move(position: Any, listed: list[Any]) -> ContractError:
    wrong = next(move for move in listed if not is_move(move))
    return breach(position, f"moves must be numbers in range({NO_MOVE}), got {wrong!r}")


def end_of(position: Any, end: Any) -> int:
    """Return the end of a list of moves; :class:`ContractError` if ``moves`` returned none."""
    if isinstance(end, bool) or not hasattr(end, "__index__"):
        kind = "nothing (is a return missing?)" if end is None else f"a {type(end).__name__}"
        raise ContractError(
            f"{module_of(type(position)).__name__}.moves returns {kind}; the contract is int: "
            f"return the index at which the next move would be written, the last value of its "
            f"parameter 'at'"
        )
    return int(end)
