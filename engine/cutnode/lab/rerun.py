"""The repetition of a recorded study, and its comparison with the record.

Every figure that does not depend on the clock must be the same to the last digit: node counts,
values and moves, of each row and each sample.  Times are compared by their ratio.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.lab.study import Column, Progress, Study, no_progress, repeat

TIMED = ("runs", "seconds", "seconds_low", "seconds_high", "waited")
"""Figures of samples that depend on the clock."""

SAME = "yes"
"""The word for a row in which nothing differs."""

MOST_TOLD = 10
"""The most differences that are listed."""

ROUNDING = 1e-9
"""The relative tolerance of equal figures, since sums in another order may round differently."""


def rerun(study: Study, progress: Progress = no_progress) -> Study:
    """Repeat a study and compare the two, row by row, with notes of all differences.

    :class:`CutnodeError` if a file that its settings name is missing.
    """
    _require_files(study)
    return compare_studies(study, repeat(study, progress))


def _require_files(study: Study) -> None:
    """Raise :class:`CutnodeError` if files of the study are missing."""
    missing = [path for path in study.files if not Path(path).is_file()]
    if missing:
        raise CutnodeError(
            f"the study needs {', '.join(missing)}: `cutnode lab show FILE --extract FOLDER` "
            f"writes the code that the report contains; read it before you run it"
        )


def compare_studies(before: Study, again: Study) -> Study:
    """Compare two studies with the same settings; the last row compares the samples."""
    counted = _counted(before)
    compared = Study(
        "rerun",
        f"Repeated: {before.about}",
        before.settings,
        (
            Column("row", "row of the study"),
            Column(counted.name, f"recorded {counted.name}", counted.form),
            Column("again", f"repeated {counted.name}", counted.form),
            Column("same", "whether all figures that do not depend on the clock are equal"),
            Column("seconds", "recorded seconds", ".5f", timed=True),
            Column("ratio", "repeated seconds / recorded seconds", ".2f", timed=True),
        ),
        run=again.run,
        machine=again.machine,
        files=again.files,
    )
    for note in _other_circumstances(before, again):
        compared.add_note(note)
    timed = {
        *TIMED,
        *(name for column in before.columns if column.timed for name in column.every),
    }
    differences: list[str] = []
    figures = [name for name in before.fields if name not in timed]
    later = dict(zip(_row_names(again), again.rows, strict=True))
    for name, row in zip(_row_names(before), before.rows, strict=True):
        other = later.pop(name, None)
        apart = [f"{name}: {each}" for each in _apart(row, other, figures)]
        differences += apart
        compared.add_row(_compared(name, counted.name, row, other or {}, not apart))
    apart = list(_apart_samples(before, again, timed))
    differences += apart
    if before.samples:
        compared.add_row({"row": "samples", "same": "NO" if apart else SAME})
    _tell(compared, before, differences, len(later))
    return compared


def _counted(study: Study) -> Column:
    """Return the column whose figures are shown for both studies."""
    columns = {column.name: column for column in study.columns}
    figures = [
        column for column in study.columns if column.form and column not in study.key_columns
    ]
    return columns.get("nodes") or next(iter(figures), study.columns[0])


def _compared(
    name: str, counted: str, row: dict[str, Any], other: dict[str, Any], same: bool
) -> dict[str, Any]:
    seconds, again = row.get("seconds"), other.get("seconds")
    return {
        "row": name,
        counted: row.get(counted),
        "again": other.get(counted),
        "same": SAME if same else "NO",
        "seconds": seconds,
        "ratio": again / seconds if seconds and again else None,
    }


def _tell(compared: Study, before: Study, differences: Sequence[str], more: int) -> None:
    """Add notes on the differences, or that there are none, and on times."""
    for difference in differences[:MOST_TOLD]:
        compared.add_note(f"Differs: {difference}.")
    if len(differences) > MOST_TOLD:
        compared.add_note(f"{len(differences) - MOST_TOLD:,} other figures differ.")
    if not differences:
        count = f"{len(before.rows):,} rows and {len(before.samples):,} samples"
        compared.add_note(f"All {count} are the same, apart from times.")
    if more:
        compared.add_note(f"{more:,} rows are not in the recorded study.")
    ratios = [row["ratio"] for row in compared.rows if row.get("ratio")]
    if ratios:
        middle = math.exp(fmean(map(math.log, ratios)))
        compared.add_note(
            f"Times are {middle:.2f} times the recorded ones (geometric mean over rows; "
            f"range {min(ratios):.2f} to {max(ratios):.2f})."
        )


def _other_circumstances(before: Study, again: Study) -> Iterator[str]:
    """Yield notes on the machine, versions and files that differ from the record."""
    for name in {**before.machine, **again.machine}:
        then, now = before.machine.get(name, "unknown"), again.machine.get(name, "unknown")
        if then != now:
            yield f"Different {name}: {now}; recorded: {then}."
    for path, about in before.files.items():
        if again.files.get(path, {}).get("sha256") != about.get("sha256"):
            yield f"{path} differs from the recorded file."


def _row_names(study: Study) -> list[str]:
    """Return a name for each row; equal names are numbered."""
    names = [
        ", ".join(
            f"{column.name} {text}" if column.form else text
            for column in study.key_columns
            if (text := study.text(row, column))
        )
        for row in study.rows
    ]
    return _numbered(names)


def _numbered(names: list[str]) -> list[str]:
    """Return the names, made unique by numbers."""
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        seen[name] += 1
        different.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return different


def _apart(
    before: dict[str, Any], again: dict[str, Any] | None, figures: Iterable[str]
) -> list[str]:
    """Return a description of each figure that differs."""
    if again is None:
        return ["not in the repeated study"]
    return [
        f"{name} {_shown(again.get(name))}, recorded {_shown(before.get(name))}"
        for name in figures
        if not _same(before.get(name), again.get(name))
    ]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(a == b)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _apart_samples(before: Study, again: Study, timed: set[str]) -> Iterator[str]:
    """Yield the figures of samples that differ; the order of samples does not matter."""
    later = _by_name(again)
    for name, sample in _by_name(before).items():
        figures = [figure for figure in sample if figure not in timed]
        for apart in _apart(sample, later.get(name), figures):
            yield f"{name}: {apart}"


def _by_name(study: Study) -> dict[str, dict[str, Any]]:
    """Return the samples, by the names of their rows and positions."""
    forms = {column.name: column.form for column in study.key_columns} | {"position": ""}
    names = [
        ", ".join(
            f"{name} {sample[name]}" if form else str(sample[name])
            for name, form in forms.items()
            if sample.get(name) is not None
        )
        for sample in study.samples
    ]
    return dict(zip(_numbered(names), study.samples, strict=True))
