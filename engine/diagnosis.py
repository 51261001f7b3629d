"""Why the rules of a game do not compile, said in a line.

Asked after a compilation failed: each verb of the game is then compiled alone, with the
types of the contract, so that a failure names the verb and the line in it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from engine.contract import VERBS, bind, defines
from engine.errors import CutnodeError, GameError
from engine.positions import position_type

__all__ = ["diagnose"]

_SCALARS = {
    "int": types.Integer | types.Boolean,
    "bool": types.Boolean | types.Integer,
    "float": types.Number,
}


def diagnose(cls: type, error: Exception) -> CutnodeError:
    """What to tell the author of the game of *cls* about an error in compiling it."""
    for name, verb in VERBS.items():
        try:
            complaint = _complaint(cls, name, verb) if defines(cls, name) else ""
        except CutnodeError as found:
            return found
        except Exception as found:
            complaint = f"does not compile: {_cause(found)}"
        if complaint:
            return GameError(f"{cls.__module__}.{name} {complaint}")
    return GameError(f"the rules of {cls.__module__} do not compile: {_cause(error)}")


def _complaint(cls: type, name: str, verb: Callable[..., Any]) -> str:
    """What is wrong with the result of a verb that compiles."""
    position = position_type(cls)
    contract = inspect.signature(verb)
    given = [
        types.int64[::1] if name == "buffer" else types.int64 if kind == "int" else position
        for name, kind in ((p.name, p.annotation) for p in contract.parameters.values())
    ]
    dispatcher = numba.njit(error_model="numpy")(bind(cls, name))
    dispatcher.compile(tuple(given))
    (result,) = (compiled.signature.return_type for compiled in dispatcher.overloads.values())
    wanted = contract.return_annotation
    if _fits(result, wanted, cls):
        return ""
    return f"returns {result}; the contract is {wanted.replace('Any', 'a position')}"


def _fits(kind: types.Type, wanted: str, cls: type) -> bool:
    """Whether a compiled type is what an annotation of the contract means."""
    if wanted == "Any":
        return isinstance(kind, types.BaseNamedTuple) and kind.instance_class is cls
    if wanted in _SCALARS:
        return isinstance(kind, _SCALARS[wanted])
    parts = wanted.removeprefix("tuple[").removesuffix("]").split(", ")
    return (
        isinstance(kind, types.BaseTuple)
        and len(kind) == len(parts)
        and all(_fits(part, name, cls) for part, name in zip(kind, parts, strict=True))
    )


def _cause(error: Exception) -> str:
    """The line of numba's long report that names the cause, and where that is."""
    if not isinstance(error, NumbaError):
        return f"{type(error).__name__}: {error}"
    report = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    cause = re.split(r"pipeline \(step: .*\)\n", report)[-1].partition("During: Pass")[0].strip()
    place = re.search(r'File "([^<].*)", line (\d+)', report)
    signature = re.search(r">>> (.+)", cause)
    return (
        (f"there is no {signature[1]}" if signature else cause.partition("\n")[0].strip(" ."))
        + (f", in {place[1]}, line {place[2]}" if place else "")
        + " (rules can use numbers, tuples, and functions that are @compiled)"
    )
