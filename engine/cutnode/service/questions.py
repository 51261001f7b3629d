"""From a request to an engine call, and from its result to an answer.

:func:`read_question` resolves what a request names before it waits for its turn; a thread of the
pool then puts the :class:`Question` to an engine.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.loading import Game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.notes import notes_to
from cutnode.explaining.explanations import explain
from cutnode.explaining.judging import PROVER_TABLE, Judge
from cutnode.explaining.points import points_of, win_chance
from cutnode.explaining.puzzles import find_puzzles
from cutnode.explaining.reviewing import EXPLAINED, TURNING_POINTS, review
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import evaluation_of
from cutnode.kernels.scores import is_decisive, win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.playing.first_moves import has_first_moves
from cutnode.playing.players import TABLE_MEGABYTES, Choice, LevelPlayer
from cutnode.playing.records import parse_record
from cutnode.search.api import perft
from cutnode.search.board import Board
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
    Explained,
    ExplainRequest,
    LevelRequest,
    LimitsView,
    LineView,
    Moved,
    PerftRequest,
    Progressed,
    Puzzles,
    PuzzlesRequest,
    Report,
    Request,
    Reviewed,
    ReviewRequest,
    Searched,
    SearchRequest,
    Solved,
    SolveRequest,
)
from cutnode.service.settings import EXPLAINING_SECONDS, USUAL_SECONDS, Settings
from cutnode.service.views import read_board, read_position
from cutnode.storage.evaluations import OWN_NAME, chosen_evaluation
from cutnode.tablebases.tablebase import Tablebase


@dataclass(frozen=True, slots=True)
class Key:
    """The settings of an engine; engines with equal keys are interchangeable."""

    cls: Any
    table: int
    """The MiB of the table, of the tree of playouts, or of both together."""
    threads: int
    tablebase: Tablebase | None
    evaluation: str | None = None
    exact: bool = False
    searching: str = "alphabeta"
    """The engine that searches: alphabeta, mcts or auto; or judge, which explains."""
    level: str = ""
    """The level that the engine plays, if any."""
    session: str = ""
    """The session that the engine serves; without one, it is cleared before each question."""
    tree: tuple[tuple[str, Any], ...] = ()
    """The options of Monte Carlo tree search."""
    ready: bool = True
    """Whether the engine is compiled; otherwise its level moves in plain Python."""

    def room(self) -> int:
        """Return the MiB that an engine may take."""
        if self.level:
            return self.table
        table, tree = self.memory()
        own = min(PROVER_TABLE, table) if self.searching == "judge" else 0
        return own + tree + math.ceil(Engine.room(self.cls, table=table, threads=self.threads))

    def memory(self) -> tuple[int, int]:
        """Return the MiB of the table, and of the tree of playouts."""
        if self.searching in ("auto", "judge"):
            half = max(self.table // 2, SMALLEST_TABLE)
            return half, half
        return (SMALLEST_TABLE, self.table) if self.searching == "mcts" else (self.table, 0)

    def engine(self) -> PooledEngine:
        """Make an engine."""
        if self.level:
            return LevelEngine(self)
        if self.searching == "judge":
            return JudgeEngine(self)
        table, tree = self.memory()
        own: Any = {"memory": tree << 20, **dict(self.tree)} if tree else {"exact": self.exact}
        return Engine(
            self.cls,
            engine=self.searching,
            table=table,
            threads=self.threads,
            evaluation=self.evaluation,
            tablebase=self.tablebase,
            **own,
        )


class LevelEngine:
    """A player of a level, with the interface of a pooled engine."""

    def __init__(self, key: Key):
        self.player = LevelPlayer(
            key.cls, key.level, table=key.table, tablebase=key.tablebase, ready=key.ready
        )
        self.usual = self.player.limits

    def choose(
        self,
        position: Any,
        stop: threading.Event,
        seed: int = 0,
        history: Sequence[Any] = (),
        **limits: float | None,
    ) -> Choice:
        """Choose a move within the limits of the level, or *limits* where they are lower."""
        lower = {name: least(usual, limits.get(name)) for name, usual in self.usual.items()}
        self.player.limits = lower | {"stop": stop}
        self.player.new_game(seed)
        return self.player.choose(position, history)

    def new_game(self) -> None:
        """Do nothing: each choice begins with an empty table."""

    def close(self) -> None:
        """Do nothing: there is nothing to release but memory."""


class JudgeEngine:
    """A judge of positions, with the interface of a pooled engine."""

    def __init__(self, key: Key):
        table, tree = key.memory()
        self.judge = Judge(key.cls, table=table, memory=tree << 20, tablebase=key.tablebase)
        self.judge.prepare()

    def new_game(self) -> None:
        """Forget earlier questions."""
        self.judge.clear()

    def close(self) -> None:
        """Do nothing: there is nothing to release but memory."""


PooledEngine = Engine | LevelEngine | JudgeEngine

OnEvent = Callable[[Report], None]

A = TypeVar("A", bound=Answer)

SMALLEST_TABLE = 1
"""The smallest table, in MiB; it is enough for an engine that only grows trees."""

PROGRESS_SECONDS = 1.0
"""The time between two progress events of a proof."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an engine: the kind of call, and its arguments."""

    kind: str
    game: Game
    name: str
    """The game as the client named it."""
    key: Key
    position: Any
    options: dict[str, Any]
    """The options of the call, with the limits that apply."""
    fresh: bool = False
    """Whether the engine forgets earlier questions first."""
    notes: list[str] = field(default_factory=list)
    """Notes on input that was read in another way than it was written."""
    on_event: OnEvent | None = None
    """A function to call with events, in the thread of the search."""
    stop: threading.Event = field(default_factory=threading.Event)
    """An event that ends the search early."""

    @property
    def trial(self) -> str:
        """The kind of question that needs the same code, and may need hardly any time."""
        return "explain" if self.kind in ("review", "puzzles") else self.kind

    @property
    def code(self) -> tuple[Any, ...]:
        """The compiled code that the question needs."""
        key = self.key
        return KINDS[self.trial].ask, key.cls, key.evaluation, key.searching, key.level

    @property
    def limits(self) -> LimitsView:
        """The limits that apply."""
        names = ("depth", "playouts", "nodes", "seconds")
        given = {name: self.options.get(name) for name in names}
        return LimitsView(**given, table=self.key.table, threads=self.key.threads)

    def early(self) -> Question | None:
        """Return a question for which nothing has to be compiled; None if there is none."""
        key = self.key
        if not key.level or key.tablebase is not None or not has_first_moves(key.cls):
            return None
        return replace(self, key=replace(key, ready=False))

    def small(self) -> Question:
        """Return a question that needs the same code but hardly any time."""
        deep = "depth" in self.options and self.key.searching == "alphabeta"
        options = {"seconds": 0.01} | ({"depth": 1} if deep else {})
        return Question(self.trial, self.game, self.name, self.key, self.position, options)

    def ask(self, engine: PooledEngine) -> Answer:
        """Put the question to an engine, and return the answer."""
        if self.fresh:
            engine.new_game()
        return KINDS[self.kind].ask(self, engine)

    def answer(self, model: type[A], **facts: Any) -> A:
        """Make the answer from the findings, the name of the game, the limits and the notes."""
        common = {"game": self.name, "limits": self.limits, "notes": self.notes}
        return model.model_validate(facts | common)


def _search(question: Question, engine: Engine) -> Searched:
    position, on_event = question.position, question.on_event

    def progress(iteration: Iteration) -> None:
        if on_event is not None:
            on_event(_iterated(position, iteration))

    result = engine.search(position, stop=question.stop, progress=progress, **question.options)
    facts = result.to_dict() | {"meaning": result.meaning()}
    facts["lines"] = [_line(position, line, result.proven) for line in result.lines]
    return question.answer(Searched, **facts)


def _move_of_level(question: Question, engine: LevelEngine) -> Moved:
    position = question.position
    choice = engine.choose(position, question.stop, **question.options)
    return question.answer(
        Moved,
        position=position_text(position),
        level=question.key.level,
        move=move_text(position, choice.move),
        value=choice.value,
        pv=line_text(position, choice.pv),
        depth=choice.depth,
        nodes=choice.nodes,
        seconds=choice.seconds,
        reason=choice.reason,
        compiled=choice.compiled,
    )


def _solve(question: Question, engine: Engine) -> Solved:
    on_event = question.on_event
    handle = engine.start(question.position, question.kind, stop=question.stop, **question.options)
    while True:
        try:
            result: Result = handle.wait(PROGRESS_SECONDS)
            break
        except TimeoutError:
            if on_event is not None:
                on_event(Progressed.model_validate(handle.progress, from_attributes=True))
    return question.answer(Solved, **result.to_dict(), meaning=result.meaning())


def _explain(question: Question, engine: JudgeEngine) -> Explained:
    found = explain(question.position, judge=engine.judge, stop=question.stop, **question.options)
    return question.answer(
        Explained,
        position=position_text(question.position),
        text=found.sentences(),
        explanation=found.to_dict(),
    )


def _review(question: Question, engine: JudgeEngine) -> Reviewed:
    board, nodes, seconds = (question.options[name] for name in ("board", "nodes", "seconds"))
    parts = len(board.record.positions) + TURNING_POINTS * EXPLAINED
    limits = {"nodes": nodes and max(1, nodes // parts), "seconds": seconds / parts}
    found = review(board, judge=engine.judge, stop=question.stop, **limits)
    return question.answer(
        Reviewed,
        position=board.text,
        text=[*found.lines()],
        review=found.to_dict(),
    )


def _find_puzzles(question: Question, engine: JudgeEngine) -> Puzzles:
    clock = Clock(None)
    count, nodes, seed = (question.options[name] for name in ("count", "nodes", "seed"))
    found = []
    with _stopped_in_time(question) as over:
        for puzzle in find_puzzles(
            question.game, count, seed=seed, nodes=nodes, judge=engine.judge, stop=question.stop
        ):
            found.append(puzzle.to_dict() | {"game": question.name})
    return question.answer(
        Puzzles,
        position=position_text(question.position),
        puzzles=found,
        seconds=clock.elapsed(),
        reason="time limit" if over.is_set() else "stopped" if question.stop.is_set() else "done",
    )


@contextlib.contextmanager
def _stopped_in_time(question: Question) -> Iterator[threading.Event]:
    """Stop a question after its seconds; the event that is yielded tells that this happened."""
    over = threading.Event()

    def end() -> None:
        over.set()
        question.stop.set()

    timer = threading.Timer(question.options["seconds"], end)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def _count(question: Question, engine: Engine) -> Counted:
    clock, stop = Clock(None), question.stop
    depth, bulk = (question.options.get(name) for name in ("depth", "bulk"))
    assert depth is not None
    lines: int | None
    with _stopped_in_time(question) as over:
        try:
            lines = perft(
                question.position, depth, threads=engine.threads, stop=stop, bulk=bulk is not False
            )
        except CutnodeError:
            if not stop.is_set():
                raise
            lines = None
    return question.answer(
        Counted,
        position=position_text(question.position),
        depth=depth,
        lines=lines,
        seconds=clock.elapsed(),
        reason="done" if lines is not None else "time limit" if over.is_set() else "stopped",
    )


class Kind(NamedTuple):
    """A kind of question: the model of its request, and the function that answers it."""

    request: type[Request]
    ask: Callable[[Question, Any], Answer]


KINDS = {
    "search": Kind(SearchRequest, _search),
    "solve": Kind(SolveRequest, _solve),
    "analyse": Kind(AnalyseRequest, _solve),
    "perft": Kind(PerftRequest, _count),
    "move": Kind(LevelRequest, _move_of_level),
    "explain": Kind(ExplainRequest, _explain),
    "review": Kind(ReviewRequest, _review),
    "puzzles": Kind(PuzzlesRequest, _find_puzzles),
}


SEARCHING = ("search", "solve", "analyse", "explain", "review")
"""The kinds whose tables serve the next question of the session."""


def read_question(
    registry: GameRegistry,
    settings: Settings,
    kind: str,
    name: str,
    asked: Any,
    on_event: OnEvent | None = None,
) -> Question:
    """Resolve what a request names; :class:`Failure` if it does not exist."""
    game = registry.game(name)
    position, notes = read_position(game, asked.position, "body.position")
    cls = type(position)
    seconds = min(settings.seconds, asked.seconds or settings.seconds)
    options: dict[str, Any] = {"nodes": settings.nodes, "seconds": seconds}
    own: dict[str, Any] = {}
    table, threads = settings.table, settings.threads
    if kind in SEARCHING:
        own["session"] = asked.session
        options["nodes"], table = least(settings.nodes, asked.nodes), least(table, asked.table)
        threads = least(threads, asked.threads)
    if kind == "search":
        _evaluation(cls, asked.evaluation)
        own |= {"evaluation": asked.evaluation, "exact": asked.exact, "searching": asked.engine}
        own["tree"] = tuple(asked.tree_options().items())
        table = least(table, asked.memory)
        options |= {name: getattr(asked, name) for name in ("depth", "playouts", "lines", "seed")}
        if asked.moves is not None:
            options["moves"] = [
                _move(position, text, f"body.moves[{n}]") for n, text in enumerate(asked.moves)
            ]
        options["history"] = _history(game, asked.history)
        if asked.depth is asked.playouts is asked.nodes is asked.seconds is None:
            options["seconds"] = min(seconds, USUAL_SECONDS)
    elif kind == "explain":
        own["searching"] = "judge"
        if asked.nodes is asked.seconds is None:
            options["seconds"] = min(seconds, EXPLAINING_SECONDS)
        options["move"] = None if asked.move is None else _move(position, asked.move, "body.move")
        options["history"] = _history(game, asked.history)
    elif kind == "review":
        own["searching"] = "judge"
        options["board"], notes = _game_played(game, name, asked)
    elif kind == "puzzles":
        own["searching"], table = "judge", least(table, asked.table)
        options["nodes"] = least(settings.nodes, asked.nodes)
        options |= {"count": asked.count, "seed": asked.seed}
        if defines(cls, "chance"):
            raise Failure(409, f"{name} has chance, so it has no puzzles", "path.game")
    elif kind == "perft":
        options |= {"depth": asked.depth, "bulk": asked.bulk}
    elif kind == "move":
        own["level"], table = asked.level, min(table, TABLE_MEGABYTES)
        options["seed"] = asked.seed
        options["history"] = _history(game, asked.history)
        _refuse_without_moves(position)
    else:
        _refuse_unsolvable(cls)
        options |= {"weak": asked.weak, "engine": asked.engine}
        if kind == "solve":
            options["at_least"] = asked.at_least
            _refuse_value(position, asked.at_least)
    tablebase = registry.tablebases.get(cls)
    if own.get("searching") in ("mcts", "auto") and defines(cls, "chance"):
        tablebase = None
    key = Key(cls, table, threads, tablebase, **own)
    fresh = kind == "puzzles" or (kind in SEARCHING and not asked.session)
    return Question(kind, game, name, key, position, options, fresh, notes, on_event)


def estimate(registry: GameRegistry, name: str, asked: EvaluateRequest) -> Estimated:
    """Return the static evaluation of a position."""
    game = registry.game(name)
    position, notes = read_position(game, asked.position, "body.position")
    value = _evaluation(type(position), asked.evaluation)(position)
    value = float(value) if isinstance(value, float) else int(value)
    return Estimated(game=name, position=position_text(position), notes=notes, value=value)


def _game_played(game: Game, name: str, asked: ReviewRequest) -> tuple[Board, list[str]]:
    """Return the board at the end of the game of a request, with notes on how it was read."""
    notes: list[str] = []
    if asked.record:
        try:
            with notes_to(notes.append):
                recorded = parse_record(asked.record, name, game.module)
        except CutnodeError as error:
            raise Failure(404, str(error), "body.record") from None
        board, own = read_board(game, recorded.start, recorded.plies)
    else:
        board, own = read_board(game, asked.position, asked.moves)
    if not board.record.steps:
        raise Failure(409, "the game has no moves: there is nothing to review", "body.moves")
    return board, [*notes, *own]


def _history(game: Game, texts: list[str]) -> list[Any]:
    return [read_position(game, text, f"body.history[{n}]")[0] for n, text in enumerate(texts)]


def _move(position: Any, text: str, where: str) -> int:
    try:
        return int(notation_of(type(position)).parse_move(position, text))
    except CutnodeError as error:
        raise Failure(404, str(error), where) from None


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


def least(*limits: Any) -> Any:
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
    verdict, distance, points = None, None, win_chance(type(position), line.value)
    foreseen = win_distance(line.value) if is_decisive(type(position)) else None
    if foreseen is not None or (proven and not isinstance(line.value, float)):
        verdict = "win" if line.value > 0 else "loss" if line.value < 0 else "draw"
        points = points_of(line.value)
    if foreseen is not None and foreseen < FAR and foreseen == int(foreseen):
        distance = int(foreseen)
    return LineView(
        move=texts[0],
        value=line.value,
        verdict=verdict,  # type: ignore[arg-type]
        distance=distance,
        points=points,
        pv=texts,
    )
