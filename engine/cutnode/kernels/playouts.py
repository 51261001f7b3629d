"""Rollouts of Monte Carlo tree search: random play from a position to the end of the game.

Values.  The result of a playout is in units of *worth*, from -1 to 1 for the player who moves where
it begins.  In a ``DECISIVE`` game a win is worth 1, a draw 0, a loss -1; in any other game the
value is divided by ``VALUE_LIMIT``.  Where a rollout is cut off, an estimate decides: in a
``DECISIVE`` game the logistic function of ``evaluate / UNIT``, and otherwise the estimate as a
value.

Random numbers come from SplitMix64 (G. Steele et al., "Fast splittable pseudorandom number
generators", 2014): a counter, scattered.  A number in a range is the high half of a product
(D. Lemire, "Fast random integer generation in an interval", 2019); its bias, one part in 2**48,
does not matter.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, compiled, kernel, record
from cutnode.contract.bits import WORD, Bits, high_product, mix
from cutnode.contract.derived import most_moves, same_after_chance
from cutnode.contract.dispatch import constant_of, defines, derived, game_constant, value_limit
from cutnode.contract.positions import words_each
from cutnode.contract.stop import MOVES
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    bounds,
    chance,
    chance_outcome,
    drawn,
    forced,
    moves,
    moves_again,
    order,
    outcome,
    play,
    policy,
    random_move,
    random_result,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.parameters import MOST_BEFORE
from cutnode.kernels.reference import report_violation
from cutnode.kernels.scores import is_decisive
from cutnode.kernels.tablebase_scores import tablebase_fields

MOST_TREE_PLIES = 1024
"""The longest line in a tree, in plies."""

PLAYED = 1 << 16
"""The number of different moves."""

LISTED_VISITS = 4096
"""The number of visits below which exploration weights are precomputed."""

ESTIMATE_UNIT = 100
"""The ``UNIT`` of a decisive game that does not define one."""

COUNTERS = ("playouts", "nodes", "expansions", "rollouts", "rollout_plies", "cut_off", "deepest")
"""Counters: fields of the memory (see ``cutnode.search.results``)."""

GAMMA = Bits(0x9E3779B97F4A7C15)
"""The step of the counter of random numbers."""

ALL_BITS = Bits(WORD)


def most_plies(cls: Any) -> int:
    """Return the longest line, in plies, in a tree of a position class's game."""
    return min(game_constant(cls, "MAX_PLIES", 512), MOST_TREE_PLIES)


@functools.cache
def playout_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of a thread's memory: control, options, counters, stacks."""
    plies = most_plies(cls)
    most = game_constant(cls, "MAX_MOVES", 256)
    fields: list[Any] = [
        ("stop", np.int64),
        ("playout_limit", np.int64),
        ("node_limit", np.int64),
        ("plies", np.int64),  # no line in the tree gets longer than this
        ("shared", np.int64),  # whether other threads search the same tree
        # Options: see cutnode.search.options.
        ("puct", np.int64),
        ("priors", np.int64),  # index into cutnode.contract.choices.PRIORS
        ("exploration", np.float64),
        ("rave", np.float64),
        ("minimax", np.float64),
        ("no_solver", np.int64),
        ("proof_bias", np.float64),
        ("proof_formula", np.int64),  # index into cutnode.contract.choices.PROOF_FORMULAS
        ("greed", np.float64),
        ("use_bounds", np.int64),
        ("by_policy", np.int64),  # whether the game's policy chooses the moves of rollouts
        ("results_only", np.int64),  # whether a rollout's result may be drawn at once
        ("mixed", np.int64),  # whether selection uses more than means
        ("everywhere", np.int64),  # whether backup takes more than the result to all nodes
        ("together", np.int64),  # whether playouts of a thread pass nodes near the root together
        ("cut_after", np.int64),
        *((name, np.int64) for name in COUNTERS),
        ("bonuses", np.float32, (LISTED_VISITS,)),  # square roots of the logarithms of visits
        ("explores", np.float32, (LISTED_VISITS,)),  # 1 / square roots of visits
        ("random", np.uint64),  # state of the generator
        ("lowest", np.float64),  # lowest result of a playout, for the root's mover
        ("highest", np.float64),  # highest one
        ("next", np.int64),  # first node that this thread may use
        ("end", np.int64),  # end of the nodes that it may use
        ("root_excluded", np.int64),  # number of root moves that are not searched
        ("root_excluded_moves", np.int64, (most,)),
        ("who", np.int64),  # who moves where a playout leaves the tree; 0: the root's mover
        ("result", np.float64),  # of the playout, for that player
        ("changed", np.int64),  # whether the bounds of that node have changed
        ("grown_ply", np.int64),  # first ply where the playout has given a node children
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("before", np.int64),  # number of positions of the path before the root
        ("path", np.uint64, (MOST_BEFORE + plies + 2,)),
        ("sides", np.int64, (plies + 2,)),  # who moves at each ply, if a repetition is no draw
        ("visited", np.uint64, (plies + 2,)),  # the nodes of the line
        *tablebase_fields(cls),
        ("moves", np.int64, (most + MOVES_ROOM,)),
        ("played", np.int64, (2 * PLAYED,)),  # last playout in which each player made each move
    ]
    return np.dtype(fields, align=True)


PlayoutMemory = Annotated[Any, record(playout_dtype)]


# Worth


@derived
def worth(cls: type) -> Callable[..., Any]:
    """``worth(position, value)``: a value in units of worth."""
    if is_decisive(cls):
        return lambda position, value: 1.0 if value > 0 else -1.0 if value < 0 else 0.0
    limit = value_limit(cls)
    return lambda position, value: value / limit


@derived
def estimated_worth(cls: type) -> Callable[..., Any]:
    """``estimated_worth(position, value)``: an estimate in units of worth."""
    if is_decisive(cls):
        unit = float(game_constant(cls, "UNIT", ESTIMATE_UNIT))
        return lambda position, value: 2.0 / (1.0 + math.exp(-value / unit)) - 1.0
    limit = value_limit(cls)
    return lambda position, value: max(-1.0, min(1.0, value / limit))


is_won_or_lost = constant_of(is_decisive)
"""Whether only the sign of the game's values matters."""

knows_order = constant_of(lambda cls: defines(cls, "order"))
has_policy = constant_of(lambda cls: defines(cls, "policy"))
draws_moves = constant_of(lambda cls: defines(cls, "random_move"))
draws_results = constant_of(lambda cls: defines(cls, "random_result"))


@compiled
def is_settled(position, lower, upper):
    """Return whether bounds settle a position: a single value, or the winner in decisive games."""
    if is_won_or_lost(position):
        return lower > 0 or upper < 0 or lower == upper
    return lower == upper


@compiled
def settled_worth(position, lower, upper):
    """Return the worth of a position that its bounds settle."""
    return worth(position, lower if lower > 0 or lower == upper else upper)


# Chance


@compiled
def draw(memory):
    """Return the next random word."""
    state = (Bits(memory.random) + GAMMA) & ALL_BITS
    memory.random = state
    return mix(state)


@compiled
def below(word, count):
    """Return a random number in ``range(count)``."""
    return np.int64(high_product(word, Bits(count)))


@compiled
def fraction(word):
    """Return a random number from 0 to 1, 1 not included."""
    return np.float64(word >> Bits(11)) * 2.0**-53


@compiled
def sampled_outcome(position, memory):
    """Return the number of an outcome of a chance event, drawn by its probability."""
    at = fraction(draw(memory))
    last = 0
    for index in range(chance(position)):
        probability, _ = chance_outcome(position, index)
        if probability > 0:
            last = index
            at -= probability
            if at < 0:
                break
    return last


# Random play


@compiled
def greedy_move(position, count, memory):
    """Return the listed move that ``order`` scores highest, a random one among equals."""
    best, chosen, ties = -(1 << 40), memory.moves[0], 0
    for at in range(count):
        move = memory.moves[at]
        score = order(position, move, play(position, move))
        if score > best:
            best, chosen, ties = score, move, 1
        elif score == best:
            ties += 1
            if below(draw(memory), ties) == 0:
                chosen = move
    return chosen


@compiled
def rollout_move(position, memory):
    """Return a move of the rollout policy, or ``NO_MOVE`` if the game breaks the contract."""
    if has_policy(position):
        if memory.by_policy:
            return np.int64(policy(position, draw(memory)))
    if memory.use_bounds:
        move = forced(position)
        if move != NO_MOVE:
            return move
    if draws_moves(position):
        if memory.greed == 0:
            return np.int64(random_move(position, draw(memory)))
    count = moves(position, memory.moves, 0)
    if not 0 < count <= most_moves(position):
        report_violation(position, MOVES, memory)
        return NO_MOVE
    if knows_order(position):
        if memory.greed > 0 and fraction(draw(memory)) < memory.greed:
            return greedy_move(position, count, memory)
    return memory.moves[below(draw(memory), count)]


@compiled
def known_worth(position, memory):
    """Return whether the end of the game, or bounds if used, end a rollout, and the worth if so."""
    over, value = outcome(position)
    if over:
        return True, worth(position, value)
    if drawn(position):
        return True, 0.0
    if memory.use_bounds:
        if chance(position) == 0:
            lower, upper = bounds(position, -INFINITE, INFINITE)
            if is_settled(position, lower, upper):
                return True, settled_worth(position, lower, upper)
    return False, 0.0


@kernel
def roll_out(position: Position, evaluation: Evaluator, who: int, memory: PlayoutMemory) -> float:
    """Return the result of a rollout from a position, for its mover.

    *who* is 0 if he is the mover at the root, else 1.  The game must not be over.
    """
    if draws_results(position):
        if memory.results_only:
            memory.rollouts += 1
            memory.rollout_plies += 1  # one more position is looked at, the final one
            return worth(position, random_result(position, draw(memory)))
    sign = 1.0
    plies = 0
    result = 0.0
    while True:
        if plies >= memory.cut_after:
            memory.cut_off += 1
            result = estimated_worth(position, estimate(evaluation, position))
            break
        if chance(position) > 0:
            _, child = chance_outcome(position, sampled_outcome(position, memory))
            same = same_after_chance(position, child)
        else:
            move = rollout_move(position, memory)
            if move == NO_MOVE:
                break
            if memory.rave > 0:
                memory.played[who * PLAYED + move] = memory.playouts
            child = play(position, move)
            same = moves_again(position, child)
        plies += 1
        position = child
        if not same:
            sign = -sign
            who = 1 - who
        over, result = known_worth(position, memory)
        if over:
            break
    memory.rollouts += 1
    memory.rollout_plies += plies
    return sign * result
