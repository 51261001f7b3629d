"""The engine as tools of the Model Context Protocol (MCP), for language models.

``cutnode mcp`` starts it (:mod:`cutnode.cli.mcp`).  Each tool is stateless: it takes a game, a
position, and moves to play from there.  Limits, queue and errors are the same as over HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

import uvicorn
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as Listed
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool

import cutnode
from cutnode.contract.derived import recurs
from cutnode.contract.messages import position_text
from cutnode.contract.text import quoted
from cutnode.runtime.options import PROOF_OPTIONS
from cutnode.search.board import Board
from cutnode.search.results import ending_words
from cutnode.service import views
from cutnode.service.failures import Failure, as_failures, failure_of_request
from cutnode.service.games import GameRegistry
from cutnode.service.listening import address, listen
from cutnode.service.models import (
    MOST_HISTORY,
    AnalyseRequest,
    Answer,
    Compiling,
    DepthDone,
    ErrorBody,
    Explained,
    ExplainRequest,
    OutcomeView,
    Player,
    PositionRequest,
    Progressed,
    Report,
    Request,
    Reviewed,
    ReviewRequest,
    Searched,
    SearchRequest,
    Solved,
    SolveRequest,
    Text,
    with_options,
)
from cutnode.service.pool import SearchPool
from cutnode.service.questions import Question, read_question
from cutnode.service.settings import Settings

MOST_LEGAL = 100
"""The most legal moves that a text or an error lists."""

PROGRESS_SECONDS = 1.0
"""The time between two reports of progress."""

INSTRUCTIONS = """\
Search and solve positions of board games. `games` lists the games and their variants.

A position is a text in the game's own notation; without one it is the start. Moves are texts as
`legal_moves` lists them. Nothing is remembered between calls: pass the position, or the moves from
the start. Values are for the player to move: positive means that this player is ahead.

The first search of a game compiles it, which can take a minute.
"""

Context = ServerRequestContext[Any]
A = TypeVar("A", bound=Answer)


# Arguments


class GameRequest(Request):
    game: str = Field(
        max_length=200,
        description="Name of a game, with an optional variant after a colon: connect4:8x7.",
    )


class LineRequest(PositionRequest, GameRequest):
    """A position, and moves to play from there."""

    moves: list[Text] = Field(
        [],
        max_length=MOST_HISTORY,
        description="Moves to play from the position, such as a whole game so far; outcomes of "
        "chance are written as `show` lists them.",
    )


class PlayRequest(LineRequest):
    moves: list[Text] = Field(
        min_length=1, max_length=MOST_HISTORY, description="Moves to play, in order."
    )


SearchArguments: Any = with_options(LineRequest, "depth", "lines", "nodes", "seconds")
AnalyseArguments: Any = with_options(LineRequest, "nodes", "seconds", weak=PROOF_OPTIONS["weak"])
LimitedArguments: Any = with_options(LineRequest, "nodes", "seconds")


class SolveArguments(AnalyseArguments):  # type: ignore[misc]
    at_least: int | None = SolveRequest.model_fields["at_least"]


class ExplainArguments(LimitedArguments):  # type: ignore[misc]
    move: Text | None = ExplainRequest.model_fields["move"]


class ReviewArguments(LimitedArguments):  # type: ignore[misc]
    record: str = ReviewRequest.model_fields["record"]


# Answers


class GameLine(BaseModel):
    """A game, in short."""

    name: str
    about: str
    variants: str = Field(description="How to write variants, after the name and a colon.")
    examples: list[str] = Field(description="Examples of variants.")
    start: str = Field(description="The starting position.")
    chance: bool = Field(description="Whether chance decides, as by dice.")
    solvable: bool


class GameLines(BaseModel):
    games: list[GameLine]


class LegalMoves(Answer):
    """The legal moves of a position."""

    over: bool
    moves: list[str]


class Shown(Answer):
    """A position, drawn, with its legal moves."""

    board: str = Field(description="Board as lines of text.")
    caption: str = Field(description="Text to show with the board, such as the player to move.")
    player: Player = Field(description="Player to move, if the position tells it.")
    over: bool
    value: int | float | None = Field(description="Result for the mover, if the game is over.")
    meaning: str = Field(description="Result in words, if the game is over.")
    moves: list[str] = Field(description="Legal moves.")
    chance: list[OutcomeView] = Field(description="Outcomes, where chance decides.")


class Refused(ErrorBody):
    """An error, with the legal moves, or the first of them, if a move was illegal."""

    legal: list[str] | None


# Tools


class Progress:
    """Reports of the progress of a call, which reach clients that ask for them."""

    def __init__(self, context: Context):
        self.session = context.session
        self.latest: Report | None = None

    def note(self, event: Report) -> None:
        """Take an event of a search, from any thread."""
        self.latest = event

    async def during(self, work: Coroutine[Any, Any, A]) -> A:
        """Return the result of some work, which ends if the wait is cancelled."""
        started = time.monotonic()
        task = asyncio.create_task(work)
        try:
            while not (await asyncio.wait({task}, timeout=PROGRESS_SECONDS))[0]:
                said = None if self.latest is None else _event_text(self.latest)
                await self.session.report_progress(time.monotonic() - started, None, said)
            return task.result()
        finally:
            task.cancel()


class Tools:
    """The tools of a server, and the pool in which they search; each docstring is for the model."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.registry = GameRegistry(settings.games, settings.only, settings.tablebases)
        self.pool = SearchPool(settings, lambda question, answer, seconds: None)

    def close(self) -> None:
        """End all searches."""
        self.pool.close()
        self.pool.engines.close()

    async def games(self, asked: Request, progress: Progress) -> GameLines:
        """List the games, how to write their variants, and their starting positions."""
        found = await run_in_threadpool(self.registry.views)
        return GameLines(games=[GameLine(**game.model_dump()) for game in found])

    async def show(self, asked: LineRequest, progress: Progress) -> Shown:
        """Show a position: its board, the player to move, and the legal moves or the result."""
        return await run_in_threadpool(self._shown, asked)

    async def legal_moves(self, asked: LineRequest, progress: Progress) -> LegalMoves:
        """List the legal moves of a position."""
        return await run_in_threadpool(self._legal, asked)

    async def play(self, asked: PlayRequest, progress: Progress) -> Shown:
        """Play moves from a position, and show the position after them.

        The error of an illegal move lists the legal ones.
        """
        return await run_in_threadpool(self._shown, asked)

    async def search(self, asked: Any, progress: Progress) -> Any:
        """Find the best moves within limits, by default one second.

        This is for positions too large to solve: scores are estimates unless they are proven.
        `lines` is how many moves to score.
        """
        found = await self._ask("search", SearchRequest, asked, progress)
        return found.model_copy(update={"iterations": [], "statistics": {}})

    async def solve(self, asked: Any, progress: Progress) -> Any:
        """Prove the value of a position, with a best move and the best line.

        If the limits end the proof, the answer has the bounds proven so far. `at_least` asks only
        whether the value reaches a bound, which is quicker.
        """
        return await self._ask("solve", SolveRequest, asked, progress)

    async def analyse(self, asked: Any, progress: Progress) -> Any:
        """Prove the value of every legal move of a position."""
        return await self._ask("analyse", AnalyseRequest, asked, progress)

    async def explain(self, asked: Any, progress: Progress) -> Any:
        """Explain a position in words: who is ahead, which moves keep that, what threatens.

        With `move`, why that move is good or what is wrong with it. Each claim is marked as proven
        or estimated. By default it takes two seconds.
        """
        return await self._ask("explain", ExplainRequest, asked, progress)

    async def review(self, asked: Any, progress: Progress) -> Any:
        """Review a game: a mark for every move, the accuracy of both sides, and what decided it.

        Pass the game as `moves`, or as a `record` such as PGN. The limits are for the whole review.
        """

        def question() -> Question:
            given = asked.model_dump(exclude={"game"})
            return self._question("review", asked.game, ReviewRequest(**given), progress)

        return await self._answer(await run_in_threadpool(question), progress)

    async def _ask(self, kind: str, request: type[Request], asked: Any, progress: Progress) -> Any:
        """Answer a question about the position after the moves."""

        def question() -> Question:
            board, notes = self._board(asked)
            given = asked.model_dump(exclude={"game", "moves"}) | {"position": board.text}
            if move := given.get("move"):
                with views.legal_listed(board, "body.move"):
                    board.game.legal_move(board.position, move)
            if "history" in request.model_fields and recurs(board.position):
                given["history"] = [position_text(each) for each in board.history]
            read = self._question(kind, asked.game, request(**given), progress)
            read.notes.extend(notes)
            return read

        return await self._answer(await run_in_threadpool(question), progress)

    def _question(self, kind: str, game: str, asked: Request, progress: Progress) -> Question:
        return read_question(self.registry, self.settings, kind, game, asked, progress.note)

    async def _answer(self, question: Question, progress: Progress) -> Any:
        async def answer() -> Answer:
            run = await self.pool.start(question)
            return await run.wait()

        return await progress.during(answer())

    def _board(self, asked: LineRequest) -> tuple[Board, list[str]]:
        return views.read_board(self.registry.game(asked.game), asked.position, asked.moves)

    def _legal(self, asked: LineRequest) -> LegalMoves:
        board, notes = self._board(asked)
        return LegalMoves(
            game=asked.game,
            position=board.text,
            notes=notes,
            over=board.is_game_over(),
            moves=views.move_texts(board),
        )

    def _shown(self, asked: LineRequest) -> Shown:
        board, notes = self._board(asked)
        view = views.view(asked.game, board.position, notes).model_dump()
        ending = board.record.ending()
        view["meaning"] = ending_words(board.position)
        if ending and not view["over"]:
            view |= {"over": True, "value": 0, "meaning": f"a draw ({ending})", "chance": []}
        return Shown.model_validate(view | {"moves": views.move_texts(board)})


# Texts


def _event_text(event: Report) -> str:
    """Return an event of a search in words."""
    if isinstance(event, Compiling):
        done = f"{event.functions} of {event.expected or '?'} functions"
        return f"compiling {event.game}: {event.kernel}, {done}"
    if isinstance(event, DepthDone):
        best = f", best move {event.lines[0].move}" if event.lines else ""
        return f"depth {event.depth}, value {event.value:g}{best}, {event.nodes:,} nodes"
    if isinstance(event, Progressed):
        return f"value from {event.lower} to {event.upper}, {event.nodes:,} nodes"
    return "searching"


def _list(texts: Sequence[str], most: int = MOST_LEGAL) -> str:
    """Return texts as a list of at most *most*."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most]) or 'none'}{more}"


def text_of(answer: Any) -> str:
    """Return an answer in words, without what only programs need."""
    lines = _lines(answer)
    lines += [f"Note: {each}" for each in getattr(answer, "notes", ())]
    return "\n".join(filter(None, lines))


def _lines(answer: Any) -> list[str]:
    if isinstance(answer, GameLines):
        return [
            f"{each.name}: {each.about}{f' Variants: {each.variants}' if each.variants else ''}"
            for each in answer.games
        ]
    if isinstance(answer, LegalMoves):
        return ["the game is over" if answer.over else _list(answer.moves)]
    if isinstance(answer, Explained | Reviewed):
        return [*answer.text]
    if not isinstance(answer, Shown):
        return _result_lines(answer)
    if answer.over:
        follows = f"the game is over: {answer.meaning or 'a draw'}"
    elif answer.chance:
        follows = f"chance decides: {_list([each.text for each in answer.chance])}"
    else:
        follows = f"legal moves: {_list(answer.moves)}"
    caption = "" if answer.caption in answer.board else answer.caption
    if not answer.caption and not answer.over and answer.player is not None:
        caption = f"{('first', 'second')[answer.player]} player to move"
    return [answer.board, caption, f"position: {answer.position}", follows]


def _result_lines(answer: Searched | Solved) -> list[str]:
    """Return the result of a search or a proof in words."""
    value = "unknown" if answer.value is None else f"{answer.value:g}"
    lines = [f"value {value} ({answer.meaning})"]
    if isinstance(answer, Searched):
        lines += [f"{each.move}: {each.value:g}, line {' '.join(each.pv)}" for each in answer.lines]
    else:
        if answer.at_least is not None:
            known = {None: "unknown", True: "yes", False: "no"}[answer.answer]
            lines.append(f"value at least {answer.at_least}: {known}")
        if answer.scores is not None:
            scored = (f"{move} {'?' if n is None else n}" for move, n in answer.scores.items())
            lines.append(f"values of the moves: {', '.join(scored)}")
        lines.append(f"line {' '.join(answer.pv)}" if answer.pv else "")
    lines.append("" if answer.best_move is None else f"best move {answer.best_move}")
    return [*lines, f"{answer.nodes:,} nodes, {answer.seconds:.3g} s: {answer.reason}"]


# The server


class Tool(NamedTuple):
    """A tool: its arguments, its answer, and the method that gives it."""

    request: type[Request]
    answer: type[BaseModel]
    call: Callable[[Tools, Any, Progress], Coroutine[Any, Any, BaseModel]]

    def listed(self, name: str) -> Listed:
        """Return the description of the tool for clients."""
        return Listed(
            name=name,
            description=inspect.getdoc(self.call),
            input_schema=self.request.model_json_schema(),
            output_schema=self.answer.model_json_schema(mode="serialization"),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )


TOOLS = {
    "games": Tool(Request, GameLines, Tools.games),
    "show": Tool(LineRequest, Shown, Tools.show),
    "legal_moves": Tool(LineRequest, LegalMoves, Tools.legal_moves),
    "play": Tool(PlayRequest, Shown, Tools.play),
    "search": Tool(SearchArguments, Searched, Tools.search),
    "solve": Tool(SolveArguments, Solved, Tools.solve),
    "analyse": Tool(AnalyseArguments, Solved, Tools.analyse),
    "explain": Tool(ExplainArguments, Explained, Tools.explain),
    "review": Tool(ReviewArguments, Reviewed, Tools.review),
}


def make_server(tools: Tools) -> Server:
    """Make the server, for any transport; its searches end with it."""
    listed = ListToolsResult(tools=[tool.listed(name) for name, tool in TOOLS.items()])

    async def list_tools(context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        tool = TOOLS.get(asked.name)
        if tool is None:
            known = ", ".join(TOOLS)
            raise MCPError(INVALID_PARAMS, f"unknown tool {quoted(asked.name)}; tools are {known}")
        try:
            request = tool.request.model_validate(asked.arguments or {})
        except ValidationError as error:
            return _refusal(failure_of_request(error.errors()))
        try:
            with as_failures():
                answer = await tool.call(tools, request, Progress(context))
        except Failure as failure:
            return _refusal(failure)
        return _result(text_of(answer), answer)

    @contextlib.asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        try:
            yield
        finally:
            tools.close()

    return Server(
        "cutnode",
        version=cutnode.__version__,
        title="cutnode",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        lifespan=lifespan,
    )


def _refusal(failure: Failure) -> CallToolResult:
    """Return an error as the result of a tool."""
    where = re.sub(r"^(body|path|query)\b\.?", "", failure.where or "") or None
    legal = failure.legal if isinstance(failure, views.IllegalMove) else None
    facts = failure.model().model_dump() | {"where": where}
    refused = Refused(**facts, legal=legal and legal[:MOST_LEGAL])
    text = f"{refused.error}: {refused.detail}"
    if failure.status_code == 422 and where is not None:
        text += f" ({where})"
    if legal is not None:
        text += f"\nlegal moves: {_list(legal)}"
    return _result(text, refused, is_error=True)


def _result(text: str, answer: BaseModel, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=answer.model_dump(mode="json"),
        is_error=is_error,
    )


def serve_here(settings: Settings) -> bool:
    """Serve a client over standard input and output until it leaves.

    Return whether a thread still compiles or searches, though nothing waits for it.
    """
    tools = Tools(settings)

    async def converse() -> None:
        server = make_server(tools)
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    asyncio.run(converse())
    return tools.pool.is_busy()


def serve_http(settings: Settings, port: int, ready: Callable[[str], None]) -> bool:
    """Serve clients over streamable HTTP on a *port* of this machine until Ctrl-C.

    *ready* is called with the address.  Return what :func:`serve_here` does.
    """
    tools = Tools(settings)
    app = make_server(tools).streamable_http_app(max_request_body_size=settings.body)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
    with listen("127.0.0.1", port) as listening:
        ready(f"{address(listening)}/mcp")
        uvicorn.Server(config).run([listening])
    return tools.pool.is_busy()
