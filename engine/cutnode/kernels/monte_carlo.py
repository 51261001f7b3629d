"""Monte Carlo tree search: a tree that grows where random play from its leaves scores well.

A *playout* descends the tree to the most promising child at each node (selection); where it leaves
the tree it adds the children of a node (expansion: ``cutnode.kernels.playout_expansion``), plays at
random to the end of the game (rollout: ``cutnode.kernels.playouts``), and backs the result up.

Selection.  UCT (L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo planning", 2006) adds
``c * sqrt(log(N) / n)`` to the mean, and PUCT (C. Rosin 2011; D. Silver et al., "Mastering the game
of Go without human knowledge", 2017) ``c * prior * sqrt(N) / (1 + n)``.  Priors are uniform, or the
softmax, over the moves of a node, of the standard scores of the game's ``order`` or of the
evaluation, so that units do not matter.  Where there are more values than win and loss, the unit of
*c* is half the range of results seen in playouts.  RAVE mixes a child's mean with the mean of all
playouts in which the same player made the move later (S. Gelly and D. Silver, "Monte-Carlo tree
search and rapid action value estimation in computer Go", 2011), and implicit minimax mixes it with
the minimax of the estimates below (M. Lanctot et al., "Monte Carlo tree search with heuristic
evaluations using implicit minimax backups", 2014).  PN-MCTS adds a bias for children with low proof
numbers (``cutnode.kernels.playout_numbers``).

Proofs.  Each node has bounds on its value, from finished games, from a tablebase, from the game's
own ``bounds`` and ``endgame`` (at the first visit if rollouts use them; else when it gets children,
as they may take longer than many rollouts), and by minimax from its children: M. Winands et al.,
"Monte-Carlo tree search solver" (2008), for any set of values (T. Cazenave and A. Saffidine, "Score
bounded Monte-Carlo tree search", 2010).  Children that cannot beat a proven bound are not visited,
and a solved node is worth its value from then on.

Layout.  ``cutnode.kernels.playout_tree`` defines the tree.  The data that a selection depends on do
not change until the next playout through the node, so the selection is made during backup, where
nothing waits for it; on the way down, a playout follows the *next* child of each node.

Threads share the tree.  Each takes nodes from its own part of the array, and publishes a block by a
single store of its beginning; if two threads expand a node at once, one of the blocks is lost.  A
playout under way counts as lost for the player who chose it (virtual loss: G. Chaslot et al.,
"Parallel Monte-Carlo tree search", 2008).  Sums are updated without locks (M. Enzenberger and
M. Mueller, "A lock-free multithreaded Monte-Carlo tree search algorithm", 2009): an update lost now
and then does no harm.  The nodes near the root are on every line, and a cache line that two cores
write costs more than a short rollout: so where only results are backed up, a thread passes the
often visited nodes once for several playouts, which begin below them.
"""

from __future__ import annotations

import math

import numpy as np

from cutnode.compiler.jit import Evaluator, Numbers, Position, compiled, kernel
from cutnode.contract.bits import Bits, prefetch
from cutnode.contract.derived import recurs, same_after_chance, side
from cutnode.contract.host import look
from cutnode.contract.repetition import bans_repetition, needs_line
from cutnode.contract.stop import MOVES, NODES, PLAYOUTS, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    chance,
    chance_outcome,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.kernels.playout_expansion import (
    expand,
    look_at,
    own_bounds,
    set_average,
    set_own_bounds,
    tighten_by_game,
)
from cutnode.kernels.playout_numbers import number_children, number_node
from cutnode.kernels.playout_tree import (
    CHANCE,
    NEW,
    NOWHERE,
    OVER,
    ROOT,
    TOLD,
    UNTRIED,
    USELESS,
    Arms,
    Nodes,
    Sums,
)
from cutnode.kernels.playouts import (
    LISTED_VISITS,
    MOST_TREE_PLIES,
    PLAYED,
    PlayoutMemory,
    is_settled,
    is_won_or_lost,
    roll_out,
    sampled_outcome,
    settled_worth,
    worth,
)

NOTHING = np.float32(-3e38)
"""A value below every child's."""

RENEWED = 64
"""Visits between updates of a node's exploration weights, from ``LISTED_VISITS`` on."""

OFTEN, TOGETHER = 1024, 8
"""Visits from which on a thread passes a node once for some playouts, where threads share the tree,
and the number of these playouts."""

FIRST_PLAY = 0.2
"""First-play urgency: PUCT assumes that an untried move is worse than its node by this, in the unit
of exploration."""


# Selection


@compiled
def half_range(position, memory):
    """Return half the range of results seen in playouts: the unit of exploration."""
    if is_won_or_lost(position):
        return 1.0
    return max((memory.highest - memory.lowest) / 2, 1e-9)


@compiled
def best_child(position, node, memory, nodes, arms, sums):
    """Return the child that the player to move at a node selects."""
    weight = np.float32(memory.exploration * half_range(position, memory)) * nodes[node].bonus
    if memory.mixed:
        return Bits(best_mixed(position, np.int64(node), weight, memory, nodes, arms, sums))
    first, count = Bits(arms[node].first), Bits(nodes[node].count)
    # Find the best of the even and of the odd children: neither computation waits for the other.
    best, chosen, other, between = NOTHING, first, NOTHING, first
    for child in range(first, first + (count & ~Bits(1)), Bits(2)):
        value = arms[child].mean + weight * arms[child].explore
        chosen = child if value > best else chosen
        best = max(best, value)
        after = child + Bits(1)
        value = arms[after].mean + weight * arms[after].explore
        between = after if value > other else between
        other = max(other, value)
    if count & Bits(1):
        last = first + count - Bits(1)
        value = arms[last].mean + weight * arms[last].explore
        chosen = last if value > best else chosen
        best = max(best, value)
    return between if other > best else chosen


@kernel
def best_mixed(
    position: Position,
    node: int,
    weight: float,
    memory: PlayoutMemory,
    nodes: Nodes,
    arms: Arms,
    sums: Sums,
) -> int:
    """Return :func:`best_child` where means are mixed; *weight* is the weight of exploration."""
    first = Bits(arms[node].first)
    best, chosen = NOTHING, first
    untried = FIRST_PLAY * half_range(position, memory)
    bias = np.float32(memory.proof_bias * half_range(position, memory))
    for child in range(first, first + Bits(nodes[node].count)):
        value = mixed_value(child, node, arms[child].mean, untried, memory, nodes, sums)
        value += np.float32(weight) * arms[child].explore
        if bias > 0:
            value += bias * sums[child].bias
        chosen = child if value > best else chosen
        best = max(best, value)
    return np.int64(chosen)


@compiled
def choose(position, node, memory, nodes, arms, sums):
    """Select the child for the next playout through a node, if it has children."""
    if arms[node].next != NOWHERE:
        child = best_child(position, node, memory, nodes, arms, sums)
        arms[node].next = child - Bits(arms[node].first)


@compiled
def mixed_value(child, parent, value, less, memory, nodes, sums):
    """Return the mean of a child, mixed with its RAVE mean and its minimax estimate.

    PUCT assumes that an untried child is worth *less* less than its parent.
    """
    if value == USELESS:
        return value
    untried = value == UNTRIED
    value = np.float64(value)
    if untried and memory.puct != 0:
        mean = nodes[parent].average
        value = (mean if nodes[parent].same else -mean) - less
        untried = False
    known = sums[child].rave_visits
    if memory.rave > 0 and known > 0:
        weight = math.sqrt(memory.rave / (3.0 * nodes[child].visits + memory.rave))
        value = (1.0 - weight) * (value if weight < 1 else 0.0) + weight * sums[child].rave_mean
        untried = untried and weight < 1
    if memory.minimax > 0 and not untried:
        value += memory.minimax * (sums[child].estimate - value)
    return np.float32(value)


@compiled
def explore_less(node, visits, memory, nodes, arms, sums):
    """Set the exploration weights of a node after *visits*: as a child, and for its children."""
    tries = np.float64(visits)
    if memory.puct != 0:
        arms[node].explore = np.float32(sums[node].prior / (1.0 + tries))
        nodes[node].bonus = np.float32(math.sqrt(tries))
    elif visits < LISTED_VISITS:
        arms[node].explore = memory.explores[visits]
        nodes[node].bonus = memory.bonuses[visits]
    else:
        arms[node].explore = np.float32(1.0 / math.sqrt(tries))
        nodes[node].bonus = np.float32(math.sqrt(math.log(tries)))


@compiled
def add_visit(node, result, memory, nodes, arms, sums):
    """Count a visit of a node, with its result for the player who chose it."""
    visits = nodes[node].visits + 1
    nodes[node].visits = visits
    if visits < LISTED_VISITS or visits % RENEWED == 0:
        explore_less(node, visits, memory, nodes, arms, sums)
    mean = nodes[node].average
    share = 1.0 / np.float64(visits)  # does not have to wait for the result
    set_average(node, mean + (result - mean) * share, nodes, arms)


# Backup


@compiled
def tighten(position, node, nodes, arms, sums):
    """Tighten the bounds of a node by its children's; return whether they change.

    *position* is any position of the game.
    """
    first = Bits(arms[node].first)
    end = first + Bits(nodes[node].count)
    if nodes[node].kind == CHANCE:
        lower, upper = np.int64(INFINITE), np.int64(-INFINITE)
        for child in range(first, end):
            if sums[child].prior > 0:
                lower = min(lower, np.int64(nodes[child].lower))
                upper = max(upper, np.int64(nodes[child].upper))
    else:
        lower, upper = np.int64(-INFINITE), np.int64(-INFINITE)
        for child in range(first, end):
            lower = max(lower, np.int64(nodes[child].lower))
            upper = max(upper, np.int64(nodes[child].upper))
    changed = set_own_bounds(position, node, lower, upper, nodes, arms)
    if nodes[node].kind != CHANCE:
        lower, _ = own_bounds(node, nodes)
        for child in range(first, end):
            high = np.int64(nodes[child].upper)
            lost = is_won_or_lost(position) and high < 0
            if lost or (high <= lower and nodes[child].lower < lower):
                arms[child].mean = USELESS
    return changed


@compiled
def tighten_by(position, node, child, nodes, arms, sums):
    """Do :func:`tighten` for a node one of whose children has new bounds."""
    first = Bits(arms[node].first)
    lower, upper = own_bounds(node, nodes)
    low, high = np.int64(nodes[child].lower), np.int64(nodes[child].upper)
    if nodes[node].kind == CHANCE or low > lower:
        return tighten(position, node, nodes, arms, sums)
    count = Bits(nodes[node].count)
    for step in range(Bits(1), count):  # from its neighbour on, which is near in memory
        sibling = child + step if child + step < first + count else child + step - count
        if nodes[sibling].upper >= upper:  # then neither bound of the node changes
            if (is_won_or_lost(position) and high < 0) or (high <= lower and low < lower):
                arms[child].mean = USELESS
            return False
    return tighten(position, node, nodes, arms, sums)


@compiled
def back_up_estimate(node, nodes, arms, sums):
    """Set the estimate of a node to the minimax of its children's estimates."""
    first, count = np.int64(arms[node].first), np.int64(nodes[node].count)
    if nodes[node].kind == CHANCE or count == 0:
        return
    best = sums[first].estimate
    for child in range(first + 1, first + count):
        best = max(best, sums[child].estimate)
    sums[node].estimate = best if nodes[node].same else -best


@compiled
def back_up_rave(node, who, result, memory, nodes, arms, sums):
    """Count a result for the children whose moves the node's player made later (RAVE)."""
    first, count = np.int64(arms[node].first), np.int64(nodes[node].count)
    for child in range(first, first + count):
        if memory.played[who * PLAYED + np.int64(arms[child].move)] == memory.playouts:
            sums[child].rave_visits += 1.0
            sums[child].rave_mean += (result - sums[child].rave_mean) / sums[child].rave_visits


@kernel
def back_up(
    position: Position,
    ply: int,
    top: int,
    loss: float,
    memory: PlayoutMemory,
    nodes: Nodes,
    arms: Arms,
    sums: Sums,
) -> int:
    """Back up more than a result, from the end of the line in the tree to ply *top*.

    ``memory.result`` is the result of the playout for ``memory.who``, who moves there, and
    ``memory.changed`` says whether the bounds of that node have changed.  *loss* is the virtual
    loss that the playout counted as until now, where threads share the tree.  Return the ply up to
    which only the result remains to be counted; ``top - 1`` if that is all.
    """
    result, who = memory.result, memory.who
    if memory.no_solver:
        memory.changed = False
    numbered = memory.proof_bias > 0
    while ply >= top and (memory.everywhere or memory.changed):
        node = memory.visited[ply]
        if numbered:  # only until nothing changes
            numbered = number_node(node, memory, nodes, arms, sums) or ply > memory.grown_ply
        if not nodes[node].same:
            result = -result
            who = 1 - who
        if memory.shared:
            mean = nodes[node].average
            mean += (result + loss) / np.float64(nodes[node].visits)
            set_average(node, mean, nodes, arms)
        else:
            add_visit(node, result, memory, nodes, arms, sums)
            choose(position, node, memory, nodes, arms, sums)
        ply -= 1
        if ply < 0:
            break
        above = memory.visited[ply]
        if memory.changed:
            memory.changed = tighten_by(position, above, node, nodes, arms, sums)
            lower, upper = own_bounds(above, nodes)
            if is_settled(position, lower, upper):
                result = settled_worth(position, lower, upper)
        if memory.minimax > 0:
            back_up_estimate(above, nodes, arms, sums)
        if memory.rave > 0:
            if nodes[above].kind != CHANCE:
                memory.played[who * PLAYED + np.int64(arms[node].move)] = memory.playouts
                back_up_rave(above, who, result, memory, nodes, arms, sums)
    memory.result = result
    memory.who = who
    memory.grown_ply = MOST_TREE_PLIES
    return ply


@compiled
def count_result(position, result, end, last, memory, nodes, arms, sums):
    """Count the result of a playout for the root's mover, from the root down to ply *end*.

    *last* is the last ply of the playout.  It begins at the root, where the next playout begins.
    """
    for ply in range(end + 1):
        node = memory.visited[ply]
        add_visit(node, result, memory, nodes, arms, sums)
        if ply > 0:
            choose(position, memory.visited[ply - 1], memory, nodes, arms, sums)
        result = result if nodes[node].same else -result
    if 0 <= end < last:
        choose(position, memory.visited[end], memory, nodes, arms, sums)


@compiled
def count_together(position, result, played, top, loss, memory, nodes, arms, sums):
    """Count the results of *played* playouts for the root's mover, from the root to ply *top* - 1.

    *result* is their sum.  They counted as ``TOGETHER`` losses until now.
    """
    for ply in range(top):
        node = memory.visited[ply]
        mean = nodes[node].average * np.float64(nodes[node].visits)
        visits = max(nodes[node].visits - (TOGETHER - played), 1)
        nodes[node].visits = visits
        explore_less(node, visits, memory, nodes, arms, sums)
        set_average(node, (mean + TOGETHER * loss + result) / np.float64(visits), nodes, arms)
        result = result if nodes[node].same else -result
    ply = top - 1
    while ply > 0 and memory.changed:
        above, node = memory.visited[ply - 1], memory.visited[ply]
        memory.changed = tighten_by(position, above, node, nodes, arms, sums)
        ply -= 1


@compiled
def note_line(position, ply, memory):
    """Record a position of the line, to detect repetitions below it."""
    if recurs(position):
        memory.path[memory.before + ply] = Bits(recurrence(position))
    if needs_line(position):
        memory.sides[ply] = side(position, ply)


@kernel
def grow(
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
) -> bool:
    """Look at a node without children, or make them; return whether the line continues to one.

    If not, ``memory.result`` is the result for the player who moves there.
    """
    if nodes[node].kind == NEW:
        memory.changed = look_at(position, node, ply, steps, memory, nodes, arms)
        lower, upper = own_bounds(node, nodes)
        if is_settled(position, lower, upper):
            memory.result = settled_worth(position, lower, upper)
            return False
    if nodes[node].kind == OVER:  # a value that is no whole number does not settle the bounds
        memory.result = worth(position, outcome(position)[1])
        return False
    # A node gets its children at the second visit.
    grown = 0
    visits = nodes[node].visits - memory.shared
    if (visits > 0 or ply == 0) and ply < memory.plies:
        if ply > 0 and not memory.use_bounds and chance(position) == 0:
            memory.changed = tighten_by_game(position, node, memory, nodes, arms)
            lower, upper = own_bounds(node, nodes)
            if is_settled(position, lower, upper):
                memory.result = settled_worth(position, lower, upper)
                return False
        grown = expand(position, evaluation, node, ply, steps, memory, nodes, arms, sums, pool)
        lower, upper = own_bounds(node, nodes)
        if bans_repetition(position) and grown == 0 and is_settled(position, lower, upper):
            memory.result = settled_worth(position, lower, upper)
            return False
    if grown == 0:
        memory.result = roll_out(position, evaluation, memory.who, memory)
        return False
    if memory.minimax > 0:
        back_up_estimate(node, nodes, arms, sums)
    if memory.proof_bias > 0:
        number_children(node, memory, nodes, arms, sums)
        memory.grown_ply = min(memory.grown_ply, ply)
    if grown > 1 and not memory.no_solver:
        memory.changed = tighten(position, node, nodes, arms, sums)
        lower, upper = own_bounds(node, nodes)
        if is_settled(position, lower, upper):
            memory.result = settled_worth(position, lower, upper)
            return False
    choose(position, Bits(node), memory, nodes, arms, sums)
    return True


@compiled
def go_down(position, node, steps, who, memory, nodes, arms, sums):
    """Go to the selected child of a node: its position, node and steps, and who moves there."""
    if chance(position) > 0:
        index = sampled_outcome(position, memory)
        _, child = chance_outcome(position, index)
        node = Bits(arms[node].first) + Bits(index)
        steps = np.int64(0)
        same = same_after_chance(position, child)
    else:
        if memory.shared:  # other threads may have been here since
            node = best_child(position, node, memory, nodes, arms, sums)
        else:
            node = Bits(arms[node].first) + Bits(arms[node].next)
        prefetch(nodes, node)
        below = Bits(arms[node].first)
        prefetch(arms, below)
        prefetch(arms, below + Bits(4))  # arms are four to a line
        child = play(position, np.int64(arms[node].move))
        steps = np.int64(steps + 1 if reversible(position, child) else 0)
        same = moves_again(position, child)
    return child, node, steps, who if same else 1 - who


@compiled
def playout(root, evaluation, memory, nodes, arms, sums, pool):
    """Play one playout from the root, or some that begin alike; see the module's docstring."""
    start, begun = root, Bits(ROOT)
    top, mover = np.int64(0), np.int64(0)
    before = np.int64(memory.before)
    loss = half_range(root, memory) if memory.shared else 0.0
    count = np.int64(1)
    if memory.together:
        while nodes[begun].visits >= OFTEN and arms[begun].next != NOWHERE:
            memory.visited[top] = begun
            nodes[begun].visits += TOGETHER
            mean = nodes[begun].average
            mean -= (mean + loss) * TOGETHER / np.float64(nodes[begun].visits)
            set_average(begun, mean, nodes, arms)
            note_line(start, top, memory)
            start, begun, before, mover = go_down(
                start, begun, before, mover, memory, nodes, arms, sums
            )
            top += 1
            count = np.int64(TOGETHER)
        memory.nodes += top
    total, played = 0.0, np.int64(0)
    while True:
        played += 1
        memory.playouts += 1
        position, node, ply, who, steps = start, begun, top, mover, before
        memory.changed = False
        while True:
            memory.visited[ply] = node
            if memory.shared:
                add_visit(node, -loss, memory, nodes, arms, sums)
            note_line(position, ply, memory)
            if arms[node].next == NOWHERE:
                memory.who = who
                lower, upper = own_bounds(node, nodes)
                if is_settled(position, lower, upper):
                    memory.result = settled_worth(position, lower, upper)
                    break
                at = np.int64(node)
                if not grow(position, evaluation, at, ply, steps, memory, nodes, arms, sums, pool):
                    break
            position, node, steps, who = go_down(
                position, node, steps, who, memory, nodes, arms, sums
            )
            ply += 1
        memory.nodes += ply + 1 - top
        memory.deepest = max(memory.deepest, ply)
        last = ply
        if memory.changed or memory.everywhere:
            ply = back_up(root, ply, top, loss, memory, nodes, arms, sums)
        result = memory.result if memory.who == 0 else -memory.result
        if not is_won_or_lost(root):
            memory.lowest = min(memory.lowest, result)
            memory.highest = max(memory.highest, result)
        total += result
        if played == count or memory.changed or memory.stop != RUNNING:
            break
        if memory.playouts >= memory.playout_limit:
            break
        if memory.nodes + memory.rollout_plies >= memory.node_limit:
            break
    if top > 0:
        count_together(root, total, played, top, loss, memory, nodes, arms, sums)
    else:
        count_result(root, result, ply, last, memory, nodes, arms, sums)


@kernel
def search_tree(
    position: Position,
    evaluation: Evaluator,
    memory: PlayoutMemory,
    nodes: Nodes,
    arms: Arms,
    sums: Sums,
    pool: Numbers,
) -> None:
    """Play playouts until a limit is reached, the value is proven, or no room is left.

    The reason is in ``memory.stop``, or for all threads in ``pool[TOLD]``.
    """
    while memory.stop == RUNNING and pool[TOLD] == RUNNING:
        lower, upper = own_bounds(ROOT, nodes)
        if arms[ROOT].first != 0 and is_settled(position, lower, upper):
            break
        if memory.playouts >= memory.playout_limit:
            memory.stop = PLAYOUTS
            break
        if memory.nodes + memory.rollout_plies >= memory.node_limit:
            look(memory)
            if memory.nodes + memory.rollout_plies >= memory.node_limit:
                memory.stop = NODES
            if memory.stop != RUNNING:
                break
        playout(position, evaluation, memory, nodes, arms, sums, pool)
    if memory.stop == MOVES:
        pool[TOLD] = MOVES
