"""What is told of a search while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from engine.service.failures import Failure
from engine.service.models import Failed, Iterated, Progressed, Started, Streamed
from engine.service.pool import Run

__all__ = ["Lines", "News"]


class News:
    """What a searching thread has to tell, for a coroutine to read."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Iterated | Progressed | None] = asyncio.Queue()

    def tell(self, event: Iterated | Progressed | None) -> None:
        """From any thread; None is the end."""
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)

    async def of(self, run: Run) -> AsyncIterator[BaseModel]:
        """What is told of a search, to its end."""
        yield Started(limits=run.task.limits)
        run.answer.add_done_callback(lambda _: self.tell(None))
        while (event := await self.queue.get()) is not None:
            yield event
        try:
            yield Streamed.model_validate({"result": await run.wait()})
        except Failure as failure:
            yield Failed.model_validate(failure.model().model_dump())


class Lines(StreamingResponse):
    """What is told of a search, a line of JSON each.  The search ends with it."""

    media_type = "application/x-ndjson"

    def __init__(self, run: Run, news: News, status_code: int = 200):
        super().__init__(self._lines(run, news), status_code)
        self.run = run

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            self.run.end()

    @staticmethod
    async def _lines(run: Run, news: News) -> AsyncIterator[str]:
        async for event in news.of(run):
            yield event.model_dump_json() + "\n"
