"""The events of a search, as a queue and as newline-delimited JSON."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from cutnode.service.failures import Failure
from cutnode.service.models import Failed, Report, Streamed
from cutnode.service.pool import Run


class EventQueue:
    """A queue of events from a search, in its own thread, to a coroutine."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Report | None] = asyncio.Queue()
        self._heard = asyncio.Event()
        """Set by the first event."""

    def put(self, event: Report | None) -> None:
        """Add an event from any thread; None marks the end."""
        with contextlib.suppress(RuntimeError):  # the event loop has closed meanwhile
            self.loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: Report | None) -> None:
        self.queue.put_nowait(event)
        self._heard.set()

    async def wait(self, starting: asyncio.Task[Run]) -> None:
        """Wait for the first event; :class:`Failure` if the search cannot start."""
        heard = asyncio.ensure_future(self._heard.wait())
        try:
            await asyncio.wait({starting, heard}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
        finally:
            heard.cancel()

    async def of(self, starting: asyncio.Task[Run]) -> AsyncIterator[BaseModel]:
        """Yield the events of a search, from before it starts until it ends."""
        starting.add_done_callback(self._follow)
        while (event := await self.queue.get()) is not None:
            yield event
        try:
            run = await starting
            yield Streamed.model_validate({"result": await run.wait()})
        except Failure as failure:
            yield Failed.model_validate(failure.model().model_dump())

    def _follow(self, starting: asyncio.Task[Run]) -> None:
        """Mark the end of the events when the search ends, or now if it could not start."""
        if starting.cancelled() or starting.exception() is not None:
            self.put(None)
        else:
            starting.result().answer.add_done_callback(lambda _: self.put(None))


def end(starting: asyncio.Task[Run]) -> None:
    """End a search, or do not start it."""
    if not starting.done():
        starting.cancel()
    elif not starting.cancelled() and starting.exception() is None:
        starting.result().end()


class EventLines(StreamingResponse):
    """A response with a line of JSON for each event; when it ends, so does the search."""

    media_type = "application/x-ndjson"

    def __init__(self, starting: asyncio.Task[Run], events: EventQueue, status_code: int = 200):
        super().__init__(self._lines(starting, events), status_code)
        self.starting = starting

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            end(self.starting)

    @staticmethod
    async def _lines(starting: asyncio.Task[Run], events: EventQueue) -> AsyncIterator[str]:
        async for event in events.of(starting):
            yield event.model_dump_json() + "\n"
