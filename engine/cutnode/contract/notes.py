"""Notes of a game on a text that it read, for whoever wrote the text.

A position that is read in another way than it is written, such as a FEN with stale castling
rights, is no error.  The game calls :func:`note`, and whoever asked for the position tells it:
the command line on standard error, a UCI engine by an ``info string``, the service in its answer
(:func:`notes_to`).  Python gets a :class:`PositionWarning`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from cutnode.contract.errors import PositionWarning

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def note(text: str) -> None:
    """Tell a note to the innermost :func:`notes_to` block; outside of one, warn."""
    tell = _listener.get()
    if tell is None:
        warnings.warn(text, PositionWarning, stacklevel=2)
    else:
        tell(text)


@contextlib.contextmanager
def notes_to(tell: Callable[[str], object]) -> Iterator[None]:
    """Give each different note once to *tell*."""
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
