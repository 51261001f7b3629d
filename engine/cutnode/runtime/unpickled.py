"""A base class for objects that cannot leave their process."""

from __future__ import annotations

from typing import NoReturn


class Unpickled:
    """An object that owns memory, threads or locks, and so cannot be pickled or copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects cannot be pickled or copied: make another in the "
            f"process that uses it"
        )
