"""The events of a search, as a queue and as newline-delimited JSON."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from cutnode.service.failures import Failure
from cutnode.service.models import DepthDone, Failed, Progressed, Started, Streamed
from cutnode.service.pool import Run


class EventQueue:
    """A queue of events from a searching thread to a coroutine."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[DepthDone | Progressed | None] = asyncio.Queue()

    def put(self, event: DepthDone | Progressed | None) -> None:
        """Add an event from any thread; None marks the end."""
        with contextlib.suppress(RuntimeError):  # the event loop has closed meanwhile
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)

    async def of(self, run: Run) -> AsyncIterator[BaseModel]:
        """Yield the events of a search until it ends."""
        yield Started(limits=run.question.limits)
        run.answer.add_done_callback(lambda _: self.put(None))
        while (event := await self.queue.get()) is not None:
            yield event
        try:
            yield Streamed.model_validate({"result": await run.wait()})
        except Failure as failure:
            yield Failed.model_validate(failure.model().model_dump())


class EventLines(StreamingResponse):
    """A response with a line of JSON for each event; when it ends, so does the search."""

    media_type = "application/x-ndjson"

    def __init__(self, run: Run, events: EventQueue, status_code: int = 200):
        super().__init__(self._lines(run, events), status_code)
        self.run = run

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            self.run.end()

    @staticmethod
    async def _lines(run: Run, events: EventQueue) -> AsyncIterator[str]:
        async for event in events.of(run):
            yield event.model_dump_json() + "\n"
