"""The depth-limited search of many positions in one call of compiled code.

It deepens with the same depths and windows as :class:`cutnode.search.searcher.Searcher`, and so
visits the same nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numba
import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel, records
from cutnode.contract.dispatch import defines, derived
from cutnode.contract.host import report
from cutnode.contract.positions import unpack, width
from cutnode.contract.stop import NODES, RUNNING, TIME, VALUE
from cutnode.contract.verbs import INFINITE, NO_MOVE, chance, moves, outcome
from cutnode.kernels.aspiration import aspiration_window, widened_window
from cutnode.kernels.chance import chance_root
from cutnode.kernels.chance_table import begin as begin_chance
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.node import SearchMemory
from cutnode.kernels.quiescence import begin_quiet_counts
from cutnode.kernels.reference import report_violation
from cutnode.kernels.scores import final_score, limited
from cutnode.kernels.search import search_root
from cutnode.kernels.table import begin

_RESULT = [
    ("move", np.int64),  # NO_MOVE where the game is over, or chance decides
    ("depth", np.int64),  # the last completed one
    ("nodes", np.int64),
    ("proven", np.bool_),
    ("reason", np.int64),  # RUNNING: it reached its depth; see cutnode.contract.stop
]

FOUND = np.dtype([("value", np.int64), *_RESULT], align=True)
"""The result of a position, as ``Searcher.search`` returns it."""

EXPECTED = np.dtype([("value", np.float64), *_RESULT], align=True)
"""The result of a position of a game of chance."""


def result_dtype(cls: Any) -> np.dtype[Any]:
    """Return the type of a result, by a position class."""
    return EXPECTED if defines(cls, "chance") else FOUND


CONTROL = np.dtype(
    [
        ("current", np.int64),  # number of the position that is being searched
        ("stop_at", np.int64),  # number of the position that a TIME stop is meant for
        ("cold", np.int64),  # whether each position starts with nothing learned
        ("depth", np.int64),  # the last depth to search
        ("first", np.int64),  # the first depth to search
        ("step", np.int64),  # distance between depths
        ("aspiration", np.int64),
        ("found", np.int64),  # score of the best move so far at an unfinished depth
        ("best", np.int64),  # that move, or NO_MOVE
    ],
    align=True,
)
"""The control of a batch, in addition to the memory of its search."""


Results = Annotated[Any, records(result_dtype)]
BatchControl = Annotated[Any, numba.from_dtype(CONTROL)]


@compiled(inline=False)
def unlearn(search):
    """Forget everything that searches have learned about moves."""
    for at in range(len(search.history)):
        search.history[at] = search.history_weight[at] = 0
    for at in range(len(search.continuation_history)):
        search.continuation_history[at] = 0
    for at in range(len(search.killers)):
        search.killers[at] = NO_MOVE
    for at in range(len(search.countermoves)):
        search.countermoves[at] = NO_MOVE
    search.late_skipped = search.late_tests = search.late_cutoffs = 0


@compiled(inline=False)
def prepare(batch, search):
    """Prepare the memory for the next position."""
    if batch.cold:
        unlearn(search)
    for at in range(len(search.excluded_move)):
        search.excluded_move[at] = NO_MOVE
    search.nodes = search.root_excluded = search.probcut_level = 0
    begin_quiet_counts(search)


@derived
def begin_age(cls: type) -> Callable[..., Any]:
    """``begin_age(position, table, cold)``: begin an age of the table, or a *cold* table."""
    if defines(cls, "chance"):
        return lambda position, table, cold: begin_chance(table, cold)
    return lambda position, table, cold: begin(table, cold)


@derived
def search_depth(cls: type) -> Callable[..., Any]:
    """``search_depth(position, evaluation, known, depth, batch, search, table)``: a depth's score.

    After a stop that is meant for this position, the number returned is no score.
    """
    return _expectation_at if defines(cls, "chance") else _score_at


@compiled
def _score_at(position, evaluation, known, depth, batch, search, table):
    """Return the score at a depth, with windows around the *known* score (``INFINITE``: none)."""
    low, high = aspiration_window(known, search.aspiration_window)
    researches = 0
    while True:
        search.estimates = 0
        value = search_root(
            position,
            evaluation,
            np.int64(low),
            np.int64(high),
            np.int64(depth),
            np.int64(0),
            search,
            table,
        )
        if search.length[0] > 0 and value > low:
            batch.found, batch.best = value, search.line[0]
        if search.stop == TIME and batch.stop_at != batch.current:
            search.stop = RUNNING  # the stop was meant for an earlier position
            continue
        if search.stop != RUNNING or low < value < high:
            return value
        if abs(value) >= INFINITE:
            report_violation(position, VALUE, search)
            return value
        researches += 1
        low, high = widened_window(low, high, value, search.aspiration_window, researches)


@compiled
def _expectation_at(position, evaluation, known, depth, batch, search, table):
    """Return the expected score at a depth in a game of chance."""
    widest = float(INFINITE)
    while True:
        search.estimates = 0
        value = chance_root(
            position, evaluation, -widest, widest, np.int64(depth), np.int64(0), search, table
        )
        if search.stop == TIME and batch.stop_at != batch.current:
            search.stop = RUNNING  # the stop was meant for an earlier position
            continue
        if search.stop == RUNNING and not abs(value) < INFINITE:
            report_violation(position, VALUE, search)
        return value


@compiled
def deepen(position, evaluation, result, batch, search, table):
    """Search a position by iterative deepening, as far as its limits allow."""
    result.depth, result.proven, result.move = 0, False, NO_MOVE
    over, final = outcome(position)
    if over:
        result.value = final_score(final, 0, search.win, search.step)
        result.proven = True
        return
    result.value = limited(estimate(evaluation, position), search.win)
    if chance(position) == 0 and moves(position, search.moves, 0) > 0:
        result.move = search.moves[0]
    # The last scores at depths of this parity, and of the other.
    known, other = INFINITE, INFINITE
    depth = batch.first
    while depth <= batch.depth:
        batch.best = NO_MOVE
        narrow = batch.aspiration and depth >= search.aspiration_depth
        expected = known if narrow else INFINITE
        value = search_depth(position, evaluation, expected, depth, batch, search, table)
        if search.stop != RUNNING:
            if batch.best != NO_MOVE and batch.best != result.move:
                result.value, result.move = batch.found, batch.best
            return
        result.value, result.depth = value, depth
        if search.length[0] > 0:
            result.move = search.line[0]
        result.proven = search.estimates == 0
        report(search)
        if result.proven:
            return
        known = value
        if batch.step % 2 != 0:
            known, other = other, known
        depth += batch.step


@kernel
def search_batch(
    example: Position,
    evaluation: Evaluator,
    words: Words,
    results: Results,
    batch: BatchControl,
    search: SearchMemory,
    table: Words,
) -> None:
    """Search the positions packed in *words*; *example* is any position of their class."""
    for number in range(len(results)):
        result = results[number]
        batch.current = number
        if search.stop == NODES or search.stop == TIME:
            search.stop = RUNNING
        if search.stop == RUNNING:
            prepare(batch, search)
            if search.use_table:
                begin_age(example, table, batch.cold != 0)
            position = unpack(words, number * width(example), example)
            deepen(position, evaluation, result, batch, search, table)
            result.nodes = search.nodes
        result.reason = search.stop
