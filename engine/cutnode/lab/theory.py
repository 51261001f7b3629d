"""The leaves that searches evaluate in uniform trees, whose theory is known.

They are counted beside the fewest possible, and as they grow with depth; the formulas are in
``cutnode.lab.formulas``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from statistics import fmean, stdev
from typing import Any

from cutnode.contract.bits import WORD
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.lab import formulas
from cutnode.lab.measuring import search_afresh
from cutnode.lab.plots import PAGE, SIGMAS, add_line_legend
from cutnode.lab.searches import (
    SEARCHES,
    chosen_searches,
    draw_searches,
    make_searcher,
    require_depths,
    require_score,
)
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.search.api import alphabeta

COLUMNS = (
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
)

USUAL_DEPTH = 12
"""Trees are this deep if nobody asks for more: searches see a part of them, as deep as they
are asked to look, and one compiled class has all those depths."""


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
    """Count the leaves that searches evaluate in uniform trees, beside the fewest possible.

    *models* are those of the game ``uniform``: ``random``, ``incremental``, ``ordered``
    (the best move first everywhere), ``ordered=75`` (in 75 % of the nodes).  *seeds* are
    the trees of which the mean is taken.  *searches* are names of :data:`SEARCHES`;
    *table_mb* is the size of their tables in MiB.  Every score is compared with that of plain
    alpha-beta.
    """
    widths, depths, models = sorted(set(widths)), require_depths(depths), list(models)
    seeds = list(seeds)
    names = chosen_searches(searches)
    if not (widths and depths and models and seeds):
        raise CutnodeError("a study of theory needs a width, a depth, a model and a seed")
    shapes = [(width, model) for width in widths for model in models]
    study = Study(
        name="theory",
        about="Leaves evaluated in uniform trees, above the fewest possible",
        settings={
            "widths": widths,
            "depths": depths,
            "models": models,
            "seeds": seeds,
            "searches": names,
            "table_mb": table_mb,
        },
        columns=COLUMNS,
        notes=[
            *(f"{name}: {SEARCHES[name].about}" for name in names),
            "Minimal: D. Knuth and R. Moore, An analysis of alpha-beta pruning (1975).",
            "Pearl: J. Pearl, The solution for the branching factor of the alpha-beta pruning "
            "algorithm and its optimality (1982).",
            "Searches with deepening count the leaves of all their iterations.",
        ],
        progress=progress,
    )
    with study.kept():
        for done, (width, model) in enumerate(shapes):
            progress(f"width {width}, {model}", done, len(shapes))
            variant = f"{width}x{_deepest(width, depths)},{model}"
            trees = [load_game(f"uniform:{variant},seed={seed}").start() for seed in seeds]
            counts = _leaves(trees, depths, names, table_mb)
            for name, depth, seed, leaves in _each(counts, seeds):
                tree = {"position": f"{variant},seed={seed}", "leaves": leaves}
                shape = {"model": model, "width": width, "depth": depth, "search": name}
                study.add_sample(shape | tree)
            for name in names:
                for row in _growing(width, model, name, counts[name]):
                    study.add_row(row)
    return study


def _deepest(width: int, depths: Sequence[int]) -> int:
    """Return the depth of the tree of which searches of some depths see a part."""
    asked = max(depths)
    fits = formulas.nodes(width, USUAL_DEPTH) <= WORD
    return max(asked, USUAL_DEPTH) if fits else asked


def _each(
    counts: dict[str, dict[int, list[int]]], seeds: Sequence[int]
) -> Iterator[tuple[str, int, int, int]]:
    """Yield search, depth, seed and leaves of each count."""
    for name, by_depth in counts.items():
        for depth, leaves in by_depth.items():
            for seed, count in zip(seeds, leaves, strict=True):
                yield name, depth, seed, count


def _leaves(
    trees: Sequence[Any], depths: Sequence[int], names: Sequence[str], table_mb: int
) -> dict[str, dict[int, list[int]]]:
    """Return the leaves of each tree, by search and depth."""
    searchers = {name: make_searcher(name, trees[0], table_mb) for name in names}
    counts: dict[str, dict[int, list[int]]] = {name: {d: [] for d in depths} for name in names}
    for depth in depths:
        for tree in trees:
            plain = alphabeta(tree, depth)
            for name in names:
                searcher = searchers[name]
                if searcher is None:
                    counts[name][depth].append(plain.leaves)
                    continue
                result = search_afresh(searcher, tree, depth)
                require_score(name, result.value, plain.value)
                counts[name][depth].append(result.statistics.leaves)
    return counts


def _growing(
    width: int, model: str, name: str, counts: dict[int, list[int]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one search, shallow trees first."""
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


def draw(study: Study, figure: Any) -> None:
    """Draw leaves above the minimal ones by depth, in a panel for each model and width."""
    widths = list(dict.fromkeys(row["width"] for row in study.rows))
    models = list(dict.fromkeys(row["model"] for row in study.rows))
    figure.set_label(
        "Leaves evaluated / the fewest possible by depth: means over trees with 95 % intervals. "
        "Where lines lie on each other the lower is wider, and marks are set apart."
    )
    figure.set_size_inches(PAGE, 0.7 + 1.6 * len(models))
    grid = figure.subplots(len(models), len(widths), sharex=True, sharey="row", squeeze=False)
    for model, panels in zip(models, grid, strict=True):
        for width, axes in zip(widths, panels, strict=True):
            rows = [
                _with_interval(row)
                for row in study.rows
                if (row["width"], row["model"]) == (width, model)
            ]
            draw_searches(axes, f"{model}, width {width}", rows, "ratio", direct=False)
    for axes in grid[:, 0]:
        axes.set_ylabel("leaves / minimal")
    for axes in grid[-1]:
        axes.set_xlabel("depth in plies")
    add_line_legend(figure, grid[0, 0])


def _with_interval(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the ends of the interval of its ratio, from the error of the mean."""
    if row.get("error") is None:
        return row
    error = SIGMAS * row["error"] / row["minimal"]
    return row | {"ratio_low": row["ratio"] - error, "ratio_high": row["ratio"] + error}
