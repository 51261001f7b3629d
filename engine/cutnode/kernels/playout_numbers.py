"""Proof numbers in the tree of Monte Carlo tree search, and the bias of selection towards low ones.

PN-MCTS (J. Kowalski et al., "Proof number-based Monte Carlo tree search", 2024, arXiv:2303.09449)
keeps the numbers of proof-number search in the tree of playouts: the least number of leaves that
have yet to be proven for a player to win.  Selection adds to each child's value a bias for a child
of the mover with a low number, as its playouts may soon be replaced by a proof.

Here each node has a number for each player, who is either the chooser, the player who moves at its
parent, or the opponent (generalized PN-MCTS: J. Kowalski et al., 2025, arXiv:2506.13249).  In games
without draws the opponent's is the disproof number of the chooser's.  Where a player moves, his
number is the least of the children's, and the other's is their sum; a leaf has 1.  A number is 0 if
the bounds of the node prove a win, and infinite if they prove that there is none: proofs come from
bounds alone.

Formulas of the bias, between 0 and 1, from the numbers n of the children and their ranks r; equal
numbers have the same rank, one more than there are lower numbers::

    rank   1 - r / (greatest r)                            arXiv:2303.09449
    max    1 - (n - least n) / (1 + greatest n - least n)  arXiv:2506.13249
    sum    1 - n / (1 + sum of n)                          arXiv:2506.13249

Infinite numbers count only for ranks; by the other two formulas their bias is 0.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.choices import PROOF_FORMULAS

BY_RANK, BY_MAX, BY_SUM = range(len(PROOF_FORMULAS))
"""Formulas, in the order of ``PROOF_FORMULAS``."""

NEVER = np.float32(np.inf)
"""The number of a player who cannot win."""


@compiled(inline=False)
def number_node(node, memory, nodes, arms, sums):
    """Set a node's proof numbers, and its children's biases; return whether the numbers change."""
    wins, losses = np.float32(1), np.float32(1)
    first, count = np.int64(arms[node].first), np.int64(nodes[node].count)
    if first != 0:
        least, total = NEVER, np.float32(0)
        for child in range(first, first + count):
            least = min(least, sums[child].wins)
            total += sums[child].losses
        wins, losses = (least, total) if nodes[node].same else (total, least)
        set_biases(first, first + count, memory, sums)
    lower, upper = nodes[node].lower, nodes[node].upper
    if upper <= 0:
        wins = NEVER
    if lower >= 0:
        losses = NEVER
    if lower > 0:
        wins = np.float32(0)
    if upper < 0:
        losses = np.float32(0)
    changed = wins != sums[node].wins or losses != sums[node].losses
    sums[node].wins = wins
    sums[node].losses = losses
    return changed


@compiled
def number_children(node, memory, nodes, arms, sums):
    """Set the proof numbers of a node's new children."""
    first = np.int64(arms[node].first)
    for child in range(first, first + np.int64(nodes[node].count)):
        number_node(child, memory, nodes, arms, sums)


@compiled
def set_biases(first, end, memory, sums):
    """Set the biases of siblings by their proof numbers for the player who chooses among them."""
    if memory.proof_formula == BY_RANK:
        set_biases_by_rank(first, end, sums)
        return
    least, most, total = NEVER, np.float32(0), np.float32(0)
    for child in range(first, end):
        if sums[child].wins < NEVER:
            least = min(least, sums[child].wins)
            most = max(most, sums[child].wins)
            total += sums[child].wins
    for child in range(first, end):
        number = sums[child].wins
        if number == NEVER:
            sums[child].bias = np.float32(0)
        elif memory.proof_formula == BY_MAX:
            sums[child].bias = np.float32(1) - (number - least) / (np.float32(1) + most - least)
        else:
            sums[child].bias = np.float32(1) - number / (np.float32(1) + total)


@compiled
def set_biases_by_rank(first, end, sums):
    """Set the biases of siblings by the ranks of their proof numbers."""
    most = np.float32(1)
    for child in range(first, end):
        rank = 1
        for other in range(first, end):
            rank += sums[other].wins < sums[child].wins
        sums[child].bias = np.float32(rank)
        most = max(most, np.float32(rank))
    for child in range(first, end):
        sums[child].bias = np.float32(1) - sums[child].bias / most
