"""The JSON of every route.

Requests are strict: no unknown names, no text for a number, no NaN.  A limit above that of the
service is not an error: the lower one holds, and the answer says which (``limits``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from cutnode.contract.choices import (
    PRIORS,
    RECORDED_SEARCHES,
    ROLLOUTS,
    SEARCHES,
    SELECTIONS,
    SOLVERS,
)
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.playing.levels import LEVELS

LONGEST = 4096
"""Characters of a position: some games take all the moves that lead there."""

SHORTEST = 512
"""And of a move, or a position of the history."""

MOST_HISTORY = 512
MOST_TREE_DEPTH = 12
MOST_TREE_NODES = 400
"""Of a tree that is shown."""

MOST_CELLS = 1024
MOST_WORD = (1 << 53) - 1
"""The largest whole number that every reader of JSON keeps."""


def integral(value: Any) -> Any:
    """Turn a float without fraction into an integer, as JSON Schema counts it as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Positive = Annotated[int, Field(ge=1), BeforeValidator(integral)]
Depth = Annotated[int, Field(ge=0, le=MOST_DEPTH), BeforeValidator(integral)]
Lines = Annotated[int, Field(ge=1, le=256), BeforeValidator(integral)]
Seed = Annotated[int, Field(ge=0, le=MOST_WORD), BeforeValidator(integral)]
Text = Annotated[str, Field(max_length=SHORTEST)]
Place = Annotated[tuple[float, float], Field(description="To the right, and down.")]
Player = Annotated[Literal[0, 1] | None, Field(description="0 the first, 1 the second player.")]
Verdict = Literal["win", "draw", "loss"]
Count = Annotated[int, Field(ge=0)]
Content = Annotated[int, Field(ge=0), BeforeValidator(integral)]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class PositionRequest(Request):
    """The position, which all questions have."""

    position: str = Field(
        "", max_length=LONGEST, description="In the game's own notation; left out, the start."
    )


class LimitedRequest(PositionRequest):
    nodes: Positive | None = Field(None, description="At most so many nodes.")
    seconds: float | None = Field(None, gt=0, description="At most so many seconds.")
    table: Positive | None = Field(None, description="A table of at most so many MiB.")
    session: str = Field(
        "",
        max_length=64,
        description="A word of your own, best a random one: questions of one session build on "
        "what earlier ones stored. Without it each begins with empty tables.",
    )


TREE_OPTIONS = (
    *("playouts", "memory", "selection", "priors", "exploration", "rave", "minimax", "rollouts"),
    "cut_after",
)
"""The options of Monte Carlo tree search only."""

WITHOUT_TREE: Any = {"properties": {name: {"type": "null"} for name in TREE_OPTIONS}}
Weight = Annotated[float, Field(ge=0)]


class SearchRequest(LimitedRequest):
    """A search by alpha-beta, or of a tree by playouts; without a limit it takes one second.

    The engine `auto` is the one of them that does better in a trial of a quarter of the time; a
    session keeps that choice.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"position": "44", "depth": 8, "lines": 2}],
            "if": {"properties": {"engine": {"enum": ["mcts", "auto"]}}, "required": ["engine"]},
            "then": {
                "properties": {"depth": {"type": "null"}, "exact": {"const": False}},
                "if": {"properties": {"engine": {"const": "auto"}}},
                "then": WITHOUT_TREE,
                "else": {
                    "if": {
                        "properties": {"priors": {"type": "string"}},
                        "required": ["priors"],
                    },
                    "then": {"properties": {"selection": {"enum": ["puct", None]}}},
                },
            },
            "else": WITHOUT_TREE,
        }
    )

    engine: Literal[SEARCHES] = Field(  # type: ignore[valid-type]
        "alphabeta",
        description="By alpha-beta, by Monte Carlo tree search, or by the better one in a trial.",
    )
    depth: Depth | None = Field(None, description="At most so many plies (alphabeta).")
    playouts: Positive | None = Field(None, description="At most so many playouts (mcts).")
    lines: Lines = Field(1, description="The best so many moves.")
    moves: list[Text] | None = Field(
        None, min_length=1, max_length=256, description="The only moves to choose from."
    )
    history: list[Text] = Field(
        [], max_length=MOST_HISTORY, description="The positions of the game before, in order."
    )
    seed: Seed | None = Field(None, description="Choose among equal moves by this number.")
    evaluation: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="Another of the game's estimates than its usual one."
    )
    exact: bool = Field(False, description="Only techniques that cannot change the score.")
    memory: Positive | None = Field(None, description="A tree of at most so many MiB (mcts).")
    selection: Literal[SELECTIONS] | None = Field(  # type: ignore[valid-type]
        None, description="How children are selected (mcts)."
    )
    priors: Literal[PRIORS] | None = Field(  # type: ignore[valid-type]
        None, description="By what moves look promising to puct (mcts)."
    )
    exploration: Weight | None = Field(None, description="The weight of exploration (mcts).")
    rave: Weight | None = Field(None, description="RAVE counts more up to so many playouts (mcts).")
    minimax: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="The weight of estimates, by minimax, beside playouts (mcts)."
    )
    rollouts: Literal[ROLLOUTS] | None = Field(  # type: ignore[valid-type]
        None, description="How playouts go on beyond the tree (mcts)."
    )
    cut_after: Depth | None = Field(
        None, description="Rollouts longer than so many plies are estimated (mcts)."
    )

    def tree_options(self) -> dict[str, Any]:
        """Return the options of Monte Carlo tree search that are given, without limits."""
        names = TREE_OPTIONS[2:]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @model_validator(mode="after")
    def _options_suit_the_engine(self) -> Self:
        if self.engine != "alphabeta" and (self.depth is not None or self.exact):
            raise ValueError("depth and exact are options of alphabeta")
        given = [name for name in TREE_OPTIONS if getattr(self, name) is not None]
        if self.engine != "mcts" and given:
            raise ValueError(f"{given[0]} is an option of mcts")
        if self.selection == "uct" and self.priors is not None:
            raise ValueError("priors are of puct")
        return self


class AnalyseRequest(LimitedRequest):
    """A proof of the values of a position and of all its moves."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "44444326555535"}]})

    weak: bool = Field(False, description="Prove only who wins: 1 the mover, 0 nobody, -1.")
    engine: Literal[SOLVERS] = Field(  # type: ignore[valid-type]
        "alphabeta", description="By alpha-beta, by proof numbers, or by the first that proves it."
    )


class SolveRequest(AnalyseRequest):
    """A proof of the value, or the answer whether it is at least so much."""

    at_least: int | None = Field(
        None, description="Ask only whether the value is at least this: see `answer`."
    )


class EvaluateRequest(PositionRequest):
    """The static estimate, without any search."""

    evaluation: Annotated[str, Field(max_length=100)] | None = None


class LevelRequest(PositionRequest):
    """A move of a level."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "44", "level": "hard"}]})

    level: Literal[tuple(LEVELS)] = Field("medium", description="From the weakest on.")  # type: ignore[valid-type]
    seed: Seed = Field(0, description="The same for all moves of a game.")
    seconds: float | None = Field(None, gt=0, description="At most so many seconds.")


class SetupRequest(Request):
    """A board, cell by cell."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"cells": [1, 2, 0, 0, 0, 0, 0, 0, 0]}]}
    )

    cells: list[Content] = Field(
        max_length=MOST_CELLS, description="The number of the content of each cell."
    )
    mover: str = Field("", max_length=100, description="Who is to move, as `players` names them.")


class TreeRequest(PositionRequest):
    """A search in plain Python, whose tree is kept; all but the last depth is forgotten."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {
                "properties": {"search": {"enum": list(RECORDED_SEARCHES[1:])}},
                "required": ["search"],
            },
            "then": {"properties": {"exact": {"const": False}}},
        }
    )

    depth: Annotated[int, Field(ge=0, le=MOST_TREE_DEPTH), BeforeValidator(integral)] = 3
    search: Literal[RECORDED_SEARCHES] = Field(  # type: ignore[valid-type]
        "search", description="The search with its techniques, or a plain one."
    )
    exact: bool = Field(False, description="Only techniques that cannot change the score.")
    plies: Depth = Field(3, description="Show so many plies of the tree, ...")
    width: Annotated[int, Field(ge=1, le=64), BeforeValidator(integral)] = Field(
        12, description="... at most so many children of a node, ..."
    )
    size: Annotated[int, Field(ge=1, le=MOST_TREE_NODES), BeforeValidator(integral)] = Field(
        200, description="... and at most so many nodes."
    )

    @model_validator(mode="after")
    def _techniques_are_those_of_the_search(self) -> Self:
        if self.exact and self.search != RECORDED_SEARCHES[0]:
            raise ValueError(f"exact is an option of {RECORDED_SEARCHES[0]}")
        return self


class PerftRequest(PositionRequest):
    """A count of the lines of play."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "", "depth": 6}]})

    depth: Depth
    bulk: bool = Field(True, description="Count the last moves without making them.")
    seconds: float | None = Field(None, gt=0, description="At most so many seconds.")


# Answers


class LimitsView(BaseModel):
    """The limits that held: those asked for, or the lower ones of the service."""

    depth: Count | None
    playouts: Count | None
    nodes: Count | None
    seconds: float | None
    table: Count
    threads: Count


class Answer(BaseModel):
    game: str
    position: str = Field(description="The position, as the game writes it.")
    notes: list[str] = Field(default=[], description="What of it is not as it was written.")


class LineView(BaseModel):
    """A move, its score for the mover, and the best play that begins with it."""

    move: str
    value: int | float
    verdict: Verdict | None = Field(description="For the mover, where the score is no estimate.")
    distance: Count | None = Field(description="Plies to the end of the game, if it is foreseen.")
    pv: list[str]


class IterationView(BaseModel):
    """A depth that was completed; nodes and seconds are all until then."""

    depth: Count
    value: int | float
    best_move: str | None
    nodes: Count
    seconds: float


class RootMoveView(BaseModel):
    """A move of the root, as playouts that began with it have shown it."""

    move: str
    visits: Count
    win_rate: float | None = Field(description="The expected points of the mover.")
    value: float | None = Field(description="The same as a score; null without playouts.")
    prior: float = Field(description="How promising it looked before the first playout.")
    lower: int = Field(description="What is proven of its value.")
    upper: int


class Searched(Answer):
    """What a search found."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    value: int | float = Field(description="The score for the mover.")
    win_rate: float | None = Field(None, description="Of mcts: the expected points of the mover.")
    meaning: str
    proven: bool
    exact: bool
    best_move: str | None
    lines: list[LineView]
    moves: list[RootMoveView] = Field([], description="Of mcts: all moves, the best first.")
    playouts: Count = Field(0, description="Random games that mcts has played.")
    depth: Count
    why: str = Field(
        "", description="Why this engine, where auto was asked for, or a proof was tried."
    )
    iterations: list[IterationView] = Field([], description="Depths completed; none of mcts.")
    statistics: dict[str, int | float]
    nodes: Count
    seconds: float
    reason: str = Field(description="Why it ended: depth limit, proven, time limit, stopped ...")
    limits: LimitsView


class TableView(BaseModel):
    """How a search used its table."""

    probes: Count
    hits: Count
    cutoffs: Count
    stores: Count
    overwrites: Count


class Solved(Answer):
    """What is known of a value: the truth is always within lower and upper."""

    value: int | None = Field(description="The value for the mover; null if it is not proven.")
    meaning: str
    proven: bool
    lower: int
    upper: int
    weak: bool
    at_least: int | None = Field(description="What was asked: is the value at least so much?")
    answer: bool | None = Field(description="The answer to that; null if it is not known.")
    best_move: str | None
    scores: dict[str, int | None] | None = Field(description="Of each move, if analysed.")
    pv: list[str]
    depth: Count
    nodes: Count
    seconds: float
    table: TableView
    reason: str
    engine: str = Field(description="What proved it: alphabeta or pn.")
    target: int | None = Field(description="Of pn, unfinished: is the value at least so much?")
    numbers: list[int] | None = Field(description="Its proof number and its disproof number.")
    why: str = Field(description="Why this engine, where auto was asked for.")
    limits: LimitsView


class Estimated(Answer):
    value: int | float = Field(description="The estimate for the mover.")


class Counted(Answer):
    depth: Count
    lines: Count | None = Field(description="Lines of play; null if the limit came first.")
    seconds: float
    reason: Literal["done", "time limit", "stopped"]
    limits: LimitsView


class Moved(Answer):
    """A move that a level chooses."""

    level: str
    move: str
    value: int | float | None = Field(description="Its score for the mover, if it was searched.")
    pv: list[str]
    depth: Count
    nodes: Count
    seconds: float
    reason: str


class UnsearchedView(BaseModel):
    """Moves of a node that were not searched, and the reason."""

    reason: str
    moves: list[str]


class NodeView(BaseModel):
    """A position as a search saw it; scores are for the player to move at the root."""

    move: str = Field(description="That led here; empty at the root.")
    position: str
    player: Literal["max", "min", "chance"]
    ply: Count
    depth: int = Field(description="The plies left.")
    window: tuple[int | float | None, int | float | None] = Field(description="Alpha and beta.")
    value: int | float
    score: str = Field(description="The value as people read it.")
    bound: Literal["exact", "lower", "upper", "none"]
    kind: Literal["pv", "cut", "all", "leaf", "chance"]
    best: str | None
    principal: bool = Field(description="It is on the line of best play.")
    reason: str = Field(description="Why the search went no further here.")
    notes: list[str]
    nodes: Count = Field(description="Visited here and below.")
    searches: Count
    children: list[NodeView]
    more: Count = Field(description="Children that are not shown,")
    more_nodes: Count = Field(description="and the nodes visited there.")
    unsearched: list[UnsearchedView]


class TreeView(Answer):
    """The tree that a search visited, as far as it is shown."""

    search: str
    techniques: list[str]
    depth: Count
    value: int | float
    score: str
    pv: list[str]
    nodes: Count
    root: NodeView


class MoveView(BaseModel):
    move: str
    position: str = Field(description="The position that it leads to.")
    again: bool = Field(description="Whether the same player moves there.")
    changes: list[tuple[int, int]] = Field(
        description="The cells that it changes, and what stands there afterwards."
    )


class OutcomeView(BaseModel):
    """What chance may do."""

    text: str = Field(description="The outcome in words, such as a roll of dice.")
    probability: float
    position: str
    again: bool = Field(description="Whether the player to move is the same.")


class PositionView(Answer):
    """A position, and what can happen there."""

    board: str = Field(description="As people see it, in lines of text.")
    cells: list[int] | None = Field(
        description="The number of the content of each cell, if the game declares a board."
    )
    caption: str = Field(description="What there is to see beside the cells.")
    player: Player = Field(description="The player to move, where the position says it.")
    recurrence: str | None = Field(
        description="Equal where positions are the same for the rule of repetition."
    )
    over: bool
    value: int | float | None = Field(description="If the game is over: what the mover has.")
    meaning: str = Field(description="If the game is over: the result in words.")
    moves: list[MoveView]
    chance: list[OutcomeView]


class ContentView(BaseModel):
    """What can stand on a cell."""

    symbol: str
    name: str
    glyph: str = Field(description="A character of Unicode that shows it, or nothing.")
    owner: Player = Field(description="Whose it is.")


class EdgeView(BaseModel):
    """An edge of the board that stones connect."""

    owner: Player = Field(description="Whose it is; null if it is both players'.")
    cells: list[int] = Field(description="The cells along it, from one end to the other.")


class BoardView(BaseModel):
    """The board of a game, from which it can be drawn."""

    shape: Literal["grid", "hexagons", "triangles", "points"]
    places: list[Place] = Field(description="The middles of the cells.")
    lines: list[tuple[int, int]] = Field(description="Pairs of cells that lines join.")
    edges: list[EdgeView] = Field(description="The edges that stones connect, if the game has any.")
    row_names: list[str]
    column_names: list[str]
    contents: list[ContentView] = Field(description="Empty cells first.")
    players: dict[str, str] = Field(
        description="How texts name the players, if they have to say who is to move, and words."
    )
    names: tuple[str, str] = Field(description="The names of both players, in words.")
    editable: bool = Field(description="Whether a board can be set up cell by cell.")


class GameView(BaseModel):
    """A game that can be asked about."""

    name: str
    about: str
    variants: str = Field(
        description="How variants are written, if there are any. They follow the name after a "
        "colon: connect4:8x7."
    )
    examples: list[str] = Field(description="Some of its variants.")
    start: str
    chance: bool
    solvable: bool
    tablebase: bool = Field(description="Whether there is a tablebase of it.")
    decisive: bool = Field(description="Whether only who wins, and how soon, matters.")
    limit: Count = Field(description="No value is further from zero.")
    unit: Count | None = Field(description="An advantage that matters, as it is estimated.")
    repetitions: Count | None = Field(
        description="How often a position has to occur for a draw, if it can occur again."
    )
    evaluations: list[str] = Field(description="The names of its other estimates.")


class Games(BaseModel):
    games: list[GameView]
    levels: list[str] = Field(description="The levels that move, from the weakest on.")
    compiled: list[str] = Field(description="Those that answer without being compiled first.")


class Health(BaseModel):
    status: Literal["starting", "ready", "stopping"]
    version: str
    searching: Count
    waiting: Count
    engines: Count
    megabytes: Count = Field(description="What the engines may take now.")
    room: Count = Field(description="The most that they may take.")
    games: Count = Field(description="The games that are compiled; each variant is a game.")
    most_games: Count = Field(description="The most games that may be compiled.")


class ErrorBody(BaseModel):
    """What was wrong, and where in the request."""

    error: Literal[
        "bad request",
        "not allowed",
        "no such game",
        "no such position",
        "no such move",
        "no such evaluation",
        "no such page",
        "wrong method",
        "refused by the game",
        "too large",
        "too slow",
        "too many",
        "starting",
        "stopping",
        "broken game",
        "failure",
    ]
    detail: str
    where: str | None = Field(description="Such as body.depth, or path.game.")


# Streams


class Started(BaseModel):
    """A search has begun: it waits no more."""

    event: Literal["started"] = "started"
    limits: LimitsView


class Iterated(BaseModel):
    """A depth was completed, or (bound 1 or -1) its score is at least or at most this."""

    event: Literal["iteration"] = "iteration"
    depth: Count
    value: int | float
    proven: bool
    bound: Literal[-1, 0, 1]
    lines: list[LineView]
    nodes: Count
    seconds: float


class Progressed(BaseModel):
    """How far a proof is; told every second."""

    event: Literal["progress"] = "progress"
    lower: int | None = Field(description="What is proven by now.")
    upper: int | None
    nodes: Count
    seconds: float
    fill: float = Field(description="The part of the table that is in use.")


class Streamed(BaseModel):
    """The last line of a stream: what the same question gets without one."""

    event: Literal["result"] = "result"
    result: Searched | Solved


class Failed(ErrorBody):
    """A question that cannot be answered."""

    event: Literal["error"] = "error"


Event = Annotated[Started | Iterated | Progressed | Streamed | Failed, Field(discriminator="event")]


class Start(Request):
    """Over a WebSocket: search, and tell how it goes."""

    do: Literal["start"]
    kind: Literal["search", "solve", "analyse"]
    game: Annotated[str, Field(max_length=200)]
    request: dict[str, Any] = Field({}, description="The body of the same question over HTTP.")


class Stop(Request):
    """Over a WebSocket: end the search; its best so far is the result."""

    do: Literal["stop"]
