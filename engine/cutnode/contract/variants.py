"""Position classes for a game played on boards of several sizes, or by several sets of rules.

The constants of a position class are compiled into the rules, so each variant is a class of its
own.  A game defines a function that returns the constants of a variant, and :func:`variants` turns
it into one that returns the class of any variant, made when it is first needed::

    class Stones(NamedTuple): ...

    @variants(Stones, usual="7x6", read=board_size, about="columns and rows: 8x7")
    def board(width, height):
        return {"WIDTH": width, "HEIGHT": height, "VARIANT": f"{width}x{height}", ...}

    Position = board(7, 6)

``board(8, 7)`` and ``board.of("8x7")`` are the class ``Position8x7``.  It can be imported from the
game's module by this name (so it can be pickled, and its machine code cached): the game needs no
``__getattr__`` of its own.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from cutnode.contract.errors import PositionError
from cutnode.contract.text import quoted

PREFIX = "Position"
SPELLED = (("=-", "_minus"), (",", "__"), (".", "point"))
"""Replacements for characters that a class name cannot contain; ``UNDERSCORED`` come after them."""

UNDERSCORED = "=-"
"""Characters that become an underscore."""


class Variants:
    """The position classes of a game, made from the function that returns their constants."""

    def __init__(
        self, base: Any, usual: str, read: Callable[[str], Any], about: str, constants: Any
    ):
        self.base = base
        self.usual = usual
        self.about = about
        """How people write variants: words, a colon, and an example or two."""
        self._read = read
        self._constants = constants
        self._class = functools.cache(self._make)
        functools.update_wrapper(self, constants)

    def __call__(self, *settings: Any) -> Any:
        """Return the class for these settings; :class:`PositionError` if there is none."""
        return self._class(*settings)

    def of(self, variant: str) -> Any:
        """Return the class of a variant as a person writes it; the usual one for ``""``."""
        settings = self._read(variant or self.usual)
        return self(*settings) if isinstance(settings, tuple) else self(settings)

    def _make(self, *settings: Any) -> Any:
        constants = dict(self._constants(*settings))
        variant = constants["VARIANT"]
        if variant == self.usual:
            constants["VARIANT"] = ""
        space = {"__slots__": (), "__module__": self.base.__module__, **constants}
        base = self.base if isinstance(self.base, type) else self.base(constants["WORDS"])
        return type(_class_name(variant), (base,), space)

    def named(self, name: str) -> Any:
        """Return the class with a name such as ``Position8x7``."""
        if name.startswith(PREFIX):
            rest = name.removeprefix(PREFIX)
            for sign, spelled in SPELLED:
                rest = rest.replace(spelled, sign)
            for variant in dict.fromkeys(rest.replace("_", sign) for sign in UNDERSCORED):
                try:
                    cls = self.of(variant)
                except PositionError:
                    continue
                if cls.__name__ == name:
                    return cls
        raise AttributeError(f"module {self.base.__module__!r} has no attribute {name!r}")


def variants(
    base: Any, *, usual: str, read: Callable[[str], Any], about: str = ""
) -> Callable[[Callable[..., dict[str, Any]]], Variants]:
    """Make the position classes of a game from a function that returns the constants of one.

    *base* is the NamedTuple with the fields, or a function that makes one for boards of ``WORDS``
    words (see :mod:`cutnode.contract.boards`); the constants include the variant's own text as
    ``VARIANT``.  *read* turns such a text into the function's argument (or a tuple of arguments)
    and raises :class:`PositionError` for any other text; *about* tells people how to write such
    texts.
    """

    def decorate(constants: Callable[..., dict[str, Any]]) -> Variants:
        made = Variants(base, usual, read, about, constants)
        sys.modules[base.__module__].__getattr__ = made.named  # type: ignore[method-assign]
        return made

    return decorate


def variants_of(module: ModuleType) -> Variants | None:
    """Return the variants that a game declares; None if it declares none."""
    return next((value for value in vars(module).values() if isinstance(value, Variants)), None)


def board_size(text: str, *, example: str = "8x7") -> tuple[int, int]:
    """Return the width and height in a text such as ``8x7``."""
    match = re.fullmatch(r"([0-9]{1,9})x([0-9]{1,9})", text)
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a board size; write WIDTHxHEIGHT, as in {example}"
        )
    return int(match[1]), int(match[2])


def _class_name(variant: str) -> str:
    for sign, spelled in (*SPELLED, *((sign, "_") for sign in UNDERSCORED)):
        variant = variant.replace(sign, spelled)
    return PREFIX + variant
