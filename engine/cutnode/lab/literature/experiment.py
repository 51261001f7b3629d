"""The experiment that measures published results again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import cutnode
from cutnode.contract.collection import position_sets
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.contract.messages import position_text
from cutnode.kernels.techniques import register
from cutnode.lab.laboratory import with_interval
from cutnode.lab.literature.entries import (
    IN_SIGN,
    NOT,
    REPRODUCED,
    TURNED,
    Entry,
    Planned,
    Result,
    Values,
    entries,
)
from cutnode.lab.literature.multi_cut import MULTI_CUT
from cutnode.lab.plots import PAGE, PALETTE, SIGMAS, Dot, add_legend, draw_dots, mark_reference
from cutnode.lab.sampling import sample_positions
from cutnode.lab.statistics import Interval, geometric_mean_ratio
from cutnode.lab.study import INTERRUPTED, Column, Progress, Study, no_progress, repeat
from cutnode.storage.lines import positions_in

COLUMNS = (
    Column("entry"),
    Column("of", "what the number is about"),
    Column("published", "the published number"),
    Column("measured", "the number measured here", ",.4g", interval=True),
    Column("verdict"),
)

LISTED = (Column("entry"), Column("title"), Column("source"))
"""The columns of a list of entries."""

COLOURS = {
    REPRODUCED: PALETTE["blue"],
    IN_SIGN: PALETTE["orange"],
    NOT: PALETTE["vermillion"],
}

NOTES = (
    "reproduced: the measured interval meets the published number or range, and excludes no "
    "effect. In sign only: it lies on the published side of no effect, but apart from the range.",
    "Intervals of ratios are over positions, of means over trees, and of scores over games; a "
    "count of one position has none.",
)

Row = dict[str, Any]


def literature(names: Iterable[str] = (), *, progress: Progress = no_progress) -> Study:
    """Measure published results again, each by an experiment of the laboratory.

    *names* are names of entries (see :func:`~cutnode.lab.literature.entries.entries`), by default
    all.  A row has a published number, the one measured here with its interval, and a verdict;
    notes have the claims, their sources and what is different here.  Seeds are fixed, so that
    numbers are reproducible.  :class:`CutnodeError` for unknown names.
    """
    chosen = entries(names)
    study = Study(
        "literature",
        "Published results, measured again",
        {"names": [entry.name for entry in chosen]},
        COLUMNS,
        notes=[*NOTES],
        progress=progress,
    )
    with study.kept():
        for done, entry in enumerate(chosen):
            progress(entry.name, done, len(chosen))
            try:
                _add(study, entry)
            except CutnodeError as error:
                study.add_note(f"{entry.name} was not measured: {error}.")
    return study


def listed(names: Iterable[str] = ()) -> Study:
    """Return entries with their titles and sources, without measuring anything."""
    rows = [
        {"entry": entry.name, "title": entry.title, "source": entry.source}
        for entry in entries(names)
    ]
    return Study("entries", "Published results that can be measured again", {}, LISTED, rows)


def _add(study: Study, entry: Entry) -> None:
    """Measure an entry, and add its rows and its notes."""
    expected = [each.of for each in entry.results] + [each.of for each in entry.values]
    known = [study.recall(entry=entry.name, of=of) for of in expected]
    samples = [sample for sample in known if sample is not None]
    if len(samples) < len(expected):
        samples = []
        for sample in _measured(entry):
            samples.append({"entry": entry.name} | sample)
            study.add_sample(samples[-1])
    for sample in samples:
        study.add_row({name: sample[name] for name in study.fields if name in sample})
        if apart := sample.get("apart"):
            study.add_note(f"{entry.name}: {sample['of']}: {apart}.")
    study.add_note(about(entry))


def about(entry: Entry) -> str:
    """Return the claim of an entry, its source, and what is different here."""
    return (
        f"{entry.name}: {entry.claim} ({entry.source} Read: {entry.read}.) Published set-up: "
        f"{entry.setup} Here: {entry.here} {entry.difference}"
    )


def _measured(entry: Entry) -> Iterator[Row]:
    """Yield what each result of an entry says, and what is measured here."""
    studies = {planned.name: run(planned) for planned in entry.studies}
    for result in entry.results:
        figure = figure_of(result, studies[result.study])
        yield {
            "of": result.of,
            "published": result.said,
            **with_interval("measured", figure),
            "verdict": result.verdict(figure),
        }
    for values in entry.values:
        yield _solved(values)


def run(planned: Planned) -> Study:
    """Run an experiment of an entry; raise KeyboardInterrupt if it is interrupted.

    Its techniques can be :data:`~cutnode.lab.literature.multi_cut.MULTI_CUT`, too.
    """
    register(MULTI_CUT)
    settings = dict(planned.settings)
    if planned.file or planned.sample:
        settings["positions"] = [position_text(position) for position in _positions(planned)]
    if planned.trees:
        settings["seeds"] = list(range(planned.trees))
    study = repeat(Study(planned.experiment, "", settings, ()))
    if study.failure:
        raise CutnodeError(study.failure)
    if INTERRUPTED in study.notes:
        raise KeyboardInterrupt
    return study


def _positions(planned: Planned) -> list[Any]:
    """Return the positions of an experiment: of a set that comes with the game, or drawn."""
    game = load_game(planned.settings["game"])
    if planned.sample is not None:
        drawn = planned.sample
        plies = drawn["least"], drawn["most"]
        return sample_positions(game.start(), drawn["count"], plies=plies, seed=drawn["seed"])
    path = position_sets(game.name)[planned.file]
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [position for _, position in positions_in(game, lines, str(path))]
    return found[: planned.first or None]


def figure_of(result: Result, study: Study) -> Interval:
    """Return the figure of a study that a result asks for, with its interval.

    :class:`CutnodeError` if the study has no such figure.
    """
    if result.against is None:
        row = next(iter(_picked(study.rows, result.row)), {})
        figure = _interval(result.figure, row)
    else:
        figure = _ratio(study, result.row, result.against, result.figure)
    if figure is None:
        raise CutnodeError(f"{result.of}: {study.name} has no {result.figure} of {result.row}")
    turn = TURNED[result.turned]
    middle, low, high = (None if each is None else turn(each) for each in figure)
    assert middle is not None
    if low is None or high is None:
        return middle, None, None
    return middle, min(low, high), max(low, high)


def _picked(rows: Sequence[Row], keys: Mapping[str, Any]) -> list[Row]:
    return [row for row in rows if all(row.get(name) == value for name, value in keys.items())]


def _interval(name: str, row: Row) -> Interval | None:
    """Return a figure of a row with its interval, or the one of its standard error."""
    if row.get(name) is None:
        return None
    middle, error = row[name], row.get("error")
    if error is not None and name == "leaves":  # of a study of theory
        return middle, middle - SIGMAS * error, middle + SIGMAS * error
    return middle, row.get(f"{name}_low"), row.get(f"{name}_high")


def _ratio(
    study: Study, row: Mapping[str, Any], against: Mapping[str, Any], name: str
) -> Interval | None:
    """Return the geometric mean ratio of the samples of two rows, over their positions."""
    above, below = (
        {sample["position"]: sample[name] for sample in _picked(study.samples, keys)}
        for keys in (row, against)
    )
    both = [position for position in above if position in below]
    if not both:
        return None
    return geometric_mean_ratio([above[each] for each in both], [below[each] for each in both])


def _solved(values: Values) -> Row:
    """Solve games, and return how many of them have the published value."""
    apart = []
    for game, published in values.games.items():
        result = cutnode.solve(load_game(game).start(), nodes=values.nodes, engine=values.engine)
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        found = getattr(result, values.figure)
        if found != published:
            apart.append(f"{game} is {found}, published {published}")
    count = len(values.games)
    return {
        "of": values.of,
        "published": f"{count} of {count}",
        "measured": count - len(apart),
        "verdict": NOT if apart else REPRODUCED,
        **({"apart": "; ".join(apart)} if apart else {}),
    }


def summarise(study: Study) -> list[str]:
    """Return how many results are reproduced."""
    verdicts = [row["verdict"] for row in study.rows]
    if not verdicts:
        return []
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in (REPRODUCED, IN_SIGN, NOT))
    names = {row["entry"] for row in study.rows}
    return [f"{len(verdicts)} numbers of {len(names)} entries: {counts}."]


def draw(study: Study, figure: Any) -> None:
    """Draw the measured numbers / the published ones, where these are more than a bound."""
    results = {(e.name, result.of): result for e in entries() for result in e.results}
    shown = []
    for row in study.rows:
        result = results.get((row["entry"], row["of"]))
        if result is None or not result.number or not all(map(math.isfinite, result.range)):
            continue
        parts = [row.get(name) for name in ("measured", "measured_low", "measured_high")]
        middle, *ends = (None if part is None else part / result.number for part in parts)
        low, high = ends
        interval = (low, high) if low is not None and high is not None else None
        name = f"{row['entry']}: {row['of']}"
        shown.append(Dot(name, middle, COLOURS[row["verdict"]], interval))
    figure.set_size_inches(PAGE, 0.8 + 0.17 * len(shown))
    figure.set_label(
        "Measured / published numbers, with 95 % confidence intervals; of a published range, its "
        "number."
    )
    axes = figure.subplots()
    draw_dots(axes, shown, log=False, numbers=False)
    mark_reference(axes, 1)
    axes.set_xlabel("measured / published")
    add_legend(figure, COLOURS)
