"""Playouts of Monte Carlo tree search: random play from a position to the end of the game.

Values.  A playout counts in units of *worth*, from -1 to 1 for the player who moves where it
begins.  In a ``DECISIVE`` game a win is worth 1, a draw 0, a loss -1; in any other the value
divided by ``VALUE_LIMIT``.  Where a playout is cut off, an estimate decides: in a ``DECISIVE`` game
by the logistic function of ``evaluate / UNIT``, and otherwise as a value.

Random numbers are those of SplitMix64 (G. Steele et al., "Fast splittable pseudorandom number
generators", 2014): a counter, scattered.  One in a range is the high half of a product (D. Lemire,
"Fast random integer generation in an interval", 2019); its bias, a part in 2**48, does not matter.
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
from cutnode.contract.dispatch import defines, derived, game_constant, value_limit
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
    random_move,
    random_result,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.parameters import MOST_BEFORE
from cutnode.kernels.reference import report_violation
from cutnode.kernels.scores import is_decisive
from cutnode.kernels.tablebase_scores import tablebase_fields

MOST_TREE_PLIES = 1024
"""No line in a tree gets longer than this."""

PLAYED = 1 << 16
"""So many numbers of moves there are."""

LISTED_VISITS = 4096
"""Weights of exploration after fewer visits are listed."""

ESTIMATE_UNIT = 100
"""The ``UNIT`` of a decisive game that does not say it."""

COUNTERS = ("playouts", "nodes", "expansions", "rollouts", "rollout_plies", "cut_off", "deepest")
"""Counters: fields of the memory (see ``cutnode.search.results``)."""

GAMMA = Bits(0x9E3779B97F4A7C15)
"""The step of the counter of random numbers."""

ALL_BITS = Bits(WORD)


def most_plies(cls: Any) -> int:
    """Return the plies of the longest line in a tree of the game of a class."""
    return min(game_constant(cls, "MAX_PLIES", 512), MOST_TREE_PLIES)


@functools.cache
def playout_dtype(cls: Any) -> np.dtype[Any]:
    """The memory of a thread of Monte Carlo tree search: control, options, counters, stacks."""
    plies = most_plies(cls)
    most = game_constant(cls, "MAX_MOVES", 256)
    fields: list[Any] = [
        ("stop", np.int64),
        ("playout_limit", np.int64),
        ("node_limit", np.int64),
        ("plies", np.int64),  # no line in the tree gets longer than this
        ("shared", np.int64),  # other threads search the same tree
        # What the search does: see cutnode.search.options.
        ("puct", np.int64),
        ("priors", np.int64),  # the number of one of cutnode.contract.choices.PRIORS
        ("exploration", np.float64),
        ("rave", np.float64),
        ("minimax", np.float64),
        ("greed", np.float64),
        ("use_bounds", np.int64),
        ("results_only", np.int64),  # random play may be drawn by its result
        ("mixed", np.int64),  # selection takes more than means
        ("everywhere", np.int64),  # all nodes of a line take more than a result
        ("cut_after", np.int64),
        *((name, np.int64) for name in COUNTERS),
        ("bonuses", np.float32, (LISTED_VISITS,)),  # roots of the logarithms of visits
        ("explores", np.float32, (LISTED_VISITS,)),  # one by the roots of visits
        ("random", np.uint64),
        ("lowest", np.float64),  # of what playouts were worth to the mover at the root
        ("highest", np.float64),
        ("next", np.int64),  # this thread may use the nodes from here on ...
        ("end", np.int64),  # ... to here
        ("root_excluded", np.int64),  # so many root moves are not searched
        ("root_excluded_moves", np.int64, (most,)),
        ("who", np.int64),  # moves where the line of a playout in the tree ends: as at the root?
        ("result", np.float64),  # of the playout, for that player
        ("changed", np.int64),  # so have the bounds of that node
        ("violation", np.uint64, (words_each(cls),)),  # breaks the contract
        ("before", np.int64),  # so many positions of the path come before the root
        ("path", np.uint64, (MOST_BEFORE + plies + 2,)),
        ("visited", np.uint64, (plies + 2,)),  # the nodes of the line
        *tablebase_fields(cls),
        ("moves", np.int64, (most + MOVES_ROOM,)),
        ("played", np.int64, (2 * PLAYED,)),  # by each player: in which playout last
    ]
    return np.dtype(fields, align=True)


PlayoutMemory = Annotated[Any, record(playout_dtype)]


# What values are worth


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


@derived
def is_won_or_lost(cls: type) -> Callable[..., Any]:
    """``is_won_or_lost(position)``: whether of values of this game only the sign matters."""
    answer = is_decisive(cls)
    return lambda position: answer


@derived
def knows_order(cls: type) -> Callable[..., Any]:
    """``knows_order(position)``: whether its game says how promising moves look."""
    answer = defines(cls, "order")
    return lambda position: answer


@derived
def draws_moves(cls: type) -> Callable[..., Any]:
    """``draws_moves(position)``: whether its game draws random moves itself."""
    answer = defines(cls, "random_move")
    return lambda position: answer


@derived
def draws_results(cls: type) -> Callable[..., Any]:
    """``draws_results(position)``: whether its game draws the result of random play at once."""
    answer = defines(cls, "random_result")
    return lambda position: answer


@compiled
def is_settled(position, lower, upper):
    """Return whether bounds leave nothing to find out: one value, or who wins if that is all."""
    if is_won_or_lost(position):
        return lower > 0 or upper < 0 or lower == upper
    return lower == upper


@compiled
def settled_worth(position, lower, upper):
    """The worth of a position whose bounds settle it."""
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
    """A random number in ``range(count)``."""
    return np.int64(high_product(word, Bits(count)))


@compiled
def fraction(word):
    """A random number from 0 to 1, 1 not included."""
    return np.float64(word >> Bits(11)) * 2.0**-53


@compiled
def sampled_outcome(position, memory):
    """Return the number of an outcome of a chance event, drawn by the probabilities."""
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
    """The listed move that the game's order likes best, a random one of those if there are more."""
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
    """A move of random play, or ``NO_MOVE`` if the game breaks the contract."""
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
    """Return whether the end of the game, or a proof if they are used, ends random play."""
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
    """The worth, for the mover, of what random play from a position leads to.

    *who* is 0 if he is the mover at the root, else 1.  The game is not over.
    """
    if draws_results(position):
        if memory.results_only:
            memory.rollouts += 1
            memory.rollout_plies += 1  # one position more is looked at, that of the end
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
