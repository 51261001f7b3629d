"""From a request to an engine call, and from its result to an answer.

:func:`read_question` resolves what a request names before it waits for its turn; a thread of the
pool then calls the :class:`Question` with an engine.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.loading import Game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import notation_of
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import evaluation_of
from cutnode.kernels.scores import is_decisive, win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.playing.players import TABLE_MEGABYTES, Choice, LevelPlayer
from cutnode.search.api import perft
from cutnode.search.engine import Engine
from cutnode.search.game_solver import require_value
from cutnode.search.results import Iteration, Line, Result, line_text
from cutnode.search.solving import require_solvable
from cutnode.service.failures import Failure
from cutnode.service.games import GameRegistry
from cutnode.service.models import (
    AnalyseRequest,
    Answer,
    Counted,
    DepthDone,
    Estimated,
    EvaluateRequest,
    LevelRequest,
    LimitsView,
    LineView,
    Moved,
    PerftRequest,
    Progressed,
    Report,
    Request,
    Searched,
    SearchRequest,
    Solved,
    SolveRequest,
)
from cutnode.service.settings import USUAL_SECONDS, Settings
from cutnode.service.views import read_position
from cutnode.storage.evaluations import OWN_NAME, chosen_evaluation
from cutnode.tablebases.tablebase import Tablebase


@dataclass(frozen=True, slots=True)
class Key:
    """The settings of an engine; engines with equal keys are interchangeable."""

    cls: Any
    evaluation: str | None
    exact: bool
    table: int
    """The MiB of the table, of the tree of playouts, or of both together."""
    tablebase: Tablebase | None
    searching: str = "alphabeta"
    """The engine that searches: alphabeta, mcts or auto."""
    level: str = ""
    """The level that the engine plays, if any."""
    session: str = ""
    """The session that the engine serves; without one, it is cleared before each question."""
    tree: tuple[tuple[str, Any], ...] = ()
    """The options of Monte Carlo tree search."""

    def room(self, threads: int) -> int:
        """Return the MiB that an engine may take."""
        if self.level:
            return self.table
        table, tree = self.memory()
        return tree + math.ceil(Engine.room(self.cls, table=table, threads=threads))

    def memory(self) -> tuple[int, int]:
        """Return the MiB of the table, and of the tree of playouts."""
        if self.searching == "auto":
            half = max(self.table // 2, SMALLEST_TABLE)
            return half, half
        return (SMALLEST_TABLE, self.table) if self.searching == "mcts" else (self.table, 0)

    def engine(self, threads: int) -> Engine | LevelEngine:
        """Make an engine."""
        if self.level:
            return LevelEngine(self)
        table, tree = self.memory()
        own: Any = {"memory": tree << 20, **dict(self.tree)} if tree else {"exact": self.exact}
        return Engine(
            self.cls,
            engine=self.searching,
            table=table,
            threads=threads,
            evaluation=self.evaluation,
            tablebase=self.tablebase,
            **own,
        )


class LevelEngine:
    """A player of a level, with the interface of a pooled engine."""

    def __init__(self, key: Key):
        self.player = LevelPlayer(key.cls, key.level, table=key.table, tablebase=key.tablebase)
        self.usual = self.player.limits

    def choose(self, position: Any, seed: int, limits: LimitsView, stop: threading.Event) -> Choice:
        """Choose a move within the limits of the level, or *limits* where they are lower."""
        lower = {name: least(usual, getattr(limits, name)) for name, usual in self.usual.items()}
        self.player.limits = lower | {"stop": stop}
        self.player.new_game(seed)
        return self.player.choose(position)

    def new_game(self) -> None:
        """Do nothing: each choice begins with an empty table."""

    def close(self) -> None:
        """Do nothing: there is nothing to release but memory."""


OnEvent = Callable[[Report], None]

SMALLEST_TABLE = 1
"""The smallest table, in MiB; it is enough for an engine that only grows trees."""

PROGRESS_SECONDS = 1.0
"""The time between two progress events of a proof."""


class Question(NamedTuple):
    """A question to an engine: the method to call, and its arguments."""

    kind: str
    game: Game
    name: str
    """The game as the client named it."""
    key: Key
    position: Any
    limits: LimitsView
    options: dict[str, Any]
    fresh: bool
    notes: list[str]
    """Notes on input that was read in another way than it was written."""

    @property
    def code(self) -> tuple[Any, ...]:
        """The compiled code that the question needs."""
        key = self.key
        return KINDS[self.kind].ask, key.cls, key.evaluation, key.searching, key.level

    def small(self) -> Question:
        """Return a question that needs the same code but hardly any time."""
        depth = 1 if self.key.searching == "alphabeta" else None
        update = {"depth": depth, "playouts": None, "seconds": 0.01}
        limits = self.limits.model_copy(update=update)
        return self._replace(limits=limits, options={}, fresh=False)

    def __call__(
        self, engine: Engine | LevelEngine, stop: threading.Event, on_event: OnEvent | None
    ) -> Answer:
        """Return the answer; *stop* ends the search early, and *on_event* is called with events."""
        if self.fresh:
            engine.new_game()
        answer = KINDS[self.kind].ask(self, engine, stop, on_event)
        answer.notes = self.notes
        return answer


def _search(
    question: Question, engine: Engine, stop: threading.Event, on_event: OnEvent | None
) -> Searched:
    def progress(iteration: Iteration) -> None:
        if on_event is not None:
            on_event(_iterated(question.position, iteration))

    limits = question.limits
    result = engine.search(
        question.position,
        depth=limits.depth,
        playouts=limits.playouts,
        nodes=limits.nodes,
        seconds=limits.seconds,
        stop=stop,
        progress=progress,
        **question.options,
    )
    data = result.to_dict() | {"game": question.name, "meaning": result.meaning(), "limits": limits}
    data["lines"] = [_line(question.position, line, result.proven) for line in result.lines]
    return Searched.model_validate(data)


def _move_of_level(
    question: Question, engine: LevelEngine, stop: threading.Event, on_event: OnEvent | None
) -> Moved:
    position = question.position
    choice = engine.choose(position, question.options.get("seed", 0), question.limits, stop)
    return Moved(
        game=question.name,
        position=position_text(position),
        level=question.key.level,
        move=move_text(position, choice.move),
        value=choice.value,
        pv=line_text(position, choice.pv),
        depth=choice.depth,
        nodes=choice.nodes,
        seconds=choice.seconds,
        reason=choice.reason,
    )


def _solve(
    question: Question, engine: Engine, stop: threading.Event, on_event: OnEvent | None
) -> Solved:
    limits = question.limits
    handle = engine.start(
        question.position,
        question.kind,
        nodes=limits.nodes,
        seconds=limits.seconds,
        stop=stop,
        **question.options,
    )
    while True:
        try:
            result: Result = handle.wait(PROGRESS_SECONDS)
            break
        except TimeoutError:
            if on_event is not None:
                progress = handle.progress
                on_event(
                    Progressed(
                        lower=progress.lower,
                        upper=progress.upper,
                        nodes=progress.nodes,
                        seconds=progress.seconds,
                        fill=progress.fill,
                    )
                )
    data = result.to_dict() | {"game": question.name, "meaning": result.meaning(), "limits": limits}
    return Solved.model_validate(data)


def _count(
    question: Question, engine: Engine, stop: threading.Event, on_event: OnEvent | None
) -> Counted:
    clock = Clock(None)
    seconds, depth = question.limits.seconds, question.limits.depth
    assert seconds is not None and depth is not None
    over = threading.Event()

    def end() -> None:
        over.set()
        stop.set()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        lines: int | None = perft(
            question.position, depth, threads=engine.threads, stop=stop, **question.options
        )
    except CutnodeError:
        if not stop.is_set():
            raise
        lines = None
    finally:
        timer.cancel()
    ended = "time limit" if over.is_set() else "stopped"
    return Counted(
        game=question.name,
        position=position_text(question.position),
        depth=depth,
        lines=lines,
        seconds=clock.elapsed(),
        reason=ended if lines is None else "done",  # type: ignore[arg-type]
        limits=question.limits,
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: the model of its request, and the function that answers it."""

    request: type[Request]
    ask: Callable[[Question, Any, threading.Event, OnEvent | None], Answer]


KINDS = {
    "search": Kind(SearchRequest, _search),
    "solve": Kind(SolveRequest, _solve),
    "analyse": Kind(AnalyseRequest, _solve),
    "perft": Kind(PerftRequest, _count),
    "move": Kind(LevelRequest, _move_of_level),
}


SEARCHING = ("search", "solve", "analyse")
"""The kinds whose tables serve the next question of the session."""


def read_question(
    registry: GameRegistry, settings: Settings, kind: str, name: str, asked: Any
) -> Question:
    """Resolve what a request names; :class:`Failure` if it does not exist."""
    game = registry.game(name)
    position, notes = read_position(game, asked.position, "body.position")
    cls = type(position)
    options: dict[str, Any] = {}
    evaluation, exact, depth, playouts = None, False, None, None
    searching, level, session = "alphabeta", "", ""
    tree: tuple[tuple[str, Any], ...] = ()
    nodes, seconds, table = settings.nodes, settings.seconds, settings.table
    if kind in SEARCHING:
        session = asked.session
        nodes, table = least(nodes, asked.nodes), min(table, asked.table or table)
    if kind == "search":
        evaluation, exact, depth = asked.evaluation, asked.exact, asked.depth
        searching, playouts = asked.engine, asked.playouts
        tree, table = tuple(asked.tree_options().items()), min(table, asked.memory or table)
        _evaluation(cls, evaluation)
        options = {"lines": asked.lines, "seed": asked.seed}
        if asked.moves is not None:
            options["moves"] = [_move(position, text, n) for n, text in enumerate(asked.moves)]
        options["history"] = [
            read_position(game, text, f"body.history[{n}]")[0]
            for n, text in enumerate(asked.history)
        ]
        if asked.depth is asked.playouts is asked.nodes is asked.seconds is None:
            seconds = min(seconds, USUAL_SECONDS)
    elif kind == "perft":
        depth, options = asked.depth, {"bulk": asked.bulk}
    elif kind == "move":
        level, options, table = asked.level, {"seed": asked.seed}, min(table, TABLE_MEGABYTES)
        _refuse_without_moves(position)
    else:
        _refuse_unsolvable(cls)
        options = {"weak": asked.weak, "engine": asked.engine}
        if kind == "solve":
            options["at_least"] = asked.at_least
            _refuse_value(position, asked.at_least)
    limits = LimitsView(
        depth=depth,
        playouts=playouts,
        nodes=nodes,
        seconds=min(seconds, asked.seconds or seconds),
        table=table,
        threads=settings.threads,
    )
    tablebase = registry.tablebases.get(cls)
    if searching != "alphabeta" and defines(cls, "chance"):
        tablebase = None
    key = Key(cls, evaluation, exact, table, tablebase, searching, level, session, tree)
    fresh = kind in SEARCHING and not session
    return Question(kind, game, name, key, position, limits, options, fresh, notes)


def estimate(registry: GameRegistry, name: str, asked: EvaluateRequest) -> Estimated:
    """Return the static evaluation of a position."""
    game = registry.game(name)
    position, notes = read_position(game, asked.position, "body.position")
    value = _evaluation(type(position), asked.evaluation)(position)
    value = float(value) if isinstance(value, float) else int(value)
    return Estimated(game=name, position=position_text(position), notes=notes, value=value)


def _move(position: Any, text: str, number: int) -> int:
    try:
        return int(notation_of(type(position)).parse_move(position, text))
    except CutnodeError as error:
        raise Failure(404, str(error), f"body.moves[{number}]") from None


def _evaluation(cls: type, name: str | None) -> Any:
    try:
        # A client may name an evaluation, but never a file.
        return (
            chosen_evaluation(cls, name) if name in (None, OWN_NAME) else evaluation_of(cls, name)
        )
    except GameError as error:
        raise Failure(404, str(error), "body.evaluation") from None


def _refuse_without_moves(position: Any) -> None:
    if not legal_moves(position):
        raise Failure(409, "no move to choose: the game is over, or chance decides")


def _refuse_unsolvable(cls: type) -> None:
    try:
        require_solvable(cls)
    except GameError as error:
        raise Failure(409, str(error), "path.game") from None


def _refuse_value(position: Any, at_least: int | None) -> None:
    try:
        require_value(position, at_least)
    except CutnodeError as error:
        raise Failure(409, str(error), "body.at_least") from None


def least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _iterated(position: Any, iteration: Iteration) -> DepthDone:
    return DepthDone(
        depth=iteration.depth,
        value=iteration.value,
        proven=iteration.proven,
        bound=iteration.bound,  # type: ignore[arg-type]
        lines=[_line(position, line, iteration.proven) for line in iteration.lines],
        nodes=iteration.nodes,
        seconds=iteration.seconds,
    )


def _line(position: Any, line: Line, proven: bool) -> LineView:
    """Describe a line of a search; *proven* says whether the best line's score is proven."""
    texts = line_text(position, line.pv)
    verdict, distance = None, None
    foreseen = win_distance(line.value) if is_decisive(type(position)) else None
    if foreseen is not None or (proven and not isinstance(line.value, float)):
        verdict = "win" if line.value > 0 else "loss" if line.value < 0 else "draw"
    if foreseen is not None and foreseen < FAR and foreseen == int(foreseen):
        distance = int(foreseen)
    return LineView(
        move=texts[0],
        value=line.value,
        verdict=verdict,  # type: ignore[arg-type]
        distance=distance,
        pv=texts,
    )
