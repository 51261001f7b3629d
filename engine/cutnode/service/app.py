"""The routes of a service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Response, WebSocket
from fastapi import Path as InPath
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

import cutnode
from cutnode.playing.levels import LEVELS
from cutnode.service import questions, records, views
from cutnode.service.failures import (
    MEANINGS,
    Failure,
    as_failures,
    failure_of,
    failure_of_request,
    responses,
)
from cutnode.service.games import GameRegistry
from cutnode.service.hosts import AllowedHosts
from cutnode.service.limits import RequestLimits
from cutnode.service.models import (
    AnalyseRequest,
    Answer,
    BoardView,
    Counted,
    ErrorBody,
    Estimated,
    EvaluateRequest,
    Event,
    Explained,
    ExplainRequest,
    Games,
    GameView,
    Health,
    LevelRequest,
    LimitsView,
    Moved,
    OfferedPuzzles,
    OwnRecord,
    PerftRequest,
    PositionRequest,
    PositionView,
    Puzzles,
    PuzzlesRequest,
    RecordRequest,
    RecordView,
    Request,
    Reviewed,
    ReviewRequest,
    Searched,
    SearchRequest,
    SetupRequest,
    Solved,
    SolveRequest,
    TreeRequest,
    TreeView,
)
from cutnode.service.pages import add_pages
from cutnode.service.pool import Run
from cutnode.service.sockets import converse
from cutnode.service.state import Service
from cutnode.service.streams import EventLines, EventQueue, end

CLIENT_LEFT = 499
"""The status that the metrics count for a client that left; no client gets it."""

ABOUT = """\
Search positions of board games, and prove their values.

Values and scores are for the player to move. Positions and moves are strings in the game's own
notation. A limit above the service's own is lowered to it. A client that disconnects ends its
search. Each request starts with empty tables, unless it names a `session`: requests of one session
build on what earlier ones stored.

The page [/](/) is a board for play and analysis.

`.../stream` answers with newline-delimited JSON: `compiling` while a first search waits for its
code, `started`, an `iteration` for each depth of a search, the `progress` of a proof every second,
and `result` (or `error`). The WebSocket `/stream` does the same for any number of searches, one at
a time: send
`{"do": "start", "kind": "search", "game": "connect4", "request": {"position": "44"}}`, and
`{"do": "stop"}` to end the search and get its best result so far.
"""

T = TypeVar("T")


def make_app(service: Service) -> FastAPI:
    """Make the application, for any ASGI server."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.pool.close()
        service.pool.engines.close()

    app = FastAPIOffline(
        title="cutnode",
        description=ABOUT,
        version=cutnode.__version__,
        lifespan=lifespan,
        redoc_url=None,
        license_info={"name": "MIT"},
        openapi_tags=[
            {"name": "games", "description": "Games, boards and positions."},
            {"name": "questions", "description": "Searches and proofs: one request, one answer."},
            {"name": "streams", "description": "The same, reported while the search runs."},
            {"name": "service", "description": "Health and metrics."},
        ],
    )
    app.add_middleware(AllowedHosts, settings=service.settings)
    app.add_middleware(
        RequestLimits,
        body=service.settings.body,
        patience=service.settings.patience,
        count=lambda route, status: service.metrics.requests.labels(route, str(status)).inc(),
    )
    if service.settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=service.settings.cors,
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
            expose_headers=["retry-after"],
        )
    app.add_exception_handler(HTTPException, error_response)
    app.add_exception_handler(RequestValidationError, error_response)
    app.add_exception_handler(Exception, error_response)
    _add_games(app, service)
    _add_questions(app, service)
    _add_streams(app, service)
    _add_service(app, service)
    add_pages(app)
    _describe(app, service.registry)
    return app


GameName = Annotated[
    str,
    InPath(
        max_length=200,
        description="Name of a game, with an optional variant after a colon.",
        examples=["connect4"],
    ),
]
"""The path parameter that names a game."""

ASKED = responses(400, 404, 408, 409, 413, 422, 500, 503)
"""The errors of requests that need an engine."""

UNASKED = responses(400, 404, 408, 413, 422, 500)
"""The errors of requests that need no engine."""


def _add_games(app: FastAPI, service: Service) -> None:
    registry = service.registry

    @app.get("/games", tags=["games"], responses=responses(500))
    def list_games() -> Games:
        """All games, the levels, and which games are compiled."""
        settings = service.settings
        limits = LimitsView(
            depth=None,
            playouts=None,
            nodes=settings.nodes,
            seconds=settings.seconds,
            table=settings.table,
            threads=settings.threads,
        )
        compiled = service.pool.code.names()
        return Games(games=registry.views(), levels=list(LEVELS), compiled=compiled, limits=limits)

    @app.get("/puzzles", tags=["games"], responses=responses(500))
    def list_puzzles() -> OfferedPuzzles:
        """Puzzles with which the service was started."""
        return OfferedPuzzles(puzzles=list(service.settings.puzzles))

    @app.get("/games/{game}", tags=["games"], responses=responses(404, 422, 500))
    def show_game(game: GameName) -> GameView:
        """Description of a game."""
        with as_failures():
            return registry.view(game)

    @app.get("/games/{game}/board", tags=["games"], responses=responses(404, 422, 500))
    def show_board(game: GameName) -> BoardView | None:
        """Layout and contents of a board, for drawing it; null if the game declares none."""
        with as_failures():
            return views.show_board(registry, game)

    @app.get("/games/{game}/position", tags=["games"], responses=responses(404, 422, 500))
    def show_position(game: GameName, query: Annotated[PositionRequest, Query()]) -> PositionView:
        """Board, legal moves and chance outcomes of a position."""
        with as_failures():
            return views.show_position(registry, game, query.position)

    @app.post("/games/{game}/setup", tags=["games"], responses=UNASKED | responses(409))
    def set_up(game: GameName, body: SetupRequest) -> PositionView:
        """Position of a board given cell by cell."""
        with as_failures():
            return views.set_up(registry, game, body)

    @app.post("/games/{game}/record", tags=["games"], responses=UNASKED)
    def read_record(game: GameName, body: RecordRequest) -> RecordView:
        """Positions of a recorded game, with its comments and variations."""
        with as_failures():
            return records.read(registry, game, body)

    @app.post("/games/{game}/record/own", tags=["games"], responses=UNASKED | responses(409))
    def write_record(game: GameName, body: RecordRequest) -> OwnRecord:
        """Recorded game in the game's own format, such as PGN."""
        with as_failures():
            return records.write_own(registry, game, body)


def _add_questions(app: FastAPI, service: Service) -> None:
    one_answer: Any = {"tags": ["questions"], "responses": ASKED}

    async def asked(kind: str, game: str, body: Request, request: HttpRequest) -> Response:
        async def answer() -> Answer:
            run = await service.pool.start(await service.question(kind, game, body))
            return await run.wait()

        found = await unless_disconnected(request, answer())
        return Response(found.model_dump_json(), media_type="application/json")

    @app.post("/games/{game}/search", response_model=Searched, **one_answer)
    async def search(game: GameName, body: SearchRequest, request: HttpRequest) -> Response:
        """Best moves and their scores, as deep as the limits allow."""
        return await asked("search", game, body, request)

    @app.post("/games/{game}/solve", response_model=Solved, **one_answer)
    async def solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Response:
        """Proven value, a best move, and the principal variation."""
        return await asked("solve", game, body, request)

    @app.post("/games/{game}/analyse", response_model=Solved, **one_answer)
    async def analyse(game: GameName, body: AnalyseRequest, request: HttpRequest) -> Response:
        """Proven values of the position and of every move."""
        return await asked("analyse", game, body, request)

    @app.post("/games/{game}/explain", response_model=Explained, **one_answer)
    async def explain(game: GameName, body: ExplainRequest, request: HttpRequest) -> Response:
        """Reasons: who is ahead, what threatens, and what is wrong with a move."""
        return await asked("explain", game, body, request)

    @app.post("/games/{game}/review", response_model=Reviewed, **one_answer)
    async def review(game: GameName, body: ReviewRequest, request: HttpRequest) -> Response:
        """Marks and turning points of a whole game."""
        return await asked("review", game, body, request)

    @app.post("/games/{game}/puzzles", response_model=Puzzles, **one_answer)
    async def puzzles(game: GameName, body: PuzzlesRequest, request: HttpRequest) -> Response:
        """Positions with exactly one solution, from games of the engine against itself."""
        return await asked("puzzles", game, body, request)

    @app.post("/games/{game}/perft", response_model=Counted, **one_answer)
    async def perft(game: GameName, body: PerftRequest, request: HttpRequest) -> Response:
        """Number of lines of play (perft)."""
        return await asked("perft", game, body, request)

    @app.post("/games/{game}/move", response_model=Moved, **one_answer)
    async def move(game: GameName, body: LevelRequest, request: HttpRequest) -> Response:
        """Move chosen by a level."""
        return await asked("move", game, body, request)

    @app.post("/games/{game}/tree", tags=["questions"], responses=UNASKED | responses(409, 503))
    def tree(game: GameName, body: TreeRequest) -> TreeView:
        """Tree of a small search, and why each branch ended."""
        with as_failures():
            return views.show_tree(service.registry, game, body)

    @app.post("/games/{game}/evaluate", tags=["questions"], responses=UNASKED)
    def evaluate(game: GameName, body: EvaluateRequest) -> Estimated:
        """Static evaluation, without a search."""
        with as_failures():
            return questions.estimate(service.registry, game, body)


def _add_streams(app: FastAPI, service: Service) -> None:
    responses = {200: {"model": Event, "description": "Newline-delimited JSON."}} | ASKED
    in_lines: Any = {"tags": ["streams"], "response_class": EventLines, "responses": responses}

    async def streamed(kind: str, game: str, body: Request, request: HttpRequest) -> Response:
        events = EventQueue()

        async def begin() -> asyncio.Task[Run]:
            question = await service.question(kind, game, body, events.put)
            starting = asyncio.create_task(service.pool.start(question))
            try:
                await events.wait(starting)
            except BaseException:
                end(starting)
                raise
            return starting

        return EventLines(await unless_disconnected(request, begin()), events)

    @app.post("/games/{game}/search/stream", **in_lines)
    async def stream_search(game: GameName, body: SearchRequest, request: HttpRequest) -> Response:
        """Search, reported depth by depth."""
        return await streamed("search", game, body, request)

    @app.post("/games/{game}/solve/stream", **in_lines)
    async def stream_solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Response:
        """Proof of the value, reported every second."""
        return await streamed("solve", game, body, request)

    @app.post("/games/{game}/analyse/stream", **in_lines)
    async def stream_analyse(
        game: GameName, body: AnalyseRequest, request: HttpRequest
    ) -> Response:
        """Proof of the value of every move, reported every second."""
        return await streamed("analyse", game, body, request)

    @app.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        await converse(service, socket)


def _add_service(app: FastAPI, service: Service) -> None:
    @app.get(
        "/health",
        tags=["service"],
        responses=responses(403)
        | {503: {"model": Health, "description": "The service is starting or stopping."}},
    )
    def health(response: Response) -> Health:
        """Readiness and load of the service."""
        status = service.status
        response.status_code = 200 if status == "ready" else 503
        pool = service.pool
        return Health.model_validate(
            {
                "status": status,
                "version": app.version,
                "searching": len(pool.running),
                "waiting": len(pool.waiting),
                "engines": pool.engines.count,
                "megabytes": pool.engines.megabytes,
                "room": pool.engines.room,
                "games": pool.code.count,
                "most_games": pool.code.most,
            }
        )

    @app.get(
        "/metrics",
        tags=["service"],
        response_class=PlainTextResponse,
        responses=responses(403),
    )
    def metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(service.metrics.text(), media_type=service.metrics.media_type)


def _describe(app: FastAPI, registry: GameRegistry) -> None:
    """Summarise each operation in a line, describe errors, and list the games if they are fixed."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = plain()
        document["components"]["schemas"]["ErrorBody"] = ErrorBody.model_json_schema()
        for path in document["paths"].values():
            for operation in path.values():
                operation["summary"] = operation.pop("description").rstrip(".")
                for parameter in operation.get("parameters", ()):
                    if parameter["in"] == "path" and registry.only:
                        parameter["schema"]["enum"] = registry.names()
                        parameter["schema"].pop("examples", None)
        return document

    app.openapi = described  # type: ignore[method-assign]


# Errors


def error_response(request: HttpRequest, error: Exception) -> JSONResponse:
    """Return the response to an error."""
    headers = getattr(error, "headers", None)
    if isinstance(error, HTTPException) and error.status_code == CLIENT_LEFT:
        return JSONResponse(None, CLIENT_LEFT)
    if isinstance(error, RequestValidationError):
        error = failure_of_request(error.errors())
    elif isinstance(error, HTTPException) and not isinstance(error, Failure):
        status = error.status_code if error.status_code in MEANINGS else 500
        error = Failure(status, str(error.detail), "body" if status == 400 else None)
    failure = failure_of(error)
    return JSONResponse(failure.model().model_dump(), failure.status_code, headers)


# Clients that leave


async def unless_disconnected(request: HttpRequest, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of *work*, which is cancelled if the client leaves first."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(CLIENT_LEFT, "the client has left")
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _disconnected(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
