"""Properties of compiled code and of searches, compared with the same rules in plain Python."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from cutnode.conformance.minimax import AFFORDABLE, Minimax, UnaffordableError, children, same_value
from cutnode.conformance.sample import Properties, Sample, has_chance
from cutnode.contract.bits import WORD
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_constant
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import INFINITE, chance, moves_again, outcome, play
from cutnode.kernels.evaluation import OWN
from cutnode.kernels.networks import Network, inputs_of
from cutnode.kernels.observation import observe
from cutnode.kernels.optionality import Optionality
from cutnode.kernels.scores import WIN, is_decisive, limited
from cutnode.search.api import alphabeta, analyse, minimax, perft
from cutnode.storage.tables import Table

WIDTH = 16
"""Neurons of the network that reads a game's planes."""

COMPILED = Properties()
"""Properties of compiled code."""

SEARCHES = Properties()
"""Properties of searches, compiled or not."""


@COMPILED.about("compiled", most=200)
def compiled_verbs_say_the_same(position: Any, sample: Sample) -> Iterator[str]:
    position = coerce(position)
    observe.specialise(type(position))
    room = game_constant(type(position), "MAX_MOVES", 256)
    size = 20 + (room + chance(position)) * (len(position) + 11)
    for alpha, beta in ((-INFINITE, INFINITE), (-1, 0), (0, 1)):
        plain, words = [0] * size, np.zeros(size, np.uint64)
        count = observe.function(position, alpha, beta, [0] * room, plain)
        found = observe(position, alpha, beta, np.zeros(room, np.int64), words)
        wanted = [int(word) & WORD for word in plain[:count]]
        if words[:found].tolist() != wanted:
            pairs = zip(words[:found].tolist(), wanted, strict=False)
            at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(found, count))
            names = ("key", *["outcome"] * 2, *["bounds"] * 2, *["canonical"] * 2, *["settled"] * 2)
            verb = names[at] if at < len(names) else "moves, play or chance"
            yield f"{verb} differs from plain Python"


@SEARCHES.about("minimax", most=12)
def kernels_see_the_same_tree(position: Any, sample: Sample) -> Iterator[str]:
    with contextlib.suppress(UnaffordableError):
        for depth in range(4):
            plain = Minimax(win=WIN if is_decisive(type(position)) else 0)
            wanted = plain.value(position, depth)
            result = minimax(position, depth, evaluation=OWN)
            if not same_value(result.value, wanted):
                yield f"at depth {depth} is {result.value}; plain Python finds {wanted}"
            if result.nodes != AFFORDABLE - plain.nodes_left:
                yield f"at depth {depth} visits {result.nodes} nodes; plain Python visits others"
            if not has_chance(position):
                if alphabeta(position, depth, evaluation=OWN).value != wanted:
                    yield f"at depth {depth} is {wanted}, but alpha-beta differs"
            if perft(position, depth) != count_lines(position, depth):
                yield f"perft {depth} is not {count_lines(position, depth)}"


@COMPILED.about("search", most=40)
def the_search_finds_scores(position: Any, sample: Sample) -> Iterator[str]:
    """The search finds scores with a table that all positions share."""
    if not has_chance(position):
        return
    engine = sample.engine
    with contextlib.suppress(UnaffordableError):
        for depth in range(5):
            wanted = Minimax(win=engine.win).value(position, depth)
            found = engine.search(position, depth=depth)
            if not same_value(found.value, wanted):
                yield f"at depth {depth} is {found.value}; plain Python finds {wanted}"


def count_lines(position: Any, depth: int) -> int:
    """Return the number of lines of exactly *depth* moves."""
    if depth == 0 or outcome(position)[0]:
        return int(depth == 0)
    left = depth if chance(position) else depth - 1
    return sum(count_lines(child, left) for child in children(position))


@COMPILED.about("features", Sample.choices, most=40)
def compiled_features_are_the_same(position: Any, sample: Sample) -> Iterator[str]:
    """Compiled features are the same, seen through weights of which no two sums are equal."""
    if defines(type(position), "features"):
        weights = Optionality(*(1000 * math.sqrt(2 * number + 3) for number in range(6)))
        found, wanted = minimax(position, 0, evaluation=weights).value, weights(position)
        if found != limited(wanted, WIN if is_decisive(type(position)) else 0):
            yield "differ from plain Python"


@COMPILED.about("planes", Sample.choices, most=40)
def compiled_planes_are_the_same(position: Any, sample: Sample) -> Iterator[str]:
    """Compiled planes are the same, seen through a network with different weights for each bit."""
    cls: Any = type(position)
    if defines(cls, "planes"):
        shape = inputs_of(position, WIDTH)
        network = Network.drawn(cls, shape, shape.words)
        found, wanted = minimax(position, 0, evaluation=network).value, network(position)
        if found != limited(wanted, WIN if is_decisive(cls) else 0):
            yield "differ from plain Python"


@SEARCHES.about("minimax", Sample.small_trees, most=8)
def kernels_find_values(position: Any, sample: Sample) -> Iterator[str]:
    wanted = sample.values[position]
    if not same_value(minimax(position).value, wanted):
        yield f"is {minimax(position).value}; plain Python finds {wanted}"
    if not has_chance(position) and alphabeta(position).value != wanted:
        yield f"is {wanted}, but alpha-beta finds {alphabeta(position).value}"


@SEARCHES.about("solve", Sample.endings, most=40)
def the_solver_finds_values(position: Any, sample: Sample) -> Iterator[str]:
    """The solver finds values with a shared table, where equivalent positions share entries."""
    if not has_chance(position) and not sample.path_dependent:
        yield from _solved(position, sample, weak=False, table=sample.table)


@SEARCHES.about("solve(weak)", Sample.endings, most=20)
def the_solver_finds_winners(position: Any, sample: Sample) -> Iterator[str]:
    if not has_chance(position) and not sample.path_dependent:
        yield from _solved(position, sample, weak=True, table=Table(1))


def _solved(position: Any, sample: Sample, weak: bool, table: Table) -> Iterator[str]:
    search = sample.minimax()
    wanted = sample.values[position]
    scores = {move: search.of_move(position, move) for move in legal_moves(position)}
    if weak:
        wanted = _sign(wanted)
        scores = {move: _sign(score) for move, score in scores.items()}
    result = analyse(position, table=table, weak=weak)
    if result.value != wanted:
        yield f"is {result.value}; plain Python finds {wanted}"
    if result.scores != scores:
        yield f"the values of moves are {result.scores}; plain Python finds {scores}"
    if scores and (result.best_move is None or scores[result.best_move] != wanted):
        yield f"the best move is {result.best_move}; plain Python finds {scores}"
    reached = _value_of_line(position, result.pv)
    if reached is None or (_sign(reached) if weak else reached) != wanted:
        yield f"the line {result.pv} leads to {reached}, not {wanted}"


def _value_of_line(position: Any, line: tuple[int, ...]) -> int | None:
    """Return the value of a line's end for the mover at its start; None if the game is not over."""
    same = True
    for move in line:
        if move not in legal_moves(position):
            return None
        child = play(position, move)
        same = same == moves_again(position, child)
        position = child
    over, value = outcome(position)
    return (value if same else -value) if over else None


def _sign(value: float) -> int:
    return int(value > 0) - int(value < 0)  # numpy does not subtract bools
