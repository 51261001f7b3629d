"""Limits that protect a service from large requests and slow clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from h11 import IDLE
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutnode.service.failures import Failure


class RequestLimits:
    """Middleware that limits the size of a request's body, and the time it may take to arrive.

    *count* is called with the route and the status of each answer.
    """

    def __init__(
        self, app: ASGIApp, *, body: int, patience: float, count: Callable[[str, int], None]
    ):
        self.app = app
        self.body = body
        self.patience = patience
        self.count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        until = asyncio.get_running_loop().time() + self.patience
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        read, complete = 0, False

        async def bounded() -> Message:
            nonlocal read, complete
            if complete:
                return await receive()
            if int(declared) > self.body:
                raise self._too_large()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                detail = f"the body did not arrive within {self.patience:g} seconds"
                raise Failure(408, detail, "body") from None
            read += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if read > self.body:
                raise self._too_large()
            return message

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                self.count(route, message["status"])
            await send(message)

        await self.app(scope, bounded, counted)

    def _too_large(self) -> Failure:
        return Failure(413, f"the body is too large; at most {self.body} bytes are allowed", "body")


def timeout_protocol(patience: float) -> type[H11Protocol]:
    """Make an HTTP/1.1 protocol that drops a connection after it stalls for *patience* seconds.

    A connection stalls while the head of a request is incomplete, or while the client does not
    read an answer.
    """

    class TimeoutProtocol(H11Protocol):
        head: asyncio.TimerHandle | None = None
        answer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.head = self.loop.call_later(patience, transport.abort)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not IDLE:
                _cancel(self.head)
                self.head = None
            elif self.head is None:
                self.head = self.loop.call_later(patience, self.transport.abort)

        def pause_writing(self) -> None:
            super().pause_writing()
            self.answer = self.loop.call_later(patience, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self.answer)

        def connection_lost(self, exc: Exception | None) -> None:
            _cancel(self.head)
            _cancel(self.answer)
            super().connection_lost(exc)

    return TimeoutProtocol


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
