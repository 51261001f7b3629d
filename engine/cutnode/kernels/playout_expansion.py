"""Expansion in Monte Carlo tree search: bounds known without playouts, and children."""

from __future__ import annotations

import math

import numpy as np

from cutnode.compiler.jit import Evaluator, Numbers, Position, compiled, kernel
from cutnode.contract.bits import ordered
from cutnode.contract.choices import PRIORS
from cutnode.contract.derived import most_moves, same_after_chance
from cutnode.contract.repetition import bans_repetition, value_without_moves
from cutnode.contract.stop import MOVES
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    bounds,
    candidates,
    chance,
    chance_outcome,
    endgame,
    forced,
    moves,
    moves_again,
    order,
    outcome,
    play,
    reversible,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.node import is_excluded_at_root
from cutnode.kernels.playout_tree import (
    CHANCE,
    NOWHERE,
    OPEN,
    OVER,
    USELESS,
    Arms,
    Nodes,
    Sums,
    make_node,
    take_nodes,
)
from cutnode.kernels.playouts import (
    PlayoutMemory,
    below,
    draw,
    estimated_worth,
    is_settled,
    is_won_or_lost,
    knows_order,
    settled_worth,
    worth,
)
from cutnode.kernels.reference import end_by_rule, repeats, report_violation
from cutnode.kernels.tablebase_scores import tablebase_value

UNIFORM, BY_ORDER, BY_EVALUATION = range(len(PRIORS))
"""Kinds of priors, in the order of ``PRIORS``."""


# Bounds


@compiled
def own_bounds(node, nodes):
    """Return the bounds of a node for the player who moves there."""
    lower, upper = np.int64(nodes[node].lower), np.int64(nodes[node].upper)
    if nodes[node].same:
        return lower, upper
    return -upper, -lower


@compiled
def set_own_bounds(position, node, lower, upper, nodes, arms):
    """Tighten a node's bounds by bounds for the player who moves there; return if they change."""
    if not nodes[node].same:
        lower, upper = -upper, -lower
    lower = max(lower, np.int64(nodes[node].lower))
    upper = min(upper, np.int64(nodes[node].upper))
    if lower > upper or (lower == nodes[node].lower and upper == nodes[node].upper):
        return False
    nodes[node].lower = lower
    nodes[node].upper = upper
    if is_settled(position, lower, upper):
        arms[node].next = NOWHERE
        # An exact value replaces all samples.
        if nodes[node].visits > 0:
            set_average(node, settled_worth(position, lower, upper), nodes, arms)
    return True


@compiled
def set_average(node, average, nodes, arms):
    """Set the mean result of a node, for selection as well."""
    nodes[node].average = average
    if arms[node].mean != USELESS:
        arms[node].mean = np.float32(average)


# Looking at a node, and making its children


@compiled
def look_at(position, node, ply, steps, memory, nodes, arms):
    """Find what is known of a position without search; return whether its bounds change."""
    nodes[node].kind = OPEN
    over, value = outcome(position)
    if over:
        nodes[node].kind = OVER
        lower, upper = np.int64(math.floor(value)), np.int64(math.ceil(value))
        return set_own_bounds(position, node, lower, upper, nodes, arms)
    ends, value = end_by_rule(position, ply, steps, memory)
    if ends:
        return set_own_bounds(position, node, np.int64(value), np.int64(value), nodes, arms)
    if chance(position) > 0:
        nodes[node].kind = CHANCE
        return False
    if ply == 0:  # the root needs a move, not a value
        return False
    known, value = tablebase_value(position, memory)
    if known:
        lower, upper = np.int64(value), np.int64(value)
        if is_won_or_lost(position):  # a tablebase may say no more than who wins
            lower = min(lower, np.int64(1)) if value >= 0 else np.int64(-INFINITE)
            upper = max(upper, np.int64(-1)) if value <= 0 else np.int64(INFINITE)
        return set_own_bounds(position, node, lower, upper, nodes, arms)
    return memory.use_bounds and tighten_by_game(position, node, memory, nodes, arms)


@compiled
def tighten_by_game(position, node, memory, nodes, arms):
    """Tighten a node's bounds by ``bounds`` and ``endgame``; return whether they change."""
    lower, upper = bounds(position, -INFINITE, INFINITE)
    if not is_settled(position, lower, upper):
        room = max(memory.node_limit - memory.nodes, 0)
        solved, value, visited = endgame(position, -INFINITE, INFINITE, room)
        memory.nodes += visited
        if solved:
            lower, upper = value, value
    return set_own_bounds(position, node, np.int64(lower), np.int64(upper), nodes, arms)


@compiled
def without_repetitions(position, count, ply, steps, memory):
    """Drop the illegal repetitions from the listed moves, and return how many are left."""
    kept = 0
    for at in range(count):
        move = memory.moves[at]
        child = play(position, move)
        child_steps = np.int64(steps + 1 if reversible(position, child) else 0)
        if outcome(child)[0] or not repeats(child, ply + 1, child_steps, memory):
            memory.moves[kept] = move
            kept += 1
    return kept


@compiled
def list_children(position, node, ply, steps, memory, nodes, arms):
    """List the moves to consider, or the outcomes of chance; return how many there are.

    A node whose every move is an illegal repetition is lost.
    """
    if chance(position) > 0:
        count = chance(position)
        for index in range(count):
            memory.moves[index] = index
        return count
    if ply == 0:
        count = moves(position, memory.moves, 0)
        kept = 0
        for at in range(count if count <= most_moves(position) else 0):
            move = memory.moves[at]
            if not is_excluded_at_root(memory, move):
                memory.moves[kept] = move
                kept += 1
        count = kept
    elif bans_repetition(position):
        # The game's candidates may all be illegal on this line, and another move legal.
        count = moves(position, memory.moves, 0)
    else:
        move = forced(position)
        if move != NO_MOVE:
            memory.moves[0] = move
            return 1
        count = candidates(position, memory.moves, 0)
    if not 0 < count <= most_moves(position):
        report_violation(position, MOVES, memory)
        return 0
    if bans_repetition(position):
        count = without_repetitions(position, count, ply, steps, memory)
        if count == 0:
            lost = np.int64(value_without_moves(position))
            memory.changed = set_own_bounds(position, node, lost, lost, nodes, arms)
    return count


@compiled
def shuffle(count, memory):
    """Shuffle the listed moves: untried moves are tried in this order."""
    for at in range(count - 1, 0, -1):
        other = below(draw(memory), at + 1)
        move = memory.moves[at]
        memory.moves[at] = memory.moves[other]
        memory.moves[other] = move


@compiled
def guessed_worth(position, over, value, evaluation):
    """Return a position's worth without a rollout: by its *value* if *over*, else by estimate."""
    if over:
        return worth(position, value)
    return estimated_worth(position, estimate(evaluation, position))


@compiled
def set_priors(first, count, sums):
    """Turn the scores of children into priors: the softmax of their standard scores."""
    mean, squares = 0.0, 0.0
    for child in range(first, first + count):
        mean += sums[child].prior
        squares += sums[child].prior * sums[child].prior
    mean /= count
    deviation = math.sqrt(max(squares / count - mean * mean, 0.0))
    total = 0.0
    for child in range(first, first + count):
        score = (sums[child].prior - mean) / deviation if deviation > 1e-9 else 0.0
        sums[child].prior = math.exp(score)
        total += sums[child].prior
    for child in range(first, first + count):
        sums[child].prior /= total


@kernel
def expand(
    position: Position,
    evaluation: Evaluator,
    node: int,
    ply: int,
    steps: int,
    memory: PlayoutMemory,
    nodes: Nodes,
    arms: Arms,
    sums: Sums,
    pool: Numbers,
) -> int:
    """Make a node's children; return 0 if there are none or no room, 2 if one is over, else 1."""
    count = list_children(position, node, ply, steps, memory, nodes, arms)
    if count == 0:
        return 0
    first = take_nodes(count, memory, arms, pool)
    if first == 0:
        return 0
    found = 1
    by_chance = chance(position) > 0
    puct = memory.puct != 0
    by_evaluation = puct and memory.priors == BY_EVALUATION
    estimated = by_evaluation or memory.minimax > 0
    noted = puct or by_chance or memory.rave > 0 or memory.minimax > 0
    if not by_chance:
        shuffle(count, memory)
    for at in range(count):
        move, child = memory.moves[at], first + at
        prior = 1.0 / count
        if by_chance:
            prior, reached = chance_outcome(position, move)
            same = same_after_chance(position, reached)
        else:
            reached = play(position, move)
            same = moves_again(position, reached)
            if knows_order(position):
                if puct and memory.priors == BY_ORDER:
                    prior = np.float64(order(position, move, reached))
        make_node(child, move, same, nodes, arms)
        if noted:
            sums[child].prior = prior
            sums[child].estimate = 0.0
            sums[child].rave_visits = 0.0
            sums[child].rave_mean = 0.0
        # See an immediate win before any rollout.
        over, value = outcome(reached)
        if over:
            found = 2
            low, high = np.int64(math.floor(value)), np.int64(math.ceil(value))
            nodes[child].lower = low if same else -high
            nodes[child].upper = high if same else -low
        if estimated:
            guess = guessed_worth(reached, over, value, evaluation)
            sums[child].estimate = guess if same else -guess
            if by_evaluation and not by_chance:
                sums[child].prior = sums[child].estimate
    if puct and not by_chance:
        if memory.priors != UNIFORM:
            set_priors(first, count, sums)
        for child in range(first, first + count):
            arms[child].explore = np.float32(sums[child].prior)
    memory.expansions += 1
    nodes[node].count = count
    ordered()
    arms[node].first = first
    ordered()
    arms[node].next = 0
    return found
