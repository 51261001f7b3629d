"""The process of a service: startup and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from cutnode.service.app import make_app
from cutnode.service.limits import timeout_protocol
from cutnode.service.settings import Settings
from cutnode.service.state import Service

GRACE = 0.5
"""The seconds that stopped searches have to answer before their connections are closed."""


class Server(uvicorn.Server):
    """A service on a socket.  SIGTERM and SIGINT stop it; running searches answer with their best.

    *say* is called with each game before it is compiled, and *ready* once all are.
    """

    def __init__(
        self,
        settings: Settings,
        say: Callable[[str], None] = lambda game: None,
        ready: Callable[[], None] = lambda: None,
    ):
        self.service = Service(settings)
        self.say = say
        self.ready = ready
        self.failure: Exception | None = None
        """The error that prevented startup."""
        self.compiling = threading.Thread(target=self._compile, name="compile", daemon=True)
        config = uvicorn.Config(
            make_app(self.service),
            http=timeout_protocol(settings.patience),
            ws=WebSocketsSansIOProtocol,
            ws_max_size=settings.body,
            ws_per_message_deflate=False,  # a small message could inflate to a large one
            limit_concurrency=settings.clients,
            timeout_graceful_shutdown=max(1, round(settings.grace)),
            log_config=None,
            access_log=False,
            lifespan="on",
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.compiling.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.service.pool.close()
        await self.service.pool.wait_until_idle(
            GRACE
        )  # uvicorn closes WebSockets at once, without waiting for results
        await super().shutdown(sockets)
        for connection in [*self.server_state.connections]:  # the ones still open
            connection.transport.abort()
        await asyncio.sleep(0)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as uvicorn does, but do not raise them again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _compile(self) -> None:
        try:
            self.service.compile(self.say)
            self.ready()
        except Exception as error:
            self.failure = error
            self.should_exit = True

    def is_busy(self) -> bool:
        """Return whether a thread still compiles or searches, though nothing waits for it."""
        return self.compiling.is_alive() or self.service.pool.is_busy()
