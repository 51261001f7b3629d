"""Techniques from outside the engine: compile the hooks of a user's file into the node function.

The fields of a search's memory name the techniques that it is made for.  Their hooks are compiled
into the node function, one after the other at each point, each behind the switch by which an
ablation turns it off; where there are none, nothing is left of the call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import types

from cutnode.compiler.jit import compiled
from cutnode.contract.dispatch import HOOKED
from cutnode.contract.errors import ContractError, CutnodeError
from cutnode.contract.native import in_compiled_code, is_compiled
from cutnode.contract.verbs import play
from cutnode.kernels.declarations import Technique
from cutnode.kernels.ordering import FIRST, ranked_move, ranked_score, with_score
from cutnode.kernels.table import store_depth

MARK = "technique "
"""The prefix of the memory fields that name the techniques a search is made for."""

NUMBERS = (int, float, np.number, np.bool_)

_marked: dict[str, Technique] = {}

ANSWERS = {
    "before_moves": "the plan it was given, or one made from it",
    "rank": "a number",
    "order": "a number",
    "after_test": "True or False",
    "before_child": "the decision it was given, or one made from it",
    "store": "True or False",
}
"""The results that hooks must return, in words."""


def outside_fields(techniques: Iterable[Technique]) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of techniques from outside the engine in the memory of a search."""
    for each in techniques:
        mark = f"{MARK}{each.name} {each.digest()}"
        _marked[mark] = each
        yield mark, np.int64
        yield f"use_{each.name}", np.int64
        for parameter in each.parameters:
            yield each.field(parameter.name), parameter.dtype
        for counter in each.counters:
            yield each.field(counter), np.int64
        for name, size in each.memory.items():
            yield each.field(name), np.int64, (size,)


def require_hooks(techniques: Sequence[Technique], *, plain: bool) -> None:
    """Raise :class:`CutnodeError` if hooks exclude each other, or one of them is not compiled.

    A search in plain Python takes hooks that are not compiled.
    """
    storing = [each.name for each in techniques if each.store is not None]
    if len(storing) > 1:
        raise CutnodeError(f"only one technique can store entries, got {' and '.join(storing)}")
    for each in () if plain else techniques:
        for point, hook in each.hooks():
            if not is_compiled(hook):
                raise CutnodeError(
                    f"{point} of {each.name} is not compiled: put @compiled before it"
                )


@functools.cache
def checked_answer(point: str, name: str) -> Callable[[Any, Any], Any]:
    """Return a function that checks and returns the result of a hook of the technique *name*.

    The result must be of the same kind as the function's second argument: a number for a number, or
    a tuple of the same class; otherwise :class:`ContractError`.  In compiled code the types are
    checked at compile time.
    """

    def complain(found: str) -> ContractError:
        return ContractError(f"{point} of {name} must return {ANSWERS[point]}; got {found}")

    def answer(value: Any, given: Any) -> Any:
        kind = type(given) if isinstance(given, tuple) else NUMBERS
        if not isinstance(value, kind):
            raise complain(repr(value))
        return value

    def typed(value: Any, given: Any) -> Any:
        wanted = getattr(given, "instance_class", None)
        found = getattr(value, "instance_class", None)
        if found is not wanted or not (wanted or isinstance(value, types.Number | types.Boolean)):
            raise complain(found.__name__ if found else str(types.unliteral(value)))
        return lambda value, given: value

    in_compiled_code(answer)(typed)
    return answer


def hooked(
    point: str, call: str, result: str = "", *, instead: bool = False
) -> Callable[[Any], Any]:
    """Decorate the function of a point, which runs alone where no technique has a hook.

    Where techniques have hooks, the compiled function calls them one after the other, each if its
    technique is on: *call* is the statement that calls a ``hook`` and checks its ``answer``;
    *result* is the variable that it returns, which starts as the decorated function's result.  With
    *instead* the call returns, and the decorated function runs only if no technique is on.
    """

    def decorate(function: Any) -> Any:
        code = function.__code__
        arguments = ", ".join(code.co_varnames[: code.co_argcount])
        usable: Any = compiled(function)

        def make(techniques: Sequence[Technique]) -> Any:
            hooks = [(each, getattr(each, point)) for each in techniques if getattr(each, point)]
            if not hooks:
                return usable
            space: dict[str, Any] = {"begin": usable, "play": play}
            lines = [f"def call({arguments}):"]
            if result:
                lines.append(f"    {result} = begin({arguments})")
            for number, (technique, hook) in enumerate(hooks):
                space[f"hook{number}"] = hook
                if point in ANSWERS:
                    space[f"answer{number}"] = checked_answer(point, technique.name)
                lines.append(f"    if search.use_{technique.name}:")
                numbered = call.replace("hook", f"hook{number}").replace(
                    "answer", f"answer{number}"
                )
                lines.append(f"        {numbered}")
            lines.append(f"    return {f'begin({arguments})' if instead else result}")
            space["__name__"] = " ".join([function.__name__, *(each.digest() for each, _ in hooks)])
            exec("\n".join(lines), space)
            return space["call"]

        def called(*given: Any) -> Any:
            return usable(*given)

        HOOKED[called] = make
        space = {"make": make, "made_for": made_for}
        in_compiled_code(called)(eval(f"lambda {arguments}: make(made_for(search))", space))
        return functools.update_wrapper(called, function)

    return decorate


def made_for(search: types.Record) -> list[Technique]:
    """Return the techniques from outside the engine for which a search's memory is made."""
    return [_marked[name] for name in search.fields if name.startswith(MARK)]


@hooked(
    "before_moves",
    "decided = decided if decided.cuts else answer(hook(node, decided, search), decided)",
    "decided",
)
def outside_before_moves(node, decided, search):
    """Return the plan for a node."""
    return decided


@hooked("rank", "score += answer(hook(node, move, search), score)", "score")
def outside_rank(node, move, search):
    """Return the sum of what the ``rank`` hooks add to the score of a move."""
    return 0


@hooked(
    "order",
    "score += search.order_weight * answer(hook(node.position, move, child), score)",
    "score",
)
def outside_order(node, move, child, search):
    """Return the sum of what the ``order`` hooks add to the score of a move."""
    return 0


@hooked("rank", "ranks = True", "ranks")
def outside_ranks(search):
    """Return whether any technique has a ``rank`` hook."""
    return False


@hooked("order", "orders = True", "orders")
def outside_orders(search):
    """Return whether any technique has an ``order`` hook."""
    return False


@compiled
def rank_by_outside(node, top, end, search):
    """Add the results of ``rank`` and ``order`` hooks to the scores of the moves on the stack."""
    if outside_ranks(search) or outside_orders(search):
        for at in range(top, end):
            ranked = search.ranked[at]
            score, move = ranked_score(ranked), ranked_move(ranked)
            # The hash move, and one that wins at once, stay in front.
            if score < FIRST:
                score += outside_rank(node, move, search)
                if outside_orders(search):
                    score += outside_order(node, move, play(node.position, move), search)
                search.ranked[at] = with_score(ranked, min(max(score, -FIRST), FIRST - 1))


@hooked(
    "after_test", "enough = answer(hook(node, child, value, search), enough) or enough", "enough"
)
def outside_after_test(node, child, value, search):
    """Report a test to the hooks, and return whether to cut the node."""
    return False


@hooked(
    "before_child",
    "decision = decision if decision.action"
    " else answer(hook(node, child, decision, search), decision)",
    "decision",
)
def outside_before_child(node, child, decision, search):
    """Return the decision on a move."""
    return decision


@hooked("after_child", "hook(node, child, value, search)")
def outside_after_child(node, child, value, search):
    """Report a move that was searched to the hooks."""


@hooked("on_cutoff", "hook(node, child, search)")
def outside_on_cutoff(node, child, search):
    """Report a move that cut its node to the hooks."""


@hooked("store", "return answer(hook(table, entry, search), False)", instead=True)
def outside_store(table, entry, search):
    """Store an entry by a hook, or else by the table's own scheme: see ``store_depth``."""
    shallower = np.int64(0) if search.exact else search.table_shallower
    return store_depth(
        table, entry.word, entry.lower, entry.upper, entry.move, entry.depth, entry.proven,
        shallower,
    )  # fmt: skip


@hooked("estimates", "wanted = True", "wanted")
def wants_estimate(search):
    """Return whether any technique needs the static evaluation of a node."""
    return False
