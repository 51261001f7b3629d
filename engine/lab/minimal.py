# mypy: disallow-untyped-calls=False
"""The minimal tree and graph of a game, and the searches above them.

The tree of a game is not uniform, so the fewest nodes that prove its value are not known by a
formula.  They are estimated as A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin did in "Nearly
optimal minimax tree search?" (1994): the score is searched, and then proven once more, with
the moves that are known to prove it in front.

*   Proving a score s takes the window (s - 1, s + 1).  Where a cutoff is possible, the move
    that gave it is searched first; on the line of best play, the best move.  Nothing else
    needs to be tried, so this visits a *critical tree* of Knuth and Moore: all moves where
    one player has to be refuted, one move where a refutation is enough.
*   The *minimal tree* is counted without a table: what is reached twice counts twice.
*   The *minimal graph* is counted with one: a position that was seen with the same number
    of plies left, with bounds that decide, is not searched again.  It counts as a node each
    time, as in all searches here.  Equivalent positions share bounds if the game says so.
*   Which of several refutations is taken makes a difference.  Here it is the first that is
    found, in the game's order of promise; a smaller proof may exist.  So both counts are
    upper bounds of what is truly minimal (the paper calls them left-first).
*   One proof tells the next which moves to begin with, until a cutoff comes from the first
    move everywhere.  Nodes where it did not are counted: 0 says that the estimate is a
    critical tree indeed, more that tables were too small or that passes ended early.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from statistics import geometric_mean
from typing import Any

from engine.compiler.memory import Memory
from engine.contract.dispatch import defines, game_constant, game_name
from engine.contract.errors import CutnodeError, GameError
from engine.contract.messages import position_text
from engine.contract.positions import coerce
from engine.kernels.evaluation import AnyEvaluation
from engine.kernels.minimal_graph import proof_dtype, prove
from engine.kernels.parameters import MOST_DEPTH
from engine.lab.measuring import INTERRUPTED, search_afresh
from engine.lab.plots import PAGE
from engine.lab.provenance import game_source
from engine.lab.searches import (
    SEARCHES,
    chosen_searches,
    draw_searches,
    make_searcher,
    require_depths,
    require_score,
)
from engine.lab.study import Column, Progress, Study, no_progress
from engine.runtime.running import watch
from engine.search.api import alphabeta
from engine.search.searcher import Searcher
from engine.storage.tables import Table

__all__ = ["draw", "expected_leaves", "minimal_graph"]

COLUMNS = (
    Column("position"),
    Column("depth", "plies", "d"),
    Column("score", "for the player to move", "d"),
    Column("search"),
    Column("nodes", "positions visited", ",d"),
    Column("leaves", "positions where a line ended", ",.0f"),
    Column("above_tree", "nodes / those of the minimal tree", ",.3f"),
    Column("above_graph", "nodes / those of the minimal graph", ",.3f"),
    Column("last", "nodes of the last iteration", ",d"),
    Column("last_above_graph", "the same / those of the minimal graph", ",.3f"),
    Column("late", "nodes of a proof whose first move was not the right one", ",d"),
)

PASSES = 8
"""A proof is repeated at most so often to find its best order."""


class _ScoreProver:
    """Proves scores again and again, to find small proofs."""

    def __init__(self, engine: Searcher, table_mb: int):
        self.engine = engine
        self.run = prove.specialise(engine.cls, engine.evaluation)
        self.known, self.bounds = Table(table_mb), Table(table_mb)

    def smallest(self, position: Any, depth: int, score: int, share: bool) -> Any:
        """Return the memory of the first proof in best order, or else of the smallest."""
        found: list[Any] = []
        while len(found) < PASSES:
            found.append(self._prove(position, depth, score, share))
            if found[-1].late == 0:
                return found[-1]
        return min(found, key=lambda memory: int(memory.nodes))

    def _prove(self, position: Any, depth: int, score: int, share: bool) -> Any:
        memory = Memory(self.engine.cls, proof_dtype(self.engine.cls))
        words = memory.words
        words["plies"][0] = min(game_constant(self.engine.cls, "MAX_PLIES", 512), MOST_DEPTH)
        words["win"][0], words["step"][0] = self.engine.win, self.engine.step
        words["share"][0] = share
        task = functools.partial(
            self.run,
            coerce(position),
            self.engine.evaluation,
            *(score - 1, score + 1, depth),
            memory.argument,
            *(self.known.words, self.bounds.words),
        )
        proven = int(watch(task, memory))
        if proven != score:
            raise CutnodeError(f"a proof gave {proven} for a score of {score}")
        return memory.record


def minimal_graph(
    positions: Any,
    depths: Iterable[int] = (4, 6, 8),
    *,
    evaluation: AnyEvaluation = None,
    searches: Iterable[str] | None = None,
    table_mb: int = 64,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Compare the nodes of searches with the minimal tree and graph of a game.

    *positions* is a position, or some of one class.  What minimal means here, and how it
    is estimated, is said at the top of this module.  *searches* are names of :data:`SEARCHES`;
    *table_mb* is the size of each table in MiB.
    """
    positions = [positions] if hasattr(positions, "_fields") else list(positions)
    depths = require_depths(depths)
    names = chosen_searches(searches)
    if not positions or not depths:
        raise CutnodeError("a study of minimal graphs needs a position and a depth")
    cls: Any = type(positions[0])
    for verb, reason in (("chance", "chance"), ("reversible", "repetition")):
        if defines(cls, verb):
            raise GameError(f"{game_name(cls)} has {reason}: its minimal tree is not estimated")
    progress("compiling", 0, len(positions) * len(depths))
    searchers = {name: make_searcher(name, cls, table_mb, evaluation) for name in names}
    scorer = Searcher(cls, exact=True, table=table_mb, evaluation=evaluation, depth_in="actions")
    prover = _ScoreProver(scorer, table_mb)
    tasks = [(position, depth) for position in positions for depth in depths]
    study = Study(
        name="minimal",
        about=f"Nodes of searches above the minimal tree and graph of {game_name(cls)}",
        settings={
            "game": game_source(cls),
            "positions": list(map(position_text, positions)),
            "depths": depths,
            "evaluation": scorer.evaluation.name,
            "searches": names,
            "table_mb": table_mb,
        },
        columns=COLUMNS,
        notes=[
            "minimal tree, minimal graph: estimates from above; proofs of the score that begin "
            "with the moves that proved it before, without and with a table (A. Plaat et al., "
            "Nearly optimal minimax tree search?, 1994).",
            "formula: the leaves of Knuth and Moore for trees with the mean number of moves at "
            "each ply of the minimal tree.",
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "A search with a table may visit fewer nodes than the minimal tree, as positions "
            "are reached in several ways, and fewer than this estimate of the minimal graph, "
            "as other refutations may be cheaper.",
        ],
        progress=progress,
    )
    try:
        for done, (position, depth) in enumerate(tasks):
            text = position_text(position)
            progress(f"{text}, depth {depth}", done, len(tasks))
            score = int(search_afresh(scorer, position, depth).value)
            for row in _above(position, depth, score, prover, searchers, evaluation):
                study.add_row({"position": text, "depth": depth, "score": score} | row)
    except KeyboardInterrupt:
        study.add_note(INTERRUPTED)
    return study


def _above(
    position: Any,
    depth: int,
    score: int,
    prover: _ScoreProver,
    searchers: dict[str, Searcher | None],
    evaluation: AnyEvaluation,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one position and depth."""
    graph = prover.smallest(position, depth, score, share=True)
    tree = prover.smallest(position, depth, score, share=False)

    def row(search: str, nodes: int, leaves: int, **more: int) -> dict[str, Any]:
        above = {"above_tree": nodes / tree.nodes, "above_graph": nodes / graph.nodes}
        return {"search": search, "nodes": nodes, "leaves": leaves} | above | more

    for name, proof in (("minimal graph", graph), ("minimal tree", tree)):
        yield row(name, int(proof.nodes), int(proof.leaves), late=int(proof.late))
    yield {"search": "formula", "leaves": expected_leaves(tree.inner, tree.children)}
    for name, searcher in searchers.items():
        if searcher is None:
            plain = alphabeta(position, depth, evaluation=evaluation, depth_in="actions")
            require_score("the engine", score, plain.value)
            yield row(name, plain.nodes, plain.leaves)
            continue
        result = search_afresh(searcher, position, depth)
        require_score(name, result.value, score)
        before = result.iterations[-2].nodes if len(result.iterations) > 1 else 0
        last = result.nodes - before
        more = row(name, result.nodes, result.statistics.leaves, last=last)
        yield more | {"last_above_graph": last / graph.nodes}


def expected_leaves(inner: Sequence[int], children: Sequence[int]) -> float:
    """Return the leaves of a critical tree with a mean number of children at each ply.

    The formula of Knuth & Moore for widths that change from ply to ply: all moves of one
    player and one of the other, the other way round, and one line counted twice.
    """
    widths = [
        int(count) / int(nodes) for nodes, count in zip(inner, children, strict=True) if nodes
    ]
    return prod(widths[::2]) + prod(widths[1::2]) - 1


def draw(study: Study, figure: Any) -> None:
    """Draw nodes by depth, those of the minimal tree and graph too; means of positions."""
    figure.set_size_inches(PAGE, 3.2)
    figure.set_label(
        "Nodes by depth; of several positions the geometric mean, with bars from the least to the "
        "most. Marks of one depth are set apart."
    )
    axes = figure.subplots()
    counts: dict[tuple[str, int], list[int]] = {}
    for row in study.rows:
        if row.get("nodes"):
            counts.setdefault((row["search"], row["depth"]), []).append(row["nodes"])
    rows = [
        {"search": search, "depth": depth, "nodes": geometric_mean(nodes)}
        | ({"nodes_low": min(nodes), "nodes_high": max(nodes)} if len(nodes) > 1 else {})
        for (search, depth), nodes in counts.items()
    ]
    draw_searches(axes, "Nodes", rows, "nodes")
    axes.set_xlabel("depth in plies")
