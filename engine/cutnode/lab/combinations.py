"""All combinations of some techniques: main effects, and interactions of each pair.

With k techniques there are 2**k searches of each position (a full factorial design), as in
J. Schaeffer, "The history heuristic and alpha-beta search enhancements in practice" (1989).

*   A *main effect* is the ratio of the nodes without a technique to the nodes with it, as the
    geometric mean over all combinations of the other techniques.
*   An *interaction* of two techniques is the ratio of the effect of one in the presence of the
    other to its effect in the other's absence.  Above 1 the two help each other, below 1 each saves
    a part of what the other saves.
*   The *reduction* of a combination is the share that it saves of all that the best combination
    saves, (none - these) / (none - best), in nodes summed over positions.

All intervals are over positions: a position's effect is exact, for its searches are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Unpack

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.kernels.techniques import REQUIRED, fits, leave_out, technique_of
from cutnode.lab.laboratory import Laboratory, Measured, with_interval
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    FIGURES,
    Experiment,
    ExperimentOptions,
    columns_for,
    plan,
)
from cutnode.lab.plots import PAGE, PALETTE, Dot, draw_dots, ends_of, mark_reference
from cutnode.lab.statistics import Interval, bootstrap_share, geometric_mean_ratio
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.lab.unordered import without_order

USUAL = ("table", "history", "killers", "countermoves", "pvs")
"""The techniques that are combined unless others are named."""

MOST = 8
"""The most techniques that are combined."""

NONE = "none"
"""The name of the combination without any of the techniques."""

COMBINATION, MAIN, INTERACTION = "combination", "main effect", "interaction"
"""The parts of the table."""

COLUMNS = (
    Column("part"),
    Column("of", "the techniques, in addition to those that all searches have"),
    Column("nodes", "nodes visited, summed over positions", ",d"),
    FIGURES["leaves"],
    Column("reduction", "share of what the best combination saves", ".1%", interval=True),
    Column(
        "gain",
        "nodes without / nodes with; of an interaction: the gain with the other / without it",
        ",.3f",
        interval=True,
    ),
    Column("gain_leaves", "the same of leaves", ",.3f", interval=True),
)

Row = dict[str, Any]

Subset = frozenset[str]


def combinations(
    positions: Sequence[Any],
    depth: int,
    factors: Sequence[str] | None = None,
    *,
    ordered: bool = True,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions with all combinations of some techniques.

    *factors* are the names of the techniques to combine, by default the ones in :data:`USUAL` that
    suit the game; all searches have the other ones among *techniques*, by default the exact ones,
    except those that need a factor.  With *ordered* False, no search knows the game's own order of
    moves.  Node counts are exact, and nothing is timed.  A combination that would take more than
    *most_nodes* nodes has no figures, nor then have the effects.  :class:`CutnodeError` if a factor
    needs another, so that some combinations make no sense.
    """
    if options.get("techniques") is None:
        options["exact"] = True
    experiment = plan(positions, depth, **options)
    cls: Any = type(experiment.positions[0])
    names = _factors(cls, factors)
    always = leave_out(experiment.techniques, names)
    settings = experiment.settings()
    del settings["runs"]
    study = Study(
        "combinations",
        f"All combinations of {len(names)} techniques",
        settings | {"factors": list(names), "ordered": ordered},
        columns_for(len(experiment.positions), COLUMNS),
        notes=[
            f"All searches have: {', '.join(sorted(always)) or 'no other technique'}.",
            *([] if ordered else [NO_ORDER]),
        ],
        progress=progress,
    )
    with study.kept(), Laboratory(experiment, study) as laboratory:
        _run(_Design(names, always, ordered, experiment), study, laboratory)
    if len(experiment.positions) > 1:
        study.add_note(ABOUT_INTERVALS)
    return study


NO_ORDER = "No search knows the game's own order of moves: they come as the game lists them."


def _factors(cls: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the techniques to combine; :class:`CutnodeError` if they cannot be combined."""
    if names is None:
        return tuple(name for name in USUAL if fits(cls, technique_of(name)))
    found = tuple(dict.fromkeys(technique_of(name).name for name in names))
    if not 1 <= len(found) <= MOST:
        raise CutnodeError(f"combinations need 1 to {MOST} techniques, got {len(found)}")
    for name in found:
        if needed := sorted(REQUIRED.get(name, set()) & set(found)):
            raise CutnodeError(
                f"{quoted(name)} makes no sense without {needed[0]}: combine one of them, and let "
                f"--techniques have the other"
            )
    return found


class _Design:
    """The searches of a full factorial design."""

    def __init__(
        self, names: tuple[str, ...], always: Subset, ordered: bool, experiment: Experiment
    ):
        self.names, self.always, self.ordered = names, always, ordered
        self.experiment = experiment

    def subsets(self) -> Iterator[Subset]:
        """Yield all combinations, the smaller ones first."""
        for size in range(len(self.names) + 1):
            yield from map(frozenset, itertools.combinations(self.names, size))

    def name(self, chosen: Subset) -> str:
        return " + ".join(name for name in self.names if name in chosen) or NONE

    def options(self, chosen: Subset) -> dict[str, Any]:
        """Return the options of a search with the chosen techniques, for a :class:`Searcher`."""
        techniques: Any = self.always | chosen
        if not self.ordered:
            techniques = without_order(type(self.experiment.positions[0]), techniques)
        return {"techniques": techniques, "exact": self.experiment.exact}


def _run(design: _Design, study: Study, laboratory: Laboratory) -> None:
    every = list(design.subsets())
    study.progress("compiling", 0, len(every))
    laboratory.compile(**design.options(frozenset()))
    found: dict[Subset, Measured] = {}
    for done, chosen in enumerate(every):
        name = design.name(chosen)
        study.progress(name, done, len(every))
        key = {"part": COMBINATION, "of": name}
        depth = design.experiment.depth
        measured = laboratory.search(key, depth, runs=1, **design.options(chosen))
        if measured is None:
            study.add_note(
                f"{name} takes more than --most-nodes {design.experiment.most_nodes:,}: it was "
                f"abandoned."
            )
        else:
            found[chosen] = measured
    for chosen in every:
        row: Row = {"part": COMBINATION, "of": design.name(chosen)}
        if chosen in found:
            measured = found[chosen]
            row |= {"nodes": measured.nodes, "leaves": measured.leaves}
            row |= _reduction(found, measured)
        study.add_row(row)
    if len(found) == len(every):
        for row in _effects(design, found):
            study.add_row(row)


def _reduction(found: dict[Subset, Measured], these: Measured) -> Row:
    """Return the share that a combination saves of what the best one saves."""
    none = found.get(frozenset())
    if none is None:
        return {}
    best = min(found.values(), key=lambda measured: measured.nodes)
    saved = [before - after for before, after in zip(none.each, these.each, strict=True)]
    most = [before - after for before, after in zip(none.each, best.each, strict=True)]
    if sum(most) <= 0:
        return {}
    return with_interval("reduction", bootstrap_share(saved, most))


def _effects(design: _Design, found: dict[Subset, Measured]) -> Iterator[Row]:
    """Yield the rows of main effects, and then of interactions."""
    figures: dict[str, Callable[[Measured], Sequence[int]]] = {
        "gain": lambda measured: measured.each,
        "gain_leaves": lambda measured: [max(1, leaves) for leaves in measured.leaves_each],
    }
    logarithms = {
        name: {chosen: np.log(figure(measured)) for chosen, measured in found.items()}
        for name, figure in figures.items()
    }
    for name in design.names:
        row: Row = {"part": MAIN, "of": name}
        for figure, by_subset in logarithms.items():
            row |= with_interval(figure, _ratio(_effect(by_subset, name)))
        yield row
    for one, other in itertools.combinations(design.names, 2):
        row = {"part": INTERACTION, "of": f"{one} x {other}"}
        for figure, by_subset in logarithms.items():
            with_other = {key: value for key, value in by_subset.items() if other in key}
            without = {key: value for key, value in by_subset.items() if other not in key}
            row |= with_interval(figure, _ratio(_effect(with_other, one) - _effect(without, one)))
        yield row


def _effect(by_subset: dict[Subset, np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
    """Return a technique's effect on each position: the mean log ratio of without to with."""
    apart = [by_subset[key - {name}] - by_subset[key] for key in by_subset if name in key]
    mean: np.ndarray[Any, Any] = np.mean(apart, axis=0)
    return mean


def _ratio(logarithms: np.ndarray[Any, Any]) -> Interval:
    """Return the geometric mean of ratios over positions, given their logarithms."""
    return geometric_mean_ratio(np.exp(logarithms), np.ones(len(logarithms)))


def draw(study: Study, figure: Any) -> None:
    """Draw the reduction of each combination, the main effects, and the interactions."""
    panels = (
        (COMBINATION, "reduction", "share of the best combination's reduction"),
        (MAIN, "gain", "nodes without / nodes with"),
        (INTERACTION, "gain", "effect with the other / without"),
    )
    rows = {part: [row for row in study.rows if row["part"] == part] for part, _, _ in panels}
    shown = [panel for panel in panels if rows[panel[0]]]
    heights = [len(rows[part]) for part, _, _ in shown]
    figure.set_size_inches(PAGE, 0.8 + 0.17 * sum(heights) + 0.35 * len(shown))
    figure.set_label(
        "Reduction of each combination, main effects and interactions, with 95 % confidence "
        "intervals over positions."
    )
    grid = figure.subplots(len(shown), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[
        :, 0
    ]
    for (part, name, about), axes in zip(shown, grid, strict=True):
        dots = [
            Dot(row["of"], row.get(name), PALETTE["blue"], ends_of(row, name)) for row in rows[part]
        ]
        draw_dots(axes, dots, log=False)
        axes.set_title(part)
        axes.set_xlabel(about)
        if part != COMBINATION:
            mark_reference(axes, 1)
