"""What techniques see of a node, what they answer, and how those from outside are called.

A *hook* is a small compiled function that a technique has for a point of a node (see
:class:`~engine.kernels.declarations.Technique`); the engine's own are in ``engine.kernels.pruning``
and ``engine.kernels.depths``, with the same arguments and answers.  Those from outside are known
by the memory of the search, whose fields name them: so they are compiled into the node function,
one after the other, each behind the switch with which an ablation turns it off, and where there are
none nothing is left of the call.

>>> from engine.kernels.hooks import decide, reduce
>>> reduce(decide(), 2).reduction
2
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from engine.compiler.jit import compiled
from engine.contract.dispatch import HOOKED
from engine.contract.errors import CutnodeError
from engine.contract.native import in_compiled_code, is_compiled
from engine.contract.verbs import INFINITE, play
from engine.kernels.declarations import Technique
from engine.kernels.ordering import FIRST, ranked_move, ranked_score, with_score

__all__ = [
    "SEARCH",
    "SKIP_REST",
    "ChildInfo",
    "Decision",
    "NodeInfo",
    "Plan",
    "change_depth",
    "cut",
    "decide",
    "extend",
    "outside_after_child",
    "outside_after_test",
    "outside_before_child",
    "outside_before_moves",
    "outside_fields",
    "outside_on_cutoff",
    "plan",
    "rank_by_outside",
    "reduce",
    "require_compiled",
    "skip",
    "skip_rest",
    "test_moves",
    "wants_estimate",
]


class NodeInfo(NamedTuple):
    """What is known of a node.  Scores are those of its mover."""

    position: Any
    evaluation: Any
    """For ``estimate(node.evaluation, position)``."""
    word: Any
    """Its address in the table."""
    table: Any
    alpha: int
    beta: int
    depth: int
    """Plies left."""
    ply: int
    """Plies from the root."""
    top: int
    """The stacks of moves are free from here on."""
    previous: int
    """The last move; ``NO_MOVE`` if there is none, or if it was a pass."""
    mover: int
    """0 or 1."""
    tt_move: int
    """The hash move; ``NO_MOVE`` if there is none."""
    in_check: bool
    in_pv: bool
    """It is in the principal variation: its window was not a null window."""
    cut_node: int
    """1 where a cutoff is expected."""
    can_prune: bool
    """Cuts and skips because of estimates make sense: not in the principal variation, nor in check,
    nor in an exact search."""
    static_eval: int
    """The estimate of the position, if a technique asks for one, or ``-INFINITE``."""
    improving: bool
    """The estimate is better than two plies ago, or nothing is known of it."""


class ChildInfo(NamedTuple):
    """What is known of a move that is to be searched, or was."""

    move: int
    position: Any
    """The position after it."""
    again: bool
    """The same player is to move there: scores keep their sign."""
    won: int
    """What it wins at once, as the game's verb ``gain`` says; 0 in games without."""
    searched: int
    """So many moves of the node have been searched."""
    at: int
    """Its place in ``search.ranked``."""
    first: int
    """The place of the first move that was not left out: those from here to *at* were tried."""
    alpha: int
    """The best score so far, if it raised alpha, or alpha."""
    may_skip: bool
    """A move was searched that does not lose at once, and the node can prune."""


class Plan(NamedTuple):
    """What is to be done with a node before its moves are made."""

    cuts: bool
    score: int
    sound: bool
    """The score is proven: it does not depend on an estimate."""
    change: int
    """Plies by which its depth changes."""
    tests: int
    """So many of its first moves are tested,"""
    depth: int
    """so deep,"""
    bound: int
    """with the null window below this score."""


class Decision(NamedTuple):
    """What is to be done with a move."""

    action: int
    bound: int
    """Of a move that is skipped: a score that it does not exceed."""
    extension: int
    reduction: int
    sound: bool
    """The bound is proven: it does not depend on an estimate."""


SEARCH, SKIP, SKIP_REST = range(3)
"""Actions of a decision."""


@compiled
def plan():
    """The plan that changes nothing."""
    nothing = np.int64(0)
    return Plan(False, nothing, False, nothing, nothing, nothing, nothing)


@compiled
def cut(score, sound=False):
    """The plan to cut a node with a score; *sound* if that is proven."""
    nothing = np.int64(0)
    return Plan(True, np.int64(score), bool(sound), nothing, nothing, nothing, nothing)


@compiled
def change_depth(before, plies):
    """The same plan, with so many plies more of depth; fewer if negative."""
    return Plan(
        before.cuts, before.score, before.sound, before.change + np.int64(plies), before.tests,
        before.depth, before.bound,
    )  # fmt: skip


@compiled
def test_moves(before, count, depth, bound):
    """The same plan, with a test of the first *count* moves.

    Each is searched *depth* plies deep with the null window below *bound*, and the hooks
    ``after_test`` are told its score; the node is cut with *bound* if one returns True.
    """
    return Plan(
        before.cuts, before.score, before.sound, before.change, np.int64(count), np.int64(depth),
        np.int64(bound),
    )  # fmt: skip


@compiled
def decide():
    """The decision to search a move as it is."""
    nothing = np.int64(0)
    return Decision(np.int64(SEARCH), np.int64(-INFINITE), nothing, nothing, False)


@compiled
def skip(before, bound=-INFINITE, sound=False):
    """The decision to skip a move, whose score is at most *bound*; *sound* if that is proven."""
    return Decision(
        np.int64(SKIP), np.int64(bound), before.extension, before.reduction, bool(sound)
    )


@compiled
def skip_rest(before):
    """The decision to skip a move and all after it."""
    return Decision(
        np.int64(SKIP_REST), np.int64(-INFINITE), before.extension, before.reduction, False
    )


@compiled
def reduce(before, plies):
    """The same decision, with the move searched so many plies less deep at first."""
    return Decision(before.action, before.bound, before.extension, np.int64(plies), before.sound)


@compiled
def extend(before, plies):
    """The same decision, with the move searched so many plies deeper."""
    return Decision(before.action, before.bound, np.int64(plies), before.reduction, before.sound)


# Those from outside.

MARK = "technique "
"""Fields of the memory of a search whose names begin so say which techniques it is made for."""

_marked: dict[str, Technique] = {}


def outside_fields(techniques: Iterable[Technique]) -> Iterator[tuple[Any, ...]]:
    """Yield the fields that techniques from outside have in the memory of a search."""
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


def require_compiled(techniques: Iterable[Technique]) -> None:
    """:class:`CutnodeError` if a hook is not compiled."""
    for each in techniques:
        for point, hook in each.hooks():
            if not is_compiled(hook):
                raise CutnodeError(
                    f"{point} of {each.name} is not compiled: put @compiled before it"
                )


def hooked(point: str, call: str, result: str = "") -> Callable[[Any], Any]:
    """Decorate the function of a point, which is what it does where no technique has a hook.

    Made for techniques that have one, it calls their hooks in turn, each if its technique is on:
    *call* is the statement that calls a ``hook``, and *result* the variable that it returns, which
    begins as what the decorated function returns.
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
                lines.append(f"    if search.use_{technique.name}:")
                lines.append(f"        {call.replace('hook', f'hook{number}')}")
            lines.append(f"    return {result}")
            space["__name__"] = " ".join([__name__, point, *(t.digest() for t, _ in hooks)])
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
    """The techniques from outside for which the memory of a search is made."""
    return [_marked[name] for name in search.fields if name.startswith(MARK)]


@hooked(
    "before_moves",
    "decided = decided if decided.cuts else hook(node, decided, search)",
    "decided",
)
def outside_before_moves(node, decided, search):
    """The plan for a node."""
    return decided


@hooked("rank", "score += hook(node, move, search)", "score")
def outside_rank(node, move, search):
    """What is added to the score of a move."""
    return 0


@hooked("order", "score += search.order_weight * hook(node.position, move, child)", "score")
def outside_order(node, move, child, search):
    """What is added to the score of a move by those that say it as the verb ``order`` does."""
    return 0


@hooked("rank", "ranks = True", "ranks")
def outside_ranks(search):
    """Whether any rank moves."""
    return False


@hooked("order", "orders = True", "orders")
def outside_orders(search):
    """Whether any order moves."""
    return False


@compiled
def rank_by_outside(node, top, end, search):
    """Add what techniques from outside say to the scores of the moves on the stack."""
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


@hooked("after_test", "enough = hook(node, child, value, search) or enough", "enough")
def outside_after_test(node, child, value, search):
    """Tell of a test, and return whether the node is cut."""
    return False


@hooked(
    "before_child",
    "decision = decision if decision.action else hook(node, child, decision, search)",
    "decision",
)
def outside_before_child(node, child, decision, search):
    """The decision on a move."""
    return decision


@hooked("after_child", "hook(node, child, value, search)")
def outside_after_child(node, child, value, search):
    """Tell of a move that was searched."""


@hooked("on_cutoff", "hook(node, child, search)")
def outside_on_cutoff(node, child, search):
    """Tell of a move that cut its node."""


@hooked("estimates", "wanted = True", "wanted")
def wants_estimate(search):
    """Whether any asks for the estimate of a node."""
    return False
