"""The limits of a service, which are the same for all its clients."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.storage.tables import available_megabytes

USUAL_SECONDS = 1.0
"""The time of a search without a limit."""

EXPLAINING_SECONDS = 2.0
"""The time of an explanation without a limit."""

THREAD_MEGABYTES = 8
"""The approximate memory of an engine's thread, apart from the table."""

PROGRAM_MEGABYTES = 400
"""The approximate memory of the program and its compiler, before any game is compiled."""

GAME_MEGABYTES = 150
"""The approximate memory of a game compiled for every kind of question; tens of times less if an
earlier run has left its code on disk."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of a service; :class:`CutnodeError` if they contradict each other."""

    games: tuple[str, ...] = ()
    """Games to compile at startup: names, modules or files, with a variant after a colon."""
    only: bool = False
    """Whether to refuse all other games."""
    prepared: bool = True
    """Whether to compile the games at startup, rather than each on its first request."""
    cors: tuple[str, ...] = ()
    """Other origins whose pages may send requests: ``https://host:port``, or ``*`` for all."""
    hosts: tuple[str, ...] = ()
    """Hosts that requests may name, in addition to ``localhost`` and the address that they reach:
    names or addresses, or ``*`` for all.  ``0.0.0.0`` and ``::`` stand for every address."""
    puzzles: tuple[dict[str, Any], ...] = ()
    """Puzzles to solve on the board, as ``Puzzle.to_dict`` writes them."""
    tablebases: tuple[str, ...] = ()
    """Folders of tablebases that answer for their positions, at most one for each game."""
    searches: int = 1
    """The most searches that run at once."""
    threads: int = 1
    """The threads of each search."""
    queue: int = 16
    """The most searches that wait."""
    table: int = 64
    """The largest table of a search, in MiB."""
    most_games: int = 16
    """The most games whose compiled code is held; each variant is a game."""
    memory: int | None = None
    """The memory limit of all engines together, idle ones included, in MiB; None for twice what
    the searches that run at once need."""
    seconds: float = 60.0
    """The time limit of a search, and of waiting for one, in seconds."""
    nodes: int | None = None
    """The node limit of a search."""
    clients: int = 256
    """The most connections, and the most WebSockets."""
    body: int = 1 << 20
    """The largest body of a request, and the largest message, in bytes."""
    patience: float = 10.0
    """The seconds that a client may take to send a request or to read an answer."""
    idle: float = 300.0
    """The seconds that a WebSocket may be silent while no search runs for it."""
    grace: float = 2.0
    """The seconds that pending answers have to go out when the service stops."""

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise CutnodeError(f"seconds must be positive and finite, got {self.seconds}")
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
                f"cannot compile {len(self.games)} games at startup; "
                f"at most {self.most_games} are allowed: raise --max-games"
            )
        if self.only and not self.games:
            raise CutnodeError("--only needs games: name them with --games, or leave out --only")
        if self.memory is not None and self.memory < self.least_memory:
            raise CutnodeError(
                f"memory must be at least {self.least_memory} MiB for {self.searches} searches at "
                f"once with tables of {self.table} MiB, got {self.memory}"
            )

        available = available_megabytes()
        if available is not None and self.least_memory > available:
            raise CutnodeError(
                f"{self.searches} searches at once with tables of {self.table} MiB need "
                f"{self.least_memory} MiB, but only {available} MiB are available"
            )

    def allows(self, origin: str) -> bool:
        """Return whether pages of another origin may send requests."""
        return "*" in self.cors or origin in self.cors

    @property
    def least_memory(self) -> int:
        """The MiB that the engines of all searches at once need."""
        return self.searches * (self.table + self.threads * THREAD_MEGABYTES)

    @property
    def room(self) -> int:
        """The MiB that engines may take."""
        return 2 * self.least_memory if self.memory is None else self.memory

    @property
    def most_memory(self) -> int:
        """The approximate MiB of the whole service when it holds all the games that it may."""
        return PROGRAM_MEGABYTES + self.room + self.most_games * GAME_MEGABYTES
