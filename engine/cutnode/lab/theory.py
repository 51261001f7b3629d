"""The leaves that searches evaluate in uniform trees, compared with theory.

They are compared with the minimal number of leaves, and their growth with depth with known
branching factors; the formulas are in ``cutnode.lab.formulas``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, hypot, log, sqrt
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
    Column("model", "model of leaf values and move ordering"),
    Column("width", "moves in every position", "d"),
    Column("depth", "plies from the root to the leaves", "d"),
    Column("search"),
    Column("leaves", "leaves evaluated, counting repeats: mean over trees", ",.1f"),
    Column("error", "standard error of the mean", ",.1f"),
    Column("minimal", "leaves of the minimal tree (Knuth and Moore)", ",d"),
    Column("ratio", "leaves / minimal", ",.3f"),
    Column(
        "growth",
        "growth per ply of leaves, from the last listed depth of equal parity",
        ".3f",
        interval=True,
    ),
    Column("exponent", "log(growth) / log(width): 0.5 for perfect ordering, 1 for minimax", ".3f"),
    Column("perfect", "growth with perfect ordering: sqrt(width)", ".3f"),
    Column("pearl", "limit of alpha-beta's growth on random leaves", ".3f"),
)

USUAL_DEPTH = 12
"""The depth of trees, unless a deeper search is wanted.  Shallower searches visit only the top of
the tree, so one compiled class serves all these depths."""


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
    """Count the leaves that searches evaluate in uniform trees, and compare with the minimum.

    *models* are models of the game ``uniform``: ``random``, ``incremental``, ``ordered``
    (the best move first everywhere), ``ordered=75`` (the best move first in 75 % of the nodes).
    Figures are means over the trees of *seeds*.  *searches* are names of :data:`SEARCHES`;
    *table_mb* is the size of their tables in MiB.  Every score is checked against plain
    alpha-beta's.
    """
    widths, depths, models = sorted(set(widths)), require_depths(depths), list(models)
    seeds = list(seeds)
    names = chosen_searches(searches)
    if not (widths and depths and models and seeds):
        raise CutnodeError("a theory study needs at least one width, depth, model and seed")
    shapes = [(width, model) for width in widths for model in models]
    study = Study(
        name="theory",
        about="Leaves evaluated in uniform trees, compared with the minimal tree",
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
            "With iterative deepening, the leaves of all iterations count.",
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
    """Return the depth of the trees to make for searches of some depths."""
    asked = max(depths)
    fits = formulas.nodes(width, USUAL_DEPTH) <= WORD
    return max(asked, USUAL_DEPTH) if fits else asked


def _each(
    counts: dict[str, dict[int, list[int]]], seeds: Sequence[int]
) -> Iterator[tuple[str, int, int, int]]:
    """Yield the search, depth, seed and leaves of each count."""
    for name, by_depth in counts.items():
        for depth, leaves in by_depth.items():
            for seed, count in zip(seeds, leaves, strict=True):
                yield name, depth, seed, count


def _leaves(
    trees: Sequence[Any], depths: Sequence[int], names: Sequence[str], table_mb: int
) -> dict[str, dict[int, list[int]]]:
    """Return the leaves evaluated in each tree, by search and depth."""
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
    """Yield the rows of one search, by ascending depth."""
    means = {depth: fmean(leaves) for depth, leaves in counts.items()}
    for depth, mean in means.items():
        before = [d for d in means if d < depth and (depth - d) % 2 == 0]
        leaves = counts[depth]
        growth = None
        ends: dict[str, float] = {}
        if before:
            plies = depth - before[-1]
            growth = (mean / means[before[-1]]) ** (1 / plies)
            if len(leaves) > 1:
                apart = hypot(_relative_error(leaves), _relative_error(counts[before[-1]])) / plies
                ends = {
                    "growth_low": growth * exp(-SIGMAS * apart),
                    "growth_high": growth * exp(SIGMAS * apart),
                }
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
            **ends,
            "exponent": log(growth) / log(width) if growth and width > 1 else None,
            "perfect": width**0.5,
            "pearl": formulas.branching_factor(width),
        }


def _relative_error(leaves: Sequence[int]) -> float:
    """Return the standard error of a mean / the mean."""
    return stdev(leaves) / sqrt(len(leaves)) / fmean(leaves)


def draw(study: Study, figure: Any) -> None:
    """Draw leaves / minimal by depth, in a panel for each model and width."""
    widths = list(dict.fromkeys(row["width"] for row in study.rows))
    models = list(dict.fromkeys(row["model"] for row in study.rows))
    figure.set_label(
        "Leaves evaluated / leaves of the minimal tree, by depth: means over trees with 95 % "
        "confidence intervals. Where lines coincide the lower one is wider, and markers are spread "
        "sideways."
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
    """Return a row with the ends of its ratio's interval, from the standard error of the mean."""
    if row.get("error") is None:
        return row
    error = SIGMAS * row["error"] / row["minimal"]
    return row | {"ratio_low": row["ratio"] - error, "ratio_high": row["ratio"] + error}
