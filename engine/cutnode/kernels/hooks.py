"""What a technique sees of a node, and what it answers.

A *hook* is a small compiled function that a technique has for a point of a node (see
:class:`~cutnode.kernels.declarations.Technique`).  Those of the engine are in
``cutnode.kernels.pruning`` and ``cutnode.kernels.depths``; ``cutnode.kernels.outside`` calls
others.

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


@compiled
def at_depth(node, depth, tt_move):
    """The same node with another depth and hash move."""
    return NodeInfo(
        node.position, node.evaluation, node.word, node.table, node.alpha, node.beta, depth,
        node.ply, node.top, node.previous, node.mover, tt_move, node.in_check, node.in_pv,
        node.cut_node, node.can_prune, node.static_eval, node.improving,
    )  # fmt: skip


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


def whole(number: Any) -> int:
    """A whole number of the type that plans and decisions have."""
    return int(number)


in_compiled_code(whole)(lambda number: lambda number: np.int64(number))


@compiled
def plan():
    """The plan that changes nothing."""
    nothing = whole(0)
    return Plan(False, nothing, False, nothing, nothing, nothing, nothing)


@compiled
def cut(score, sound=False):
    """The plan to cut a node with a score; *sound* if that is proven."""
    nothing = whole(0)
    return Plan(True, whole(score), bool(sound), nothing, nothing, nothing, nothing)


@compiled
def change_depth(before, plies):
    """The same plan, with so many plies more of depth; fewer if negative."""
    return Plan(
        before.cuts, before.score, before.sound, before.change + whole(plies), before.tests,
        before.depth, before.bound,
    )  # fmt: skip


@compiled
def with_tests(before, count, depth, bound):
    """The same plan, with a test of the first *count* moves.

    Each is searched *depth* plies deep with the null window below *bound*, and the hooks
    ``after_test`` are told its score; the node is cut with *bound* if one returns True.
    """
    return Plan(
        before.cuts, before.score, before.sound, before.change, whole(count), whole(depth),
        whole(bound),
    )  # fmt: skip


@compiled
def decide():
    """The decision to search a move as it is."""
    nothing = whole(0)
    return Decision(whole(SEARCH), whole(-INFINITE), nothing, nothing, False)


@compiled
def skip(before, bound=-INFINITE, sound=False):
    """The decision to skip a move, whose score is at most *bound*; *sound* if that is proven."""
    return Decision(whole(SKIP), whole(bound), before.extension, before.reduction, bool(sound))


@compiled
def skip_rest(before):
    """The decision to skip a move and all after it."""
    return Decision(whole(SKIP_REST), whole(-INFINITE), before.extension, before.reduction, False)


@compiled
def reduce(before, plies):
    """The same decision, with the move searched so many plies less deep at first."""
    return Decision(before.action, before.bound, before.extension, whole(plies), before.sound)


@compiled
def extend(before, plies):
    """The same decision, with the move searched so many plies deeper."""
    return Decision(before.action, before.bound, whole(plies), before.reduction, before.sound)


# What hooks may ask.


@compiled
def quiet_score(node, search):
    """The score of a node by quiescence, within its window."""
    return quiet_search(
        node.position, node.evaluation, node.word, node.alpha, node.beta, node.ply, node.top,
        search, node.table,
    )  # fmt: skip


@compiled
def history_score(node, move, search):
    """What the search has learned of a move of the node's mover: -16384 to 16384."""
    return search.history[node.mover * HISTORY_SIZE + move % HISTORY_SIZE]
