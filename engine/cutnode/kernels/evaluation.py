"""Static evaluations as values that a search is given.

A search calls ``estimate(evaluation, position)``.  The evaluation's type names its function, so
code is compiled for that function, as it is for a position's class, and nothing is looked up while
the search runs.  The weights of an :class:`Optionality` or of a learned evaluation are data that
the function reads.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from numba import types
from numba.core.datamodel import models, register_default
from numba.extending import NativeValue, typeof_impl, unbox

from cutnode.compiler.interpreter import Interpretable
from cutnode.contract import verbs
from cutnode.contract.collection import EVALUATION, former_name
from cutnode.contract.dispatch import defines, game_name, is_plain, module_of
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, is_compiled, usable_in_compiled_code
from cutnode.contract.text import nearest
from cutnode.kernels.declarations import function_digest
from cutnode.kernels.learned import Learned, LearnedType, most_score
from cutnode.kernels.networks import Network, network_score, slot_bytes
from cutnode.kernels.optionality import PRESETS, Optionality, scale, weigh
from cutnode.kernels.patterns import Patterns, pattern_score

OWN_MEANING = "evaluation engine.contract.evaluate 874e285a0994b1b2"
"""The meaning of a game's own evaluation.

It is a constant because table keys depend on it, and with them which entries are replaced: node
counts would change if it depended on a module's place or a docstring's wording.
"""


class Evaluation(Interpretable):
    """A function that estimates the value of a position for the mover.

    The function takes a position, and must stand at the top level of a module (so that other
    processes find the code compiled for it), else :class:`GameError`.  It is decorated with
    ``@compiled``, except for games whose rules are plain Python.
    """

    def __init__(self, function: Callable[[Any], float], name: str | None = None):
        if not hasattr(function, "__code__"):
            raise GameError(f"{function!r} is not a function written in Python")
        module = sys.modules.get(function.__module__)
        if getattr(module, function.__name__, None) is not function:
            raise GameError(f"{function!r} is not a function at the top level of a module")
        self.function = function
        own = function is verbs.evaluate
        self.name = None if own else name or _place(function)
        """The name under which a user asks for it, such as ``cells`` or ``my_file.py:centre``; None
        for a game's ``evaluate``."""
        self.type = EvaluationType(
            function.__module__, function.__name__, function_digest(function)
        )
        given = len(inspect.signature(function).parameters)
        if given != 1:
            raise GameError(
                f"{self.name} takes {given} parameters; an evaluation takes one: "
                f"{function.__name__}(position)"
            )

    def __call__(self, position: Any) -> float:
        value = self.function(position)
        return value if isinstance(value, float) else int(value)

    def __repr__(self) -> str:
        return f"Evaluation({self.module}.{self.function.__name__})"

    def require(self, cls: Any) -> Self:
        """Return itself; :class:`GameError` if searches of a position class cannot use it."""
        if self.name is not None and not is_compiled(self.function) and not is_plain(cls):
            raise GameError(f"{self.name} is not compiled: put @compiled before it")
        return self

    @property
    def meaning(self) -> str:
        """The part of table keys that keeps this evaluation's scores apart from any other's."""
        if self.function is verbs.evaluate:
            return OWN_MEANING
        its = self.type
        return f"evaluation {former_name(its.module)}.{its.function} {its.digest}"

    @property
    def module(self) -> str:
        """The module that its compiled code depends on."""
        return str(self.function.__module__)


def _place(function: Any) -> str:
    """Return a function's place as a user writes it: ``my_file.py:centre``, a relative path."""
    file = getattr(sys.modules[function.__module__], "__file__", None)
    if file is None:
        return str(function.__name__)
    path = Path(file)
    here = path.is_relative_to(Path.cwd())
    return f"{os.path.relpath(path) if here else path}:{function.__name__}"


class EvaluationType(types.Opaque):  # type: ignore[misc]
    """The compiled type of an evaluation: the name of a function, and a digest of its code.

    A function that is redefined in a notebook has another type.
    """

    def __init__(self, module: str, function: str, digest: str):
        self.module = module
        self.function = function
        self.digest = digest
        super().__init__(name=f"evaluation {module}.{function} {digest}")

    def resolve(self) -> Any:
        return getattr(sys.modules[self.module], self.function)


register_default(EvaluationType)(models.OpaqueModel)


@typeof_impl.register(Evaluation)
def _typeof_evaluation(evaluation: Evaluation, context: Any) -> types.Type:
    return evaluation.type


@unbox(EvaluationType)
def _unbox_evaluation(kind: types.Type, evaluation: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


def estimate(evaluation: Any, position: Any) -> float:
    """Estimate a position: a whole number, except in games of chance."""
    return evaluation(position)


def estimate_at(evaluation: Any, position: Any, ply: int, search: Any) -> float:
    """Estimate a position *ply* plies below the root of a search.

    An evaluation may keep data for each ply in the *search* (see :func:`kept_bytes`), and use what
    it kept for the ply before.  The ply before the root has a slot as well, which stays empty.
    """
    return evaluation(position)


def kept_bytes(evaluation: Any) -> int:
    """Return how many bytes an evaluation keeps for each ply of a search."""
    return slot_bytes(evaluation.shape) if isinstance(evaluation, Network) else 0


@in_compiled_code(estimate)
def _compiled_estimate(evaluation: Any, position: Any) -> Any:
    if isinstance(evaluation, types.BaseNamedTuple):
        unit, limit = scale(position.instance_class)
        return lambda evaluation, position: weigh(evaluation, position, unit, limit)
    if isinstance(evaluation, LearnedType):
        return lambda evaluation, position: learned_score(evaluation, position, 0)
    function = evaluation.resolve()
    return lambda evaluation, position: function(position)


@in_compiled_code(estimate_at)
def _compiled_estimate_at(evaluation: Any, position: Any, ply: Any, search: Any) -> Any:
    if isinstance(evaluation, LearnedType) and evaluation.kind == Network.kind:
        size = slot_bytes(evaluation.shape)
        return lambda evaluation, position, ply, search: learned_score(
            evaluation, position, search.kept + size * (ply + 1)
        )
    return lambda evaluation, position, ply, search: estimate(evaluation, position)


def learned_score(evaluation: Any, position: Any, slot: int) -> int:
    """Return a learned evaluation's score of a position; the ply's data are at address *slot*."""
    return int(evaluation(position))


@in_compiled_code(learned_score)
def _compiled_learned_score(evaluation: Any, position: Any, slot: Any) -> Any:
    most = most_score(position.instance_class)
    of_kind = {Patterns.kind: pattern_score, Network.kind: network_score}[evaluation.kind]
    if evaluation.shape.own:

        def score(evaluation, position, slot):
            return of_kind(evaluation, position, slot) + int(verbs.evaluate(position))

    else:

        def score(evaluation, position, slot):
            return int(verbs.adjust(position, of_kind(evaluation, position, slot)))

    usable_in_compiled_code(score)
    return lambda evaluation, position, slot: max(
        -most, min(score(evaluation, position, slot), most)
    )


AnyEvaluation = str | Callable[[Any], float] | Evaluation | Optionality | Learned | None
"""The ways to specify an evaluation: see :func:`evaluation_of`."""

OWN = Evaluation(verbs.evaluate)
"""The game's ``evaluate``, or 0 if it has none."""


def evaluation_names(cls: type) -> list[str]:
    """Return the names of the further evaluations that a position class's game defines."""
    found = vars(module_of(cls))
    return [name.removeprefix(EVALUATION) for name in found if name.startswith(EVALUATION)]


def evaluation_of(cls: type, chosen: AnyEvaluation) -> Evaluation | Optionality | Learned:
    """Return an evaluation by name: ``"columns"`` is the game's ``evaluate_columns``.

    None is its ``evaluate``; names in :data:`cutnode.kernels.optionality.PRESETS` are evaluations
    of optionality.  :class:`GameError` if the game has no evaluation of that name, or no
    ``features`` for an optionality to weigh.
    """
    if chosen is None:
        return OWN
    if isinstance(chosen, Evaluation | Learned):
        return chosen.require(cls)
    names = evaluation_names(cls)
    if isinstance(chosen, str) and chosen in PRESETS and chosen not in names:
        chosen = PRESETS[chosen]
    if isinstance(chosen, Optionality):
        if not defines(cls, "features"):
            raise GameError(
                f"{game_name(cls)} has no features to weigh: an optionality needs a game that "
                f"defines features(position), twelve numbers (see engine/cutnode/contract/verbs.py)"
            )
        return chosen.checked()
    if callable(chosen):
        own = (name for name in names if getattr(module_of(cls), EVALUATION + name) is chosen)
        return Evaluation(chosen, next(own, None)).require(cls)
    if not isinstance(chosen, str):
        raise GameError(f"evaluation must be a name or a compiled function, got {chosen!r}")
    if chosen not in names:
        names += PRESETS if defines(cls, "features") else ()
        known = f"it has {', '.join(names)}, and its own" if names else "it has only its own"
        raise GameError(
            f"{game_name(cls)} has no evaluation {chosen!r}{nearest(chosen, names, known)}"
        )
    return Evaluation(getattr(module_of(cls), EVALUATION + chosen), chosen).require(cls)
