"""The socket of a service, and its address."""

from __future__ import annotations

import socket

from cutnode.contract.errors import CutnodeError

BACKLOG = 128


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; :class:`CutnodeError` if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise CutnodeError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    # Connections inherit it.  Without it, an answer in two parts waits 40 ms between them.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address(listening: socket.socket) -> str:
    """Return the URL of a service."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
