"""Players: engines with limits, levels, strengths from 0 to 100, and random moves.

A player chooses a move in a position.  The choice depends only on the position and the game's
seed, not on earlier moves, so any game can be replayed move for move, even from the middle.
(Time limits are the exception.)
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import pstdev
from typing import Any, Protocol, Unpack

from cutnode.compiler.progress import shown_elsewhere
from cutnode.contract.derived import recurs
from cutnode.contract.dispatch import defines, game_constant
from cutnode.contract.errors import CutnodeError, GameError, PositionError, require_integer
from cutnode.contract.loading import Game
from cutnode.contract.repetition import require_draws
from cutnode.contract.text import nearest, quoted
from cutnode.contract.verbs import key
from cutnode.kernels.optionality import PRESETS, Optionality
from cutnode.kernels.parameters import MOST_DEPTH, PARITY
from cutnode.kernels.scores import MOST_ESTIMATE
from cutnode.kernels.techniques import choose, leave_out
from cutnode.playing.configurations import (
    KEYS_OF,
    SEEDED,
    PlayerKeywords,
    parse_configuration,
    split_configuration,
    version_of,
    with_settings,
)
from cutnode.playing.first_moves import first_searcher
from cutnode.playing.levels import FULL_STRENGTH, LEVELS, Level
from cutnode.playing.remote import Remote
from cutnode.runtime.options import check
from cutnode.search.board import class_of, given_history, given_position
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.record import allowed_moves
from cutnode.search.results import Line, MonteCarloResult, SearchResult
from cutnode.search.trials import AutoSearcher
from cutnode.storage.evaluations import installed_weights
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

TABLE_MEGABYTES = 16
"""The size of a player's transposition table; small, as its searches are short."""

TREE_MEGABYTES = 256
"""The memory for the tree of a Monte Carlo tree search."""

TRIAL_MOVES = 40
"""The number of moves whose total time determines the length of an auto player's trial."""

STRENGTH_DEPTH = 6
STRENGTH_SECONDS = 5.0
"""The default limits of a player with a strength."""

SEES_ALL_MOVES = 20
"""The least strength at which a player considers every move."""

NOISE = 1.5
"""The standard deviation of evaluation errors at strength 0, in the game's ``UNIT``."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen move, and the search behind it."""

    move: int
    value: float | None
    """The score for the mover (see ``cutnode.kernels.scores``); None without a search."""
    pv: tuple[int, ...]
    """The expected line of play."""
    depth: int
    nodes: int
    seconds: float
    reason: str
    """Why the search ended; ``random`` without a search."""
    compiled: bool = True
    """Whether the search was compiled, and not run as plain Python (see :func:`make_player`)."""


class Player(Protocol):
    """A player: it chooses moves."""

    def new_game(self, seed: int) -> None:
        """Begin a game; the same seed gives the same choices."""

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        """Choose a legal move; :class:`PositionError` if no player is to move.

        *history* holds the positions before this one, oldest first; a match passes the ones that
        may occur again.
        """


class RandomPlayer:
    """A player that chooses uniformly among the legal moves."""

    def __init__(self) -> None:
        self.seed = 0

    def new_game(self, seed: int) -> None:
        self.seed = require_integer(seed, "a seed")

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        position, choices, _ = _asked(position, history)
        move = _random_at(position, self.seed).choice(choices)
        return Choice(move, None, (move,), 0, 0, 0.0, "random")


class EnginePlayer:
    """An engine that searches every position within the same limits.

    *game* is a game, a position or a position class; *depth*, *nodes* and *seconds* are the limits
    of ``Searcher.search``, and *options* are the options of :class:`ProvingSearcher`.  The game's
    seed decides between moves of equal score, if the limits leave room to look for them.  Without
    *ready*, first moves come from plain Python (see :func:`make_player`).
    """

    def __init__(
        self,
        game: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        table: Table | int = TABLE_MEGABYTES,
        ready: bool = True,
        **options: Any,
    ):
        self.limits: dict[str, Any] = {"depth": depth, "nodes": nodes, "seconds": seconds}
        if depth is None and nodes is None and seconds is None:
            raise CutnodeError("a player needs a limit: depth, nodes or seconds")
        check("depth", depth, least=1)
        self._searches = SearchOptions.of("search", self.limits)
        self.seed = 0
        self.ready = ready
        self._use(ProvingSearcher(game, table=table, ready=False, **options))

    def _use(self, engine: ProvingSearcher) -> None:
        """Search with an engine from now on."""
        self.engine = engine
        self._first = None if self.ready else first_searcher(engine, self._searches)
        if self._first is None:
            engine.prepare(self._searches)

    def prepare(self) -> None:
        """Compile the search in a thread, if that is still to be done."""
        if self._first is not None:
            threading.Thread(target=self._prepare, name="compile", daemon=True).start()

    def _prepare(self) -> None:
        with contextlib.suppress(Exception), shown_elsewhere():  # the next search raises it
            self.engine.prepare(self._searches)
        self._first, self.ready = None, True

    def new_game(self, seed: int) -> None:
        self.seed = require_integer(seed, "a seed")

    def search(self, position: Any, **more: Any) -> SearchResult:
        """Search a position as this player does; *more* are options of ``Searcher.search``."""
        limits = self.limits | more
        if (first := self._first) is not None:
            with contextlib.suppress(CutnodeError):  # the compiled search reports it
                first.clear()
                return first.search(position, **limits)
        self.engine.clear()
        return self.engine.search(position, **limits)

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        position, _, line = _asked(position, history)
        seed = _random_at(position, self.seed).getrandbits(32)
        result = self.search(position, seed=seed, **line)
        return _choice(result, result.lines[0], result.depth)


class TreePlayer:
    """An engine that searches every position by Monte Carlo tree search within the same limits.

    *playouts*, *nodes* and *seconds* are the limits, *memory* is in MiB, and *options* are the
    options of :class:`~cutnode.search.monte_carlo.MonteCarlo`.  The game's seed seeds the playouts.
    """

    def __init__(
        self,
        game: Any,
        *,
        playouts: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        memory: int = TREE_MEGABYTES,
        **options: Any,
    ):
        self.limits: dict[str, Any] = {"playouts": playouts, "nodes": nodes, "seconds": seconds}
        if playouts is None and nodes is None and seconds is None:
            raise CutnodeError("an mcts player needs a limit: playouts, nodes or seconds")
        SearchOptions.of("search", self.limits)
        self.seed = 0
        self.engine = MonteCarlo(game, memory=memory << 20, **options)

    def new_game(self, seed: int) -> None:
        self.seed = require_integer(seed, "a seed")

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        position, _, line = _asked(position, history)
        self.engine.clear()
        seed = _random_at(position, self.seed).getrandbits(32)
        result = self.engine.search(position, seed=seed, **line, **self.limits)
        return _choice(result, result.lines[0], result.depth)


class AutoPlayer:
    """Alpha-beta or Monte Carlo tree search, whichever does better in a trial.

    *seconds* is the limit per move.  The trial precedes the first move of the first game and takes
    a quarter of the time of :data:`TRIAL_MOVES` moves; its choice holds for all games.  *memory* is
    in MiB, and *options* are the options of :class:`~cutnode.search.trials.AutoSearcher`.
    """

    def __init__(
        self,
        game: Any,
        *,
        seconds: float | None = None,
        nodes: int | None = None,
        table: Table | int = TABLE_MEGABYTES,
        memory: int = TREE_MEGABYTES,
        **options: Any,
    ):
        if seconds is None:
            raise CutnodeError("an auto player needs a limit of seconds: its trial takes a share")
        self.limits: dict[str, Any] = {"seconds": seconds, "nodes": nodes}
        SearchOptions.of("search", self.limits)
        self.seed = 0
        self.engine = AutoSearcher(game, table=table, memory=memory << 20, **options)

    def new_game(self, seed: int) -> None:
        self.seed = require_integer(seed, "a seed")

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        position, _, line = _asked(position, history)
        seed = _random_at(position, self.seed).getrandbits(32)
        self.engine.prepare()
        trial = SearchOptions(seconds=self.limits["seconds"] * TRIAL_MOVES, seed=seed, **line)
        ended = self.engine.decide(position, trial)
        if ended is not None and ended.reason == "interrupted":
            raise KeyboardInterrupt
        chosen = self.engine.chosen or self.engine.alphabeta
        chosen.clear()
        result = chosen.search(position, seed=seed, **line, **self.limits)
        return _choice(result, result.lines[0], result.depth)


def full_width(cls: Any) -> frozenset[str]:
    """Return the techniques of levels and strengths: all except those that reduce the depth.

    A 2-ply search that skips moves overlooks direct replies.  In Breakthrough, depth 2 with all
    techniques scores 0.41 against depth 1; with these techniques it scores 0.67.
    """
    deeper = choose(cls, None) & {"extensions", "quiescence"}
    return choose(cls, None, exact=True) | deeper


# Levels


def level_evaluation(cls: Any, level: Level, random: Random) -> Optionality | None:
    """Make the evaluation of a level; None stands for the default evaluation.

    Without ``features`` there is nothing to weigh: a level is then only a depth, and games differ
    only in the choice between moves of equal score.  The strongest level evaluates with learned
    weights where they are installed.
    """
    if not defines(cls, "features") or (level.share == 1 and installed_weights(cls)):
        return None
    optionality = PRESETS["balanced"]._replace(share=level.share)
    return optionality.jittered(random, *level.jitter) if level.jitter else optionality


class LevelPlayer(EnginePlayer):
    """A player at a level of :data:`LEVELS`, optionally with another limit of *seconds*.

    It plays perfectly in the positions of a *tablebase*.
    """

    def __init__(
        self,
        game: Any,
        level: str,
        *,
        seconds: float | None = None,
        table: Table | int = TABLE_MEGABYTES,
        tablebase: Tablebase | str | None = None,
        ready: bool = True,
    ):
        if level not in LEVELS:
            known = f"levels are {', '.join(LEVELS)}"
            raise CutnodeError(f"there is no level {quoted(level)}{nearest(level, LEVELS, known)}")
        self.level = LEVELS[level]
        super().__init__(
            game,
            depth=self.level.depth,
            seconds=self.level.seconds if seconds is None else seconds,
            table=table,
            techniques=None if self.level.depth is None else full_width(class_of(game)),
            evaluation=level_evaluation(class_of(game), self.level, Random("0 level")),
            tablebase=tablebase,
            ready=ready,
        )

    def new_game(self, seed: int) -> None:
        super().new_game(seed)
        if self.level.jitter is not None:
            cls, table = self.engine.cls, self.engine.table
            evaluation = level_evaluation(cls, self.level, Random(f"{seed} level"))
            self._use(
                ProvingSearcher(
                    cls,
                    table=table,
                    ready=False,
                    techniques=full_width(cls),
                    evaluation=evaluation,
                    tablebase=self.engine.tablebase,
                )
            )


# Strength


class StrengthPlayer(EnginePlayer):
    """An engine that errs as people do: it overlooks deep consequences.

    Iterative deepening scores every move at the depths 2, 4, 6, ... or 3, 5, ... (the depths with
    the parity of the last one, since scores of odd and even depths differ).  For each move the
    player draws a *horizon*, the depth whose score it sees: at least the first, and each further
    one with a probability that rises with *strength*, from 0 at strength 20 to 1 at 100.  Below
    20 it does not even consider some moves; from 20 on it sees every win in one move and every
    loss to the opponent's next move.  Each score has a normal error with a standard deviation of
    ``NOISE * (1 - strength / 100)`` units of the game: its ``UNIT``, or else the spread of the
    moves' first scores.  The player chooses the move that then looks best.

    At strength 100 it is the plain engine with the same options; by default these exclude every
    technique that searches less than the full depth.  *strength* is 0 to 100, and the other
    arguments are the same as for :class:`EnginePlayer`.  Without a limit of depth or nodes it
    searches 6 plies deep, and for up to 5 seconds if *seconds* is not given either.
    """

    def __init__(self, game: Any, strength: int, **options: Any):
        if not 0 <= require_integer(strength, "a strength") <= FULL_STRENGTH:
            raise CutnodeError(f"strength must be 0..{FULL_STRENGTH}, got {strength}")
        self.strength = strength
        if options.get("depth") is None and options.get("nodes") is None:
            options = {"seconds": STRENGTH_SECONDS} | options | {"depth": STRENGTH_DEPTH}
        if options.get("techniques") is None and not options.get("exact"):
            options["techniques"] = full_width(class_of(game))
        super().__init__(game, **options)

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        if self.strength == FULL_STRENGTH:
            return super().choose(position, history)
        position, choices, line = _asked(position, history)
        random = _random_at(position, self.seed)
        horizons = {move: self._horizon(random) for move in choices}
        thought_of = [move for move in choices if horizons[move] >= 0]
        if not thought_of:
            move = random.choice(choices)
            return Choice(move, None, (move,), 0, 0, 0.0, "random")
        result = self._scores(position, len(choices), max(horizons.values()), line)
        seen = [
            step
            for step in result.iterations
            if (result.depth - step.depth) % PARITY == 0 and step.depth >= min(result.depth, PARITY)
        ]
        if not seen:
            return _choice(result, result.lines[0], 0)
        lines = [{line.move: line for line in step.lines} for step in seen]
        unit = self._unit([line.value for line in seen[0].lines])
        error = NOISE * (1 - self.strength / FULL_STRENGTH) * unit

        def look(move: int) -> tuple[float, int]:
            at = min(horizons[move], len(seen) - 1)
            return random.gauss(lines[at][move].value, error), at

        looks = {move: look(move) for move in thought_of}
        best = max(thought_of, key=lambda move: looks[move][0])
        at = looks[best][1]
        return _choice(result, lines[at][best], seen[at].depth)

    def _horizon(self, random: Random) -> int:
        """Draw the number of depths beyond the first at which a move is seen; -1 for not at all."""
        if random.random() * SEES_ALL_MOVES >= self.strength:
            return -1
        further = (self.strength - SEES_ALL_MOVES) / (FULL_STRENGTH - SEES_ALL_MOVES)
        steps = 0
        while steps < MOST_DEPTH and random.random() < further:
            steps += 1
        return steps

    def _scores(
        self, position: Any, lines: int, horizon: int, line: dict[str, Any]
    ) -> SearchResult:
        """Score all moves, no deeper than the deepest horizon."""
        depth = self.limits["depth"]
        if depth:
            first = depth % PARITY + PARITY
            depth = min(depth, first + horizon * PARITY)
        return self.search(position, depth=depth, lines=lines, **line)

    def _unit(self, scores: Sequence[float]) -> float:
        """Return the unit of scores: the game's ``UNIT``, or the spread of the estimates."""
        unit = game_constant(self.engine.cls, "UNIT", 0)
        estimates = [score for score in scores if abs(score) <= MOST_ESTIMATE]
        return unit or (pstdev(estimates) if estimates else 0.0)


# Other versions


class RemotePlayer:
    """A player in a separate process, which may run another version of cutnode.

    *text* is as for :func:`make_player`: ``path=FOLDER`` is a checkout, ``python=FILE`` the
    interpreter of a virtual environment, and ``game=FILE`` the game's name there.  That version
    reads all other settings.  If it refuses them, :class:`CutnodeError` says why: at once, or with
    *ready* false, at the first request.
    """

    def __init__(self, game: Any, text: str, *, ready: bool = True):
        where, rest = split_configuration(text)
        if not rest:
            raise CutnodeError(f"{quoted(text)}: a player needs a limit: depth, nodes or seconds")
        self.game = Game.of(class_of(game))
        require_draws(class_of(game), "a player of another version")
        source, version = where.get("game", self.game.source), version_of(text)
        self.remote = Remote(source, rest, version, quoted(text))
        if ready:
            _ = self.remote.facts
        self._is_seeded = not SEEDED.isdisjoint(re.split("[,=]", rest))

    def new_game(self, seed: int) -> None:
        self.remote.ask(new_game=require_integer(seed, "a seed"))

    def choose(self, position: Any, history: Iterable[Any] = ()) -> Choice:
        position, _, line = _asked(position, history)
        texts = {name: [*map(self.game.position_text, before)] for name, before in line.items()}
        found = self.remote.ask(choose=self.game.position_text(position), **texts)
        move = self.game.parse_move(position, found["move"])
        facts = found["depth"], found["nodes"], found["seconds"], found["reason"]
        return Choice(move, found["value"], (move,), *facts)

    def measure(self, position: Any) -> dict[str, Any]:
        """Search a position with empty tables, and return the result.

        Its keys are ``move`` (a text), ``value``, ``depth``, ``nodes``, ``seconds``, ``reason``,
        ``cpu`` (seconds of processor time), and ``leaves`` if the player counts them.  A player
        that needs no seed takes the first of moves with equal scores.
        """
        text = self.game.position_text(given_position(position))
        return self.remote.ask(**{"choose" if self._is_seeded else "search": text})


# Players from descriptions


def make_player(
    game: Any, text: str = "", *, ready: bool = True, **settings: Unpack[PlayerKeywords]
) -> Player:
    """Make the player that a short text describes, for a game, its name, or a position.

    Settings can also be keywords: ``make_player(game, strength=60)``.

    Examples: ``hard`` or another of :data:`LEVELS`; ``random``; ``level=hard,seconds=2``;
    ``strength=40``; ``depth=6,without=history+killers``;
    ``depth=6,set=lmr.base=0.8+lmr.moves=3``; ``nodes=3000,evaluation=cells,exact``;
    ``engine=mcts,playouts=10000``; ``engine=auto,seconds=0.1``; ``path=../older,depth=6`` for
    another version (see :class:`RemotePlayer`).  :data:`~cutnode.playing.configurations.KEYS`
    lists the settings; :class:`CutnodeError` says what is wrong with a text.

    With *ready*, the player's search is compiled now.  Without, an alpha-beta player is returned
    at once: it searches as plain Python, for two seconds a move at most, until its method
    ``prepare`` has compiled the search in a thread.  ``compiled`` in its choices tells them apart.
    """
    if not isinstance(text, str):
        raise CutnodeError(f"a player's description must be a text such as 'hard', got {text!r}")
    text = with_settings(text, settings)
    if split_configuration(text)[0]:
        return RemotePlayer(game, text, ready=ready)
    chosen = parse_configuration(text)
    engine = chosen.pop("engine", "alphabeta")
    for name, others in (("random", ()), ("level", ("seconds", "table", "tablebase"))):
        surplus = sorted(chosen.keys() - {name, *others})
        if name in chosen and surplus:
            raise CutnodeError(f"{quoted(text)}: {name} does not go with {surplus[0]}")
    if "random" in chosen:
        return RandomPlayer()
    try:
        check("engine", engine)
        surplus = sorted(chosen.keys() - KEYS_OF.get(engine, chosen.keys()))
        if surplus:
            raise CutnodeError(f"{surplus[0]} does not go with engine={engine}")
        if engine == "mcts":
            return TreePlayer(game, **chosen)
        if engine == "auto":
            return AutoPlayer(game, **chosen)
        chosen["ready"] = ready
        if "level" in chosen:
            return LevelPlayer(game, **chosen)
        if "without" in chosen:
            names, exact = chosen.get("techniques"), chosen.get("exact", False)
            techniques = choose(class_of(game), names, exact=exact)
            chosen["techniques"] = sorted(leave_out(techniques, chosen.pop("without")))
        if "set" in chosen:
            chosen["parameters"] = chosen.pop("set")
        if "strength" in chosen:
            return StrengthPlayer(game, **chosen)
        return EnginePlayer(game, **chosen)
    except GameError:
        raise
    except CutnodeError as error:
        raise CutnodeError(f"{quoted(text)}: {error}") from None


def _asked(given: Any, history: Iterable[Any]) -> tuple[Any, list[int], dict[str, Any]]:
    """Return the position of a choice, its moves, and its history as an option of searches.

    The history is left out in games whose positions never occur again.  :class:`PositionError` if
    there is no move.
    """
    position = given_position(given)
    before = [*given_history(given, history)] if recurs(position) else []
    found = allowed_moves(position, before)
    if not found:
        raise PositionError("there is no move to choose: the game is over, or chance decides")
    return position, found, {"history": before} if before else {}


def _choice(result: SearchResult | MonteCarloResult, line: Line, depth: int) -> Choice:
    facts = depth, result.nodes, result.seconds, result.reason, result.compiled
    return Choice(line.move, line.value, line.pv, *facts)


def _random_at(position: Any, seed: int) -> Random:
    """Return a player's random numbers for a position, in a game with a given seed."""
    return Random(f"{seed} {int(key(position))}")
