"""Monte Carlo tree search: a tree that grows where random play from its leaves goes well.

A *playout* goes down the tree, at each node to the child that promises most (selection); where it
leaves the tree it adds the children of a node (expansion), plays at random to the end of the game
(``engine.kernels.playouts``), and takes the result up again.

Selection.  UCT (L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo planning", 2006) adds to the
mean ``c * sqrt(log(N) / n)``, and PUCT (C. Rosin 2011; D. Silver et al., "Mastering the game of Go
without human knowledge", 2017) ``c * prior * sqrt(N) / (1 + n)``.  Priors are the softmax of the
standard scores of the game's ``order`` among the moves of a node, so that the unit of the order
does not matter; uniform without.  Where values are more than wins and losses, *c* is in units of
half the range that playouts have shown.  RAVE mixes means with those of all playouts in which the
same player made the move later (S. Gelly and D. Silver, "Monte-Carlo tree search and rapid action
value estimation in computer Go", 2011), and implicit minimax with the minimax of the estimates
below (M. Lanctot et al., "Monte Carlo tree search with heuristic evaluations using implicit minimax
backups", 2014).

Proofs.  Each node has bounds of its value, from finished games, from the game's own ``bounds`` and
``endgame``, and by minimax from its children: M. Winands et al., "Monte-Carlo tree search solver"
(2008), with values of any number (T. Cazenave and A. Saffidine, "Score bounded Monte-Carlo tree
search", 2010).  Children that cannot be better than what is proven are not visited, and what is
settled is worth its value from then on.

Layout.  The tree is an array of nodes of 40 bytes; the children of a node are a block of it.  All
numbers of a node are seen by the *chooser*, the player who moves at its parent; so the numbers of
siblings compare, and ``same`` says whether he moves at the node as well.  Node 0 is none, node 1
the root.  A tree node is a line of play, not a position: what repeats on the line is known, and
positions that several lines reach are several nodes.

Threads share the tree.  Each takes nodes from a part of the array that is its own, and publishes a
block by the one store of its beginning; if two expand a node at once, one of the blocks is lost.  A
playout counts as lost for the chooser while it is under way (virtual loss: G. Chaslot et al.,
"Parallel Monte-Carlo tree search", 2008).  Sums are added without locks (M. Enzenberger and
M. Mueller, "A lock-free multithreaded Monte-Carlo tree search algorithm", 2009): that one
is lost now and then does no harm.

Memory.  When the array is full, the tree is copied into another one, without the children of
nodes that were visited least (:func:`copy_tree`); so is the part that is left after a move.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from engine.compiler.jit import Evaluator, Numbers, Position, compiled, kernel, records
from engine.contract.bits import Bits, fetch_add, ordered, prefetch
from engine.contract.derived import most_moves, recurs, same_after_chance
from engine.contract.stop import FULL, MOVES, NODES, RUNNING
from engine.contract.verbs import (
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
    recurrence,
    reversible,
)
from engine.kernels.evaluation import estimate
from engine.kernels.node import is_excluded_at_root
from engine.kernels.playouts import (
    LISTED_VISITS,
    PLAYED,
    PlayoutMemory,
    below,
    draw,
    estimated_worth,
    is_settled,
    is_won_or_lost,
    knows_order,
    roll_out,
    sampled_outcome,
    settled_worth,
    worth,
)
from engine.kernels.reference import is_draw, report_violation
from engine.kernels.table import work_for

__all__ = [
    "CAPACITY",
    "CHANCE",
    "CHUNK",
    "FREE",
    "NODE",
    "POOL",
    "ROOT",
    "SUMS",
    "TOLD",
    "UNTRIED",
    "copy_tree",
    "find_node",
    "search_tree",
    "visits_kept",
]

NODE = np.dtype(
    [
        ("average", np.float64),  # worth of its playouts; UNTRIED if there was none
        ("explore", np.float64),  # how far it is explored: what the bonus is multiplied by
        ("visits", np.int64),
        ("first", np.int32),  # of the children; 0: none yet
        ("move", np.uint16),  # or the number of an outcome of chance
        ("count", np.uint16),  # of the children
        ("lower", np.int16),  # bounds of the value
        ("upper", np.int16),
        ("same", np.uint8),
        ("kind", np.uint8),
    ],
    align=True,
)
"""A node of the tree: what selection reads of it."""

SUMS = np.dtype(
    [
        ("prior", np.float64),  # or the probability of an outcome
        ("estimate", np.float64),  # in units of worth, by minimax
        ("rave_visits", np.float64),
        ("rave_mean", np.float64),
    ],
    align=True,
)
"""What else is known of a node; of one whose numbers nobody needs, these are not written."""

Nodes = Annotated[Any, records(lambda cls: NODE)]
Sums = Annotated[Any, records(lambda cls: SUMS)]

ROOT = 1

NEW, OPEN, OVER, CHANCE = range(4)
"""Kinds of nodes: not looked at yet; looked at; the game is over there; chance decides."""

UNTRIED = 1e100
"""The mean of a node before its first playout: UCT tries it before all others."""

FREE, CAPACITY, TOLD = range(3)
POOL = 3
"""The numbers that threads share: the first node that no thread has taken; how many there are;
why all of them have to end, or ``RUNNING``."""

CHUNK = 256
"""A thread takes so many nodes at once."""

LOG_2 = math.log(2)

FIRST_PLAY = 0.2
"""PUCT takes a move that was never played for so much worse than its node."""


@compiled
def own_bounds(node, nodes):
    """The bounds of a node for the player who moves there."""
    lower, upper = np.int64(nodes[node].lower), np.int64(nodes[node].upper)
    if nodes[node].same:
        return lower, upper
    return -upper, -lower


@compiled
def set_own_bounds(position, node, lower, upper, nodes):
    """Tighten the bounds of a node, given for the player who moves there; return if they change."""
    if not nodes[node].same:
        lower, upper = -upper, -lower
    lower = max(lower, np.int64(nodes[node].lower))
    upper = min(upper, np.int64(nodes[node].upper))
    if lower > upper or (lower == nodes[node].lower and upper == nodes[node].upper):
        return False
    nodes[node].lower = lower
    nodes[node].upper = upper
    # What is known exactly takes the place of all samples.
    if is_settled(position, lower, upper) and nodes[node].average != UNTRIED:
        nodes[node].average = settled_worth(position, lower, upper)
    return True


# Looking at a node, and making its children


@compiled
def look_at(position, node, ply, steps, memory, nodes):
    """Find out what is known of a position without search; return whether bounds change."""
    nodes[node].kind = OPEN
    over, value = outcome(position)
    if over:
        nodes[node].kind = OVER
        lower, upper = np.int64(math.floor(value)), np.int64(math.ceil(value))
        return set_own_bounds(position, node, lower, upper, nodes)
    if is_draw(position, ply, steps, memory):
        return set_own_bounds(position, node, np.int64(0), np.int64(0), nodes)
    if chance(position) > 0:
        nodes[node].kind = CHANCE
        return False
    if ply == 0:  # the root needs a move, not a value
        return False
    lower, upper = bounds(position, -INFINITE, INFINITE)
    if not is_settled(position, lower, upper):
        solved, value, visited = endgame(position, -INFINITE, INFINITE)
        memory.nodes += visited
        if solved:
            lower, upper = value, value
    return set_own_bounds(position, node, np.int64(lower), np.int64(upper), nodes)


@compiled
def list_children(position, ply, memory):
    """List the moves to consider, or the outcomes of chance; return how many there are."""
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
    else:
        move = forced(position)
        if move != NO_MOVE:
            memory.moves[0] = move
            return 1
        count = candidates(position, memory.moves, 0)
    if not 0 < count <= most_moves(position):
        report_violation(position, MOVES, memory)
        return 0
    return count


@compiled
def shuffle(count, memory):
    """Put the listed moves into random order: those that were not tried are tried in this one."""
    for at in range(count - 1, 0, -1):
        other = below(draw(memory), at + 1)
        move = memory.moves[at]
        memory.moves[at] = memory.moves[other]
        memory.moves[other] = move


@compiled
def give_up(start, end, nodes):
    """Mark nodes as unused."""
    for node in range(start, end):
        nodes[node].explore = 0.0
        nodes[node].first = 0


@compiled
def take_nodes(count, memory, nodes, pool):
    """Return the first of so many free nodes, or 0 if there are not as many."""
    if memory.next + count > memory.end:
        part = max(count, CHUNK)
        start = fetch_add(pool, FREE, part)
        if start + part > pool[CAPACITY]:
            fetch_add(pool, FREE, -part)
            pool[TOLD] = FULL
            return 0
        if start != memory.end:
            give_up(memory.next, memory.end, nodes)
            memory.next = start
        memory.end = start + part
    first = memory.next
    memory.next += count
    return first


@compiled
def set_priors(first, count, sums):
    """Make priors of the scores that the game's order gave: the softmax of standard scores."""
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
    memory: PlayoutMemory,
    nodes: Nodes,
    sums: Sums,
    pool: Numbers,
) -> bool:
    """Make the children of a node; return whether there are some, and there was room for them."""
    count = list_children(position, ply, memory)
    if count == 0:
        return False
    first = take_nodes(count, memory, nodes, pool)
    if first == 0:
        return False
    by_chance = chance(position) > 0
    puct = memory.puct != 0
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
                if puct:
                    prior = np.float64(order(position, move, reached))
        nodes[child].average = UNTRIED
        nodes[child].explore = 1.0
        nodes[child].first = 0
        nodes[child].count = 0
        nodes[child].move = move
        nodes[child].same = same
        nodes[child].kind = NEW
        nodes[child].lower = -INFINITE
        nodes[child].upper = INFINITE
        nodes[child].visits = 0
        if noted:
            sums[child].prior = prior
            sums[child].estimate = 0.0
            sums[child].rave_visits = 0.0
            sums[child].rave_mean = 0.0
        # A win at once is seen before anything is played at random.
        over, value = outcome(reached)
        if over:
            low, high = np.int64(math.floor(value)), np.int64(math.ceil(value))
            nodes[child].lower = low if same else -high
            nodes[child].upper = high if same else -low
        if memory.minimax > 0:
            if over:
                guess = worth(reached, value)
            else:
                guess = estimated_worth(reached, estimate(evaluation, reached))
            sums[child].estimate = guess if same else -guess
    if puct and not by_chance:
        if knows_order(position):
            set_priors(first, count, sums)
        for child in range(first, first + count):
            nodes[child].explore = sums[child].prior
    memory.expansions += 1
    nodes[node].count = count
    ordered()
    nodes[node].first = first
    return True


# Selection


@compiled
def half_range(position, memory):
    """What playouts have shown of the range of worth, from its middle: the unit of exploration."""
    if is_won_or_lost(position):
        return 1.0
    return max((memory.highest - memory.lowest) / 2, 1e-9)


@compiled
def logarithm(visits, memory):
    """The logarithm of a number of visits: from 1024 on, of its first ten bits."""
    shift = 0.0
    while visits >= LISTED_VISITS:
        visits >>= 1
        shift += LOG_2
    return memory.logarithms[visits] + shift


@compiled
def best_child(position, node, memory, nodes, sums):
    """The child that the player who moves at a node goes to."""
    first, count = np.int64(nodes[node].first), np.int64(nodes[node].count)
    lower, _ = own_bounds(node, nodes)
    visits = nodes[node].visits
    unplayed = UNTRIED
    if memory.puct != 0:
        mean = nodes[node].average if nodes[node].average != UNTRIED else 0.0
        unplayed = (mean if nodes[node].same else -mean) - FIRST_PLAY
        bonus = math.sqrt(np.float64(max(visits, 1)))
    else:
        bonus = math.sqrt(logarithm(visits, memory))
    bonus *= memory.exploration * half_range(position, memory)
    mixed = memory.rave > 0 or memory.minimax > 0
    best, chosen = -2 * UNTRIED, first
    for child in range(first, first + count):
        high = np.int64(nodes[child].upper)
        value = nodes[child].average
        value = unplayed if value == UNTRIED else value
        if mixed:
            value = mixed_value(child, value, memory, nodes, sums)
        value += bonus * nodes[child].explore
        # No better than what is proven, or lost.  (No branches: nobody could predict them.)
        useless = (high <= lower) & (nodes[child].lower < lower)
        useless |= is_won_or_lost(position) & (high < 0)
        better = (value > best) & (not useless)
        best = value if better else best
        chosen = child if better else chosen
    return chosen


@compiled
def mixed_value(child, value, memory, nodes, sums):
    """The mean of a child, mixed with that of RAVE and with its estimate by minimax."""
    known = sums[child].rave_visits
    if memory.rave > 0 and known > 0:
        weight = math.sqrt(memory.rave / (3.0 * nodes[child].visits + memory.rave))
        value = (1.0 - weight) * (value if weight < 1 else 0.0) + weight * sums[child].rave_mean
    if memory.minimax > 0 and value < UNTRIED / 2:
        value += memory.minimax * (sums[child].estimate - value)
    return value


@compiled
def add_visit(node, result, memory, nodes, sums):
    """Count a visit of a node, with what it was worth to the chooser."""
    visits = nodes[node].visits + 1
    nodes[node].visits = visits
    tries = np.float64(visits)
    if memory.puct != 0:
        nodes[node].explore = sums[node].prior / (1.0 + tries)
    elif visits < LISTED_VISITS:
        nodes[node].explore = memory.roots[visits]
    else:
        nodes[node].explore = 1.0 / math.sqrt(tries)
    mean = nodes[node].average
    nodes[node].average = result if mean == UNTRIED else mean + (result - mean) / tries


# Taking results up


@compiled
def tighten(position, node, nodes, sums):
    """Tighten the bounds of a node by those of its children; return whether they change.

    *position* is any of the game.
    """
    first, count = np.int64(nodes[node].first), np.int64(nodes[node].count)
    if nodes[node].kind == CHANCE:
        lower, upper = np.int64(INFINITE), np.int64(-INFINITE)
        for child in range(first, first + count):
            if sums[child].prior > 0:
                lower = min(lower, np.int64(nodes[child].lower))
                upper = max(upper, np.int64(nodes[child].upper))
    else:
        lower, upper = np.int64(-INFINITE), np.int64(-INFINITE)
        for child in range(first, first + count):
            lower = max(lower, np.int64(nodes[child].lower))
            upper = max(upper, np.int64(nodes[child].upper))
    return set_own_bounds(position, node, lower, upper, nodes)


@compiled
def back_up_estimate(node, nodes, sums):
    """Make the estimate of a node the minimax of those of its children."""
    first, count = np.int64(nodes[node].first), np.int64(nodes[node].count)
    if nodes[node].kind == CHANCE or count == 0:
        return
    best = sums[first].estimate
    for child in range(first + 1, first + count):
        best = max(best, sums[child].estimate)
    sums[node].estimate = best if nodes[node].same else -best


@compiled
def back_up_rave(node, who, result, memory, nodes, sums):
    """Count a result for the children of a node whose moves its player made later on."""
    first, count = np.int64(nodes[node].first), np.int64(nodes[node].count)
    for child in range(first, first + count):
        if memory.played[who * PLAYED + np.int64(nodes[child].move)] == memory.playouts:
            sums[child].rave_visits += 1.0
            sums[child].rave_mean += (result - sums[child].rave_mean) / sums[child].rave_visits


@compiled
def back_up(position, ply, who, result, changed, loss, memory, nodes, sums):
    """Take the result of a playout from the end of the line in the tree to the root.

    *result* is what it is worth to *who* moves there; *changed*: so have the bounds of that node.
    *loss* is what the playout counted as until now, where threads share the tree.
    """
    while True:
        node = memory.visited[ply]
        if not nodes[node].same:
            result = -result
            who = 1 - who
        if memory.shared:
            nodes[node].average += (result + loss) / nodes[node].visits
        else:
            add_visit(node, result, memory, nodes, sums)
        if ply == 0:
            break
        ply -= 1
        above = memory.visited[ply]
        if changed:
            changed = tighten(position, above, nodes, sums)
        if memory.minimax > 0:
            back_up_estimate(above, nodes, sums)
        lower, upper = own_bounds(above, nodes)
        if is_settled(position, lower, upper):
            result = settled_worth(position, lower, upper)
        if memory.rave > 0:
            if nodes[above].kind != CHANCE:
                memory.played[who * PLAYED + np.int64(nodes[node].move)] = memory.playouts
                back_up_rave(above, who, result, memory, nodes, sums)
    memory.lowest = min(memory.lowest, result)
    memory.highest = max(memory.highest, result)


@compiled
def note_line(position, ply, memory):
    """Remember a position of the line, for repetitions below."""
    if recurs(position):
        memory.path[memory.before + ply] = Bits(recurrence(position))


@compiled
def playout(root, evaluation, memory, nodes, sums, pool):
    """Play one playout from the root; see the module's text."""
    memory.playouts += 1
    position, node = root, np.int64(ROOT)
    ply, who = np.int64(0), np.int64(0)
    steps = np.int64(memory.before)
    loss = half_range(root, memory) if memory.shared else 0.0
    changed = False
    while True:
        memory.visited[ply] = node
        visits = nodes[node].visits
        if memory.shared:
            add_visit(node, -loss, memory, nodes, sums)
        note_line(position, ply, memory)
        first = nodes[node].first
        if first == 0 and nodes[node].kind == NEW:
            changed = look_at(position, node, ply, steps, memory, nodes)
        lower, upper = own_bounds(node, nodes)
        if is_settled(position, lower, upper):
            result = settled_worth(position, lower, upper)
            break
        if first == 0:
            if nodes[node].kind == OVER:  # the value is no whole number
                result = worth(position, outcome(position)[1])
                break
            # A node gets children when it is visited for the second time.
            grown = False
            if (visits > 0 or ply == 0) and ply < memory.plies:
                grown = expand(position, evaluation, node, ply, memory, nodes, sums, pool)
            if not grown:
                result = roll_out(position, evaluation, who, memory)
                break
            changed = tighten(position, node, nodes, sums)
            if memory.minimax > 0:
                back_up_estimate(node, nodes, sums)
            if changed:
                lower, upper = own_bounds(node, nodes)
                if is_settled(position, lower, upper):
                    result = settled_worth(position, lower, upper)
                    break
        if nodes[node].kind == CHANCE:
            index = sampled_outcome(position, memory)
            _, child = chance_outcome(position, index)
            node = np.int64(nodes[node].first) + index
            steps = np.int64(0)
        else:
            node = best_child(position, node, memory, nodes, sums)
            prefetch(nodes, np.int64(nodes[node].first))
            child = play(position, np.int64(nodes[node].move))
            steps = np.int64(steps + 1 if reversible(position, child) else 0)
        if not nodes[node].same:
            who = 1 - who
        position = child
        ply += 1
    memory.nodes += ply + 1
    memory.deepest = max(memory.deepest, ply)
    back_up(root, ply, who, result, changed, loss, memory, nodes, sums)


@kernel
def search_tree(
    position: Position,
    evaluation: Evaluator,
    memory: PlayoutMemory,
    nodes: Nodes,
    sums: Sums,
    pool: Numbers,
) -> None:
    """Play playouts from a position until a limit is reached, its value is proven, or no room left.

    The reason is in ``memory.stop``, or for all threads in ``pool[TOLD]``.
    """
    while memory.stop == RUNNING and pool[TOLD] == RUNNING:
        lower, upper = own_bounds(ROOT, nodes)
        if nodes[ROOT].first != 0 and is_settled(position, lower, upper):
            break
        if memory.playouts >= memory.playout_limit:
            memory.stop = NODES
            break
        if memory.nodes + memory.rollout_plies >= memory.node_limit:
            memory.stop = NODES
            break
        playout(position, evaluation, memory, nodes, sums, pool)
    if memory.stop == MOVES:
        pool[TOLD] = MOVES


# The tree between searches


@compiled
def copy_node(nodes, sums, node, new_nodes, new_sums, place):
    """Copy a node to a place in another tree."""
    new_nodes[place].average = nodes[node].average
    new_nodes[place].explore = nodes[node].explore
    new_nodes[place].first = nodes[node].first
    new_nodes[place].move = nodes[node].move
    new_nodes[place].count = nodes[node].count
    new_nodes[place].lower = nodes[node].lower
    new_nodes[place].upper = nodes[node].upper
    new_nodes[place].same = nodes[node].same
    new_nodes[place].kind = nodes[node].kind
    new_nodes[place].visits = nodes[node].visits
    new_sums[place].prior = sums[node].prior
    new_sums[place].estimate = sums[node].estimate
    new_sums[place].rave_visits = sums[node].rave_visits
    new_sums[place].rave_mean = sums[node].rave_mean


@kernel
def copy_tree(
    nodes: Nodes,
    sums: Sums,
    root: int,
    least: int,
    forget: bool,
    new_nodes: Nodes,
    new_sums: Sums,
) -> int:
    """Copy the tree below a root into other arrays; return the first node that is free there.

    Nodes of fewer than *least* visits lose their children.  *forget* what is proven: it
    may have depended on repetitions of positions that are no longer on the line.
    """
    # The copies are the queue of what is to be copied (C. Cheney 1970).
    copy_node(nodes, sums, root, new_nodes, new_sums, np.int64(ROOT))
    at, free = np.int64(ROOT), np.int64(ROOT + 1)
    while at < free:
        first, count = np.int64(new_nodes[at].first), np.int64(new_nodes[at].count)
        if first != 0 and new_nodes[at].visits < least and at != ROOT:
            new_nodes[at].first = 0
            new_nodes[at].count = 0
        elif first != 0:
            new_nodes[at].first = free
            for child in range(first, first + count):
                copy_node(nodes, sums, child, new_nodes, new_sums, free)
                free += 1
        if forget:
            new_nodes[at].lower = -INFINITE
            new_nodes[at].upper = INFINITE
            if new_nodes[at].first == 0:
                new_nodes[at].kind = NEW
        at += 1
    return free


@kernel
def visits_kept(nodes: Nodes, end: int, most: int, counts: Numbers) -> int:
    """The least power of two so that nodes of so many visits have at most *most* children.

    Of the nodes before *end*; *counts* is room for 64 numbers, all 0.
    """
    kept = np.int64(0)
    for node in range(ROOT, end):
        if nodes[node].first != 0:
            counts[work_for(nodes[node].visits)] += nodes[node].count
            kept += np.int64(nodes[node].count)
    power = 0
    while kept > most:
        kept -= counts[power]
        power += 1
    return 1 << power


@kernel
def find_node(position: Position, target: Position, node: int, left: int, nodes: Nodes) -> int:
    """The most visited node of a position, at most *left* plies below a node; 0 if there is none.

    *position* is that of the node, and *target* the one that is looked for.
    """
    if position == target:
        return node
    first, count = np.int64(nodes[node].first), np.int64(nodes[node].count)
    best = np.int64(0)
    if left == 0 or first == 0:
        return best
    for child in range(first, first + count):
        if nodes[child].visits > 0:
            move = np.int64(nodes[child].move)
            if nodes[node].kind == CHANCE:
                _, reached = chance_outcome(position, move)
            else:
                reached = play(position, move)
            found = find_node(reached, target, child, left - 1, nodes)
            if found != 0 and (best == 0 or nodes[found].visits > nodes[best].visits):
                best = found
    return best
