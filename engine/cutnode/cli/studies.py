"""The handling of studies by commands: measure, show progress, print, write, plot.

Progress is shown as the rows so far in a terminal, or as lines in a log.  It is written after
measurements, not by a thread of its own, because times are CPU times of the process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import FAILED, interrupted
from cutnode.cli.inputs import names_in
from cutnode.cli.options import choice, combined, json_option, option, out_option
from cutnode.contract.errors import CutnodeError

if TYPE_CHECKING:
    from cutnode.lab.study import Draw, Study
import contextlib
import time
from collections.abc import Iterator, Sequence

from cutnode.lab.study import Follower, Study

EVERY = 10.0
"""The seconds between lines in a log."""

REFRESH = 0.1
"""The least seconds between two updates of a terminal."""

AROUND = 6
"""The lines of a terminal that are not for rows: table header, progress, margin."""


class Followers(Follower):
    """Several followers as one; a sample is recalled from the first that has it."""

    def __init__(self, followers: Sequence[Follower]):
        self.followers = followers

    def __call__(self, now: str, done: int, of: int) -> None:
        for follower in self.followers:
            follower(now, done, of)

    def begin(self, study: Study) -> None:
        for follower in self.followers:
            follower.begin(study)

    def row(self, row: dict[str, Any]) -> None:
        for follower in self.followers:
            follower.row(row)

    def sample(self, sample: dict[str, Any]) -> None:
        for follower in self.followers:
            follower.sample(sample)

    def note(self, note: str) -> None:
        for follower in self.followers:
            follower.note(note)

    def recall(self, key: dict[str, Any]) -> dict[str, Any] | None:
        found = (follower.recall(key) for follower in self.followers)
        return next((sample for sample in found if sample is not None), None)


class Check(Follower):
    """A follower that calls *look* when a study begins, so that it can raise errors early."""

    def __init__(self, look: Callable[[Study], object]):
        self.look = look

    def begin(self, study: Study) -> None:
        self.look(study)


class Signs(Follower):
    """A follower that shows progress; subclasses implement :meth:`show`."""

    def __init__(self) -> None:
        self.began, self.shown = time.monotonic(), float("-inf")
        self.study: Study | None = None
        self.state = "", 0, 0

    def __call__(self, now: str, done: int, of: int) -> None:
        self.state = now, done, of
        self.show()

    def begin(self, study: Study) -> None:
        self.study = study

    def row(self, row: dict[str, Any]) -> None:
        self.show()

    def sample(self, sample: dict[str, Any]) -> None:
        self.show()

    def show(self) -> None:
        """Show the progress, unless it was just shown."""

    def is_due(self, pause: float) -> bool:
        """Return whether an update is due, after *pause* seconds; if so, start the next pause."""
        due = time.monotonic() - self.shown >= pause
        if due:
            self.shown = time.monotonic()
        return due

    def said(self) -> str:
        """Return a line with the current measurement and the results so far."""
        now, done, of = self.state
        study = self.study
        rows = f"{len(study.rows):,} rows" if study else ""
        samples = f"{len(study.samples):,} samples" if study and study.samples else ""
        seconds = f"{time.monotonic() - self.began:.0f} s"
        return ", ".join(filter(None, (now, f"{done:,} of {of:,}", rows, samples, seconds)))


class Log(Signs):
    """A log on standard error, with a line every :data:`EVERY` seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = self.began

    def show(self) -> None:
        if self.is_due(EVERY):
            with contextlib.suppress(OSError):  # nobody reads it: keep measuring
                click.echo(f"cutnode: {self.said()}", err=True)


class Screen(Signs):
    """The rows so far and a progress bar in a terminal, which disappear when it is closed."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self.console = Console(stderr=True)
        self.live = Live(
            console=self.console, auto_refresh=False, transient=True, redirect_stdout=False
        )
        self.live.start()

    def show(self) -> None:
        if self.is_due(REFRESH):
            with contextlib.suppress(OSError):  # the terminal is gone: keep measuring
                self.live.update(self._picture(), refresh=True)

    def close(self) -> None:
        """Clear the display."""
        with contextlib.suppress(OSError):
            self.live.stop()

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        from cutnode.lab.terminal import fitting_columns, rich_table

        _, done, of = self.state
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(1, of), done, width=24), self.said())
        if self.study is None or not self.study.rows:
            return bar
        last = self.study.rows[-max(1, self.console.height - AROUND) :]
        names = fitting_columns(self.study, self.console.width)
        return Group(rich_table(self.study, names, last), bar)


@contextlib.contextmanager
def following(others: Sequence[Follower], quiet: bool) -> Iterator[Follower]:
    """Yield a follower that combines *others* with progress on standard error, unless *quiet*.

    A terminal shows rows as they are added; a file or a pipe gets a line every ten seconds.
    """
    if quiet:
        yield Followers(others)
    elif not sys.stderr.isatty():
        yield Followers([*others, Log()])
    else:
        with contextlib.closing(Screen()) as screen:
            yield Followers([*others, screen])


FORMATS = ("table", "json", "csv", "latex", "markdown")
"""The formats that can be printed."""

OUTPUTS = combined(
    json_option("Print JSON: --format json."),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV: --format csv."),
    choice("--format", "Output format; latex needs the packages booktabs and longtable.", FORMATS),
    option(
        "--columns",
        "Columns of tables, in this order; data, pages and plots have all columns.",
        metavar="A,B",
    ),
    out_option(
        "Also write FILE, in the format of its ending: table .csv .parquet .tex .md, page .html, "
        "plot .svg .pdf .png, complete .json, or .jsonl, which grows during the run. Repeatable.",
        multiple=True,
    ),
    option(
        "--samples",
        "Also write the measurements of each position, to a .csv, .jsonl or .parquet file.",
        metavar="FILE",
        shell_complete=complete_file,
    ),
    option("--plot", "Also plot it, to a .png, .svg or .pdf file.", metavar="FILE"),
    option(
        "--report", "Also write an HTML page with plot, table, settings and data.", metavar="FILE"
    ),
)
"""The output options of a study."""

MEASURED = combined(
    OUTPUTS,
    click.option(
        "--resume", is_flag=True, help="Resume the interrupted study in the --out FILE.jsonl."
    ),
    click.option("--quiet", is_flag=True, help="Show no progress on stderr."),
)
"""The options of :func:`deliver`, which runs a study."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a study: the values of :data:`OUTPUTS`."""

    as_json: bool
    as_csv: bool
    format: str
    columns: str | None
    out: tuple[str, ...]
    samples: str | None
    plot: str | None
    report: str | None

    @classmethod
    def taken_from(cls, options: dict[str, Any], can_draw: bool) -> Outputs:
        """Remove the output options from a command's options, check them, and return them."""
        outputs = cls(**{field.name: options.pop(field.name) for field in fields(cls)})
        outputs._check(can_draw)
        return outputs

    @property
    def files(self) -> list[str]:
        """The files that the study is written to."""
        return [*self.out, *filter(None, (self.plot, self.report))]

    @property
    def journals(self) -> list[str]:
        """The JSON Lines files, which grow while a study runs."""
        return [path for path in self.out if _suffix(path) == ".jsonl"]

    def _check(self, can_draw: bool) -> None:
        """Check, before anything is measured, that all outputs can be written."""
        from cutnode.lab import files, plots

        if (self.as_json, self.as_csv, self.format != "table").count(True) > 1:
            raise CutnodeError("--json, --csv and --format exclude each other")
        if self.plot is not None:
            plots.check_plot(self.plot)
        if self.report is not None and _suffix(self.report) != ".html":
            raise CutnodeError(f"a report's file name must end in .html, got {self.report!r}")
        for path in self.files:
            files.check_out(path)
            if _suffix(path)[1:] in plots.PLOTS and not can_draw:
                raise CutnodeError(f"{path} cannot be written: this kind of study has no plot")
        if self.samples is not None:
            files.check_samples(self.samples)
        written = [*self.files, *filter(None, [self.samples])]
        for path in written:
            if written.count(path) > 1:
                raise CutnodeError(f"{path} would be written twice")

    def write(self, study: Study, draw: Draw | None) -> None:
        """Write the files, data first, and no plots of a study without rows."""
        from cutnode.lab import files, plots

        if self.samples is not None:
            files.write_samples(study, self.samples)
        drawn = ".html", *(f".{kind}" for kind in plots.PLOTS)
        for path in sorted(self.files, key=lambda path: _suffix(path) in drawn):
            suffix = _suffix(path)
            if study.rows or suffix[1:] not in plots.PLOTS:
                shown = self.selected(study) if suffix in files.TABLES else study
                files.write_study(shown, path, draw)

    def print(self, study: Study) -> None:
        """Print the study."""
        from cutnode.lab import files, tables
        from cutnode.lab.study import Study
        from cutnode.lab.terminal import print_study

        form = "json" if self.as_json else "csv" if self.as_csv else self.format
        if form == "json":
            click.echo(files.json_text(study), nl=False)
            return
        shown = self.selected(study)
        if form == "table":
            print_study(shown)
            return
        texts = {
            "csv": Study.to_csv,
            "latex": tables.latex_table,
            "markdown": tables.markdown_table,
        }
        click.echo(texts[form](shown), nl=False)

    def selected(self, study: Study) -> Study:
        """Return the study with the chosen columns."""
        return study if self.columns is None else study.selected(names_in(self.columns))


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def deliver(
    measure: Callable[..., Study],
    draw: Draw | None,
    *,
    resume: bool,
    quiet: bool,
    **options: Any,
) -> Study:
    """Run an experiment with *options*; print, plot and write its study, and return it.

    Outputs are checked before anything is measured.  JSON Lines files grow during the run.
    """
    from cutnode.cli.studies import Check, following
    from cutnode.lab.files import Journal

    outputs = Outputs.taken_from(options, can_draw=draw is not None)
    if resume and not outputs.journals:
        raise CutnodeError("--resume needs the --out FILE.jsonl of the interrupted study")
    journals = [Journal(path, resume) for path in outputs.journals]
    with following([Check(outputs.selected), *journals], quiet) as progress:
        study = measure(**options, progress=progress)
    outputs.write(study, draw)
    outputs.print(study)
    if study.failure:
        click.echo(f"cutnode: {study.failure}; these are the results so far", err=True)
        sys.exit(FAILED)
    if study.stopped:
        interrupted(found=True)
    return study
