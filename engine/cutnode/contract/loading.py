"""Finding a game by what a person types: a name, a module, or a file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import operator
import os
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Unpack

from cutnode.contract.cells import Look
from cutnode.contract.collection import COLLECTION, game_names
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import (
    PLAIN_COPY,
    REQUIRED,
    VERBS,
    declared,
    game_constant,
    is_foreign,
    is_plain,
    module_of,
    no_position,
)
from cutnode.contract.errors import CutnodeError, GameError, PositionError, shown
from cutnode.contract.files import failure, module_of_file, run_file
from cutnode.contract.messages import explained, no_outcome, not_kept
from cutnode.contract.notation import Notation, board_text, fields_text
from cutnode.contract.notebook import position_html, shows_board
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.text import nearest, quoted
from cutnode.contract.verbs import chance, chance_outcome, drawn, outcome, play

ADAPTERS = {
    "easyai": "cutnode.adapters.from_easyai",
    "openspiel": "cutnode.adapters.from_openspiel",
}
"""The modules that adapt games of other libraries, by the prefix of their names."""


MOST_LISTED = 1 << 30
"""The most moves that a search has room for, over all plies of its line."""


@dataclass(frozen=True, slots=True, repr=False)
class Game:
    """A game and one of its variants: its positions, its moves, and how they are written.

    Positions are immutable values.  Moves are numbers; wherever a method takes a move, it also
    takes its text in the game's notation.
    """

    module: ModuleType
    variant: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.module, ModuleType) or not isinstance(self.variant, str):
            raise GameError(
                f"Game takes a module and the name of a variant, got {shown(self.module)} and "
                f"{shown(self.variant)}; load_game finds a game by its name"
            )

    @classmethod
    def of(cls, position: Any) -> Game:
        """Return the game of a position, or of a position class."""
        its = position if isinstance(position, type) else type(position)
        if is_foreign(its):
            raise no_position(its)
        return cls(module_of(its), declared(its, "VARIANT") or "")

    @property
    def name(self) -> str:
        """The name without the variant."""
        name = self.module.__name__
        if ":" in name or "." in name or not self.module.__file__:
            return name if ":" in name else name.rpartition(".")[2]
        path = Path(self.module.__file__)
        return path.parent.name if path.name == "__init__.py" else path.stem

    @property
    def source(self) -> str:
        """The text with which :func:`load_game` finds the game and its variant, in any process."""
        source = Place.of(self.module).source
        return f"{source}:{self.variant}" if self.variant else source

    @property
    def notation(self) -> Notation:
        """The notation of the game's positions and moves."""
        return Notation(self.module)

    def start(self) -> Any:
        """Return the first position."""
        return _shown(self.notation.start(self.variant))

    def parse(self, text: str) -> Any:
        """Read a position in the game's notation; :class:`PositionError` for any other text."""
        if not isinstance(text, str):
            raise PositionError(f"a position must be given as text, got {shown(text)}")
        return _shown(self.notation.parse_position(text, self.variant))

    def position_text(self, position: Any) -> str:
        """Return one line that :meth:`parse` reads back."""
        return self.notation.position_text(position)

    def draw(self, position: Any, **look: Unpack[Look]) -> str:
        """Return a drawing of the board: plain, or with *colours*, *glyphs* and *marked* cells."""
        return board_text(position, **look)

    def legal_moves(self, position: Any) -> list[int]:
        """Return the legal moves; none if the game is over, or if chance decides."""
        return legal_moves(position)

    def play(self, position: Any, move: int | str) -> Any:
        """Return the position after a move; :class:`PositionError` if it is not legal."""
        return play(position, self.legal_move(position, move))

    def legal_move(self, position: Any, move: int | str) -> int:
        """Return the number of a legal move, given as a number or in the game's notation.

        :class:`PositionError` if it is not legal, or not a move at all.
        """
        number = self.parse_move(position, move) if isinstance(move, str) else move
        legal = legal_moves(position)
        if number not in legal or isinstance(number, bool | float):
            text_of = self.notation.move_text
            written = ", ".join(f"{m} ({text_of(position, m)})" for m in legal[:8])
            some = f"; legal moves are {written}{', ...' * (len(legal) > 8)}" if legal else ""
            raise PositionError(f"{move!r} is not a legal move{some or '; there are none'}")
        return int(number)

    def move_text(self, position: Any, move: int | str) -> str:
        """Return a legal move in the game's notation; :class:`PositionError` if it is not legal."""
        return self.notation.move_text(position, self.legal_move(position, move))

    def parse_move(self, position: Any, text: str) -> int:
        """Read a legal move in the game's notation; :class:`PositionError` for any other text."""
        return self.notation.parse_move(position, text)

    def chances(self, position: Any) -> list[tuple[float, Any]]:
        """Return the probability and position of each outcome; none if chance does not decide."""
        events = 0 if self.outcome(position) is not None else chance(position)
        return [chance_outcome(position, index) for index in range(events)]

    def outcome(self, position: Any) -> float | None:
        """Return the value for the player to move if the game is over here, else None."""
        over, value = outcome(position)
        if over:
            return float(value) if isinstance(value, float) else int(value)
        return 0 if drawn(position) else None

    def describe(self, position: Any, value: float) -> str:
        """Return a value for the player to move in words; "" if the game has none."""
        return self.notation.describe(position, value)

    def __reduce__(self) -> Any:
        return _game_in, (Place.of(self.module), self.variant)

    def __repr__(self) -> str:
        plain = ", plain=True" * Place.of(self.module).plain
        return f"load_game({self.source!r}{plain})"

    def _repr_html_(self) -> str:
        summary = (self.module.__doc__ or "").strip().partition("\n\n")[0]
        return f"<p><b>{escape(self.source)}</b> {escape(summary)}</p>{position_html(self.start())}"


def _shown(position: Any) -> Any:
    """Return the same position, after its class has been prepared for display and pickling.

    Notebooks then show boards of the class, the ``repr`` of a position can be read back, and
    positions pickle into processes that cannot import the module.  A class with a ``repr`` of its
    own, other than a NamedTuple's, keeps it.
    """
    cls: Any = type(position)
    if getattr(cls.__repr__, "__module__", "") == "collections":
        cls.__repr__ = _repr
    place = Place.of(module_of(cls))
    if (place.digest or place.plain) and cls.__reduce_ex__ is object.__reduce_ex__:
        if cls.__reduce__ is object.__reduce__:
            cls.__reduce_ex__ = _reduced
    return shows_board(position)


class Place(NamedTuple):
    """The place where another process finds the module of a game."""

    name: str
    """Its name in :data:`sys.modules`."""
    source: str
    """The text with which :func:`load_game` finds it, without a variant."""
    digest: str
    """The digest of a user's file at the time it was loaded; "" for a module found by name."""
    plain: bool
    """Whether it is the plain copy."""

    @classmethod
    def of(cls, module: ModuleType) -> Place:
        """Return the place of a module."""
        name = module.__name__.removesuffix(PLAIN_COPY)
        plain = name != module.__name__ and name in sys.modules
        name = name if plain else module.__name__
        if "." in name or ":" in name or not getattr(module, "__file__", None):
            return cls(name, name.removeprefix(f"{COLLECTION}."), "", plain)
        if name == "__main__":
            return cls(name, str(module.__file__), "", plain)
        return cls(name, str(module.__file__), _digest(sys.modules.get(name, module)), plain)

    @classmethod
    def loaded(cls, *fields: Any) -> Place:
        """Return a place after loading its module, to which the rest of a pickle may refer."""
        place = cls(*fields)
        place.module()
        return place

    def module(self) -> ModuleType:
        """Return the module; :class:`GameError` if its file is gone or has changed."""
        module = sys.modules.get(self.name)
        if module is None or (self.digest and getattr(module, "__file__", None) != self.source):
            module = _located(self.source)[0]
        if self.digest and _digest(module) != self.digest:
            raise GameError(
                f"{self.source!r} has changed since this was pickled: restore the file, or load "
                f"the game and pickle again"
            )
        return plain_copy(module) if self.plain else module

    def __reduce__(self) -> Any:
        return Place.loaded, tuple(self)


def _digest(module: ModuleType) -> str:
    """Return the digest of a module's file, taken when its game was loaded and kept in it."""
    known: str = vars(module).get("__digest__", "")
    if not known:
        content = Path(str(module.__file__)).read_bytes()
        known = vars(module)["__digest__"] = hashlib.blake2b(content, digest_size=16).hexdigest()
    return known


def _game_in(place: Place, variant: str) -> Game:
    return Game(place.module(), variant)


def _reduced(position: Any, protocol: Any) -> Any:
    """Reduce a position for ``pickle`` and ``copy``; its place comes first, to load its class."""
    parts: Any = object.__reduce_ex__(position, max(protocol, 2))
    make, (cls, *given), *state = parts
    place = Place.of(module_of(cls))
    return _position_in, (place, cls.__qualname__, make, *given), *state


def _position_in(place: Place, cls: str, make: Any, *given: Any) -> Any:
    return _shown(make(operator.attrgetter(cls)(place.module()), *given))


def _repr(position: Any) -> str:
    """Return the call that makes an equal position, or the fields if the game cannot write it."""
    try:
        game = Game.of(position)
        return f"{game!r}.parse({game.position_text(position)!r})"
    except Exception:  # while rules are being written, a position may be invalid
        return f"{type(position).__name__}({fields_text(position, ', ')})"


def load_game(name: str | os.PathLike[str], *, plain: bool = False) -> Game:
    """Return the game called *name*: ``connect4``, ``my_package.my_game`` or ``path/to/game.py``.

    A variant may follow after a colon: ``connect4:8x7``.  Games of other libraries have names such
    as ``openspiel:hex(board_size=4)`` and ``easyai:my_file.py:MyGame`` (see ``cutnode.adapters``).
    :class:`GameError` if there is no such game, or if it lacks a function of the contract.

    With *plain*, return a second copy of the game whose rules run as plain Python even if they
    could be compiled.
    """
    if not isinstance(name, str | os.PathLike):
        raise GameError(
            f"a game must be given by its name or the path of its file, got {shown(name)}"
        )
    module, source, variant = _located(os.fspath(name))
    if plain:
        module = plain_copy(module)
    missing = [verb for verb in sorted(REQUIRED) if not callable(getattr(module, verb, None))]
    if missing:
        own = [name for name, value in vars(module).items() if _is_function_of(value, module)]
        raise GameError(
            f"{source} is not a game: it does not define {', '.join(missing)}"
            f"{nearest(missing[0], set(own) - set(VERBS))}"
        )
    game = Game(module, variant)
    _require_position(source, game)
    return game


def _located(name: str) -> tuple[ModuleType, str, str]:
    """Return the module called *name*, the name without the variant, and the variant."""
    on_drive = re.match(r"[A-Za-z]:[\\/]", name)
    at = name.find(":", 2 if on_drive else 0)
    source, variant = (name, "") if at < 0 else (name[:at], name[at + 1 :])
    if source in ADAPTERS:
        return importlib.import_module(ADAPTERS[source]).adapted(variant), source, ""
    return _module(source), source, variant


def _require_position(source: str, game: Game) -> None:
    """Raise :class:`GameError` if the engine cannot use the first position of a game."""
    try:
        start = game.start()
    except CutnodeError:
        raise
    except Exception as error:
        reason = f"{game.module.__name__}.start: {type(error).__name__}: {error}"
        raise (explained(error) or GameError(reason)) from error
    if start is None:
        raise GameError(f"{game.module.__name__}.start must return a position, got None")
    cls = type(start)
    if module_of(cls) is not game.module:
        raise GameError(
            f"positions of {source} are of class {cls.__qualname__} from module "
            f"{cls.__module__}; the class must be defined in the game's own file"
        )
    most, plies = game_constant(cls, "MAX_MOVES", 256), game_constant(cls, "MAX_PLIES", 512)
    if most * plies > MOST_LISTED:
        raise GameError(
            f"MAX_MOVES times MAX_PLIES of {source} must be at most {MOST_LISTED}, got {most} "
            f"times {plies}"
        )
    repetition_rule(cls)
    for name in VERBS:
        if inspect.iscoroutinefunction(getattr(game.module, name, None)):
            raise GameError(f"{source}: {name} is async: write def instead of async def")
    try:
        answer = outcome(start)
    except Exception:  # reported where a search calls it
        answer = False, 0
    if is_plain(cls):
        if wrong := no_outcome(answer):
            raise GameError(f"{source}: {wrong}")
        if wrong := not_kept(start):
            raise GameError(f"positions of {source} {wrong}")
        if not any("__eq__" in vars(base) for base in cls.__mro__[:-1]):
            raise GameError(
                f"positions of {source} never compare equal, as {cls.__qualname__} has no __eq__: "
                f"make it a NamedTuple or a frozen dataclass, or define __eq__ and __hash__"
            )


def _module(source: str) -> ModuleType:
    if source.endswith(".py"):
        return module_of_file(Path(source))
    loaded = sys.modules.get(f"{COLLECTION}.{source}")
    if loaded is not None and "." not in source:
        return loaded
    names = game_names()
    known = source in names
    if known or ("." in source and not source.startswith(".")):
        try:
            return importlib.import_module(f"{COLLECTION}.{source}" if known else source)
        except ModuleNotFoundError as error:
            what = "the name of a game's file must end in .py" if os.path.isfile(source) else error
            raise GameError(f"cannot load {source!r}: {what}") from None
        except Exception as error:
            raise failure(source, error) from error
    known_names = f"games are {', '.join(names)}, or a file such as my_game.py"
    raise GameError(f"unknown game {quoted(source)}{nearest(source, names, known_names)}")


def module_named(name: str) -> ModuleType:
    """Return a module of the engine that is loaded when it is first needed."""
    return importlib.import_module(name)


def is_in_file(text: str) -> bool:
    """Return whether a text, such as ``my_file.py:centre``, refers to a name in a file."""
    return text.endswith(".py") or ".py:" in text


def named_in_file(text: str, what: str) -> Any:
    """Return the object at the top level of a file to which ``my_file.py:centre`` refers.

    The file is loaded like a game's file.  :class:`GameError` if that fails, or if the file does
    not define the name; *what* is what the message calls the object, as in "an evaluation".
    """
    path, _, name = text.rpartition(":") if not text.endswith(".py") else (text, "", "")
    module = module_of_file(Path(path))
    own = [known for known, value in vars(module).items() if _is_function_of(value, module)]
    if not name:
        example = f"{path}:{own[0] if own else 'name'}"
        raise GameError(f"name the function of {path} that is {what}, as in {example}")
    if not hasattr(module, name):
        public = [known for known in vars(module) if not known.startswith("_")]
        known = f"its functions are {', '.join(own) or 'none'}"
        raise GameError(f"{path} defines no {name!r}{nearest(name, public, known)}")
    return getattr(module, name)


def _is_function_of(value: Any, module: ModuleType) -> bool:
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def plain_copy(module: ModuleType) -> ModuleType:
    """Return a copy of a game that runs as plain Python; the game itself if it does already."""
    if getattr(module, "PLAIN", False):
        return module
    name = module.__name__ + PLAIN_COPY
    if name in sys.modules:
        return sys.modules[name]
    path = Path(str(module.__file__))
    inside = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise GameError(f"cannot load {str(path)!r} as a module")
    copy = importlib.util.module_from_spec(spec)
    copy.PLAIN = True  # type: ignore[attr-defined]
    sys.modules[name] = copy
    run_file(copy, spec)
    return copy
