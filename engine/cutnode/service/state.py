"""The state of a service, which all its routes share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from fastapi.concurrency import run_in_threadpool

from cutnode.service.failures import Failure, as_failures
from cutnode.service.games import GameRegistry
from cutnode.service.metrics import Metrics
from cutnode.service.models import Answer, PerftRequest, SearchRequest, SolveRequest
from cutnode.service.pool import SearchPool
from cutnode.service.questions import Question, read_question
from cutnode.service.settings import Settings


class Service:
    """The games, the pool and the metrics, and whether the service is ready."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.registry = GameRegistry(settings.games, settings.only, settings.tablebases)
        self.metrics = Metrics()
        self.pool = SearchPool(settings, self._done)
        self.sockets = 0
        self.ready = False
        watch = self.metrics.watch
        watch("cutnode_searching", "Searches that run.", lambda: len(self.pool.running))
        watch("cutnode_waiting", "Searches that wait.", lambda: len(self.pool.waiting))
        watch("cutnode_sockets", "WebSockets.", lambda: self.sockets)
        watch("cutnode_engines", "Engines.", lambda: self.pool.engines.count)
        watch("cutnode_games", "Games that are compiled.", lambda: self.pool.code.count)
        watch(
            "cutnode_engine_megabytes",
            "MiB that the engines may take.",
            lambda: self.pool.engines.megabytes,
        )

    @property
    def status(self) -> str:
        """The status: starting, ready or stopping."""
        return "stopping" if self.pool.closed else "ready" if self.ready else "starting"

    def compile(self, say: Callable[[str], None]) -> None:
        """Compile the games that it is started with; *say* is called with each."""
        for name in self.registry.given if self.settings.prepared else ():
            say(name)
            for kind, asked in FIRST.items():
                with contextlib.suppress(Failure):  # a game may refuse to be solved
                    self.pool.prepare(self._read(kind, name, asked))
        self.ready = True

    async def question(self, kind: str, game: str, asked: Any) -> Question:
        """Read what a request names; :class:`Failure` if it is not there."""
        if not self.ready:
            raise Failure(503, "games are being compiled", error="starting", wait=2)
        with as_failures():
            return await run_in_threadpool(self._read, kind, game, asked)

    def _read(self, kind: str, game: str, asked: Any) -> Question:
        return read_question(self.registry, self.settings, kind, game, asked)

    def _done(self, question: Question, answer: Answer | None, seconds: float) -> None:
        labels = (question.kind, question.game.name)
        self.metrics.seconds.labels(*labels).observe(seconds)
        self.metrics.nodes.labels(*labels).inc(getattr(answer, "nodes", 0))


FIRST = {
    "search": SearchRequest.model_validate({}),
    "solve": SolveRequest.model_validate({}),
    "perft": PerftRequest.model_validate({"depth": 1}),
}
"""The questions whose code is compiled at the start."""
