"""The routes of a service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated, Any, TypeVar, cast

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
from cutnode.service import questions, views
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
    Games,
    GameView,
    Health,
    LevelRequest,
    Moved,
    PerftRequest,
    PositionRequest,
    PositionView,
    Request,
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
from cutnode.service.streams import EventLines, EventQueue

CLIENT_LEFT = 499
"""The status that is counted for a client that left; nobody gets it."""

ABOUT = """\
Searches positions of board games, and proves their values.

Values and scores are for the player to move. Positions and moves are texts in the game's own
notation. A limit above that of the service is lowered to it. A client that leaves ends
its search. Each question begins with empty tables, unless it names a `session`: what is stored for
one question of a session serves the next.

A board to play and analyse at is served at [/](/).

`.../stream` answers with lines of JSON: `started`, an `iteration` for each depth of a search, the
`progress` of a proof every second, and `result` (or `error`). The WebSocket `/stream` does the same
for many searches, one after the other: send
`{"do": "start", "kind": "search", "game": "connect4", "request": {"position": "44"}}`, and
`{"do": "stop"}` to get what is found by then.
"""

T = TypeVar("T")


def make_app(service: Service) -> FastAPI:
    """Make the application, for any server of ASGI."""

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
            {"name": "games", "description": "What there is."},
            {"name": "questions", "description": "One question, one answer."},
            {"name": "streams", "description": "The same, told while it is searched."},
            {"name": "service", "description": "How the service is."},
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
    InPath(max_length=200, description="A game, and perhaps a variant.", examples=["connect4"]),
]
"""A parameter of a path."""

ASKED = responses(400, 404, 408, 409, 413, 422, 500, 503)
"""The errors of questions to an engine."""

UNASKED = responses(400, 404, 408, 413, 422, 500)
"""The errors of questions that need no engine."""


def _add_games(app: FastAPI, service: Service) -> None:
    registry = service.registry

    @app.get("/games", tags=["games"], responses=responses(500))
    def list_games() -> Games:
        """The games, and how their variants are written."""
        views = []
        for name in registry.names():
            with contextlib.suppress(Failure):  # its file is damaged
                views.append(registry.view(name))
        return Games(games=views, levels=list(LEVELS), compiled=service.pool.code.names())

    @app.get("/games/{game}", tags=["games"], responses=responses(404, 422, 500))
    def show_game(game: GameName) -> GameView:
        """One game."""
        with as_failures():
            return registry.view(game)

    @app.get("/games/{game}/board", tags=["games"], responses=responses(404, 422, 500))
    def show_board(game: GameName) -> BoardView | None:
        """The board of a game, from which it can be drawn; null if it declares none."""
        with as_failures():
            return views.show_board(registry, game)

    @app.get("/games/{game}/position", tags=["games"], responses=responses(404, 422, 500))
    def show_position(game: GameName, query: Annotated[PositionRequest, Query()]) -> PositionView:
        """A position: its board, its moves, and what chance may do there."""
        with as_failures():
            return views.show_position(registry, game, query.position)

    @app.post("/games/{game}/setup", tags=["games"], responses=UNASKED | responses(409))
    def set_up(game: GameName, body: SetupRequest) -> PositionView:
        """The position of a board that is given cell by cell."""
        with as_failures():
            return views.set_up(registry, game, body)


def _add_questions(app: FastAPI, service: Service) -> None:
    async def asked(kind: str, game: str, body: Request, request: HttpRequest) -> Any:
        async def answer() -> Answer:
            return await service.pool.ask(await service.question(kind, game, body))

        return await unless_disconnected(request, answer())

    @app.post("/games/{game}/search", tags=["questions"], responses=ASKED)
    async def search(game: GameName, body: SearchRequest, request: HttpRequest) -> Searched:
        """The best moves and their scores, as deep as limits allow."""
        return cast(Searched, await asked("search", game, body, request))

    @app.post("/games/{game}/solve", tags=["questions"], responses=ASKED)
    async def solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Solved:
        """The proven value, a best move, and the line of best play."""
        return cast(Solved, await asked("solve", game, body, request))

    @app.post("/games/{game}/analyse", tags=["questions"], responses=ASKED)
    async def analyse(game: GameName, body: AnalyseRequest, request: HttpRequest) -> Solved:
        """The proven value, and that of every move."""
        return cast(Solved, await asked("analyse", game, body, request))

    @app.post("/games/{game}/perft", tags=["questions"], responses=ASKED)
    async def perft(game: GameName, body: PerftRequest, request: HttpRequest) -> Counted:
        """The number of lines of play."""
        return cast(Counted, await asked("perft", game, body, request))

    @app.post("/games/{game}/move", tags=["questions"], responses=ASKED)
    async def move(game: GameName, body: LevelRequest, request: HttpRequest) -> Moved:
        """The move that a level chooses."""
        return cast(Moved, await asked("move", game, body, request))

    @app.post("/games/{game}/tree", tags=["questions"], responses=UNASKED | responses(409, 503))
    def tree(game: GameName, body: TreeRequest) -> TreeView:
        """The tree that a small search visits, and why it went no further."""
        with as_failures():
            return views.show_tree(service.registry, game, body)

    @app.post("/games/{game}/evaluate", tags=["questions"], responses=UNASKED)
    def evaluate(game: GameName, body: EvaluateRequest) -> Estimated:
        """The static estimate, without any search."""
        with as_failures():
            return questions.estimate(service.registry, game, body)


def _add_streams(app: FastAPI, service: Service) -> None:
    responses = {200: {"model": Event, "description": "Lines of JSON."}} | ASKED
    in_lines: Any = {"tags": ["streams"], "response_class": EventLines, "responses": responses}

    async def streamed(kind: str, game: str, body: Request, request: HttpRequest) -> Response:
        events = EventQueue()

        async def begin() -> Run:
            return await service.pool.start(await service.question(kind, game, body), events.put)

        return EventLines(await unless_disconnected(request, begin()), events)

    @app.post("/games/{game}/search/stream", **in_lines)
    async def stream_search(game: GameName, body: SearchRequest, request: HttpRequest) -> Response:
        """A search, told depth by depth."""
        return await streamed("search", game, body, request)

    @app.post("/games/{game}/solve/stream", **in_lines)
    async def stream_solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Response:
        """A proof, told every second."""
        return await streamed("solve", game, body, request)

    @app.post("/games/{game}/analyse/stream", **in_lines)
    async def stream_analyse(
        game: GameName, body: AnalyseRequest, request: HttpRequest
    ) -> Response:
        """A proof of the value of every move, told every second."""
        return await streamed("analyse", game, body, request)

    @app.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        await converse(service, socket)


def _add_service(app: FastAPI, service: Service) -> None:
    @app.get(
        "/health",
        tags=["service"],
        responses=responses(403)
        | {503: {"model": Health, "description": "It starts, or is about to end."}},
    )
    def health(response: Response) -> Health:
        """Whether it answers questions, and how much it has to do."""
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
        """Counts and times, for Prometheus."""
        return Response(service.metrics.text(), media_type=service.metrics.media_type)


def _describe(app: FastAPI, registry: GameRegistry) -> None:
    """Describe each question in a line, what errors are, and the games, if there are no others."""
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
    """Return the result of *work*, which is cancelled if the client leaves before."""
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
