"""From a request to a call of an engine, and from its result to an answer.

:func:`prepare` reads what a request names, before anything waits for its turn; the
:class:`Task` that it gives is run by a thread of the pool, with an engine from there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from engine.contract.errors import CutnodeError, GameError
from engine.contract.legal import legal_moves
from engine.contract.loading import Game
from engine.contract.messages import board, move_text, position_text
from engine.contract.notation import notation_of
from engine.contract.verbs import chance, chance_outcome, outcome, play
from engine.kernels.clock import Clock
from engine.kernels.evaluation import evaluation_of
from engine.search.api import perft
from engine.search.engine import Engine
from engine.search.results import Iteration, Line, Result, SearchResult, line_text
from engine.search.solving import require_solvable
from engine.service.catalogue import Catalogue
from engine.service.failures import Failure
from engine.service.models import (
    Answer,
    Counted,
    Estimated,
    EvaluateRequest,
    Iterated,
    LimitsView,
    LineView,
    MoveView,
    OutcomeView,
    PerftRequest,
    PositionView,
    Progressed,
    Request,
    Searched,
    SearchRequest,
    Solved,
    SolveRequest,
)
from engine.service.settings import USUAL_SECONDS, Settings

__all__ = ["KINDS", "Key", "Task", "Tell", "estimated", "prepare", "shown"]


@dataclass(frozen=True, slots=True)
class Key:
    """What tells engines apart that can take each other's place from those that cannot."""

    cls: Any
    evaluation: str | None
    exact: bool
    table: int

    def engine(self, threads: int) -> Engine:
        return Engine(
            self.cls,
            table=self.table,
            threads=threads,
            evaluation=self.evaluation,
            exact=self.exact,
        )


Tell = Callable[[Iterated | Progressed], None]

OFTEN = 1.0
"""How a proof goes is told every so many seconds."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question to an engine: what is called, and with what."""

    kind: str
    game: Game
    name: str
    """The game as the client named it."""
    key: Key
    position: Any
    limits: LimitsView
    options: dict[str, Any]
    fresh: bool

    @property
    def code(self) -> tuple[Any, ...]:
        """What compiled code it needs."""
        return KINDS[self.kind].ask, self.key.cls, self.key.evaluation

    def small(self) -> Task:
        """A question that needs the same code and hardly any time."""
        limits = self.limits.model_copy(update={"depth": 1, "seconds": 0.01})
        return replace(self, limits=limits, options={}, fresh=False)

    def __call__(self, engine: Engine, stop: threading.Event, tell: Tell | None) -> Answer:
        """The answer; *stop* ends it early, and *tell* hears of each depth."""
        if self.fresh:
            engine.new_game()
        return KINDS[self.kind].ask(self, engine, stop, tell)


def _search(task: Task, engine: Engine, stop: threading.Event, tell: Tell | None) -> Searched:
    def progress(iteration: Iteration) -> None:
        if tell is not None:
            tell(_iterated(task.position, iteration))

    limits = task.limits
    result: SearchResult = engine.search(
        task.position,
        depth=limits.depth,
        nodes=limits.nodes,
        seconds=limits.seconds,
        stop=stop,
        progress=progress,
        **task.options,
    )
    told = result.to_dict() | {"game": task.name, "meaning": result.meaning(), "limits": limits}
    return Searched.model_validate(told)


def _solve(task: Task, engine: Engine, stop: threading.Event, tell: Tell | None) -> Solved:
    limits = task.limits
    handle = engine.start(
        task.position,
        task.kind,
        nodes=limits.nodes,
        seconds=limits.seconds,
        stop=stop,
        **task.options,
    )
    while True:
        try:
            result: Result = handle.wait(OFTEN)
            break
        except TimeoutError:
            if tell is not None:
                progress = handle.progress
                tell(
                    Progressed(
                        lower=progress.lower,
                        upper=progress.upper,
                        nodes=progress.nodes,
                        seconds=progress.seconds,
                        fill=progress.fill,
                    )
                )
    told = result.to_dict() | {"game": task.name, "meaning": result.meaning(), "limits": limits}
    return Solved.model_validate(told)


def _count(task: Task, engine: Engine, stop: threading.Event, tell: Tell | None) -> Counted:
    clock = Clock(None)
    seconds, depth = task.limits.seconds, task.limits.depth
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
            task.position, depth, threads=engine.threads, stop=stop, **task.options
        )
    except CutnodeError:
        if not stop.is_set():
            raise
        lines = None
    finally:
        timer.cancel()
    ended = "time limit" if over.is_set() else "stopped"
    return Counted(
        game=task.name,
        position=position_text(task.position),
        depth=depth,
        lines=lines,
        seconds=clock.elapsed(),
        reason=ended if lines is None else "done",  # type: ignore[arg-type]
        limits=task.limits,
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: the form of its request, and what answers it."""

    request: type[Request]
    ask: Callable[[Task, Engine, threading.Event, Tell | None], Answer]


KINDS = {
    "search": Kind(SearchRequest, _search),
    "solve": Kind(SolveRequest, _solve),
    "analyse": Kind(SolveRequest, _solve),
    "perft": Kind(PerftRequest, _count),
}


def prepare(catalogue: Catalogue, settings: Settings, kind: str, name: str, asked: Any) -> Task:
    """The task that a request means; :class:`Failure` if it names what is not there."""
    game = catalogue.game(name)
    position = _read(game, asked.position, "body.position")
    cls = type(position)
    options: dict[str, Any] = {}
    evaluation, exact, fresh, depth = None, False, False, None
    nodes, seconds, table = settings.nodes, settings.seconds, settings.table
    if kind != "perft":
        fresh = asked.fresh
        nodes, table = _least(nodes, asked.nodes), min(table, asked.table or table)
    if kind == "search":
        evaluation, exact, depth = asked.evaluation, asked.exact, asked.depth
        _evaluation(cls, evaluation)
        options = {"lines": asked.lines, "seed": asked.seed}
        if asked.moves is not None:
            options["moves"] = [_move(position, text, n) for n, text in enumerate(asked.moves)]
        options["history"] = [
            _read(game, text, f"body.history[{n}]") for n, text in enumerate(asked.history)
        ]
        if asked.depth is asked.nodes is asked.seconds is None:
            seconds = min(seconds, USUAL_SECONDS)
    elif kind == "perft":
        depth, options = asked.depth, {"bulk": asked.bulk}
    else:
        _refuse_unsolvable(cls)
        options = {"weak": asked.weak}
    limits = LimitsView(
        depth=depth,
        nodes=nodes,
        seconds=min(seconds, asked.seconds or seconds),
        table=table,
        threads=settings.threads,
    )
    key = Key(cls, evaluation, exact, table)
    return Task(kind, game, name, key, position, limits, options, fresh)


def shown(catalogue: Catalogue, name: str, text: str) -> PositionView:
    """A position, its moves, and what chance may do there."""
    game = catalogue.game(name)
    position = _read(game, text, "query.position")
    over, value = outcome(position)
    moves = [] if over else legal_moves(position)
    events = 0 if over else chance(position)
    chances = [chance_outcome(position, index) for index in range(events)]
    return PositionView(
        game=name,
        position=position_text(position),
        board=board(position),
        over=bool(over),
        value=value if over else None,
        moves=[
            MoveView(move=move_text(position, m), position=position_text(play(position, m)))
            for m in moves
        ],
        chance=[OutcomeView(probability=p, position=position_text(q)) for p, q in chances],
    )


def estimated(catalogue: Catalogue, name: str, asked: EvaluateRequest) -> Estimated:
    """What an evaluation says of a position by itself."""
    game = catalogue.game(name)
    position = _read(game, asked.position, "body.position")
    value = _evaluation(type(position), asked.evaluation)(position)
    value = float(value) if isinstance(value, float) else int(value)
    return Estimated(game=name, position=position_text(position), value=value)


def _read(game: Game, text: str, where: str) -> Any:
    try:
        return game.parse(text)
    except CutnodeError as error:
        raise Failure(404, str(error), where) from None


def _move(position: Any, text: str, number: int) -> int:
    try:
        return int(notation_of(type(position)).parse_move(position, text))
    except CutnodeError as error:
        raise Failure(404, str(error), f"body.moves[{number}]") from None


def _evaluation(cls: type, name: str | None) -> Any:
    try:
        return evaluation_of(cls, name)
    except GameError as error:
        raise Failure(404, str(error), "body.evaluation") from None


def _refuse_unsolvable(cls: type) -> None:
    try:
        require_solvable(cls)
    except GameError as error:
        raise Failure(409, str(error), "path.game") from None


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _iterated(position: Any, iteration: Iteration) -> Iterated:
    return Iterated(
        depth=iteration.depth,
        value=iteration.value,
        proven=iteration.proven,
        bound=iteration.bound,  # type: ignore[arg-type]
        lines=[_line(position, line) for line in iteration.lines],
        nodes=iteration.nodes,
        seconds=iteration.seconds,
    )


def _line(position: Any, line: Line) -> LineView:
    texts = line_text(position, line.pv)
    return LineView(move=texts[0], value=line.value, pv=texts)
