"""The short texts that describe players, such as ``depth=6,without=history``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import is_in_file
from cutnode.contract.text import nearest, quoted
from cutnode.playing.levels import LEVELS
from cutnode.playing.remote import Version
from cutnode.runtime.options import OPTIONS, TREE_OPTIONS
from cutnode.search.options import AutoKeywords, PlayoutKeywords, TreeKeywords


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split("+") if name.strip()]


def _numbers(text: str) -> dict[str, float]:
    """Read the parameters of ``lmr.base=0.8+null_move.reduction=2``."""
    pairs = (name.partition("=") for name in _names(text))
    return {name.strip(): float(value) for name, _, value in pairs}


def _of_searches(*names: str) -> dict[str, Callable[[str], Any]]:
    return {name: OPTIONS[name].kind for name in names}


KEYS: dict[str, Callable[[str], Any]] = {
    **_of_searches("engine"),
    **{"level": str, "strength": int},
    **_of_searches("depth", "nodes", "seconds", "evaluation"),
    **{"techniques": _names, "without": _names, "set": _numbers},
    **_of_searches("driver", "proof_share", "table", "tablebase", "exact"),
    "random": bool,
    **_of_searches("playouts", "memory", *TREE_OPTIONS),
    **{"path": str, "python": str, "game": str},
}
"""The settings of a configuration and the types of their values; a ``bool`` takes no value."""


class PlayerKeywords(PlayoutKeywords, total=False):
    """The settings of a configuration as keywords."""

    engine: str
    level: str
    strength: int
    depth: int
    nodes: int
    seconds: float
    evaluation: str
    techniques: Iterable[str]
    without: Iterable[str]
    set: Mapping[str, float]
    driver: str
    proof_share: float
    table: int
    tablebase: str | os.PathLike[str]
    exact: bool
    random: bool
    playouts: int
    memory: int
    path: str | os.PathLike[str]
    python: str | os.PathLike[str]


ELSEWHERE = "path", "python", "game"
"""The settings that select another version, which plays in a separate process."""

SEEDED = frozenset({"strength", "random", "mcts", "auto"})
"""The words of a configuration whose players need a seed."""

TREE_KEYS = {"playouts", *TreeKeywords.__optional_keys__} - {"reuse"}
LIMIT_KEYS = {"nodes", "seconds"}

KEYS_OF = {
    "alphabeta": KEYS.keys() - (TREE_KEYS - {"evaluation", "tablebase"}),
    "mcts": LIMIT_KEYS | TREE_KEYS,
    "auto": LIMIT_KEYS | {"table", *AutoKeywords.__optional_keys__},
}
"""The settings of each engine, without the ones that select another version."""


def parse_configuration(text: str) -> dict[str, Any]:
    """Return the settings in a text such as ``depth=6,without=history``, by key.

    The name of a level stands for ``level=`` and the name.
    """
    settings: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name in LEVELS and not equals:
            name, equals, value = "level", "=", name
        if name not in KEYS:
            known = f"settings are {', '.join(KEYS)}, as in level=hard or depth=6,without=history"
            raise CutnodeError(
                f"{quoted(text)}: there is no setting {quoted(name)}{nearest(name, KEYS, known)}"
            )
        if name in settings:
            raise CutnodeError(f"{quoted(text)}: {name} is set twice")
        kind = KEYS[name]
        if (kind is bool) == bool(equals):
            wanted = f"{name}, without a value" if kind is bool else f"{name}=..."
            raise CutnodeError(f"{quoted(text)}: {quoted(part.strip())} should be {wanted}")
        try:
            settings[name] = True if kind is bool else kind(value)
        except ValueError:
            what = {int: "a whole number", _numbers: "values as in lmr.base=0.8+lmr.moves=3"}
            wanted = what.get(kind, "a number")
            raise CutnodeError(
                f"{quoted(text)}: {name} must be {wanted}, got {quoted(value)}"
            ) from None
    return settings


def with_settings(text: str, settings: Mapping[str, Any]) -> str:
    """Return a configuration with *settings* added; values of None or False are left out."""
    parts = [text] if text else []
    for name, value in settings.items():
        if value is None or value is False:
            continue
        if isinstance(value, Mapping):
            value = "+".join(f"{key}={number}" for key, number in value.items())
        elif isinstance(value, Iterable) and not isinstance(value, str):
            value = "+".join(map(str, value))
        if "," in str(value):
            raise CutnodeError(f"{name} cannot hold a comma, got {value!r}")
        parts.append(name if value is True else f"{name}={value}")
    return ",".join(parts)


def split_configuration(text: str) -> tuple[dict[str, str], str]:
    """Split a text into its settings of :data:`ELSEWHERE` and a text with all the others."""
    where: dict[str, str] = {}
    others = []
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in ELSEWHERE:
            others.append(part.strip())
        elif not equals or not value:
            raise CutnodeError(f"{quoted(text)}: {quoted(part.strip())} should be {name}=...")
        elif name in where:
            raise CutnodeError(f"{quoted(text)}: {name} is set twice")
        else:
            where[name] = value
    return where, ",".join(others)


def version_of(text: str) -> Version:
    """Return the version that a configuration names; by default, the running one."""
    where, _ = split_configuration(text)
    return Version(where.get("path"), where.get("python"))


def loads_code(text: str) -> bool:
    """Return whether a configuration would load code: from a file, or of another version."""
    words = (word.strip() for word in re.split("[,=+]", text))
    return any(is_in_file(word) or word in ELSEWHERE for word in words)
