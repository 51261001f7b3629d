"""Reference searches, with which the project's searches are compared, and perft.

Minimax without any pruning, textbook alpha-beta, and perft, for any game of the contract.  They
visit moves in the order in which the game generates them and use no table, so their node counts are
facts about the game.  Each position visited is a node, the root included.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, compiled, kernel, record
from cutnode.contract.bits import Bits
from cutnode.contract.counting import listed
from cutnode.contract.derived import is_free_move, most_moves, recurs, same_after_chance, side
from cutnode.contract.dispatch import game_constant
from cutnode.contract.positions import pack, words_each
from cutnode.contract.repetition import (
    bans_repetition,
    needs_line,
    value_of_repetition,
    value_without_moves,
)
from cutnode.contract.stop import MOVES, PLIES, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    chance,
    chance_outcome,
    drawn,
    moves,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.scores import final_score, limited


@functools.cache
def plain_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of a reference search's memory: a stop flag, counters, and stacks."""
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    fields: list[Any] = [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("leaves", np.int64),
        ("plies", np.int64),
        ("turns", np.int64),  # whether depth counts turns, not moves
        ("win", np.int64),  # of final_score: 0 for unchanged values
        ("step", np.int64),
        ("bulk", np.int64),  # whether perft counts the last moves without making them
        ("finished", np.int64),  # what a line that ends the game early counts in perft
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("before", np.int64),  # number of positions of the path before the root
        ("path", np.uint64, (plies + 1,)),
        ("sides", np.int64, (plies + 1,)),  # who moves at each ply, if a repetition is no draw
        ("moves", np.int64, ((plies + 1) * game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM,)),
    ]
    return np.dtype(fields, align=True)


PlainMemory = Annotated[Any, record(plain_dtype)]


@compiled
def repeats(position, ply, steps, plain):
    """Return whether a position occurred in the last *steps* of its line, which are reversible.

    Also record the position, for later ones to compare with.
    """
    word = Bits(recurrence(position))
    at = plain.before + ply
    plain.path[at] = word
    if needs_line(position) and steps > 0 and Bits(plain.path[at - 1]) == word:
        return False
    for earlier in range(at - steps, at):
        if Bits(plain.path[earlier]) == word:
            return True
    return False


@compiled
def repetition(position, ply, steps, plain):
    """Return whether a line of play ends here by repetition, and the value for the mover.

    It is ``INFINITE`` for the opponent of a player who made an illegal move: nobody chooses it.
    """
    if needs_line(position):
        plain.sides[ply] = side(position, ply)
    if recurs(position) and repeats(position, ply, steps, plain) and ply > 0:
        value = value_of_repetition(position)
        if needs_line(position) and plain.sides[ply] != plain.sides[ply - 1]:
            return True, -value
        return True, value
    return False, 0


@compiled
def end_by_rule(position, ply, steps, plain):
    """Return whether an unfinished line ends by repetition or a draw by rule, and the value."""
    repeated, value = repetition(position, ply, steps, plain)
    if repeated:
        return True, value
    return ply > 0 and drawn(position), 0


@compiled
def score_by_rule(value, ply, plain):
    """Return the score of the value that :func:`end_by_rule` returned."""
    if value == INFINITE or value == -INFINITE:
        return value
    return final_score(value, ply, plain.win, plain.step)


@compiled
def or_lost(position, best, ply, plain):
    """Return a node's best score; a loss if every move is an illegal repetition."""
    if bans_repetition(position) and best == -INFINITE:
        return score_by_rule(value_without_moves(position), ply, plain)
    return best


@compiled
def after_move(position, move, child, steps, actions, memory):
    """Return the reversible and the free moves in a row after a move, and whether it is free.

    A free move costs no depth.
    """
    child_steps = np.int64(steps + 1 if reversible(position, child) else 0)
    is_free = is_free_move(position, move, child, actions, memory.turns)
    return child_steps, np.int64(actions + 1 if is_free else 0), is_free


@compiled(inline=False)
def report_violation(position, code, memory):
    """End a search because a position breaks the contract."""
    pack(memory.violation, 0, position)
    memory.stop = code


@compiled
def end_of_moves(position, top, plain):
    """Write the moves to the stack and return their end; without a legal number of them, *top*.

    A wrong number ends the search.
    """
    end = moves(position, plain.moves, top)
    if 0 < end - top <= most_moves(position):
        return end
    report_violation(position, MOVES, plain)
    return top


@compiled
def must_stop(ply, plain):
    """Return whether the search has to end; a line that is too long ends all of it."""
    if ply >= plain.plies:
        plain.stop = PLIES
    return plain.stop != RUNNING


@kernel
def minimax_node(
    position: Position,
    evaluation: Evaluator,
    depth: int,
    ply: int,
    steps: int,
    actions: int,
    top: int,
    plain: PlainMemory,
) -> float:
    """Return the value for the mover, *depth* plies deep: exact if no line is longer.

    A chance node is the expectation of its outcomes and costs no depth; at the horizon, chance has
    not decided yet.  *steps* counts the reversible moves that led here,
    *actions* the free ones; the stack is free from *top* on.
    """
    plain.nodes += 1
    over, value = outcome(position)
    if over:
        plain.leaves += 1
        return float(final_score(value, ply, plain.win, plain.step))
    ends, value = end_by_rule(position, ply, steps, plain)
    if ends:
        plain.leaves += 1
        return float(score_by_rule(value, ply, plain))
    if depth == 0 or must_stop(ply, plain):
        plain.leaves += 1
        return float(limited(estimate(evaluation, position), plain.win))
    if chance(position) > 0:
        expectation = 0.0
        for index in range(chance(position)):
            probability, child = chance_outcome(position, index)
            value = minimax_node(
                child, evaluation, depth, ply + 1, np.int64(0), actions, top, plain
            )
            expectation += probability * (value if same_after_chance(position, child) else -value)
        return expectation
    best = -float(INFINITE)
    end = end_of_moves(position, top, plain)
    for at in range(top, end):
        move = plain.moves[at]
        child = play(position, move)
        child_steps, child_actions, is_free = after_move(
            position, move, child, steps, actions, plain
        )
        new_depth = depth if is_free else depth - 1
        value = minimax_node(
            child, evaluation, new_depth, ply + 1, child_steps, child_actions, end, plain
        )
        best = max(best, value if moves_again(position, child) else -value)
    return float(or_lost(position, best, ply, plain))


@kernel
def alphabeta_node(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
    steps: int,
    actions: int,
    top: int,
    plain: PlainMemory,
) -> int:
    """Return the same by textbook alpha-beta (fail-soft negamax); see :func:`minimax_node`."""
    plain.nodes += 1
    over, value = outcome(position)
    if over:
        plain.leaves += 1
        return final_score(value, ply, plain.win, plain.step)
    ends, value = end_by_rule(position, ply, steps, plain)
    if ends:
        plain.leaves += 1
        return score_by_rule(value, ply, plain)
    if depth == 0 or must_stop(ply, plain):
        plain.leaves += 1
        return limited(estimate(evaluation, position), plain.win)
    best = -INFINITE
    end = end_of_moves(position, top, plain)
    for at in range(top, end):
        move = plain.moves[at]
        child = play(position, move)
        child_steps, child_actions, is_free = after_move(
            position, move, child, steps, actions, plain
        )
        new_depth = depth if is_free else depth - 1
        again = moves_again(position, child)
        low, high = (alpha, beta) if again else (-beta, -alpha)
        value = alphabeta_node(
            child, evaluation, low, high, new_depth, ply + 1, child_steps, child_actions, end, plain
        )
        value = value if again else -value
        if value > best:
            best = value
            if best > alpha:
                alpha = best
                if alpha >= beta:
                    break
    return or_lost(position, best, ply, plain)


@kernel
def perft_node(position: Position, depth: int, top: int, plain: PlainMemory) -> int:
    """Return the number of lines of *depth* moves; one that ends earlier counts ``finished``.

    Outcomes of chance multiply lines without being moves.  With ``bulk`` the last moves are
    counted, not made.
    """
    plain.nodes += 1
    if depth == 0:
        return 1
    if outcome(position)[0]:
        return plain.finished
    if plain.stop != RUNNING:
        return 0
    lines = 0
    if chance(position) > 0:
        for index in range(chance(position)):
            _, child = chance_outcome(position, index)
            lines += perft_node(child, depth, top, plain)
        return lines
    counted = depth == 1 and plain.bulk
    end = listed(position, plain.moves, top) if counted else moves(position, plain.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, plain)
        return 0
    if counted:
        return end - top
    for at in range(top, end):
        lines += perft_node(play(position, plain.moves[at]), depth - 1, end, plain)
    return lines
