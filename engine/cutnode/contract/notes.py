"""Notes of a game on a text that it read, for the person who wrote the text.

A position that is read differently from how it is written, such as a FEN with stale castling
rights, is not an error.  The game calls :func:`note`, and the caller passes the note on: the
command line on standard error, a UCI engine in an ``info string``, the service in its answer
(:func:`notes_to`).  Python issues a :class:`PositionWarning`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from cutnode.contract.errors import PositionWarning

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def note(text: str) -> None:
    """Pass a note to the innermost :func:`notes_to` block; outside one, issue a warning."""
    tell = _listener.get()
    if tell is None:
        warnings.warn(text, PositionWarning, stacklevel=2)
    else:
        tell(text)


@contextlib.contextmanager
def notes_to(tell: Callable[[str], object]) -> Iterator[None]:
    """Pass each distinct note to *tell*, once."""
    told: set[str] = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            tell(text)

    token = _listener.set(once)
    try:
        yield
    finally:
        _listener.reset(token)
