"""Diagnosis of rules that do not compile, in one line.

Asked after a compilation failed: each verb of the game is then compiled alone, with the
types of the contract, so that a failure names the verb and the line in it.  Verbs that make
positions are looked at before anything is compiled: compiled code takes one tuple for another
if their fields are as many.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from engine.contract.dispatch import VERBS, bind, defines
from engine.contract.errors import ContractError, CutnodeError
from engine.contract.positions import position_type

__all__ = ["diagnose", "require_positions"]

_SCALARS = {
    "int": types.Integer | types.Boolean,
    "bool": types.Boolean | types.Integer,
    "float": types.Number,
}

_KINDS: dict[types.Type, tuple[str, str]] = {
    types.uint64: ("Bits", "an unsigned integer"),
    types.int64: ("int", "a signed integer"),
    types.boolean: ("bool", "a truth value"),
    types.float64: ("float", "a float"),
}
"""How a field of a compiled type is annotated, and what it is in words."""


_MAKING_POSITIONS = ("play", "chance_outcome", "skip")


@functools.cache
def require_positions(cls: type) -> None:
    """See that the verbs that make positions make them of *cls*; :class:`ContractError` if not."""
    for name in _MAKING_POSITIONS:
        complaint = _complaint(cls, bind(cls, name), VERBS[name]) if defines(cls, name) else ""
        if complaint:
            raise ContractError(f"{cls.__module__}.{name} {complaint}")


def diagnose(
    cls: type, error: Exception, evaluation: Any = None, techniques: Sequence[Any] = ()
) -> CutnodeError:
    """Explain an error in compiling the game of *cls* to its author, or that of what goes with it.

    *evaluation*, if there is one, is an :class:`~engine.kernels.evaluation.Evaluation`, and
    *techniques* are those from outside.
    """
    rules = [
        (f"{cls.__module__}.{name}", bind(cls, name), verb)
        for name, verb in VERBS.items()
        if defines(cls, name)
    ]
    if getattr(evaluation, "name", None) is not None and hasattr(evaluation, "function"):
        rules.append((evaluation.name, evaluation.function, VERBS["evaluate"]))
    for name, rule, verb in rules:
        try:
            complaint = _complaint(cls, rule, verb)
        except CutnodeError as found:
            return found
        except Exception as found:
            complaint = f"does not compile: {_cause(found)}"
        if complaint:
            return ContractError(f"{name} {complaint}")
    if techniques:
        names = " and ".join(technique.name for technique in techniques)
        return ContractError(f"the technique {names} does not compile: {_cause(error)}")
    return ContractError(f"the rules of {cls.__module__} do not compile: {_cause(error)}")


def _complaint(cls: type, rule: Callable[..., Any], verb: Callable[..., Any]) -> str:
    """Describe what is wrong with the result of a rule that compiles, in the place of a verb."""
    position = position_type(cls)
    contract = inspect.signature(verb)
    given = [
        types.int64[::1] if name == "buffer" else types.int64 if kind == "int" else position
        for name, kind in ((p.name, p.annotation) for p in contract.parameters.values())
    ]
    dispatcher = numba.njit(error_model="numpy")(rule)
    dispatcher.compile(tuple(given))
    (result,) = (compiled.signature.return_type for compiled in dispatcher.overloads.values())
    wanted = contract.return_annotation
    if not _fits(result, wanted, cls):
        contract_is = wanted.replace("Any", f"a {cls.__qualname__}")
        return f"returns {_named(result)}; the contract is {contract_is}"
    if verb.__name__ not in _MAKING_POSITIONS:
        return ""
    made = result if wanted == "Any" else result[-1]
    for field, found, kind in zip(position.fields, made, position, strict=True):
        if types.unliteral(found) != kind:
            annotation, _ = _KINDS[kind]
            _, words = _KINDS.get(types.unliteral(found), ("", f"of type {found}"))
            return (
                f"returns a {cls.__qualname__} whose field {field} is {words}, but it is "
                f"annotated {annotation}: wrap it, {annotation}(...)"
            )
    return ""


def _named(kind: types.Type) -> str:
    """A compiled type in words."""
    if isinstance(kind, types.BaseNamedTuple):
        return f"a tuple of class {kind.instance_class.__qualname__}"
    if isinstance(kind, types.BaseTuple):
        return f"a tuple of {', '.join(map(str, kind))}" if len(kind) else "an empty tuple"
    return str(kind)


def _fits(kind: types.Type, wanted: str, cls: type) -> bool:
    """Return whether a compiled type is what an annotation of the contract means."""
    if wanted == "Any":
        return isinstance(kind, types.BaseNamedTuple) and kind.instance_class is cls
    if wanted in _SCALARS:
        return isinstance(kind, _SCALARS[wanted])
    parts = wanted.removeprefix("tuple[").removesuffix("]").split(", ")
    if parts[1:] == ["..."] and isinstance(kind, types.BaseTuple):
        parts = parts[:1] * len(kind)
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
    cause = re.sub(r"^- Resolution failure for .* arguments:\n", "", cause)
    cause = re.sub(r", defined at .*", "", cause)  # in a kernel, which is not the author's
    places = re.findall(r'File "([^<].*)", line (\d+)', report)
    place = next((place for place in places if not _is_ours(place[0])), None)
    signature = re.search(r">>> (.+)", cause)
    remedy = " (rules can use numbers, tuples, and functions that are @compiled)"
    return (
        (f"there is no {signature[1]}" if signature else cause.partition("\n")[0].strip(" ."))
        + (f", in {place[0]}, line {place[1]}" if place else "")
        + remedy
    )


def _is_ours(file: str) -> bool:
    """Return whether a file is one of the engine, where no author of rules can mend anything."""
    return Path(file).resolve().is_relative_to(Path(__file__).parents[1])
