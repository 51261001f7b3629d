"""Texts of a game for users, and messages to its author when a text function, or a rule, fails.

A game's functions for people run after the search: if one of them fails, the result must not be
lost.  So the command line prints a substitute for the text
(:func:`cutnode.contract.errors.forgiving`); Python callers get a :class:`ContractError`.
"""

from __future__ import annotations

import copy
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any, Unpack

from cutnode.contract.cells import Look
from cutnode.contract.dispatch import (
    defines,
    game_constant,
    game_name,
    longest_line,
    module_of,
    value_limit,
)
from cutnode.contract.errors import ContractError, CutnodeError, collected_failures
from cutnode.contract.notation import board_text, fields_text, notation_of
from cutnode.contract.stop import MOVES, PLIES, PROBABILITIES
from cutnode.contract.text import quoted
from cutnode.contract.verbs import (
    MOVES_ROOM,
    candidates,
    chance,
    chance_outcome,
    moves,
    noisy,
    outcome,
)

MOST_SHOWN = 6
"""The most items of a list that a message shows."""


def position_text(position: Any) -> str:
    """Return a position in its game's notation."""
    return _said(position, "position_text", (), _plainly(position))


def move_text(position: Any, move: int) -> str:
    """Return a move in its game's notation."""
    return _said(position, "move_text", (move,), f"move {move}")


def chance_text(position: Any, index: int) -> str:
    """Return an outcome of chance in words."""
    return _said(position, "chance_text", (index,), f"outcome {index + 1}")


def board(position: Any, **look: Unpack[Look]) -> str:
    """Return a position as its game draws it."""
    return _said(position, "__str__", look, _plainly(position))


def description(position: Any, value: float) -> str | None:
    """Return a value in the words of its game; None if the game has none."""
    return _said(position, "describe", (value,), "") or None


def _said(position: Any, name: str, args: Any, instead: str) -> str:
    try:
        if name == "__str__":
            return board_text(position, **args)
        return str(getattr(notation_of(type(position)), name)(position, *args))
    except Exception as error:
        if type(error) is ContractError:
            failure = error
        elif isinstance(error, CutnodeError):
            raise
        else:
            failure = explained(error, position) or ContractError(
                f"{module_of(type(position)).__name__}.{name}: {_name(error)}"
            )
        failures = collected_failures()
        if failures is None:
            raise failure from error
        failures.append(failure)
        return instead


def explained(error: BaseException, position: Any = None) -> ContractError | None:
    """Return what went wrong in the file of a game, and where; None if it went wrong elsewhere.

    *position* is the position that the game was called with; by default the innermost one among
    the variables of its functions.
    """
    steps = [
        (frame, line, game)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (game := _game_of(frame.f_code.co_filename))
    ]
    if not steps:
        return None
    frame, line, game = steps[-1]
    if position is None:
        position = next((p for step in reversed(steps) for p in _held(step[0], game)), None)
    where = f"{game.__name__}.{frame.f_code.co_name}, line {line}"
    if position is not None:
        where += f", at {_quoted(position)}"
    return ContractError(f"{where}: {_name(error)}")


def running_rules() -> list[FrameType]:
    """Return, for each other thread, the innermost running call of a game's function."""
    running = []
    for number, top in sys._current_frames().items():
        frame: FrameType | None = top if number != threading.get_ident() else None
        while frame is not None and not _game_of(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            running.append(frame)
    return running


def place_of(frame: FrameType) -> str:
    """Return in words where a call of a game's function is, and at which position.

    The position is written by its fields: the game's own text function may be what is running.
    """
    game = _game_of(frame.f_code.co_filename)
    where = f"{game.__name__ if game else '?'}.{frame.f_code.co_name}, line {frame.f_lineno}"
    position = next(_held(frame, game), None) if game else None
    return where if position is None else f"{where}, at {quoted(fields_text(position))}"


def contract_violation(position: Any, code: int, evaluation: Any = None) -> ContractError:
    """Return the error for the code with which a search stopped (``cutnode.contract.stop``)."""
    cls = type(position)
    over, value = outcome(position)
    limit = value_limit(cls)
    if code == MOVES:
        most = game_constant(cls, "MAX_MOVES", 256)
        counts = {
            verb.__name__: verb(position, [0] * (most + MOVES_ROOM), 0)
            for verb in (moves, candidates, noisy)
        }
        verb = max(counts, key=lambda name: counts[name])
        what = f"{verb} wrote {counts[verb]} moves, more than MAX_MOVES = {most}"
        if counts[verb] <= most:
            verb = "candidates" if counts["moves"] else "moves"
            what = f"{verb} wrote no move, but the game is not over"
    elif code == PROBABILITIES:
        odds = [chance_outcome(position, index)[0] for index in range(chance(position))]
        what = f"chance_outcome: probabilities must be 0 or more and sum to 1, got {some(odds)}"
        if not defines(cls, "chance_outcome"):
            what = "chance_outcome is not defined, but chance is"
    elif code == PLIES:
        plies = longest_line(cls)
        what = f"play: the game is not over after {plies} plies, or a turn does not end"
    elif over:
        what = f"outcome: the value must be from {-limit:g} to {limit:g}, got {value}"
    elif evaluation is not None:
        verb = evaluation.name or "evaluate"
        what = f"{verb} must be from {-limit:g} to {limit:g}, got {evaluation(position)}"
    else:
        what = f"its value must be from {-limit:g} to {limit:g} (VALUE_LIMIT)"
    return breach(position, what)


def breach(position: Any, what: str) -> ContractError:
    """Return the error of a game that breaks the contract at a position; *what* says how."""
    name = game_name(type(position))
    return ContractError(f"{name} breaks the contract at {_quoted(position)}: {what}")


def no_number(value: Any, whole: bool = True) -> str:
    """Return the end of a message about a rule that returned *value*, which is not a number."""
    if isinstance(value, float):
        return f"is {value!r}, not a whole number: divide by // instead of /, or round it"
    missing = " (is a return missing?)" if value is None else ""
    return f"is {value!r}, not a {'whole ' if whole else ''}number{missing}"


def not_kept(position: Any) -> str:
    """Return why a position cannot be hashed or compared; "" if it can.

    Positions of other libraries (``cutnode.adapters``) are compared with themselves: copying one
    loads its game, which calls this.
    """
    foreign = ":" in type(position).__module__
    try:
        hash(position)
        bool(position == (position if foreign else copy.deepcopy(position)))
    except Exception as error:
        return (
            f"cannot be hashed or compared ({error}): make {type(position).__qualname__} "
            f"immutable, such as a NamedTuple or a frozen dataclass, with fields that are numbers, "
            f"texts or tuples"
        )
    return ""


def no_outcome(answer: Any) -> str:
    """Return what is wrong with an answer of ``outcome``; "" if it is a pair in the right order."""
    what = "whether the game is over, and its value for the player to move"
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return f"outcome must return two things, {what}; got {answer!r}"
    over, value = answer
    if isinstance(value, bool) and not isinstance(over, bool) and hasattr(over, "__index__"):
        return f"outcome must return, in this order, {what}; got {answer!r}"
    return ""


def too_long(cls: Any) -> str:
    """Return the message about a line of play longer than ``MAX_PLIES``, with the remedies."""
    plies = game_constant(cls, "MAX_PLIES", 512)
    if defines(cls, "chance"):
        loops = "; if dice let play continue forever, 4096 is enough for most searches"
    elif defines(cls, "reversible"):
        loops = ""
    else:
        loops = (
            ", or, if play can come back to a position, define reversible(position, child): "
            "a position that repeats is then a draw"
        )
    return f"a line of play is longer than MAX_PLIES = {plies}: raise it{loops}"


def some(values: list[Any]) -> str:
    """Return a list as a message shows it: only the beginning of a long one."""
    more = f", and {len(values) - MOST_SHOWN:,} more" if len(values) > MOST_SHOWN else ""
    return f"{values[:MOST_SHOWN]}{more}"


def _game_of(file: str) -> ModuleType | None:
    """Return the game that a file defines; None if it defines none."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            return module if getattr(module, "moves", moves) not in (moves, None) else None
    return None


def _held(frame: FrameType, game: ModuleType) -> Iterator[Any]:
    """Yield the positions among the variables of a game's function."""
    for value in frame.f_locals.values():
        if type(value).__module__ == game.__name__:
            yield value


def _quoted(position: Any) -> str:
    try:
        return quoted(notation_of(type(position)).position_text(position))
    except Exception:
        return _plainly(position)


def _plainly(position: Any) -> str:
    try:
        return repr(position)
    except Exception:
        return object.__repr__(position)


def _name(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
