"""The arguments of a technique's hooks, and their results.

A *hook* is a small compiled function that a technique has for a point of a node (see
:class:`~cutnode.kernels.declarations.Technique`).  The engine's hooks are in
``cutnode.kernels.pruning`` and ``cutnode.kernels.depths``; ``cutnode.kernels.outside`` calls the
hooks of users.

>>> reduce(decide(), 2).reduction
2
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.native import in_compiled_code
from cutnode.contract.verbs import INFINITE
from cutnode.kernels.parameters import HISTORY_SIZE
from cutnode.kernels.quiescence import quiet_search


class NodeInfo(NamedTuple):
    """A node as a hook sees it.  Scores are from its mover's point of view."""

    position: Any
    evaluation: Any
    """The evaluation, for ``estimate(node.evaluation, position)``."""
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
    """The first free place on the stacks of moves."""
    previous: int
    """The last move; ``NO_MOVE`` if there is none, or if it was a pass."""
    mover: int
    """The player to move: 0 or 1."""
    tt_move: int
    """The hash move; ``NO_MOVE`` if there is none."""
    in_check: bool
    in_pv: bool
    """Whether it is a PV node: its window is not a null window."""
    cut_node: int
    """1 for an expected cut-node, else 0."""
    can_prune: bool
    """Whether estimates may cut the node: never at PV nodes, in check, or in an exact search."""
    static_eval: int
    """The static evaluation of the position, if a technique needs one, else ``-INFINITE``."""
    improving: bool
    """Whether the static evaluation is better than two plies ago, or cannot be compared."""
    estimate: int
    """The static evaluation, or a bound from the table that contradicts it."""


@compiled
def at_depth(node, depth, tt_move):
    """Return the same node with another depth and hash move."""
    return NodeInfo(
        node.position, node.evaluation, node.word, node.table, node.alpha, node.beta, depth,
        node.ply, node.top, node.previous, node.mover, tt_move, node.in_check, node.in_pv,
        node.cut_node, node.can_prune, node.static_eval, node.improving, node.estimate,
    )  # fmt: skip


class ChildInfo(NamedTuple):
    """A move as a hook sees it, before or after its search."""

    move: int
    position: Any
    """The position after it."""
    again: bool
    """Whether the same player is to move there: scores keep their sign."""
    won: int
    """The immediate gain of the move, by the game's verb ``gain``; 0 in games without it."""
    searched: int
    """The number of moves of the node searched so far."""
    at: int
    """Its place in ``search.ranked``."""
    first: int
    """The place of the node's first move that was not left out; the moves from there up to *at*
    were tried before."""
    alpha: int
    """The current alpha, as raised by the moves before."""
    may_skip: bool
    """Whether estimates may skip the move: the node allows it (a PV node only with ``pvs.skips``),
    and a move has been searched that does not lose by force."""


class Plan(NamedTuple):
    """The plan for a node before its moves are made."""

    cuts: bool
    score: int
    sound: bool
    """Whether the score is proven, so that it does not depend on an estimate."""
    change: int
    """The change of its depth, in plies."""
    tests: int
    """The number of first moves to test."""
    depth: int
    """The depth of the tests, in plies."""
    bound: int
    """The upper end of the tests' null window."""


class Decision(NamedTuple):
    """The decision about a move."""

    action: int
    bound: int
    """An upper bound on the score of a skipped move."""
    extension: int
    reduction: int
    sound: bool
    """Whether the bound is proven, so that it does not depend on an estimate."""


SEARCH, SKIP, SKIP_REST = range(3)
"""Actions of a decision."""


def whole(number: Any) -> int:
    """Return a whole number of the type that plans and decisions use."""
    return int(number)


in_compiled_code(whole)(lambda number: lambda number: np.int64(number))


@compiled
def plan():
    """Return the plan that changes nothing."""
    nothing = whole(0)
    return Plan(False, nothing, False, nothing, nothing, nothing, nothing)


@compiled
def cut(score, sound=False):
    """Return the plan to cut a node with a score; *sound* if the score is proven."""
    nothing = whole(0)
    return Plan(True, whole(score), bool(sound), nothing, nothing, nothing, nothing)


@compiled
def change_depth(before, plies):
    """Return the plan *before* with the depth increased by *plies* (decreased, if negative)."""
    return Plan(
        before.cuts, before.score, before.sound, before.change + whole(plies), before.tests,
        before.depth, before.bound,
    )  # fmt: skip


@compiled
def with_tests(before, count, depth, bound):
    """Return the plan *before* with a test of the first *count* moves.

    Each is searched *depth* plies deep with the null window below *bound*, and the ``after_test``
    hooks get its score; if one returns True, the node is cut with *bound*.
    """
    return Plan(
        before.cuts, before.score, before.sound, before.change, whole(count), whole(depth),
        whole(bound),
    )  # fmt: skip


@compiled
def decide():
    """Return the decision to search a move as it is."""
    nothing = whole(0)
    return Decision(whole(SEARCH), whole(-INFINITE), nothing, nothing, False)


@compiled
def skip(before, bound=-INFINITE, sound=False):
    """Return the decision to skip a move that scores at most *bound*; *sound* if that is proven."""
    return Decision(whole(SKIP), whole(bound), before.extension, before.reduction, bool(sound))


@compiled
def skip_rest(before):
    """Return the decision to skip a move and all after it."""
    return Decision(whole(SKIP_REST), whole(-INFINITE), before.extension, before.reduction, False)


@compiled
def reduce(before, plies):
    """Return the decision *before* with the move reduced by *plies*, until a re-search."""
    return Decision(before.action, before.bound, before.extension, whole(plies), before.sound)


@compiled
def extend(before, plies):
    """Return the decision *before* with the move extended by *plies*."""
    return Decision(before.action, before.bound, whole(plies), before.reduction, before.sound)


# Functions for hooks to call.


@compiled
def quiet_score(node, search):
    """Return the score of a node by quiescence search, within its window."""
    return quiet_search(
        node.position, node.evaluation, node.word, node.alpha, node.beta, node.ply, node.top,
        search, node.table,
    )  # fmt: skip


@compiled
def history_score(node, move, search):
    """Return the history score of a move of the node's mover: -16384 to 16384."""
    return np.int64(search.history[node.mover * HISTORY_SIZE + move % HISTORY_SIZE])
