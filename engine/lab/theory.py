# mypy: disallow-untyped-calls=False
"""How far searches are from theory: on uniform trees, and in real games.

:func:`theory` counts the leaves that searches evaluate in uniform trees whose theory is
known (``engine.lab.formulas``): above the fewest possible, and how fast they grow with depth.

:func:`minimal_graph` does it for a game.  Its tree is not uniform, so the fewest nodes are
not known by a formula.  They are estimated as A. Plaat, J. Schaeffer, W. Pijls and A. de
Bruin did in "Nearly optimal minimax tree search?" (1994): the score is searched, and then
proven once more, with the moves that are known to prove it in front.

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
from dataclasses import dataclass
from math import log, prod
from statistics import fmean, stdev
from typing import Any

from engine.compiler.memory import Memory
from engine.contract.bits import WORD
from engine.contract.dispatch import defines, game_constant, game_name
from engine.contract.errors import CutnodeError, GameError
from engine.contract.loading import load_game
from engine.contract.messages import position_text
from engine.contract.positions import coerce
from engine.kernels.evaluation import Evaluation
from engine.kernels.minimal_graph import proof_dtype, prove
from engine.kernels.optionality import Optionality
from engine.kernels.parameters import MOST_DEPTH
from engine.lab import formulas as formulas
from engine.lab.measuring import INTERRUPTED, Progress, no_progress
from engine.lab.study import Column, Study
from engine.search.api import alphabeta
from engine.search.results import SearchResult
from engine.search.running import watch
from engine.search.searcher import Searcher
from engine.storage.tables import Table

__all__ = ["SEARCHES", "draw", "draw_minimal", "minimal_graph", "theory"]

PASSES = 8
"""A proof is repeated at most so often to find its best order."""

USUAL_DEPTH = 12
"""Trees are this deep if nobody asks for more: searches see a part of them, as deep as they
are asked to look, and one compiled class has all those depths."""


@dataclass(frozen=True, slots=True)
class _Search:
    """A search to compare: textbook alpha-beta if there are no options."""

    about: str
    options: dict[str, Any] | None = None


SEARCHES = {
    "plain": _Search("textbook alpha-beta in the game's order of moves"),
    "engine": _Search("the engine's search without any technique", {"techniques": ()}),
    "pvs": _Search("the same with null windows for later moves", {"techniques": ("pvs",)}),
    "mtdf": _Search(
        "MTD(f) from 0: null windows only, with a table",
        {"techniques": ("table",), "driver": "mtdf"},
    ),
    "exact": _Search("all techniques that leave scores as they are, from depth 1 or 2 on", {}),
}
"""The searches that are compared."""


# Uniform trees


def theory(
    widths: Iterable[int] = (2, 5, 10),
    depths: Iterable[int] = (2, 4, 6),
    models: Iterable[str] = ("ordered", "ordered=75", "random"),
    seeds: Iterable[int] = range(20),
    *,
    searches: Iterable[str] | None = None,
    table_mb: int = 16,
    progress: Progress = no_progress,
) -> Study:
    """The leaves that searches evaluate in uniform trees, beside the fewest and the growth.

    *models* are those of the game ``uniform``: ``random``, ``incremental``, ``ordered``
    (the best move first everywhere), ``ordered=75`` (in 75 % of the nodes).  *seeds* are
    the trees of which the mean is taken.  *searches* are names of :data:`SEARCHES`;
    *table_mb* is the size of their tables in MiB.  Every score is compared with that of plain
    alpha-beta.
    """
    widths, depths, models = sorted(set(widths)), sorted(set(depths)), list(models)
    seeds = list(seeds)
    names = _names(searches)
    if not (widths and depths and models and seeds):
        raise CutnodeError("a study of theory needs a width, a depth, a model and a seed")
    for depth in depths:
        _require_depth(depth)
    shapes = [(width, model) for width in widths for model in models]
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    try:
        for done, (width, model) in enumerate(shapes):
            progress(f"width {width}, {model}", done, len(shapes))
            variant = f"{width}x{_deepest(width, depths)},{model}"
            trees = [load_game(f"uniform:{variant},seed={seed}").start() for seed in seeds]
            counts = _leaves(trees, depths, names, table_mb)
            for name in names:
                rows += _growing(width, model, name, counts[name])
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    return Study(
        name="theory",
        about="Leaves evaluated in uniform trees, above the fewest possible",
        settings={
            "game": "uniform",
            "widths": widths,
            "depths": depths,
            "models": models,
            "seeds": seeds,
            "searches": names,
            "table_mb": table_mb,
        },
        columns=(
            Column("model", "how the leaves get their values, and which moves come first"),
            Column("width", "moves of every position", "d"),
            Column("depth", "plies from the root to the leaves", "d"),
            Column("search"),
            Column("leaves", "evaluated, mean of all trees; again evaluated ones too", ",.1f"),
            Column("error", "standard error of the mean", ",.1f"),
            Column("minimal", "the fewest leaves that prove the value (Knuth and Moore)", ",d"),
            Column("ratio", "leaves / minimal", ",.3f"),
            Column(
                "growth",
                "leaves of one ply more: of this depth / the last listed of its parity, by ply",
                ".3f",
            ),
            Column("exponent", "log(growth) / log(width): 0.5 is perfect order, 1 minimax", ".3f"),
            Column("perfect", "growth in perfect order: sqrt(width)", ".3f"),
            Column("pearl", "growth of alpha-beta on random leaves, for great depths", ".3f"),
        ),
        rows=rows,
        notes=(
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "Minimal: D. Knuth and R. Moore, An analysis of alpha-beta pruning (1975).",
            "Pearl: J. Pearl, The solution for the branching factor of the alpha-beta pruning "
            "algorithm and its optimality (1982).",
            "Searches with deepening count the leaves of all their iterations.",
            *notes,
        ),
    )


def _names(searches: Iterable[str] | None) -> list[str]:
    names = list(SEARCHES if searches is None else dict.fromkeys(searches))
    for name in names:
        if name not in SEARCHES:
            raise CutnodeError(f"there is no search {name!r}; searches are {', '.join(SEARCHES)}")
    return names


def _require_depth(depth: int) -> None:
    if not 1 <= depth <= MOST_DEPTH:
        raise CutnodeError(f"a depth of a study is 1..{MOST_DEPTH}, not {depth}")


def _deepest(width: int, depths: Sequence[int]) -> int:
    """The depth of the tree that searches of some depths see a part of."""
    asked = max(depths)
    fits = formulas.nodes(width, USUAL_DEPTH) <= WORD
    return max(asked, USUAL_DEPTH) if fits else asked


def _leaves(
    trees: Sequence[Any], depths: Sequence[int], names: Sequence[str], table_mb: int
) -> dict[str, dict[int, list[int]]]:
    """The leaves of each tree, by search and depth."""
    engines = {name: engine for name in names if (engine := _engine(name, trees[0], table_mb))}
    counts: dict[str, dict[int, list[int]]] = {name: {d: [] for d in depths} for name in names}
    for depth in depths:
        for tree in trees:
            plain = alphabeta(tree, depth)
            for name in names:
                if name not in engines:
                    counts[name][depth].append(plain.leaves)
                    continue
                result = _searched(engines[name], tree, depth)
                _require_score(name, result.value, plain.value)
                counts[name][depth].append(result.statistics.leaves)
    return counts


def _engine(
    name: str, game: Any, table_mb: int, evaluation: str | Evaluation | Optionality | None = None
) -> Searcher | None:
    options = SEARCHES[name].options
    if options is None:
        return None
    return Searcher(
        game,
        exact=True,
        table=table_mb,
        evaluation=evaluation,
        depth_in="actions",
        **options,
    )


def _searched(engine: Searcher, position: Any, depth: int) -> SearchResult:
    """Search with nothing stored and nothing learned."""
    engine.clear()
    result = engine.search(position, depth=depth)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return result


def _require_score(name: str, score: float, plain: float) -> None:
    if score != plain:
        raise CutnodeError(f"{name} scores {score} where plain alpha-beta scores {plain}")


def _growing(
    width: int, model: str, name: str, counts: dict[int, list[int]]
) -> Iterator[dict[str, Any]]:
    """The rows of one search, shallow trees first."""
    means = {depth: fmean(leaves) for depth, leaves in counts.items()}
    for depth, mean in means.items():
        before = [d for d in means if d < depth and (depth - d) % 2 == 0]
        growth = None
        if before:
            growth = (mean / means[before[-1]]) ** (1 / (depth - before[-1]))
        leaves = counts[depth]
        minimal = formulas.minimal_leaves(width, depth)
        yield {
            "model": model,
            "width": width,
            "depth": depth,
            "search": name,
            "leaves": mean,
            "error": stdev(leaves) / len(leaves) ** 0.5 if len(leaves) > 1 else None,
            "minimal": minimal,
            "ratio": mean / minimal,
            "growth": growth,
            "exponent": log(growth) / log(width) if growth and width > 1 else None,
            "perfect": width**0.5,
            "pearl": formulas.branching_factor(width),
        }


# Proofs of a score


class _Prover:
    """Proves scores again and again, to find small proofs."""

    def __init__(self, engine: Searcher, table_mb: int):
        self.engine = engine
        self.run = prove.specialise(engine.cls, engine.evaluation)
        self.known, self.bounds = Table(table_mb), Table(table_mb)

    def smallest(self, position: Any, depth: int, score: int, share: bool) -> Any:
        """The memory of the first proof in best order, or of the smallest if there is none."""
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


# Real games


def minimal_graph(
    positions: Any,
    depths: Iterable[int] = (4, 6, 8),
    *,
    evaluation: str | Evaluation | Optionality | None = None,
    searches: Iterable[str] | None = None,
    table_mb: int = 64,
    progress: Progress = no_progress,
) -> Study:
    """How many nodes searches visit above the minimal tree and graph of a game.

    *positions* is a position, or some of one class.  What minimal means here, and how it
    is estimated, is said in the module's text.  *searches* are names of :data:`SEARCHES`;
    *table_mb* is the size of each table in MiB.
    """
    positions = [positions] if hasattr(positions, "_fields") else list(positions)
    depths = sorted(set(depths))
    names = _names(searches)
    if not positions or not depths:
        raise CutnodeError("a study of minimal graphs needs a position and a depth")
    for depth in depths:
        _require_depth(depth)
    cls: Any = type(positions[0])
    for verb, reason in (("chance", "chance"), ("reversible", "repetition")):
        if defines(cls, verb):
            raise GameError(f"{game_name(cls)} has {reason}: its minimal tree is not estimated")
    progress("compiling", 0, len(positions) * len(depths))
    engines = {name: _engine(name, cls, table_mb, evaluation) for name in names}
    scorer = Searcher(cls, exact=True, table=table_mb, evaluation=evaluation)
    prover = _Prover(scorer, table_mb)
    tasks = [(position, depth) for position in positions for depth in depths]
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    try:
        for done, (position, depth) in enumerate(tasks):
            text = position_text(position)
            progress(f"{text}, depth {depth}", done, len(tasks))
            score = int(_searched(scorer, position, depth).value)
            for row in _above(position, depth, score, prover, engines, evaluation):
                rows.append({"position": text, "depth": depth, "score": score} | row)
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    return Study(
        name="minimal",
        about=f"Nodes of searches above the minimal tree and graph of {game_name(cls)}",
        settings={
            "game": game_name(cls),
            "positions": list(map(position_text, positions)),
            "depths": depths,
            "evaluation": scorer.evaluation.name,
            "searches": names,
            "table_mb": table_mb,
        },
        columns=(
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
        ),
        rows=rows,
        notes=(
            "minimal tree, minimal graph: estimates from above; proofs of the score that begin "
            "with the moves that proved it before, without and with a table (A. Plaat et al., "
            "Nearly optimal minimax tree search?, 1994).",
            "formula: the leaves of Knuth and Moore for trees with the mean number of moves at "
            "each ply of the minimal tree.",
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "A search with a table may visit fewer nodes than the minimal tree, as positions "
            "are reached in several ways, and fewer than this estimate of the minimal graph, "
            "as other refutations may be cheaper.",
            *notes,
        ),
    )


def _above(
    position: Any,
    depth: int,
    score: int,
    prover: _Prover,
    engines: dict[str, Searcher | None],
    evaluation: str | Evaluation | Optionality | None,
) -> Iterator[dict[str, Any]]:
    """The rows of one position and depth."""
    graph = prover.smallest(position, depth, score, share=True)
    tree = prover.smallest(position, depth, score, share=False)

    def row(search: str, nodes: int, leaves: int, **more: int) -> dict[str, Any]:
        above = {"above_tree": nodes / tree.nodes, "above_graph": nodes / graph.nodes}
        return {"search": search, "nodes": nodes, "leaves": leaves} | above | more

    for name, proof in (("minimal graph", graph), ("minimal tree", tree)):
        yield row(name, int(proof.nodes), int(proof.leaves), late=int(proof.late))
    yield {"search": "formula", "leaves": expected_leaves(tree.inner, tree.children)}
    for name, engine in engines.items():
        if engine is None:
            plain = alphabeta(position, depth, evaluation=evaluation, depth_in="actions")
            _require_score("the engine", score, plain.value)
            yield row(name, plain.nodes, plain.leaves)
            continue
        result = _searched(engine, position, depth)
        _require_score(name, result.value, score)
        before = result.iterations[-2].nodes if len(result.iterations) > 1 else 0
        last = result.nodes - before
        more = row(name, result.nodes, result.statistics.leaves, last=last)
        yield more | {"last_above_graph": last / graph.nodes}


def expected_leaves(inner: Sequence[int], children: Sequence[int]) -> float:
    """The leaves of a critical tree whose nodes have so many children on average at each ply.

    The formula of Knuth & Moore for widths that change from ply to ply: all moves of one
    player and one of the other, the other way round, and one line counted twice.
    """
    widths = [
        int(count) / int(nodes) for nodes, count in zip(inner, children, strict=True) if nodes
    ]
    return prod(widths[::2]) + prod(widths[1::2]) - 1


# Plots


COLOURS = {
    **{"plain": "#888888", "engine": "#3b6ea5", "pvs": "#5a9e6f"},
    **{"mtdf": "#8b5fa8", "exact": "#d1792c"},
    **{"minimal graph": "#222222", "minimal tree": "#b0a060"},
}


def draw(study: Study, figure: Any) -> None:
    """How far above the minimal tree, by depth; a panel for each model and width."""
    widths = list(dict.fromkeys(row["width"] for row in study.rows))
    models = list(dict.fromkeys(row["model"] for row in study.rows))
    figure.set_size_inches(7, 0.8 + 1.8 * len(models))
    grid = figure.subplots(len(models), len(widths), sharex=True, sharey="row", squeeze=False)
    for model, panels in zip(models, grid, strict=True):
        for width, axes in zip(widths, panels, strict=True):
            rows = [row for row in study.rows if (row["width"], row["model"]) == (width, model)]
            _draw_lines(axes, f"{model}, width {width}", rows, "ratio")
    grid[0, 0].legend(frameon=False, fontsize=7)
    for axes in grid[:, 0]:
        axes.set_ylabel("leaves / minimal")
    for axes in grid[-1]:
        axes.set_xlabel("depth in plies")


def draw_minimal(study: Study, figure: Any) -> None:
    """Nodes by depth, those of the minimal tree and graph too; of the first position."""
    figure.set_size_inches(7, 3.5)
    axes = figure.subplots()
    rows = [row for row in study.rows if row["position"] == study.rows[0]["position"]]
    _draw_lines(axes, "Nodes", [row for row in rows if "nodes" in row], "nodes")
    axes.legend(frameon=False, fontsize=7)
    axes.set_xlabel("depth in plies")


def _draw_lines(axes: Any, title: str, rows: list[dict[str, Any]], figure: str) -> None:
    """A line for each search."""
    for name in dict.fromkeys(row["search"] for row in rows):
        points = [(row["depth"], row[figure]) for row in rows if row["search"] == name]
        depths, figures = zip(*points, strict=True)
        axes.plot(depths, figures, "o-", color=COLOURS[name], lw=1.2, ms=3, label=name)
    axes.set_yscale("log")
    axes.set_title(title, loc="left")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
