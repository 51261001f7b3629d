"""The JSON of every route.

Requests are strict: no unknown fields, no strings for numbers, no NaN.  A limit above the
service's own is not an error: the lower one applies, as the answer's ``limits`` show.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from cutnode.contract.choices import RECORDED_SEARCHES
from cutnode.contract.repetition import RULES
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.playing.levels import LEVELS
from cutnode.runtime.options import OPTIONS, PROOF_OPTIONS, TREE_OPTIONS, Option

LONGEST = 4096
"""The most characters of a position, which some games write as all the moves that lead there."""

SHORTEST = 512
"""The most characters of a move, or of a position in the history."""

MOST_HISTORY = 512
MOST_TREE_DEPTH = 12
MOST_TREE_NODES = 400
"""The most nodes of a tree that is shown."""

MOST_CELLS = 1024
MOST_RECORD = 1_000_000
"""The most characters of a recorded game."""

MOST_WORD = (1 << 53) - 1
"""The largest integer that every JSON parser reads exactly."""


def integral(value: Any) -> Any:
    """Turn a float without a fraction into an integer, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Depth = Annotated[int, Field(ge=0, le=MOST_DEPTH), BeforeValidator(integral)]
Text = Annotated[str, Field(max_length=SHORTEST)]
Place = Annotated[tuple[float, float], Field(description="Coordinates: to the right, and down.")]
Player = Annotated[
    Literal[0, 1] | None, Field(description="0 for the first player, 1 for the second.")
]
Verdict = Literal["win", "draw", "loss"]
Count = Annotated[int, Field(ge=0)]
Content = Annotated[int, Field(ge=0), BeforeValidator(integral)]
History = Annotated[
    list[Text],
    Field(max_length=MOST_HISTORY, description="Earlier positions of the game, oldest first."),
]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class PositionRequest(Request):
    """A position."""

    position: str = Field(
        "",
        max_length=LONGEST,
        description="Position in the game's own notation; the starting position by default.",
    )


def _type_of(its: Option) -> Any:
    """Return the type of an option's values in JSON, without null."""
    if its.choices:
        return Literal[its.choices]
    least, most = its.ends
    if its.kind is int:
        return Annotated[int, Field(ge=least, le=most), BeforeValidator(integral)]
    if its.kind is float:
        above = Field(gt=least, le=most) if its.above else Field(ge=least, le=most)
        return Annotated[float, above]
    return its.kind


def with_options(base: type[Request], *names: str, **own: Option) -> Any:
    """Return a request with more fields: options of searches, and the service's *own* forms.

    A request may leave any of them out.
    """
    fields: dict[str, Any] = {}
    for name, its in ({name: OPTIONS[name] for name in names} | own).items():
        about, kind = its.help, _type_of(its)
        if its.kind is bool:
            about = f"Whether to {about[0].lower()}{about[1:]}"
        kind = kind if its.preset is not None else kind | None
        fields[name] = kind, Field(its.preset, description=about)
    return create_model(base.__name__, __base__=base, **fields)


SEED = OPTIONS["seed"]._replace(least=0, most=MOST_WORD)

LimitFields: Any = with_options(
    PositionRequest,
    *("nodes", "seconds"),
    table=OPTIONS["table"]._replace(default=None),
    threads=OPTIONS["threads"]._replace(default=None),
)


class LimitedRequest(LimitFields):  # type: ignore[misc]
    session: str = Field(
        "",
        max_length=64,
        description="Name of the client's choice, preferably random. Requests of one session build "
        "on what earlier ones stored; without a session, each starts with empty tables.",
    )


OF_TREES = tuple(name for name, its in OPTIONS.items() if its.engine == "mcts")
"""The options of Monte Carlo tree search only."""

WITHOUT_TREE: Any = {"properties": {name: {"type": "null"} for name in OF_TREES}}

SearchFields: Any = with_options(
    LimitedRequest,
    *("engine", "depth", "exact", *OF_TREES),
    lines=OPTIONS["lines"]._replace(most=256),
    seed=SEED,
)


class SearchRequest(SearchFields):  # type: ignore[misc]
    """A search by alpha-beta or Monte Carlo tree search; without a limit it takes one second.

    The engine `auto` is whichever does better in a trial, which takes a quarter of the time; a
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

    moves: list[Text] | None = Field(
        None,
        min_length=1,
        max_length=256,
        description="Moves to choose from; all legal moves by default.",
    )
    history: History = Field([])
    evaluation: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="Name of an evaluation to use instead of the default one."
    )

    def tree_options(self) -> dict[str, Any]:
        """Return the options of Monte Carlo tree search that the request sets, without limits."""
        given = {name: getattr(self, name) for name in TREE_OPTIONS}
        return {name: value for name, value in given.items() if value is not None}

    @model_validator(mode="after")
    def _options_suit_the_engine(self) -> Self:
        if self.engine != "alphabeta" and (self.depth is not None or self.exact):
            raise ValueError(f"depth and exact are options of alphabeta, not of {self.engine}")
        given = [name for name in OF_TREES if getattr(self, name) is not None]
        if self.engine != "mcts" and given:
            raise ValueError(f"{given[0]} is an option of mcts, not of {self.engine}")
        if self.selection == "uct" and self.priors is not None:
            raise ValueError("priors is an option of puct, not of uct")
        return self


ProofFields: Any = with_options(
    LimitedRequest, **{name: PROOF_OPTIONS[name] for name in ("weak", "engine")}
)


class AnalyseRequest(ProofFields):  # type: ignore[misc]
    """A proof of the values of a position and all its moves."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "44444326555535"}]})


class SolveRequest(AnalyseRequest):
    """A proof of the value, or of whether it is at least a given number."""

    at_least: int | None = Field(
        None, description="Bound to test instead of proving the value: see `answer`."
    )


class ExplainRequest(LimitedRequest):
    """A question about a position, and a move in it: who is ahead, and why a move is wrong."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "44", "move": "3"}]})

    move: Text | None = Field(None, description="Move to explain; by default the moves of note.")
    history: History = Field([])


class ReviewRequest(LimitedRequest):
    """A whole game to review: the moves from a position, or a record; the limits are for all."""

    moves: list[Text] = Field([], max_length=MOST_HISTORY, description="Moves of the game.")
    record: str = Field(
        "",
        max_length=MOST_RECORD,
        description="The game as text, such as PGN, instead of the position and the moves.",
    )


MOST_PUZZLES = 50


PuzzleFields: Any = with_options(
    Request,
    *("nodes", "seconds"),
    table=OPTIONS["table"]._replace(default=None),
    seed=SEED._replace(about="Random seed of the games.", default=0),
)


class PuzzlesRequest(PuzzleFields):  # type: ignore[misc]
    """Puzzles from games of the engine against itself.

    The seconds are for all puzzles, the nodes for the proofs of each position.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"count": 3}]})

    count: Annotated[int, Field(ge=1, le=MOST_PUZZLES), BeforeValidator(integral)] = Field(
        5, description="Number of puzzles."
    )
    position: ClassVar[str] = ""


class EvaluateRequest(PositionRequest):
    """A static evaluation, without a search."""

    evaluation: Annotated[str, Field(max_length=100)] | None = None


LevelFields: Any = with_options(
    PositionRequest,
    "seconds",
    seed=SEED._replace(about="Random seed; the same for all moves of a game.", default=0),
)


class LevelRequest(LevelFields):  # type: ignore[misc]
    """A request for a move by a level."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "44", "level": "hard"}]})

    level: Literal[tuple(LEVELS)] = Field("medium", description="Level of play, weakest first.")  # type: ignore[valid-type]
    history: History = Field([])


class SetupRequest(Request):
    """A board, given cell by cell."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"cells": [1, 2, 0, 0, 0, 0, 0, 0, 0]}]}
    )

    cells: list[Content] = Field(
        max_length=MOST_CELLS, description="Content of each cell, as an index into `contents`."
    )
    mover: str = Field("", max_length=100, description="Player to move, as a key of `players`.")


class RecordRequest(Request):
    """A recorded game: a list of moves, or the game's own format."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "4\n4\n# in the middle\n3"}]}
    )

    text: str = Field(
        max_length=MOST_RECORD,
        description="Steps one a line, or a format such as PGN, with comments and variations.",
    )


class TreeRequest(with_options(PositionRequest, "exact")):  # type: ignore[misc]
    """A search in plain Python that records its tree; only the last depth is kept."""

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
        "search", description="Search with all its techniques, or a plain one."
    )
    plies: Depth = Field(3, description="Number of plies to show.")
    width: Annotated[int, Field(ge=1, le=64), BeforeValidator(integral)] = Field(
        12, description="Maximum number of children to show for a node."
    )
    size: Annotated[int, Field(ge=1, le=MOST_TREE_NODES), BeforeValidator(integral)] = Field(
        200, description="Maximum number of nodes to show."
    )

    @model_validator(mode="after")
    def _techniques_are_those_of_the_search(self) -> Self:
        if self.exact and self.search != RECORDED_SEARCHES[0]:
            raise ValueError(f"exact is an option of {RECORDED_SEARCHES[0]}, not of {self.search}")
        return self


class PerftRequest(with_options(PositionRequest, "seconds")):  # type: ignore[misc]
    """A perft: the number of lines of play to a depth."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"position": "", "depth": 6}]})

    depth: Depth
    bulk: bool = Field(True, description="Whether to count the last moves without making them.")


# Answers


class LimitsView(BaseModel):
    """The limits that applied: the requested ones, or the service's own where they are lower."""

    depth: Count | None
    playouts: Count | None
    nodes: Count | None
    seconds: float | None
    table: Count
    threads: Count


class Answer(BaseModel):
    game: str
    position: str = Field(description="Position, as the game writes it.")
    notes: list[str] = Field(
        default=[], description="Parts of the position that were not read as they were written."
    )


class LineView(BaseModel):
    """A move, its score for the mover, and the principal variation that begins with it."""

    move: str
    value: int | float
    verdict: Verdict | None = Field(description="Result for the mover; null for an estimate.")
    distance: Count | None = Field(description="Plies to the end of the game, where known.")
    points: float = Field(description="Expected points of the mover, from 0 to 1.")
    pv: list[str]


class IterationView(BaseModel):
    """A completed depth; nodes and seconds are totals so far."""

    depth: Count
    value: int | float
    best_move: str | None
    nodes: Count
    seconds: float


class RootMoveView(BaseModel):
    """A root move, with the statistics of its playouts."""

    move: str
    visits: Count
    win_rate: float | None = Field(description="Expected points of the mover.")
    value: float | None = Field(description="Win rate as a score; null without playouts.")
    prior: float = Field(description="Prior of the move, before the first playout.")
    lower: int = Field(description="Proven lower bound of its value.")
    upper: int = Field(description="Proven upper bound of its value.")


class Searched(Answer):
    """The result of a search."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    value: int | float = Field(description="Score for the mover.")
    win_rate: float | None = Field(None, description="Expected points of the mover (mcts only).")
    meaning: str
    proven: bool
    exact: bool
    best_move: str | None
    lines: list[LineView]
    moves: list[RootMoveView] = Field([], description="All moves, best first (mcts only).")
    playouts: Count = Field(0, description="Number of playouts (mcts only).")
    depth: Count
    why: str = Field(
        "", description="Reason for the choice of engine, with auto or after an attempted proof."
    )
    iterations: list[IterationView] = Field([], description="Completed depths; empty for mcts.")
    statistics: dict[str, int | float]
    nodes: Count
    seconds: float
    reason: str = Field(description="Why it ended: depth limit, proven, time limit, stopped, ...")
    limits: LimitsView


class TableView(BaseModel):
    """Statistics of the transposition table."""

    probes: Count
    hits: Count
    cutoffs: Count
    stores: Count
    overwrites: Count


class Solved(Answer):
    """The result of a proof, finished or not; the value is always within lower and upper."""

    value: int | None = Field(description="Value for the mover; null if not proven.")
    meaning: str
    proven: bool
    lower: int
    upper: int
    weak: bool
    at_least: int | None = Field(description="Bound of the request, if it had one.")
    answer: bool | None = Field(
        description="Whether the value is at least `at_least`; null if unknown."
    )
    best_move: str | None
    scores: dict[str, int | None] | None = Field(description="Value of each move (analyse only).")
    pv: list[str]
    depth: Count
    nodes: Count
    seconds: float
    table: TableView
    reason: str
    engine: str = Field(description="Engine that found this: alphabeta, pn or sums.")
    outcome_class: Literal["N", "P", "L", "R"] | None = Field(
        description="Winner in normal play, by sums: N whoever begins, P whoever does not, L the "
        "player to move here, R the opponent."
    )
    nimber: Count | None = Field(description="Nimber of an impartial position, by sums.")
    target: int | None = Field(
        description="Bound that an unfinished pn was testing: is the value at least this?"
    )
    numbers: list[int] | None = Field(description="Proof and disproof number of `target`.")
    why: str = Field(description="Reason for the choice of engine, with auto.")
    limits: LimitsView


class Explained(Answer):
    """An explanation of a position and its moves, each claim proven or estimated."""

    text: list[str] = Field(description="The explanation as sentences.")
    explanation: dict[str, Any] = Field(
        description="The explanation as data: verdict, moves, threat, and notes on moves."
    )
    limits: LimitsView


class Reviewed(Answer):
    """A reviewed game: the marks of its moves, and its turning points."""

    text: list[str] = Field(description="The review as lines of text.")
    review: dict[str, Any] = Field(
        description="The review as data: sides, steps, expected points, and turning points."
    )
    limits: LimitsView


class Puzzles(Answer):
    """Puzzles of a game, each with exactly one solution, proven."""

    puzzles: list[dict[str, Any]] = Field(
        description="Puzzles as `cutnode puzzles` writes them: goal, position, line, hints, ..."
    )
    seconds: float
    reason: Literal["done", "time limit", "stopped"]
    limits: LimitsView


class OfferedPuzzles(BaseModel):
    """The puzzles with which the service was started."""

    puzzles: list[dict[str, Any]]


class Estimated(Answer):
    value: int | float = Field(description="Static evaluation for the mover.")


class Counted(Answer):
    depth: Count
    lines: Count | None = Field(description="Number of lines of play; null if not finished.")
    seconds: float
    reason: Literal["done", "time limit", "stopped"]
    limits: LimitsView


class Moved(Answer):
    """A move chosen by a level."""

    level: str
    move: str
    value: int | float | None = Field(description="Score for the mover, if it was searched.")
    pv: list[str]
    depth: Count
    nodes: Count
    seconds: float
    reason: str
    compiled: bool = Field(
        description="Whether the search was compiled. The first moves in a game come from plain "
        "Python, until it is."
    )


class UnsearchedView(BaseModel):
    """Moves of a node that were not searched, and the reason why."""

    reason: str
    moves: list[str]


class NodeView(BaseModel):
    """A node of a search tree; scores are for the player to move at the root."""

    move: str = Field(description="Move that leads here; empty at the root.")
    position: str
    player: Literal["max", "min", "chance"]
    ply: Count
    depth: int = Field(description="Remaining depth in plies.")
    window: tuple[int | float | None, int | float | None] = Field(
        description="Search window: alpha and beta."
    )
    value: int | float
    score: str = Field(description="Value as text.")
    bound: Literal["exact", "lower", "upper", "none"]
    kind: Literal["pv", "cut", "all", "leaf", "chance"]
    best: str | None
    principal: bool = Field(description="Whether it is on the principal variation.")
    reason: str = Field(description="Why the search went no deeper here.")
    notes: list[str]
    nodes: Count = Field(description="Nodes visited here and below.")
    searches: Count
    children: list[NodeView]
    more: Count = Field(description="Number of children that are not shown.")
    more_nodes: Count = Field(description="Nodes visited below children that are not shown.")
    unsearched: list[UnsearchedView]


class TreeView(Answer):
    """The shown part of the tree that a search visited."""

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
    position: str = Field(description="Position that it leads to.")
    again: bool = Field(description="Whether the same player moves again.")
    changes: list[tuple[int, int]] = Field(
        description="Cells that it changes, each with its new content."
    )
    recurrence: str | None = Field(
        description="Key of the position after it, if the move is illegal should an earlier "
        "position of the game have that key, too."
    )


class OutcomeView(BaseModel):
    """An outcome of chance."""

    text: str = Field(description="Outcome in words, such as a roll of dice.")
    probability: float
    position: str
    again: bool = Field(description="Whether the player to move stays the same.")


class PositionView(Answer):
    """A position, with its legal moves and chance outcomes."""

    board: str = Field(description="Board as lines of text.")
    cells: list[int] | None = Field(
        description="Content of each cell, as an index into `contents`; null without a board."
    )
    parts: list[list[int]] | None = Field(
        description="Cells of each part into which the position falls; null if the game has none."
    )
    caption: str = Field(description="Text to show with the board, such as the player to move.")
    player: Player = Field(description="Player to move, if the position tells it.")
    recurrence: str | None = Field(
        description="Key that is equal for positions that the repetition rule treats as equal."
    )
    over: bool
    value: int | float | None = Field(description="Result for the mover, if the game is over.")
    meaning: str = Field(description="Result in words, if the game is over.")
    winning_line: list[int] = Field(
        description="Cells that won the game, such as a row of stones; empty if none are known."
    )
    moves: list[MoveView]
    chance: list[OutcomeView]


class PlyView(BaseModel):
    """A position of a recorded game, and the step that led to it."""

    parent: Count | None = Field(None, description="Number of the ply before; null at the start.")
    position: str
    move: str | None = Field(None, description="Move that led here, if one did.")
    outcome: Count | None = Field(None, description="Outcome of chance that led here, if one did.")
    chance: str | None = Field(None, description="That outcome in words.")
    side: Literal[0, 1] = Field(description="0 for the first player to move, 1 for the second.")
    changed: list[int] = Field([], description="Cells that the move changed.")
    recurrence: str | None = Field(
        description="Key that is equal for positions that the repetition rule treats as equal."
    )
    mark: str = Field("", description="Marks such as !?, and numeric annotations such as $14.")
    comment: str = ""


class RecordView(BaseModel):
    """A recorded game: its plies, the start first.

    The first ply with a given parent continues its line; others begin variations.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    game: str
    notes: list[str] = Field(description="Parts of the text that were not read as written.")
    headers: dict[str, str] = Field(description="Facts about the game, such as its players.")
    plies: list[PlyView]


class OwnRecord(BaseModel):
    """A recorded game in the game's own format."""

    game: str
    text: str
    suffix: str = Field(description="Ending of files in this format, such as .pgn.")


class ContentView(BaseModel):
    """A possible content of a cell."""

    symbol: str
    name: str
    glyph: str = Field(description="Unicode character that depicts it, or empty.")
    owner: Player = Field(description="Player who owns it; null if neither.")


class EdgeView(BaseModel):
    """An edge of the board for stones to connect."""

    owner: Player = Field(description="Player who owns it; null if both do.")
    cells: list[int] = Field(description="Cells along it, from one end to the other.")


class BoardView(BaseModel):
    """The layout and contents of a board, for drawing it."""

    shape: Literal["grid", "hexagons", "triangles", "points"]
    places: list[Place] = Field(description="Centres of the cells.")
    lines: list[tuple[int, int]] = Field(description="Pairs of cells joined by lines.")
    edges: list[EdgeView] = Field(description="Edges for stones to connect, if any.")
    row_names: list[str]
    column_names: list[str]
    contents: list[ContentView] = Field(description="Possible contents of cells, empty first.")
    players: dict[str, str] = Field(
        description="Player names by symbol, if positions name the player to move."
    )
    names: tuple[str, str] = Field(description="Names of both players, in words.")
    editable: bool = Field(description="Whether positions can be set up cell by cell.")


class GameView(BaseModel):
    """A game of the service."""

    name: str
    about: str
    variants: str = Field(
        description="How to write variants, if there are any. They follow the name after a "
        "colon: connect4:8x7."
    )
    examples: list[str] = Field(description="Examples of variants.")
    start: str
    chance: bool
    solvable: bool
    tablebase: bool = Field(description="Whether the service has its tablebase.")
    decisive: bool = Field(description="Whether only the winner, and how soon, matters.")
    limit: Count = Field(description="Largest absolute value of a position.")
    unit: Count | None = Field(
        description="Evaluation of an advantage that matters, such as a pawn."
    )
    repetitions: Count | None = Field(
        description="Occurrences of a position that end the game; null if positions cannot recur."
    )
    repetition: Literal[RULES] = Field(  # type: ignore[valid-type]
        description="Value of a repetition for the player who makes it."
    )
    evaluations: list[str] = Field(description="Names of evaluations to choose from.")
    record_suffix: str = Field(
        description="Ending of files in the game's own format for games, or empty."
    )


class Games(BaseModel):
    games: list[GameView]
    levels: list[str] = Field(description="Levels of play, weakest first.")
    compiled: list[str] = Field(description="Games that answer without compiling first.")
    limits: LimitsView = Field(description="The service's limits on a search.")


class Health(BaseModel):
    status: Literal["starting", "ready", "stopping"]
    version: str
    searching: Count
    waiting: Count
    engines: Count
    megabytes: Count = Field(description="Memory that the current engines may take, in MiB.")
    room: Count = Field(description="Memory that all engines together may take, in MiB.")
    games: Count = Field(description="Number of compiled games; each variant is a game.")
    most_games: Count = Field(description="Limit on compiled games.")


class ErrorBody(BaseModel):
    """An error: its kind, a message, and its place in the request."""

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
    where: str | None = Field(description="Place in the request, such as body.depth or path.game.")


# Streams


class Started(BaseModel):
    """The search has left the queue and begun."""

    event: Literal["started"] = "started"
    limits: LimitsView


class Compiling(BaseModel):
    """A first search waits for code to be compiled: how far that is, reported twice a second."""

    event: Literal["compiling"] = "compiling"
    game: str = Field(description="Class of the positions, such as connect4.Position.")
    kernel: str = Field(description="Part of the program that is being compiled.")
    functions: Count = Field(description="Functions compiled so far.")
    expected: Count | None = Field(
        description="Functions that it had last time, for this game or another; null if unknown."
    )
    seconds: float


class DepthDone(BaseModel):
    """A completed depth, or a lower (`bound` 1) or upper bound (-1) on its score."""

    event: Literal["iteration"] = "iteration"
    depth: Count
    value: int | float
    proven: bool
    bound: Literal[-1, 0, 1]
    lines: list[LineView]
    nodes: Count
    seconds: float


class Progressed(BaseModel):
    """The progress of a proof, reported every second."""

    event: Literal["progress"] = "progress"
    lower: int | None = Field(description="Proven lower bound so far.")
    upper: int | None = Field(description="Proven upper bound so far.")
    nodes: Count
    seconds: float
    fill: float = Field(description="Fraction of the table in use.")


class Streamed(BaseModel):
    """The last event of a stream: the answer to the same request without a stream."""

    event: Literal["result"] = "result"
    result: Searched | Solved


class Failed(ErrorBody):
    """A request that cannot be answered."""

    event: Literal["error"] = "error"


Report = Compiling | Started | DepthDone | Progressed
"""An event before the last of a stream."""

Event = Annotated[Report | Streamed | Failed, Field(discriminator="event")]


class Start(Request):
    """A WebSocket message that starts a search and its stream of events."""

    do: Literal["start"]
    kind: Literal["search", "solve", "analyse"]
    game: Annotated[str, Field(max_length=200)]
    request: dict[str, Any] = Field({}, description="Body of the same request over HTTP.")


class Stop(Request):
    """A WebSocket message that ends the search; its best so far is the result."""

    do: Literal["stop"]
