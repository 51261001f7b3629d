"""The limits of a service, the same for all its clients."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.storage.tables import available_megabytes

USUAL_SECONDS = 1.0
"""The time of a search that is given no limit."""

THREAD_MEGABYTES = 8
"""The memory of a thread of an engine beside the table, roughly."""

PROGRAM_MEGABYTES = 400
"""The memory of the program and its compiler, before any game is compiled, roughly."""

GAME_MEGABYTES = 150
"""The memory of a game that the process compiles for all questions, roughly; tens of times less
if its code is on disk from an earlier run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of a service; :class:`CutnodeError` if they contradict each other."""

    games: tuple[str, ...] = ()
    """Games that are compiled before it is ready: names, modules or files, and a variant."""
    only: bool = False
    """Refuse all other games."""
    prepared: bool = True
    """Compile the games before it is ready; otherwise, each when it is first asked about."""
    cors: tuple[str, ...] = ()
    """The origins of pages that may ask, beside its own: ``https://host:port``, or ``*``."""
    hosts: tuple[str, ...] = ()
    """The hosts that requests may name in addition to ``localhost`` and the address that they
    reach: names or addresses, or ``*``.  ``0.0.0.0`` and ``::`` stand for every address."""
    tablebases: tuple[str, ...] = ()
    """Folders of tablebases, one a game at most, from which their positions are answered."""
    searches: int = 1
    """The most searches at once,"""
    threads: int = 1
    """the threads of each,"""
    queue: int = 16
    """and the most that wait."""
    table: int = 64
    """The most MiB of a search's table."""
    most_games: int = 16
    """The most games of which compiled code is held; each variant is a game."""
    memory: int | None = None
    """The most MiB of all engines together, those that wait for the next search included; None:
    room for twice as many as search at once."""
    seconds: float = 60.0
    """The most seconds of a search, and of waiting for one."""
    nodes: int | None = None
    """The most nodes of a search."""
    clients: int = 256
    """The most connections, and as many WebSockets."""
    body: int = 1 << 20
    """The most bytes of a request's body, and of a message."""
    patience: float = 10.0
    """The most seconds that a client may take to send a request, or to take an answer,"""
    idle: float = 300.0
    """and that a WebSocket may be silent while nothing is searched for it."""
    grace: float = 2.0
    """The most seconds that answers may take to go out when the service ends."""

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise CutnodeError(f"a search may take some seconds, not {self.seconds}")
        for origin in self.cors:
            if origin != "*" and not re.fullmatch(r"https?://[^/?#\s@]+", origin):
                raise CutnodeError(
                    f"{quoted(origin)} is not an origin; write https://HOST or https://HOST:PORT, "
                    f"or * for every page"
                )
        for host in self.hosts:
            if not re.fullmatch(r"\[?[0-9A-Fa-f:.]+(%\w+)?\]?|[^\s/:@\[\]]+", host):
                raise CutnodeError(
                    f"{quoted(host)} is not a host; write a name or an address, without a port, "
                    f"or * for every host"
                )
        if self.prepared and len(self.games) > self.most_games:
            raise CutnodeError(
                f"{len(self.games)} games to compile at the start are more than the "
                f"{self.most_games} that are held: raise --max-games"
            )
        if self.only and not self.games:
            raise CutnodeError("there are no games: say which with --games, or leave out --only")
        if self.memory is not None and self.memory < self.least_memory:
            raise CutnodeError(
                f"{self.searches} searches at once with tables of {self.table} MiB take "
                f"{self.least_memory} MiB, more than {self.memory}"
            )

        available = available_megabytes()
        if available is not None and self.least_memory > available:
            raise CutnodeError(
                f"{self.searches} searches at once with tables of {self.table} MiB take "
                f"{self.least_memory} MiB, and {available} MiB of memory are available"
            )

    def allows(self, origin: str) -> bool:
        """Return whether a page of another site may ask."""
        return "*" in self.cors or origin in self.cors

    @property
    def least_memory(self) -> int:
        """The MiB of as many engines as search at once."""
        return self.searches * (self.table + self.threads * THREAD_MEGABYTES)

    @property
    def room(self) -> int:
        """The MiB that engines may take."""
        return 2 * self.least_memory if self.memory is None else self.memory

    @property
    def most_memory(self) -> int:
        """The MiB that the whole service comes to when it holds all the games it may, roughly."""
        return PROGRAM_MEGABYTES + self.room + self.most_games * GAME_MEGABYTES
