"""The searches that the theory and minimal-graph studies compare, and their plots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.lab.plots import GREY, PALETTE, Line, draw_lines, set_axes
from cutnode.search.searcher import Searcher


@dataclass(frozen=True, slots=True)
class ComparedSearch:
    """A search to compare; without options, textbook alpha-beta."""

    about: str
    options: dict[str, Any] | None = None


SEARCHES = {
    "plain": ComparedSearch("textbook alpha-beta with the game's move ordering"),
    "engine": ComparedSearch("the engine's search with no techniques", {"techniques": ()}),
    "pvs": ComparedSearch(
        "the engine's search with null windows for later moves", {"techniques": ("pvs",)}
    ),
    "mtdf": ComparedSearch(
        "MTD(f) with first guess 0: null windows only, with a table",
        {"techniques": ("table",), "driver": "mtdf"},
    ),
    "sss": ComparedSearch(
        "SSS*, as MTD(+inf): null windows from above, with a table",
        {"techniques": ("table",), "driver": "sss"},
    ),
    "dual": ComparedSearch(
        "DUAL*, as MTD(-inf): null windows from below, with a table",
        {"techniques": ("table",), "driver": "dual"},
    ),
    "exact": ComparedSearch("all exact techniques, with iterative deepening from depth 1 or 2", {}),
}
"""The searches that are compared."""

COLOURS = {
    **{"plain": GREY, "engine": PALETTE["blue"], "pvs": PALETTE["green"]},
    **{"mtdf": PALETTE["purple"], "sss": PALETTE["sky"], "dual": PALETTE["sky"]},
    "exact": PALETTE["vermillion"],
    **{"minimal graph": PALETTE["black"], "minimal tree": PALETTE["orange"]},
}
"""The colours of searches and of their references."""


def chosen_searches(names: Iterable[str] | None) -> list[str]:
    """Return the names of searches, by default all; :class:`CutnodeError` for unknown names."""
    chosen = list(SEARCHES if names is None else dict.fromkeys(names))
    for name in chosen:
        if name not in SEARCHES:
            raise CutnodeError(f"unknown search {name!r}: searches are {', '.join(SEARCHES)}")
    return chosen


def require_depths(depths: Iterable[int]) -> list[int]:
    """Return depths in ascending order; :class:`CutnodeError` for one out of range."""
    chosen = sorted(set(depths))
    for depth in chosen:
        if not 1 <= depth <= MOST_DEPTH:
            raise CutnodeError(f"depths must be 1..{MOST_DEPTH}, got {depth}")
    return chosen


def make_searcher(
    name: str, game: Any, table_mb: int, evaluation: AnyEvaluation = None
) -> Searcher | None:
    """Return the searcher of a search; None for textbook alpha-beta, which is a function."""
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


def require_score(name: str, score: float, plain: float) -> None:
    """Raise :class:`CutnodeError` unless a search has the score of plain alpha-beta."""
    if score != plain:
        raise CutnodeError(f"{name} scores {score} where plain alpha-beta scores {plain}")


def draw_searches(
    axes: Any, title: str, rows: list[dict[str, Any]], figure: str, *, direct: bool = True
) -> None:
    """Draw a column by depth, with a line for each search; *direct* labels the lines."""
    names = dict.fromkeys(row["search"] for row in rows if row.get(figure))
    lines = [
        Line.of(
            name,
            [row for row in rows if row["search"] == name],
            "depth",
            figure,
            COLOURS.get(name, ""),
        )
        for name in names
    ]
    draw_lines(axes, lines, direct=direct)
    set_axes(axes, title=title)
