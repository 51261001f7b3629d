"""Diagnosis of rules that do not compile, in one line.

After a compilation has failed, each verb of the game is compiled alone, with the types of the
contract, so that the message names the verb and the line in it.  The result types of the required
verbs, and of verbs that make positions, are checked before any kernel is compiled: compiled code
accepts one tuple for another with as many fields, and does not check unused results.
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

from cutnode.contract.collection import is_file_of_engine
from cutnode.contract.dispatch import REQUIRED, VERBS, bind, defines, module_of
from cutnode.contract.errors import ContractError, CutnodeError
from cutnode.contract.native import is_compiled, result_type
from cutnode.contract.positions import position_type
from cutnode.contract.text import nearest

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
"""The annotation of a field of a compiled type, and the type in words."""

_ARGUMENTS = {"buffer": types.int64[::1], "word": types.uint64}
"""The compiled types of verbs' arguments whose annotations do not tell, by name."""

_MAKING_POSITIONS = ("play", "chance_outcome", "skip")

_NUMBA = Path(numba.__file__).parent
"""The folder of numba, whose lines are of no use to an author of rules."""


@functools.cache
def require_results(cls: type) -> None:
    """Check the result types of the verbs of *cls*; :class:`ContractError` if one is wrong."""
    for name in (*sorted(REQUIRED), *_MAKING_POSITIONS):
        complaint = _complaint(cls, bind(cls, name), VERBS[name]) if defines(cls, name) else ""
        if complaint:
            raise ContractError(f"{cls.__module__}.{name} {complaint}")


def diagnose(
    cls: type, error: Exception, evaluation: Any = None, techniques: Sequence[Any] = ()
) -> CutnodeError:
    """Explain an error in compiling the game of *cls*, its evaluation or techniques, to the author.

    *evaluation*, if there is one, is an :class:`~cutnode.kernels.evaluation.Evaluation`, and
    *techniques* are the ones from outside the engine.
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
            complaint = f"does not compile: {_cause(found, cls, rule)}"
        if complaint:
            return ContractError(f"{name} {complaint}")
    if techniques:
        names = " and ".join(technique.name for technique in techniques)
        return ContractError(f"the technique {names} does not compile: {_cause(error, cls)}")
    return ContractError(f"the rules of {cls.__module__} do not compile: {_cause(error, cls)}")


def _complaint(cls: type, rule: Callable[..., Any], verb: Callable[..., Any]) -> str:
    """Describe what is wrong with the result of a rule that compiles; "" if it fits the *verb*."""
    position = position_type(cls)
    contract = inspect.signature(verb)
    given = [
        _ARGUMENTS.get(name, types.int64 if parameter.annotation == "int" else position)
        for name, parameter in contract.parameters.items()
    ]
    result = result_type(rule, tuple(given))
    wanted = contract.return_annotation
    if verb.__name__ == "outcome" and _fits(result, "tuple[bool, float]", cls):
        return ""
    if verb.__name__ == "outcome" and _is_swapped(result):
        return "returns the value first; the contract is whether the game is over, then the value"
    if not _fits(result, wanted, cls):
        contract_is = wanted.replace("Any", f"a {cls.__qualname__}")
        return f"returns {_named(result)}; the contract is {contract_is}"
    if verb.__name__ not in _MAKING_POSITIONS:
        return ""
    made = result if wanted == "Any" else result[-1]
    for field, found, kind in zip(position.fields, made, position, strict=True):
        if types.unliteral(found) != kind:
            annotation, _ = _KINDS[kind]
            found = types.unliteral(found)
            _, words = _KINDS.get(found, ("", _named(found)))
            return (
                f"returns a {cls.__qualname__} whose field {field} is {words}, but it is "
                f"annotated {annotation}{_remedy(found, annotation)}"
            )
    return ""


def _remedy(found: types.Type, annotation: str) -> str:
    """Return how to convert a value to the type of a field, for a message; "" if unknown."""
    if isinstance(found, types.Float):
        return ": divide by //, not by /"
    return f": wrap it, {annotation}(...)" if found in _KINDS else ""


def _is_swapped(kind: types.Type) -> bool:
    """Return whether an outcome has its value first, and second whether the game is over."""
    first, second = (*kind, None)[:2] if isinstance(kind, types.BaseTuple) else (None, None)
    return isinstance(first, types.Number) and isinstance(second, types.Boolean)


def _named(kind: types.Type) -> str:
    """Return a compiled type in words."""
    kind = types.unliteral(kind)
    if kind in _KINDS:
        return _KINDS[kind][0]
    if kind == types.none:
        return "nothing (is a return missing?)"
    if isinstance(kind, types.Optional):
        return f"{_named(kind.type)} in one place and nothing in another"
    if isinstance(kind, types.BaseNamedTuple):
        return f"a tuple of class {kind.instance_class.__qualname__}"
    if isinstance(kind, types.BaseTuple):
        return f"a tuple of {', '.join(map(_named, kind))}" if len(kind) else "an empty tuple"
    return next((words for of, words in _OTHERS.items() if isinstance(kind, of)), str(kind))


_OTHERS: dict[type, str] = {
    types.UnicodeType: "a text",
    types.List: "a list",
    types.Set: "a set",
    types.Generator: "a generator",
    types.Array: "an array",
}
"""Names for types that compiled code knows and the contract does not."""


def _fits(kind: types.Type, wanted: str, cls: type) -> bool:
    """Return whether a compiled type fits an annotation of the contract."""
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


_MEANINGS = {
    r"Untyped global name '(\w+)':.*<class 'function'>": (
        r"\1 is a function that is not compiled: put @compiled before it"
    ),
    r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:\w+\.)*(\w+)'>": (
        r"compiled code cannot use \1, which is of type \2"
    ),
    r"The use of a reflected (list|set)\(.* assigned to variable '(\w+)' in globals": (
        r"\2 is a \1: make it a tuple, which compiled code can read"
    ),
    r"NRT required|Only accept returning of array": (
        r"it makes a list, set, array or text: rules can make numbers, tuples and positions"
    ),
    r"unicode_type|Literal\[str\]": r"it makes or compares texts: rules can use numbers and tuples",
    r"use of yield in a closure": r"it has a generator (... for ... in ...): write a loop",
    r"compiler re-entrant|recursion": r"it calls itself: write a loop",
    r"No definition for lowering \w+\(.*\)\.(\w+) =": (
        r"a position is never changed: make another, position._replace(\1=...)"
    ),
    r"Unknown attribute 'append' of type array": (
        r"moves are written, not appended: buffer[at] = move"
    ),
    r"Unknown attribute 'bit_count'": r"numbers have no bit_count in compiled code: use popcount",
    r"Unknown attribute 'bit_length'": (
        r"numbers have no bit_length in compiled code: use highest_index(...) + 1"
    ),
    r"Int value is too large: (\d+)": r"\1 does not fit into 64 bits",
    r"tuple index out of range": r"an index is beyond the end of a tuple",
    r"wrong tuple length for (\w+).*expected (\d+), got (\d+)": (
        r"\1 has \3 fields, and is unpacked into \2"
    ),
    r"STORE_GLOBAL": r"rules cannot change variables of the module",
    r"The '(\w+) .*construct is not supported": r"rules cannot use '\1'",
    r"exception_match": r"rules can only catch Exception, not errors of one kind",
    r">>> Bits\(float": r"Bits(...) takes whole numbers, not floats: divide by //",
    r"an unexpected type": r"it calls a function of Python that rules cannot use",
    r"Type of variable .* cannot be determined": (
        r"an expression has no known type: give its parts names, in lines of their own"
    ),
}
"""Explanations of numba's error messages for an author of rules, by regular expressions."""


def _cause(error: Exception, cls: type, rule: Any = None) -> str:
    """Return the meaning and the place of a long report from numba, or of an error from Python."""
    report = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    cause = re.split(r"pipeline \(step: .*\)\n", report)[-1].partition("During: Pass")[0].strip()
    cause = re.sub(r"^- Resolution failure for .* arguments:\n", "", cause)
    told = _told(cause, cls, rule)
    if not told:
        cause = re.sub(r", defined at .*", "", cause)  # a place in a kernel, not the author's
        signature = re.search(r">>> (.+)", cause)
        first = f"there is no {signature[1]}" if signature else cause.partition("\n")[0]
        kind = "" if isinstance(error, NumbaError) else f"{type(error).__name__}: "
        told = f"{kind}{first.strip(' .')}"
    remedy = " (rules can use numbers, tuples, and functions that are @compiled)"
    return told + _place(report) + (remedy if told.startswith(_UNKNOWN) else "")


_UNKNOWN = "there is no", "Unknown attribute", "Untyped"
"""The beginnings of numba's reports when rules use something that compiled code does not know."""


def _place(report: str) -> str:
    """Return the place in the author's files that a report names; "" if it names none."""
    places = re.findall(r'File "([^<].*)", line (\d+)', report)
    known = [place for place in places if place[0] != "unknown location"]
    found = next((place for place in known if not _is_elsewhere(place[0])), None)
    return f", in {found[0]}, line {found[1]}" if found else ""


def _told(cause: str, cls: type, rule: Any) -> str:
    """Return the meaning of a cause in the contract's words; "" if unknown."""
    if mixed := re.search(r"Cannot unify (\S+) and (.+) for '([^']+)'", cause):
        name = mixed[3].partition(".")[0]
        return _mixed("an expression" if name.startswith("$") else name, mixed[1] + mixed[2])
    if mixed := re.search(r"Can't unify return type from the following types: (.*)", cause):
        return _mixed("the result", mixed[1])
    if unknown := re.search(rf"Unknown attribute '(\w+)' of type {cls.__qualname__}\(", cause):
        name = unknown[1]
        if hasattr(cls, name):
            return f"{name} is a method or property: write it as a @compiled function of a position"
        names = getattr(cls, "_fields", ())
        return f"{cls.__qualname__} has no field {name!r}{nearest(name, names)}"
    known = vars(module_of(cls))
    if undefined := re.search(r"name '(\w+)' is not defined", cause):
        names = (*known, *getattr(getattr(rule, "__code__", None), "co_varnames", ()))
        return f"{undefined[0]}{nearest(undefined[1], names)}"
    called = re.search(r">>> (\w+)\((.*)\)", cause)
    if called and is_compiled(known.get(called[1])):
        parameters = inspect.signature(known[called[1]])
        return f"{called[1]}{parameters} cannot be called with ({called[2]})"
    for pattern, meaning in _MEANINGS.items():
        if found := re.search(pattern, cause):
            return found.expand(meaning)
    return ""


def _mixed(name: str, kinds: str) -> str:
    """Describe a variable, or a result, whose types cannot be unified."""
    if "uint64" in kinds and "int" in kinds.replace("uint64", ""):
        return f"{name} is Bits in one place and int in another: wrap the int, Bits(...)"
    return f"{name} has one type in one place and another in another place"


def _is_elsewhere(file: str) -> bool:
    """Return whether a file belongs to the engine or to numba."""
    return is_file_of_engine(file) or Path(file).is_relative_to(_NUMBA)
