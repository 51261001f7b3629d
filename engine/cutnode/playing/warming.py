"""Compilation ahead of time: all code that the usual commands of a game need.

A task is a game and a use of it, such as "search"; worker processes carry out several tasks at
once, for different games first, because the tasks of one game share kernels.  Everything goes into
the cache of compiled code, so work that is interrupted is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cutnode.compiler.directory import cache_directory
from cutnode.compiler.progress import Prepared, listening
from cutnode.contract.choices import USES
from cutnode.contract.collection import game_names
from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.loading import Game, load_game
from cutnode.contract.text import nearest, quoted
from cutnode.kernels.reference import perft_node
from cutnode.playing.levels import LEVELS
from cutnode.playing.players import LevelPlayer
from cutnode.runtime.processes import MOST_PROCESSES, Processes, physical_cores
from cutnode.search.board import class_of
from cutnode.search.engine import Engine
from cutnode.search.forced_wins import Prover
from cutnode.search.game_solver import GameSolver
from cutnode.search.loops import LoopSolver, has_loops
from cutnode.search.solving import Resources
from cutnode.search.value_iteration import prepare_iteration
from cutnode.storage.tables import Table
from cutnode.tablebases.memory import TablebasesInMemory
from cutnode.tablebases.solving import Settings

SMALLEST = 1
"""The MiB of tables and trees that no search uses."""


class WarmKernel(NamedTuple):
    """A kernel in the cache of compiled code."""

    game: str
    use: str
    """The use that needed it: a name of :data:`USES`."""
    kernel: str
    compiled: bool
    """Whether it was compiled now; otherwise it was in the cache before."""
    seconds: float


class WarmFailure(NamedTuple):
    """A game that cannot be compiled."""

    game: str
    error: CutnodeError


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a game: whether a game allows it, and how to compile all that it needs."""

    suits: Callable[[Any], bool]
    prepare: Callable[[Any], object]


def _has_moves_only(cls: Any) -> bool:
    return not defines(cls, "chance") and not defines(cls, "turn")


def _can_be_solved(cls: Any) -> bool:
    return not (defines(cls, "chance") and defines(cls, "reversible"))


def _solve(cls: Any) -> None:
    if defines(cls, "chance"):
        prepare_iteration(cls)
        return
    table = Table(SMALLEST)
    GameSolver(cls, table).prepare("auto")
    if has_loops(cls):
        LoopSolver(Resources(cls, table)).prepare()


def _play(cls: Any) -> None:
    for level in LEVELS:
        LevelPlayer(cls, level, table=SMALLEST).engine.prepare()


_USES = {
    "solve": _Use(_can_be_solved, _solve),
    "search": _Use(lambda cls: True, lambda cls: Engine(cls, table=SMALLEST).prepare()),
    "mcts": _Use(
        lambda cls: True, lambda cls: Engine(cls, engine="mcts", memory=SMALLEST << 20).prepare()
    ),
    "play": _Use(lambda cls: True, _play),
    "mate": _Use(_has_moves_only, lambda cls: Prover(cls, table=SMALLEST).prepare()),
    "perft": _Use(lambda cls: True, lambda cls: perft_node.specialise(cls)),
    "tablebase": _Use(
        lambda cls: defines(cls, "index") and not defines(cls, "chance"),
        lambda cls: TablebasesInMemory(cls, Settings()).prepare(),
    ),
}
assert tuple(_USES) == USES


def warm(
    *games: Any, uses: Iterable[str] | None = None, workers: int | None = None
) -> list[WarmKernel]:
    """Compile all code that the usual commands of games need, and return the kernels.

    *games* are games or their names, by default all that come with cutnode.  *uses* are among
    :data:`USES`, by default the ones that a game allows.  At most *workers* processes compile at
    once, by default one for each core; 1 compiles in this process.  Later searches, in any process,
    load the code from the cache.

    :class:`CutnodeError` for an unknown game or use, if a game does not allow a given use, or if
    the cache cannot be written.  :class:`GameError` if the rules of a game do not compile; the
    other games are compiled first.
    """
    found: list[WarmKernel] = []
    failure: CutnodeError | None = None
    for each in warming(games, uses, workers):
        if isinstance(each, WarmKernel):
            found.append(each)
        else:
            failure = failure or each.error
    if failure is not None:
        raise failure
    return found


def warming(
    games: Sequence[Any] = (), uses: Iterable[str] | None = None, workers: int | None = None
) -> Iterator[WarmKernel | WarmFailure]:
    """Do the work of :func:`warm`, and yield each kernel once, in the order of the tasks."""
    tasks = _tasks(games, uses)
    if workers is None:
        workers = physical_cores()
    if not 1 <= require_integer(workers, "workers") <= MOST_PROCESSES:
        raise CutnodeError(f"workers must be 1 to {MOST_PROCESSES}, got {workers}")
    if cache_directory() is None:
        raise CutnodeError("compiled code cannot be kept: set CUTNODE_CACHE to a writable folder")
    if workers == 1 or len(tasks) == 1:
        yield from _once(map(_carry_out, tasks))
        return
    with Processes(_worker, min(workers, len(tasks))) as processes:
        yield from _once(processes.answers(tasks))


def _tasks(games: Sequence[Any], uses: Iterable[str] | None) -> list[tuple[Game, str]]:
    """Return the games and uses to prepare, with the tasks of a game far from each other."""
    chosen = None if uses is None else [*uses]
    if chosen == []:
        raise CutnodeError(f"name at least one use of {', '.join(USES)}")
    for use in chosen or ():
        if use not in _USES:
            known = f"there are {', '.join(USES)}"
            raise CutnodeError(f"unknown use {quoted(use)}{nearest(use, USES, known)}")
    loaded = [game if isinstance(game, Game) else load_game(game) for game in games or game_names()]
    for game in loaded:
        for use in chosen or () if games else ():
            if not _USES[use].suits(class_of(game)):
                raise GameError(f"{game_name(class_of(game))} does not allow {use}")
    return [
        (game, use)
        for use in USES
        if chosen is None or use in chosen
        for game in loaded
        if _USES[use].suits(class_of(game))
    ]


def _once(
    answers: Iterable[list[WarmKernel] | WarmFailure],
) -> Iterator[WarmKernel | WarmFailure]:
    """Yield the kernels of answers that are new, and the first failure of each game."""
    known: set[tuple[str, str]] = set()
    for answer in answers:
        for each in answer if isinstance(answer, list) else [answer]:
            name = each.game, each.kernel if isinstance(each, WarmKernel) else ""
            if name not in known or (isinstance(each, WarmKernel) and each.compiled):
                known.add(name)
                yield each


def _worker() -> Callable[[tuple[Game, str]], list[WarmKernel] | WarmFailure]:
    return _carry_out


def _carry_out(task: tuple[Game, str]) -> list[WarmKernel] | WarmFailure:
    """Compile or load what a use of a game needs."""
    game, use = task
    cls = class_of(game)
    name = game_name(cls)
    found: list[Prepared] = []
    try:
        if not is_plain(cls):
            with listening(found.append):
                _USES[use].prepare(cls)
    except CutnodeError as error:
        return WarmFailure(name, error)
    return [WarmKernel(name, use, each.kernel, each.compiled, each.seconds) for each in found]
