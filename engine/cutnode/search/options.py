"""The keywords of searches and proofs, and checks of their values.

Defaults and ranges come from :mod:`cutnode.runtime.options`.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import EllipsisType
from typing import Any, ClassVar, Self, TypedDict, cast

from cutnode.contract.choices import TREE_MEMORY
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    PositionError,
    as_python,
    require_callable,
    require_integer,
    require_iterable,
)
from cutnode.contract.repetition import bans_repetition, repetition_rule
from cutnode.kernels.declarations import Technique
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.scores import is_decisive
from cutnode.runtime.options import OPTIONS, PROOF_OPTIONS, Option, check
from cutnode.runtime.running import Limits
from cutnode.search.record import allowed_moves
from cutnode.search.results import Iteration
from cutnode.storage.books import Book
from cutnode.tablebases.tablebase import Tablebase


class SearcherKeywords(TypedDict, total=False):
    """Keywords of a searcher, with the defaults of :class:`SearcherOptions`."""

    evaluation: AnyEvaluation
    techniques: Iterable[str | Technique | EllipsisType] | None
    parameters: Mapping[str, float] | None
    exact: bool
    driver: str
    soonest: bool
    depth_in: str
    debug: bool
    book: Book | None
    tablebase: Tablebase | str | os.PathLike[str] | None


class ProvingKeywords(SearcherKeywords, total=False):
    """Keywords of a searcher that can also try a proof."""

    proof_share: float | None


class LimitKeywords(TypedDict, total=False):
    """Keywords that limit a search or a proof."""

    nodes: int | None
    seconds: float | None
    stop: threading.Event | None


class ProofKeywords(LimitKeywords, total=False):
    """Keywords of a proof."""

    weak: bool
    engine: str | None


class QuestionKeywords(ProofKeywords, total=False):
    """Keywords of a proof of one position, which can also ask about a single value."""

    at_least: int | None


class SearchKeywords(LimitKeywords, total=False):
    """Keywords of a search, with the defaults of :class:`SearchOptions`."""

    depth: int | None
    playouts: int | None
    soft_seconds: float | None
    lines: int
    seed: int | None
    moves: Iterable[int] | None
    history: Iterable[Any]
    progress: Callable[[Iteration], None] | None
    bounds: Callable[[Iteration], None] | None


class _Options:
    """Options that are made from keywords, with values in the ranges of their declarations."""

    __slots__ = ()
    declared: ClassVar[Mapping[str, Option]] = OPTIONS

    def __post_init__(self) -> None:
        for name, default in _defaults(cast(Any, type(self))):
            value = getattr(self, name)
            if value is not default and name in self.declared:
                check(name, value, self.declared[name])

    @classmethod
    def of(cls, function: str, keywords: Mapping[str, Any]) -> Self:
        """Make options from keywords; raise :class:`TypeError` for an unknown keyword."""
        require_keywords(function, keywords, [name for name, _ in _defaults(cast(Any, cls))])
        return cls(**{name: as_python(value) for name, value in keywords.items()})


@functools.cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the names of the options of a class, with their defaults."""
    return tuple((each.name, each.default) for each in fields(cls) if each.init)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearcherOptions(_Options):
    """The options of a :class:`~cutnode.search.searcher.Searcher`, explained there."""

    evaluation: AnyEvaluation = None
    techniques: Iterable[str | Technique | EllipsisType] | None = None
    parameters: Mapping[str, float] | None = None
    exact: bool = False
    driver: str = OPTIONS["driver"].default
    soonest: bool = OPTIONS["soonest"].default
    depth_in: str = OPTIONS["depth_in"].default
    debug: bool = False
    book: Book | None = None
    tablebase: Tablebase | str | os.PathLike[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LimitedOptions(_Options):
    """Options of one call, with its limits."""

    nodes: int | None = None
    seconds: float | None = None
    stop: threading.Event | None = None

    def limits(self, stop: threading.Event | None = None) -> Limits:
        """Return the limits of nodes and time, and the event; *stop*, if given, replaces it."""
        return Limits(self.nodes, self.seconds, self.stop if stop is None else stop)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProofOptions(_LimitedOptions):
    """The options of a proof: its limits, its engine, and whether only the winner is proven."""

    declared: ClassVar[Mapping[str, Option]] = PROOF_OPTIONS

    weak: bool = False
    engine: str | None = None
    at_least: int | None = field(init=False, default=None)

    def of_game(self, cls: Any) -> Self:
        """Return the options with the engine that they mean for a game."""
        engine = solving_engine(cls, self.engine)
        if engine == self.engine:
            return self
        return replace(self, engine=engine)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionOptions(ProofOptions):
    """The options of a proof of one position."""

    at_least: int | None = None

    def __post_init__(self) -> None:
        _Options.__post_init__(self)
        if self.at_least is not None and self.weak:
            raise CutnodeError("weak and at_least exclude each other: choose one question")

    def of_game(self, cls: Any) -> Self:
        """Return the options with the engine that they mean for a game."""
        # Alpha-beta has no table where values depend on the line of play.
        if self.engine is None and repetition_rule(cls) != "draw":
            return replace(self, engine="pn")
        return ProofOptions.of_game(self, cls)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchOptions(_LimitedOptions):
    """The options of one search, explained at :meth:`cutnode.Engine.search`.

    Raise :class:`CutnodeError` for a value that is not allowed.
    """

    depth: int | None = None
    playouts: int | None = None
    soft_seconds: float | None = None
    lines: int = OPTIONS["lines"].default
    seed: int | None = None
    moves: Iterable[int] | None = None
    history: Sequence[Any] = ()
    progress: Callable[[Iteration], None] | None = None
    bounds: Callable[[Iteration], None] | None = None

    def __post_init__(self) -> None:
        _Options.__post_init__(self)
        if self.moves is not None:
            object.__setattr__(self, "moves", tuple(require_iterable(self.moves, "moves")))
        object.__setattr__(self, "history", tuple(require_iterable(self.history, "history")))
        require_callable(self.progress, "progress")
        require_callable(self.bounds, "bounds")

    def require_limit(self, engine: str = "alphabeta") -> None:
        """Raise :class:`CutnodeError` if no option limits the search."""
        limits = self.depth, self.playouts, self.nodes, self.seconds, self.soft_seconds, self.stop
        require_limit(*limits, engine=engine)


def solving_engine(cls: Any, engine: str | None) -> str:
    """Return the engine that solves a game, given the user's choice or None.

    Raise :class:`GameError` if the game does not suit it.
    """
    if defines(cls, "parts"):
        return "sums" if engine is None or engine == "auto" else engine
    if engine == "sums":
        raise GameError(f"engine=sums needs a game that defines parts; {game_name(cls)} does not")
    return engine or "alphabeta"


def proof_options(kind: str, keywords: Mapping[str, Any]) -> ProofOptions:
    """Make the options of a proof of some kind: ``"solve"`` or ``"analyse"``."""
    return (QuestionOptions if kind == "solve" else ProofOptions).of(kind, keywords)


def require_keywords(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise :class:`TypeError` if one of the *given* keywords is not *known*."""
    for name in given:
        if name not in known:
            takes = ", ".join(known)
            raise TypeError(f"{function}() takes {takes}; there is no option {name!r}")


LIMITS_OF = {
    "alphabeta": "depth, nodes, seconds, or stop",
    "mcts": "playouts, nodes, seconds, or stop",
    "auto": "seconds",
}
"""The limits of a search, by engine."""


def require_limit(*limits: object, engine: str = "alphabeta") -> None:
    """Raise :class:`CutnodeError` if nothing limits a search: all of *limits* are None."""
    if limits.count(None) == len(limits):
        raise CutnodeError(f"a search needs a limit: {LIMITS_OF[engine]}")


def thread_count(threads: int, cls: type) -> int:
    """Check a number of threads for a game, and return it.

    Raise :class:`CutnodeError` if it is out of range or more than the game can use.
    """
    check("threads", threads)
    threads = int(threads)
    if threads > 1 and is_plain(cls):
        raise GameError(f"{game_name(cls)} is plain Python, which runs on one thread at a time")
    return threads


def chosen_moves(position: Any, moves: Iterable[int], history: Sequence[Any] = ()) -> list[int]:
    """Return *moves* in the game's order; raise :class:`PositionError` if one is illegal."""
    legal = allowed_moves(position, history)
    chosen = {require_integer(move, "a move") for move in moves}
    if not chosen or chosen - set(legal):
        wrong = ", ".join(map(str, sorted(chosen - set(legal)))) or "none"
        raise PositionError(f"moves must be legal moves, at least one, got {wrong}")
    return [move for move in legal if move in chosen]


def root_moves(position: Any, options: SearchOptions) -> list[int] | None:
    """Return the moves to choose from in the game's order; None for all legal moves.

    Raise :class:`PositionError` if a chosen one is illegal, or if all are illegal repetitions.
    """
    if options.moves is not None:
        return chosen_moves(position, options.moves, options.history)
    if not options.history or not bans_repetition(position):
        return None
    allowed, legal = allowed_moves(position, options.history), legal_moves(position)
    if legal and not allowed:
        raise PositionError("the game is over: every move brings an earlier position back")
    return None if len(allowed) == len(legal) else allowed


def require_book(book: Any, cls: Any) -> None:
    """Raise :class:`CutnodeError` unless *book* is None or a book of a class's game."""
    if book is None:
        return
    if not callable(getattr(book, "require", None)):
        raise CutnodeError(f"book must be a Book, such as Book.load returns, got {book!r}")
    book.require(cls)


EXPLORATION = {"uct": 1.0, "puct": 1.5}
"""The default weight of exploration, by selection."""

GREED = 0.9
"""The probability that rollouts by order take the best move, and not a random one."""


class AutoKeywords(TypedDict, total=False):
    """Keywords that alpha-beta and Monte Carlo tree search share, and the tree's memory."""

    evaluation: AnyEvaluation
    tablebase: Tablebase | str | os.PathLike[str] | None
    memory: int


class PlayoutKeywords(TypedDict, total=False):
    """Keywords of ``TREE_OPTIONS``, explained there."""

    selection: str | None
    priors: str | None
    exploration: float | None
    rave: float
    minimax: float
    no_solver: bool
    proof_bias: float
    proof_formula: str
    rollouts: str | None
    cut_after: int | None


class TreeKeywords(AutoKeywords, PlayoutKeywords, total=False):
    """Keywords of Monte Carlo tree search, with the defaults of :class:`TreeOptions`."""

    reuse: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AutoOptions(_Options):
    """The options of an :class:`~cutnode.search.trials.AutoSearcher`."""

    evaluation: AnyEvaluation = None
    tablebase: Tablebase | str | os.PathLike[str] | None = None
    memory: int = TREE_MEMORY


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeOptions(AutoOptions):
    """The options of a :class:`~cutnode.search.monte_carlo.MonteCarlo`, explained there.

    Raise :class:`CutnodeError` for a value that is not allowed.
    """

    selection: str | None = None
    priors: str | None = None
    exploration: float | None = None
    rave: float = OPTIONS["rave"].default
    minimax: float = OPTIONS["minimax"].default
    no_solver: bool = OPTIONS["no_solver"].default
    proof_bias: float = OPTIONS["proof_bias"].default
    proof_formula: str = OPTIONS["proof_formula"].default
    rollouts: str | None = None
    cut_after: int | None = None
    reuse: bool = OPTIONS["reuse"].default

    def __post_init__(self) -> None:
        _Options.__post_init__(self)
        if self.selection == "uct" and self.priors is not None:
            raise CutnodeError("priors need selection='puct'; 'uct' does not use them")
        for name in ("rave", "no_solver"):  # RAVE's numbers have the place of proof numbers
            if self.proof_bias and getattr(self, name):
                raise CutnodeError(f"{name} and proof_bias exclude each other: choose one")

    def selection_for(self, cls: Any, estimates: bool) -> str:
        """Return how to select children in a game; *estimates* says whether it has estimates."""
        has_priors = self.priors is not None or self.priors_for(cls, estimates) != "uniform"
        return self.selection or ("puct" if has_priors else "uct")

    def priors_for(self, cls: Any, estimates: bool) -> str:
        """Return where PUCT takes a game's priors from."""
        usual = "evaluation" if estimates else "uniform"
        return self.priors or ("order" if defines(cls, "order") else usual)

    def rollouts_for(self, cls: Any) -> str:
        """Return how rollouts choose moves in a game."""
        if self.rollouts is not None:
            return self.rollouts
        if defines(cls, "policy"):
            return "policy"
        return "bounds" if defines(cls, "bounds") and is_decisive(cls) else "uniform"

    def exploration_for(self, selection: str) -> float:
        """Return the weight of exploration of a selection."""
        return EXPLORATION[selection] if self.exploration is None else float(self.exploration)


def check_limits(options: SearchOptions) -> None:
    """Raise :class:`CutnodeError` if the options do not suit Monte Carlo tree search."""
    if options.depth is not None:
        raise CutnodeError(
            "depth does not limit Monte Carlo tree search; use playouts, nodes, seconds, or stop"
        )
