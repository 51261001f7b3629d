"""The state that all routes of a service share."""

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
from cutnode.service.questions import OnEvent, Question, read_question
from cutnode.service.settings import Settings


class Service:
    """The games, the pool and the metrics of a service, and whether it is ready."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.registry = GameRegistry(settings.games, settings.only, settings.tablebases)
        self.metrics = Metrics()
        self.pool = SearchPool(settings, self._done)
        self.sockets = 0
        self.ready = False
        watch = self.metrics.watch
        watch("cutnode_searching", "Running searches.", lambda: len(self.pool.running))
        watch("cutnode_waiting", "Waiting searches.", lambda: len(self.pool.waiting))
        watch("cutnode_sockets", "Open WebSockets.", lambda: self.sockets)
        watch("cutnode_engines", "Engines, idle ones included.", lambda: self.pool.engines.count)
        watch("cutnode_games", "Compiled games.", lambda: self.pool.code.count)
        watch(
            "cutnode_engine_megabytes",
            "Memory that the engines may take, in MiB.",
            lambda: self.pool.engines.megabytes,
        )

    @property
    def status(self) -> str:
        """The status: starting, ready or stopping."""
        return "stopping" if self.pool.closed else "ready" if self.ready else "starting"

    def compile(self, say: Callable[[str], None]) -> None:
        """Compile the games of the settings; *say* is called with each."""
        for name in self.registry.given if self.settings.prepared else ():
            say(name)
            for kind, asked in FIRST.items():
                with contextlib.suppress(Failure):  # not every game can be solved
                    self.pool.prepare(
                        read_question(self.registry, self.settings, kind, name, asked)
                    )
        self.ready = True

    async def question(
        self, kind: str, game: str, asked: Any, on_event: OnEvent | None = None
    ) -> Question:
        """Resolve what a request names; :class:`Failure` if it does not exist."""
        if not self.ready:
            raise Failure(503, "the service is still compiling its games", error="starting", wait=2)
        with as_failures():
            return await run_in_threadpool(
                read_question, self.registry, self.settings, kind, game, asked, on_event
            )

    def _done(self, question: Question, answer: Answer | None, seconds: float) -> None:
        labels = (question.kind, question.game.name)
        self.metrics.seconds.labels(*labels).observe(seconds)
        self.metrics.nodes.labels(*labels).inc(getattr(answer, "nodes", 0))


FIRST = {
    "search": SearchRequest.model_validate({}),
    "solve": SolveRequest.model_validate({}),
    "perft": PerftRequest.model_validate({"depth": 1}),
}
"""The questions whose code is compiled at startup."""
