"""Objects that stay in their process."""

from __future__ import annotations

from typing import NoReturn


class Unpickled:
    """An object with memory, threads or locks of this process: it is neither pickled nor copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects cannot be pickled or copied: make another in the "
            f"process that uses it"
        )
