"""Protection against pages of other sites: the hosts and the origins that a service answers.

The owner of a domain can point its name at this machine (DNS rebinding); a page of that domain
could then read the answers of a service here.  So every request must name a known host.
An address cannot be rebound: the one that a connection reached is always known.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from cutnode.contract.text import quoted
from cutnode.service.failures import Failure
from cutnode.service.settings import Settings

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s\[\]:/@]+)(?::[0-9]*)?")
"""The ``Host`` header of a request: a name or an address, and perhaps a port."""

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that start no work; browsers hide the answers from pages of other sites."""


class AllowedHosts:
    """Middleware that refuses (403) whatever names an unknown host or comes from another origin."""

    def __init__(self, app: ASGIApp, *, settings: Settings):
        self.app = app
        self.settings = settings
        self.names = {"localhost", *map(plain_host, settings.hosts)}
        self.every_address = any(map(is_wildcard, settings.hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        failure = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if failure is None:
            await self.app(scope, receive, send)
            return
        response = JSONResponse(failure.model().model_dump(), failure.status_code)
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(response)
        else:
            await response(scope, receive, send)

    def _refusal(self, scope: Scope) -> Failure | None:
        """Return why a request is refused; None if it is not."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if not self._allows(host, scope.get("server")):
            option = "to allow it, start the service with --allow-host HOST"
            return Failure(403, f"host {quoted(host)} is not allowed; {option}", "header.host")
        reads = scope["type"] == "http" and scope["method"] in READING
        if reads or origin is None or origin.partition("://")[2].lower() == host.lower():
            return None
        if self.settings.allows(origin):
            return None
        option = "to allow it, start the service with --cors ORIGIN"
        return Failure(403, f"origin {quoted(origin)} is not allowed; {option}", "header.origin")

    def _allows(self, header: str, server: Any) -> bool:
        """Return whether a host is known; *server* is the address that the connection reached."""
        match = HOST.fullmatch(header)
        if "*" in self.names:
            return True
        if match is None:
            return False
        host = plain_host(match[1])
        address = address_of(host)
        if address is None:
            return host in self.names
        known = self.every_address or address.is_loopback or host in self.names
        return known or (bool(server) and host == plain_host(server[0]))


def plain_host(host: str) -> str:
    """Normalise a host for comparison."""
    name = host.strip("[]").partition("%")[0].rstrip(".").lower()
    address = address_of(name)
    return name if address is None else str(address)


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a host as an IP address; None if it is a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_wildcard(host: str) -> bool:
    """Return whether an address stands for every address of the machine."""
    address = address_of(host)
    return address is not None and address.is_unspecified
