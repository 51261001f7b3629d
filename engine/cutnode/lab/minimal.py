# mypy: disallow-untyped-calls=False
"""The minimal tree and graph of a game, and how far searches are above them.

The tree of a game is not uniform, so no formula gives the fewest nodes that prove its value.
They are estimated by the method of A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, "Nearly
optimal minimax tree search?" (1994): a search finds the score, and then the score is proven
again with the moves that proved it searched first.

*   A score s is proven with the window (s - 1, s + 1).  At a cut-node the move that gave the
    cutoff is searched first, and at a PV node the best move.  No other move needs to be tried
    there, so this visits a *critical tree* of Knuth and Moore: all moves at all-nodes, one
    move at cut-nodes.
*   The *minimal tree* is counted without a table: a position reached twice counts twice.
*   The *minimal graph* is counted with one: a position that was visited at the same remaining
    depth, and whose bounds decide, is not searched again.  It counts as a node each time, as
    in all searches here.  Equivalent positions share bounds if the game declares them.
*   The count depends on which of several refutations is chosen.  Here it is the first one
    found, in the game's move ordering; a smaller proof may exist.  So both counts are upper
    bounds on the true minimum (the paper calls them left-first).
*   Each proof passes its moves on to the next, until every cutoff comes from the first move.
    Nodes where it did not are counted: 0 shows that the estimate is a critical tree; a higher
    count, that the tables were too small or that the passes ran out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import defines, game_constant, game_name
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.minimal_graph import proof_dtype, prove
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.lab.laboratory import Sample, Workbench, with_interval
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    columns_for,
    require_workers,
    search_afresh,
)
from cutnode.lab.plots import PAGE, add_line_legend
from cutnode.lab.provenance import game_source
from cutnode.lab.searches import (
    SEARCHES,
    chosen_searches,
    draw_searches,
    make_searcher,
    require_depths,
    require_score,
)
from cutnode.lab.statistics import geometric_mean_ratio
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.runtime.running import watch
from cutnode.search.api import alphabeta
from cutnode.search.searcher import Searcher
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.tables import Table

COLUMNS = (
    Column("depth", "depth in plies", "d"),
    Column("score", "score for the player to move", "d"),
    Column("search"),
    Column("nodes", "nodes visited, summed over positions", ",d"),
    Column("leaves", "leaves visited, summed over positions", ",.0f"),
    Column("above_tree", "nodes / nodes of the minimal tree", ",.3f", interval=True),
    Column("above_graph", "nodes / nodes of the minimal graph", ",.3f", interval=True),
    Column("last", "nodes of the last iteration", ",d"),
    Column("last_above_graph", "last / nodes of the minimal graph", ",.3f", interval=True),
    Column("late", "nodes of a proof where the first move did not give the cutoff", ",d"),
)

TOTALS = ("nodes", "leaves", "last", "late")
"""The figures of a row that are sums over positions."""

RATIOS = ("above_tree", "above_graph", "last_above_graph")
"""The figures of a row that are geometric means over positions."""

MINIMAL = ("minimal graph", "minimal tree", "formula")
"""The reference rows, which precede the rows of searches."""

PASSES = 8
"""The most passes of a proof, each to improve the move ordering."""


class _ScoreProver:
    """A prover that repeats proofs of a score to find a small one."""

    def __init__(self, engine: Searcher, table_mb: int):
        self.engine = engine
        self.run = prove.specialise(engine.cls, engine.evaluation)
        self.known, self.bounds = Table(table_mb), Table(table_mb)

    def smallest(self, position: Any, depth: int, score: int, share: bool) -> Any:
        """Return the memory of the first proof with perfect move ordering, or else the smallest."""
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
    workers: int = 1,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Compare the nodes of searches with the minimal tree and graph of a game.

    *positions* is one position, or several of one class; nodes are summed over positions, and
    ratios are geometric means.  The module's docstring says what minimal means, and how it is
    estimated.  *searches* are names of :data:`SEARCHES`; *table_mb* is the size of each table in
    MiB; *workers* processes search positions at the same time.  :class:`GameError` for a game with
    chance or repetition.
    """
    positions = [positions] if hasattr(positions, "_fields") else list(positions)
    depths = require_depths(depths)
    names = chosen_searches(searches)
    if not positions or not depths:
        raise CutnodeError("a study of minimal graphs needs at least one position and one depth")
    require_workers(workers)
    cls: Any = type(positions[0])
    for verb, reason in (("chance", "chance"), ("reversible", "repetition")):
        if defines(cls, verb):
            raise GameError(f"{game_name(cls)} has {reason}: its minimal tree is not estimated")
    progress("compiling", 0, len(positions) * len(depths))
    chosen = chosen_evaluation(cls, evaluation)
    count = min(workers, len(positions) * len(depths))
    workbench: Workbench[_Task, list[Sample]] = Workbench(
        count, _Bench, positions, names, chosen, table_mb
    )
    several = len(positions) > 1
    study = Study(
        name="minimal",
        about=f"Nodes of searches compared with the minimal tree and graph of {game_name(cls)}",
        settings={
            "game": game_source(cls),
            "positions": list(map(position_text, positions)),
            "positions_from": positions_from,
            "depths": depths,
            "evaluation": chosen.name,
            "searches": names,
            "table_mb": table_mb,
            "workers": workers,
        },
        columns=columns_for(len(positions), COLUMNS, of_one=("score",)),
        notes=[
            "minimal tree, minimal graph: upper-bound estimates, by proofs of the score that "
            "search the moves that proved it before first, without and with a table (A. Plaat et "
            "al., Nearly optimal minimax tree search?, 1994).",
            "formula: Knuth and Moore's number of leaves, for a tree with the minimal tree's mean "
            "number of moves at each ply.",
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "A search with a table may visit fewer nodes than the minimal tree, because of "
            "transpositions, and fewer than this estimate of the minimal graph, because it may "
            "find cheaper refutations.",
            *([ABOUT_INTERVALS] if several else []),
        ],
        progress=progress,
    )
    with study.kept(), workbench:
        _fill(study, workbench)
    return study


def _fill(study: Study, workbench: Workbench[_Task, list[Sample]]) -> None:
    """Measure all depths and positions that an earlier run has not measured, and add the rows."""
    texts, depths = study.settings["positions"], study.settings["depths"]
    searches = (*MINIMAL, *study.settings["searches"])
    recalled: dict[_Task, list[Sample]] = {}
    for depth in depths:
        for number, text in enumerate(texts):
            known = [study.recall(depth=depth, search=search, position=text) for search in searches]
            if None not in known:
                recalled[number, depth] = [sample for sample in known if sample is not None]
    tasks = [(number, depth) for depth in depths for number in range(len(texts))]
    missing = [task for task in tasks if task not in recalled]
    answers = workbench.answers(missing)
    done = 0
    for depth in depths:
        found: list[Sample] = []
        for number, text in enumerate(texts):
            study.progress(f"{text}, depth {depth}", done, len(tasks))
            done += 1
            if (number, depth) in recalled:
                found += recalled[number, depth]
                continue
            for sample in next(answers):
                found.append({"depth": depth} | sample | {"position": text})
                study.add_sample(found[-1])
        for search in searches:
            samples = [sample for sample in found if sample["search"] == search]
            study.add_row({"depth": depth, "search": search} | _summary(samples))


def _summary(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the figures of a row: the sums and means of its samples."""
    row: dict[str, Any] = {"score": samples[0]["score"]} if len(samples) == 1 else {}
    for name in TOTALS:
        if name in samples[0]:
            row[name] = sum(sample[name] for sample in samples)
    for name in RATIOS:
        if name in samples[0]:
            ratios = [sample[name] for sample in samples]
            row |= with_interval(name, geometric_mean_ratio(ratios, [1.0] * len(ratios)))
    return row


_Task = tuple[int, int]
"""The number of a position, and a depth."""


class _Bench:
    """A bench that searches positions and proves their scores, in one process."""

    def __init__(
        self,
        positions: Sequence[Any],
        names: Sequence[str],
        evaluation: AnyEvaluation,
        table_mb: int,
    ):
        self.positions = positions
        self.evaluation = evaluation
        cls: Any = type(positions[0])
        self.searchers = {name: make_searcher(name, cls, table_mb, evaluation) for name in names}
        self.scorer = Searcher(
            cls, exact=True, table=table_mb, evaluation=evaluation, depth_in="actions"
        )
        self.prover = _ScoreProver(self.scorer, table_mb)

    def __call__(self, task: _Task) -> list[Sample]:
        """Return a sample for each proof and search of a position at a depth."""
        number, depth = task
        position = self.positions[number]
        score = int(search_afresh(self.scorer, position, depth).value)
        return [{"score": score} | sample for sample in self._above(position, depth, score)]

    def _above(self, position: Any, depth: int, score: int) -> Iterator[Sample]:
        graph = self.prover.smallest(position, depth, score, share=True)
        tree = self.prover.smallest(position, depth, score, share=False)

        def counted(search: str, nodes: int, leaves: int, **more: int) -> Sample:
            above = {"above_tree": nodes / tree.nodes, "above_graph": nodes / graph.nodes}
            return {"search": search, "nodes": nodes, "leaves": leaves} | above | more

        for name, proof in (("minimal graph", graph), ("minimal tree", tree)):
            yield counted(name, int(proof.nodes), int(proof.leaves), late=int(proof.late))
        yield {"search": "formula", "leaves": expected_leaves(tree.inner, tree.children)}
        for name, searcher in self.searchers.items():
            if searcher is None:
                plain = alphabeta(position, depth, evaluation=self.evaluation, depth_in="actions")
                require_score("the engine", score, plain.value)
                yield counted(name, plain.nodes, plain.leaves)
                continue
            result = search_afresh(searcher, position, depth)
            require_score(name, result.value, score)
            before = result.iterations[-2].nodes if len(result.iterations) > 1 else 0
            last = result.nodes - before
            more = counted(name, result.nodes, result.statistics.leaves, last=last)
            yield more | {"last_above_graph": last / graph.nodes}


def expected_leaves(inner: Sequence[int], children: Sequence[int]) -> float:
    """Return the leaves of a critical tree with the mean number of children at each ply.

    The formula of Knuth & Moore for widths that vary by ply: all moves of one player and one of
    the other, plus the reverse, less the one line that both count.
    """
    widths = [
        int(count) / int(nodes) for nodes, count in zip(inner, children, strict=True) if nodes
    ]
    return prod(widths[::2]) + prod(widths[1::2]) - 1


def draw(study: Study, figure: Any) -> None:
    """Draw nodes by depth, and their ratios to the nodes of the minimal graph."""
    figure.set_size_inches(PAGE, 3.2)
    figure.set_label(
        "Left: nodes, summed over positions, by depth.  Right: nodes / nodes of the minimal graph, "
        "geometric means over positions with 95 % confidence intervals. Markers of one depth are "
        "spread sideways."
    )
    left, right = figure.subplots(1, 2)
    draw_searches(left, "Nodes", study.rows, "nodes", direct=False)
    draw_searches(right, "Nodes / minimal graph", study.rows, "above_graph", direct=False)
    for axes in (left, right):
        axes.set_xlabel("depth in plies")
    add_line_legend(figure, left)
