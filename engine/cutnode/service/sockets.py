"""The conversation over a WebSocket: start a search, follow it, stop it, start another.

Messages are JSON texts: clients send :class:`Start` and :class:`Stop`, and receive the events of
streams.  One search runs at a time; it always ends with a ``result`` or an ``error``.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from cutnode.service.failures import Failure, failure_of_request
from cutnode.service.models import Failed, Start, Started, Stop
from cutnode.service.pool import Run
from cutnode.service.questions import KINDS
from cutnode.service.state import Service
from cutnode.service.streams import EventQueue, end

MESSAGE: TypeAdapter[Start | Stop] = TypeAdapter(Annotated[Start | Stop, Field(discriminator="do")])

GOING_AWAY, NOT_TEXT, TRY_LATER = 1001, 1003, 1013
"""Codes of RFC 6455 and IANA for closing a WebSocket."""


async def converse(service: Service, socket: WebSocket) -> None:
    """Serve a client until it leaves, is silent for too long, or the service stops."""
    if service.sockets >= service.settings.clients:
        await socket.close(TRY_LATER)
        return
    service.sockets += 1
    try:
        await socket.accept()
        await Conversation(service, socket).run()
    except (WebSocketDisconnect, TimeoutError):
        pass  # the client has left, or does not read its messages
    finally:
        service.sockets -= 1


class Conversation:
    """A client and its search."""

    def __init__(self, service: Service, socket: WebSocket):
        self.service = service
        self.socket = socket
        self.run_now: Run | None = None
        self.searching: asyncio.Task[None] | None = None
        self.stopped = False
        """Whether to end the search as soon as it has begun."""

    async def run(self) -> None:
        """Handle messages until the client leaves or is silent for too long."""
        message = asyncio.ensure_future(self.socket.receive())
        try:
            while True:
                waited = {message} if self.searching is None else {message, self.searching}
                idle = self.service.settings.idle if self.searching is None else None
                done, _ = await asyncio.wait(
                    waited, timeout=idle, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    await self.socket.close(GOING_AWAY, "silent for too long")
                    return
                if self.searching in done:
                    self.searching.result()
                    self.searching = None
                if message in done:
                    received = message.result()
                    if received["type"] == "websocket.disconnect":
                        return
                    if received.get("text") is None:
                        await self.socket.close(NOT_TEXT, "messages must be text")
                        return
                    message = asyncio.ensure_future(self.socket.receive())
                    await self._take(received["text"])
        finally:
            message.cancel()
            if self.searching is not None:
                self.searching.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await self.searching

    async def _take(self, text: str) -> None:
        """Carry out a message."""
        try:
            message = MESSAGE.validate_json(text)
            if isinstance(message, Stop):
                if self.searching is None:
                    raise Failure(409, "no search is running", "do")
                self._stop()
                return
            if self.searching is not None:
                raise Failure(
                    409, "a search is already running; stop it, or wait for its result", "do"
                )
            asked = KINDS[message.kind].request.model_validate(message.request)
        except ValidationError as error:
            await self._fail(failure_of_request(error.errors()))
        except Failure as failure:
            await self._fail(failure)
        else:
            self.stopped = False
            self.searching = asyncio.ensure_future(self._search(message, asked))

    def _stop(self) -> None:
        self.stopped = True
        if self.run_now is not None:
            self.run_now.end()

    async def _search(self, message: Start, asked: BaseModel) -> None:
        events = EventQueue()
        try:
            question = await self.service.question(message.kind, message.game, asked, events.put)
        except Failure as failure:
            await self._fail(failure)
            return
        starting = asyncio.create_task(self.service.pool.start(question))
        try:
            async for event in events.of(starting):
                if isinstance(event, Started):
                    self.run_now = starting.result()
                    if self.stopped:
                        self.run_now.end()
                await self._send(event)
        finally:
            end(starting)
            self.run_now = None

    async def _fail(self, failure: Failure) -> None:
        await self._send(Failed.model_validate(failure.model().model_dump()))

    async def _send(self, event: BaseModel) -> None:
        """Send an event; :class:`TimeoutError` if the client does not read it in time."""
        async with asyncio.timeout(self.service.settings.patience):
            await self.socket.send_text(event.model_dump_json())
