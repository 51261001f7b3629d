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
    Column("depth", "plies", "d"),
    Column("score", "for the player to move", "d"),
    Column("search"),
    Column("nodes", "positions visited, all positions together", ",d"),
    Column("leaves", "positions where a line ended", ",.0f"),
    Column("above_tree", "nodes / those of the minimal tree", ",.3f", interval=True),
    Column("above_graph", "nodes / those of the minimal graph", ",.3f", interval=True),
    Column("last", "nodes of the last iteration", ",d"),
    Column("last_above_graph", "the same / those of the minimal graph", ",.3f", interval=True),
    Column("late", "nodes of a proof whose first move was not the right one", ",d"),
)

TOTALS = ("nodes", "leaves", "last", "late")
RATIOS = ("above_tree", "above_graph", "last_above_graph")
"""The figures of rows that are sums of those of positions, and their geometric means."""

MINIMAL = ("minimal graph", "minimal tree", "formula")
"""What is compared with the searches: the rows before theirs."""

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
    workers: int = 1,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Compare the nodes of searches with the minimal tree and graph of a game.

    *positions* is a position, or some of one class, of which nodes are added up, and ratios are
    geometric means.  What minimal means here, and how it is estimated, is said at the top of this
    module.  *searches* are names of :data:`SEARCHES`; *table_mb* is the size of each table in MiB;
    *workers* processes take positions at the same time.
    """
    positions = [positions] if hasattr(positions, "_fields") else list(positions)
    depths = require_depths(depths)
    names = chosen_searches(searches)
    if not positions or not depths:
        raise CutnodeError("a study of minimal graphs needs a position and a depth")
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
        about=f"Nodes of searches above the minimal tree and graph of {game_name(cls)}",
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
            "minimal tree, minimal graph: estimates from above; proofs of the score that begin "
            "with the moves that proved it before, without and with a table (A. Plaat et al., "
            "Nearly optimal minimax tree search?, 1994).",
            "formula: the leaves of Knuth and Moore for trees with the mean number of moves at "
            "each ply of the minimal tree.",
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "A search with a table may visit fewer nodes than the minimal tree, as positions "
            "are reached in several ways, and fewer than this estimate of the minimal graph, "
            "as other refutations may be cheaper.",
            *([ABOUT_INTERVALS] if several else []),
        ],
        progress=progress,
    )
    with study.kept(), workbench:
        _fill(study, workbench)
    return study


def _fill(study: Study, workbench: Workbench[_Task, list[Sample]]) -> None:
    """Measure all depths and positions, and add what an earlier run has left."""
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
    """Return the figures of a row: sums and means of the samples that have them."""
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
    """Searches positions and proves their scores, in one process."""

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
        """Return a sample of each proof and search of a position and depth."""
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
    """Return the leaves of a critical tree with a mean number of children at each ply.

    The formula of Knuth & Moore for widths that change from ply to ply: all moves of one
    player and one of the other, the other way round, and one line counted twice.
    """
    widths = [
        int(count) / int(nodes) for nodes, count in zip(inner, children, strict=True) if nodes
    ]
    return prod(widths[::2]) + prod(widths[1::2]) - 1


def draw(study: Study, figure: Any) -> None:
    """Draw nodes by depth, and how far they are above those of the minimal graph."""
    figure.set_size_inches(PAGE, 3.2)
    figure.set_label(
        "Left, nodes of all positions by depth; right, nodes / those of the minimal graph, "
        "geometric means over positions with 95 % intervals. Marks of one depth are set apart."
    )
    left, right = figure.subplots(1, 2)
    draw_searches(left, "Nodes", study.rows, "nodes", direct=False)
    draw_searches(right, "Nodes / minimal graph", study.rows, "above_graph", direct=False)
    for axes in (left, right):
        axes.set_xlabel("depth in plies")
    add_line_legend(figure, left)
