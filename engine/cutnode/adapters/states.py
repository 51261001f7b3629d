"""A game of the contract, built on the states of another library.

:class:`Rules` describes the states of a library.  From it, :func:`adapted_game` makes a module that
is a game in plain Python, with every verb that the rules support.  A position owns its state, and
has the steps (moves and outcomes of chance) that led there.  Its text is the list of these steps,
and parsing that text replays them.
"""

from __future__ import annotations

import functools
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from types import ModuleType
from typing import Any, ClassVar

from cutnode.contract.errors import PositionError
from cutnode.contract.loading import load_game
from cutnode.contract.text import quoted

START = "start"
"""The text of the first position, which has no steps."""

TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")


class Rules(ABC):
    """The rules of a game in terms of another library's states, which they never change.

    A *step* is the number of a move, or of an outcome at a chance node.
    """

    name: str
    """The game's name for :func:`cutnode.contract.loading.load_game`."""
    about: str
    """A description of the game in one line."""
    constants: dict[str, Any]
    """The constants of the contract that the game declares, such as ``MAX_MOVES``."""
    players: tuple[str, str]
    """The names of the players in messages."""
    has_chance = False
    has_estimates = False
    can_repeat = False
    """Whether positions can repeat, which is then a draw."""

    @abstractmethod
    def start(self) -> Any:
        """Return the first state."""

    @abstractmethod
    def after(self, state: Any, step: int) -> Any:
        """Return the state after a legal step."""

    @abstractmethod
    def moves(self, state: Any) -> list[int]:
        """Return the legal moves of a state in which a player is to move."""

    @abstractmethod
    def mover(self, state: Any) -> int | None:
        """Return the player to move, 0 or 1; None at a chance node and at the end."""

    @abstractmethod
    def value(self, state: Any, player: int) -> float | None:
        """Return the value of a finished game for a player; None while the game is not over."""

    def odds(self, state: Any) -> list[tuple[int, float]]:
        """Return the outcomes at a chance node with their probabilities; else none."""
        return []

    def estimate(self, state: Any) -> int:
        """Return an estimate of the value for the mover."""
        return 0

    @abstractmethod
    def identity(self, state: Any, steps: tuple[int, ...]) -> Hashable:
        """Return a key that is equal only for states with the same future."""

    @abstractmethod
    def text(self, state: Any, step: int) -> str:
        """Return a step as the library writes it."""

    @abstractmethod
    def board(self, state: Any) -> str:
        """Return a state as the library draws it."""


class StatePosition:
    """A position: a state of another library, never modified.

    Positions are equal if their rules give their states the same identity.
    """

    __slots__ = ("_hash", "_identity", "mover", "state", "steps")

    RULES: ClassVar[Rules]

    state: Any
    """The library's own object; changing it would break the position, so take a copy."""
    steps: tuple[int, ...]
    """The numbers of the moves and chance outcomes that led here."""
    mover: int
    """The player to move; if no player is to move, the opponent of the last mover."""

    _identity: Hashable
    _hash: int | None

    def __init__(self, state: Any, steps: tuple[int, ...] = (), mover: int = 0):
        put = object.__setattr__
        put(self, "state", state)
        put(self, "steps", steps)
        put(self, "mover", mover)
        put(self, "_hash", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"positions are immutable: {name} cannot be set")

    def _known_by(self) -> Hashable:
        if self._hash is None:
            identity = self.RULES.identity(self.state, self.steps)
            object.__setattr__(self, "_identity", identity)
            object.__setattr__(self, "_hash", hash(identity))
        return self._identity

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return bool(self._known_by() == other._known_by())

    def __hash__(self) -> int:
        return hash(self._known_by()) if self._hash is None else self._hash

    def __reduce__(self) -> Any:
        return _position_after, (self.RULES.name, self.steps)

    def __repr__(self) -> str:
        return f"load_game({self.RULES.name!r}).parse({position_text(self)!r})"

    def __str__(self) -> str:
        board = TERMINAL_CODES.sub("", self.RULES.board(self.state)).strip("\n")
        return board if board.strip() else position_text(self)

    def after(self, step: int) -> Any:
        """Return the position after a legal step."""
        rules = self.RULES
        state = rules.after(self.state, step)
        mover = rules.mover(state)
        if mover is None:
            mover = self.mover if rules.odds(self.state) else 1 - self.mover
        return type(self)(state, (*self.steps, step), mover)


def _position_after(name: str, steps: tuple[int, ...]) -> Any:
    position = load_game(name).start()
    for step in steps:
        position = position.after(step)
    return position


def adapted_game(rules: Rules) -> ModuleType:
    """Return a game with these rules: a module, registered in ``sys.modules`` by their name."""
    first = rules.start()
    space = {"__slots__": (), "__module__": rules.name, "RULES": rules, **rules.constants}
    position = type("Position", (StatePosition,), space)
    module = ModuleType(rules.name, rules.about)
    verbs: list[Any] = [moves, play, outcome, turn]
    verbs += [chance, chance_outcome] * rules.has_chance
    verbs += [evaluate] * rules.has_estimates
    verbs += [reversible] * rules.can_repeat
    verbs += [position_text, move_text, parse_move, chance_text, describe]

    def start(variant: str = "") -> Any:
        if variant:
            raise PositionError(f"{rules.name} has no variant {quoted(variant)}")
        return position(first, (), rules.mover(first) or 0)

    def parse_position(text: str, variant: str = "") -> Any:
        return _read(start(variant), text)

    contents = {function.__name__: function for function in (*verbs, start, parse_position)}
    vars(module).update(contents, PLAIN=True, Position=position)
    sys.modules[rules.name] = module
    return module


# The verbs ----------------------------------------------------------------------------------


def moves(position: Any, buffer: Any, at: int) -> int:
    for move in position.RULES.moves(position.state):
        buffer[at] = move
        at += 1
    return at


def play(position: Any, move: int) -> Any:
    return position.after(move)


def outcome(position: Any) -> tuple[bool, Any]:
    value = position.RULES.value(position.state, position.mover)
    return (False, 0) if value is None else (True, value)


def turn(position: Any) -> int:
    return position.mover  # type: ignore[no-any-return]


def chance(position: Any) -> int:
    return len(position.RULES.odds(position.state))


def chance_outcome(position: Any, index: int) -> tuple[float, Any]:
    step, probability = position.RULES.odds(position.state)[index]
    return probability, position.after(step)


def evaluate(position: Any) -> int:
    return position.RULES.estimate(position.state)  # type: ignore[no-any-return]


def reversible(position: Any, child: Any) -> bool:
    return True


# Texts --------------------------------------------------------------------------------------


def position_text(position: Any) -> str:
    """Return the steps from the start, or ``start`` if there are none."""
    before = type(position)(position.RULES.start())
    texts = []
    for step in position.steps:
        texts.append(_texts(before)[step])
        before = before.after(step)
    return " ".join(texts) or START


def move_text(position: Any, move: int) -> str:
    return _texts(position)[move]


def parse_move(position: Any, text: str) -> int:
    """Return the move for a text, as the library writes it, or for a number."""
    return _step({} if position.RULES.odds(position.state) else _texts(position), text)


def chance_text(position: Any, index: int) -> str:
    step, _ = position.RULES.odds(position.state)[index]
    return _texts(position)[step]


def describe(position: Any, value: float) -> str:
    rules = position.RULES
    if value == 0:
        return "a draw"
    if rules.has_chance and abs(value) != rules.constants["VALUE_LIMIT"]:
        return f"{rules.players[position.mover]} expects {value:+.6g}"
    winner = rules.players[position.mover if value > 0 else 1 - position.mover]
    over = rules.value(position.state, position.mover) is not None
    margin = "" if rules.constants["VALUE_LIMIT"] == 1 else f" by {abs(value):g}"
    return f"{winner} {'has won' if over else 'wins'}{margin}"


def _read(position: Any, text: str) -> Any:
    """Return the position after the steps in a text."""
    words = text.split()
    for number, word in enumerate([] if words == [START] else words, 1):
        try:
            position = position.after(_step(_texts(position), word))
        except PositionError as error:
            raise PositionError(f"step {number} of {quoted(text.strip())}: {error}") from None
    return position


def _step(steps: Mapping[int, str], text: str) -> int:
    """Return the step that a text names."""
    known = {word: step for step, word in steps.items()}
    word = _one_word(text)
    if word in known:
        return known[word]
    if re.fullmatch("[0-9]{1,9}", text) and int(text) in steps:
        return int(text)
    some = ", ".join(list(known)[:8]) + ", ..." * (len(known) > 8)
    raise PositionError(f"{quoted(text)} is not a legal move; {some or 'there are none'}")


@functools.lru_cache(5000)
def _texts(position: Any) -> Mapping[int, str]:
    """Return the texts of all legal steps, each a single word and all distinct."""
    rules, state = position.RULES, position.state
    if rules.value(state, position.mover) is not None:
        return {}
    steps = [step for step, _ in rules.odds(state)] or rules.moves(state)
    words = {step: _one_word(rules.text(state, step)) for step in steps}
    counts: dict[str, int] = {}
    for word in words.values():
        counts[word] = counts.get(word, 0) + 1
    return {
        step: word if word and counts[word] == 1 else f"{word}#{step}"
        for step, word in words.items()
    }


def _one_word(text: str) -> str:
    """Return a text as a single word, for texts of positions: ``take_3,pile_1``."""
    return re.sub(r"[\s;]+", "_", re.sub(r",\s+", ",", text).strip(" \t\r\n;"))
