"""The routes of a service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from importlib import metadata
from typing import Annotated, Any, TypeVar, cast

from fastapi import FastAPI, Query, Response, WebSocket
from fastapi import Path as InPath
from fastapi import Request as HttpRequest
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException

from engine.contract.dispatch import game_name
from engine.service import tasks
from engine.service.catalogue import Catalogue
from engine.service.failures import (
    MEANINGS,
    Failure,
    failure_of,
    failure_of_request,
    report,
    responses,
)
from engine.service.guard import Guard
from engine.service.metrics import Metrics
from engine.service.models import (
    Answer,
    Ask,
    Counted,
    ErrorBody,
    Estimated,
    EvaluateRequest,
    Event,
    Games,
    GameView,
    Health,
    PerftRequest,
    PositionView,
    Request,
    Searched,
    SearchRequest,
    Solved,
    SolveRequest,
)
from engine.service.pool import Pool, Run
from engine.service.settings import Settings
from engine.service.sockets import converse
from engine.service.streams import Lines, News
from engine.service.tasks import Task

__all__ = ["Service", "make_app"]

LEFT = 499
"""Counted for a client that left; nobody gets it."""

ABOUT = """\
Searches positions of board games, and proves their values.

Values and scores are for the player to move. Positions and moves are texts in the game's own
notation. A limit above that of the service is lowered to it. A client that leaves ends
its search.

`.../stream` answers with lines of JSON: `started`, an `iteration` for each depth of a search, the
`progress` of a proof every second, and `result` (or `error`). The WebSocket `/stream` does the same
for many searches, one after the other: send
`{"do": "start", "kind": "search", "game": "connect4", "request": {"position": "44"}}`, and
`{"do": "stop"}` to get what is found by then.
"""

T = TypeVar("T")


class Service:
    """What the routes share: the games, the pool, the counts, and how far the start is."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.catalogue = Catalogue(settings.games, settings.only)
        self.metrics = Metrics()
        self.pool = Pool(settings, self._done)
        self.sockets = 0
        self.ready = False
        watch = self.metrics.watch
        watch("cutnode_searching", "Searches that run.", lambda: len(self.pool.running))
        watch("cutnode_waiting", "Searches that wait.", lambda: len(self.pool.waiting))
        watch("cutnode_sockets", "WebSockets.", lambda: self.sockets)
        watch("cutnode_engines", "Engines.", lambda: self.pool.stock.count)
        watch(
            "cutnode_engine_megabytes",
            "MiB that the engines may take.",
            lambda: self.pool.stock.megabytes,
        )

    @property
    def status(self) -> str:
        return "stopping" if self.pool.closed else "ready" if self.ready else "starting"

    def compile(self, say: Callable[[str], None]) -> None:
        """Compile the games that were asked for; *say* is told each.  Takes its time."""
        for name in self.catalogue.given:
            say(name)
            for kind, asked in FIRST.items():
                with contextlib.suppress(Failure):  # a game may refuse to be solved
                    self.pool.compile(self.task(kind, name, asked))
            self.catalogue.compiled.add(name)
        self.ready = True

    def task(self, kind: str, game: str, asked: Any) -> Task:
        return tasks.prepare(self.catalogue, self.settings, kind, game, asked)

    async def prepared(self, kind: str, game: str, asked: Any) -> Task:
        """The task that a request means; :class:`Failure` if there is none."""
        if not self.ready:
            raise Failure(503, "games are being compiled", error="starting", wait=2)
        with telling():
            return await run_in_threadpool(self.task, kind, game, asked)

    def _done(self, task: Task, answer: Answer | None, seconds: float) -> None:
        labels = (task.kind, task.game.name)
        self.metrics.seconds.labels(*labels).observe(seconds)
        self.metrics.nodes.labels(*labels).inc(getattr(answer, "nodes", 0))
        if answer is not None:
            self.catalogue.compiled.add(game_name(task.key.cls))


FIRST = {
    "search": SearchRequest.model_validate({}),
    "solve": SolveRequest.model_validate({}),
    "perft": PerftRequest.model_validate({"depth": 1}),
}
"""Questions whose code is compiled at the start."""


def make_app(service: Service) -> FastAPI:
    """The application, for any server of ASGI."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.pool.close()
        service.pool.stock.close()

    app = FastAPI(
        title="cutnode",
        description=ABOUT,
        version=version(),
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
    app.add_middleware(
        Guard,
        body=service.settings.body,
        patience=service.settings.patience,
        count=lambda route, status: service.metrics.requests.labels(route, str(status)).inc(),
    )
    app.add_exception_handler(HTTPException, told)
    app.add_exception_handler(RequestValidationError, told)
    app.add_exception_handler(Exception, told)
    _add_games(app, service)
    _add_questions(app, service)
    _add_streams(app, service)
    _add_service(app, service)
    _describe(app, service.catalogue)
    return app


def version() -> str:
    """The version of cutnode that is installed."""
    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "0"


GameName = Annotated[
    str,
    InPath(max_length=200, description="A game, and perhaps a variant.", examples=["connect4"]),
]
"""A parameter of a path."""

ASKED = responses(400, 404, 408, 409, 413, 422, 500, 503)
"""What a question to an engine may get instead of an answer."""

UNASKED = responses(400, 404, 408, 413, 422, 500)
"""And one that needs no engine."""


def _add_games(app: FastAPI, service: Service) -> None:
    catalogue = service.catalogue

    @app.get("/games", tags=["games"], responses=responses(500))
    def list_games() -> Games:
        """The games, and how their variants are written."""
        views = []
        for name in catalogue.names():
            with contextlib.suppress(Failure):  # its file is damaged
                views.append(catalogue.view(name))
        return Games(games=views, compiled=sorted(catalogue.compiled))

    @app.get("/games/{game}", tags=["games"], responses=responses(404, 422, 500))
    def show_game(game: GameName) -> GameView:
        """One game."""
        with telling():
            return catalogue.view(game)

    @app.get("/games/{game}/position", tags=["games"], responses=responses(404, 422, 500))
    def show_position(game: GameName, query: Annotated[Ask, Query()]) -> PositionView:
        """A position: its board, its moves, and what chance may do there."""
        with telling():
            return tasks.shown(catalogue, game, query.position)


def _add_questions(app: FastAPI, service: Service) -> None:
    async def asked(kind: str, game: str, body: Request, request: HttpRequest) -> Any:
        async def answer() -> Answer:
            return await service.pool.ask(await service.prepared(kind, game, body))

        return await while_there(request, answer())

    @app.post("/games/{game}/search", tags=["questions"], responses=ASKED)
    async def search(game: GameName, body: SearchRequest, request: HttpRequest) -> Searched:
        """The best moves and their scores, as deep as limits allow."""
        return cast(Searched, await asked("search", game, body, request))

    @app.post("/games/{game}/solve", tags=["questions"], responses=ASKED)
    async def solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Solved:
        """The proven value, a best move, and the line of best play."""
        return cast(Solved, await asked("solve", game, body, request))

    @app.post("/games/{game}/analyse", tags=["questions"], responses=ASKED)
    async def analyse(game: GameName, body: SolveRequest, request: HttpRequest) -> Solved:
        """The proven value, and that of every move."""
        return cast(Solved, await asked("analyse", game, body, request))

    @app.post("/games/{game}/perft", tags=["questions"], responses=ASKED)
    async def perft(game: GameName, body: PerftRequest, request: HttpRequest) -> Counted:
        """The number of lines of play."""
        return cast(Counted, await asked("perft", game, body, request))

    @app.post("/games/{game}/evaluate", tags=["questions"], responses=UNASKED)
    def evaluate(game: GameName, body: EvaluateRequest) -> Estimated:
        """The static estimate, without any search."""
        with telling():
            return tasks.estimated(service.catalogue, game, body)


def _add_streams(app: FastAPI, service: Service) -> None:
    told_as = {200: {"model": Event, "description": "Lines of JSON."}} | ASKED

    async def streamed(kind: str, game: str, body: Request, request: HttpRequest) -> Response:
        news = News()

        async def begin() -> Run:
            return await service.pool.start(await service.prepared(kind, game, body), news.tell)

        return Lines(await while_there(request, begin()), news)

    @app.post(
        "/games/{game}/search/stream", tags=["streams"], response_class=Lines, responses=told_as
    )
    async def stream_search(game: GameName, body: SearchRequest, request: HttpRequest) -> Response:
        """A search, told depth by depth."""
        return await streamed("search", game, body, request)

    @app.post(
        "/games/{game}/solve/stream", tags=["streams"], response_class=Lines, responses=told_as
    )
    async def stream_solve(game: GameName, body: SolveRequest, request: HttpRequest) -> Response:
        """A proof, told every second."""
        return await streamed("solve", game, body, request)

    @app.post(
        "/games/{game}/analyse/stream", tags=["streams"], response_class=Lines, responses=told_as
    )
    async def stream_analyse(game: GameName, body: SolveRequest, request: HttpRequest) -> Response:
        """A proof of the value of every move, told every second."""
        return await streamed("analyse", game, body, request)

    @app.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        await converse(service, socket)


def _add_service(app: FastAPI, service: Service) -> None:
    @app.get("/", include_in_schema=False)
    def home() -> Response:
        return RedirectResponse("/docs")

    @app.get(
        "/health",
        tags=["service"],
        responses={503: {"model": Health, "description": "It starts, or is about to end."}},
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
                "engines": pool.stock.count,
                "megabytes": pool.stock.megabytes,
                "room": pool.stock.room,
            }
        )

    @app.get("/metrics", tags=["service"], response_class=PlainTextResponse)
    def metrics() -> Response:
        """Counts and times, for Prometheus."""
        return Response(service.metrics.text(), media_type=service.metrics.media_type)


def _describe(app: FastAPI, catalogue: Catalogue) -> None:
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
                    if parameter["in"] == "path" and catalogue.only:
                        parameter["schema"]["enum"] = catalogue.names()
                        parameter["schema"].pop("examples", None)
        return document

    app.openapi = described  # type: ignore[method-assign]


# Errors


def told(request: HttpRequest, error: Exception) -> JSONResponse:
    """An error as a client is told of it."""
    headers = getattr(error, "headers", None)
    if isinstance(error, HTTPException) and error.status_code == LEFT:
        return JSONResponse(None, LEFT)
    if isinstance(error, RequestValidationError):
        error = failure_of_request(error.errors())
    elif isinstance(error, HTTPException) and not isinstance(error, Failure):
        status = error.status_code if error.status_code in MEANINGS else 500
        error = Failure(status, str(error.detail), "body" if status == 400 else None)
    failure = failure_of(error)
    return JSONResponse(failure.model().model_dump(), failure.status_code, headers)


@contextlib.contextmanager
def telling() -> Iterator[None]:
    """What a game raises becomes what a client is told."""
    try:
        yield
    except Exception as error:
        failure = failure_of(error)
        if failure.status_code == 500:
            report(error)
        raise failure from error


# Clients that leave


async def while_there(request: HttpRequest, work: Coroutine[Any, Any, T]) -> T:
    """What *work* gives; it is cancelled if the client leaves before that."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(LEFT, "the client has left")
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _left(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
