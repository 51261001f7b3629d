"""What commands do with studies: measure, show signs of life, print, write, draw.

Signs of life are the rows so far in a terminal, and lines in a log.  They are written whenever
something was measured, and by no thread of their own: times are CPU times of the process.
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
"""Seconds between lines in a log."""

REFRESH = 0.1
"""The least seconds between two pictures in a terminal."""

AROUND = 6
"""Lines of a terminal that are not for rows: the head of the table, progress, a margin."""


class Followers(Follower):
    """Several who follow; the first to recall something is believed."""

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
    """Looks at a study when it begins, and may raise what is wrong with it."""

    def __init__(self, look: Callable[[Study], object]):
        self.look = look

    def begin(self, study: Study) -> None:
        self.look(study)


class Signs(Follower):
    """Shows what is measured now; subclasses say where."""

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
        """Show it, unless something was shown just now."""

    def is_due(self, pause: float) -> bool:
        """Return whether nothing was shown for so many seconds; it is shown now, then."""
        due = time.monotonic() - self.shown >= pause
        if due:
            self.shown = time.monotonic()
        return due

    def said(self) -> str:
        """Return in a line what is measured, and what there is already."""
        now, done, of = self.state
        study = self.study
        rows = f"{len(study.rows):,} rows" if study else ""
        samples = f"{len(study.samples):,} samples" if study and study.samples else ""
        seconds = f"{time.monotonic() - self.began:.0f} s"
        return ", ".join(filter(None, (now, f"{done:,} of {of:,}", rows, samples, seconds)))


class Log(Signs):
    """Writes a line now and then, the first after a while."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = self.began

    def show(self) -> None:
        if self.is_due(EVERY):
            with contextlib.suppress(OSError):  # nobody reads it: measure on
                click.echo(f"cutnode: {self.said()}", err=True)


class Screen(Signs):
    """Shows the rows so far and a bar in a terminal; they go when it is closed."""

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
            with contextlib.suppress(OSError):  # the terminal is gone: measure on
                self.live.update(self._picture(), refresh=True)

    def close(self) -> None:
        """Take the picture away."""
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
    """Yield what follows an experiment: signs of life on standard error unless *quiet*, and others.

    A terminal shows rows as they come, a file or a pipe gets a line every ten seconds.
    """
    if quiet:
        yield Followers(others)
    elif not sys.stderr.isatty():
        yield Followers([*others, Log()])
    else:
        with contextlib.closing(Screen()) as screen:
            yield Followers([*others, screen])


FORMATS = ("table", "json", "csv", "latex", "markdown")
"""What can be printed."""

OUTPUTS = combined(
    json_option("Print JSON: --format json."),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV: --format csv."),
    choice(
        "--format", "What is printed; latex needs the packages booktabs and longtable.", FORMATS
    ),
    option(
        "--columns",
        "Only these columns in tables, in this order; data, pages and plots have all.",
        metavar="A,B",
    ),
    out_option(
        "Also write FILE, as its name ends: a table .csv .parquet .tex .md, a page .html, a plot "
        ".svg .pdf .png, all .json, or .jsonl that grows while it is measured. Can be repeated.",
        multiple=True,
    ),
    option(
        "--samples",
        "Also write what was measured of each position: a .csv, .jsonl or .parquet file.",
        metavar="FILE",
        shell_complete=complete_file,
    ),
    option("--plot", "Also draw it: a .png, .svg or .pdf file.", metavar="FILE"),
    option("--report", "Also write a page of HTML: plot, table, settings, data.", metavar="FILE"),
)
"""The options of what becomes of a study."""

MEASURED = combined(
    OUTPUTS,
    click.option(
        "--resume", is_flag=True, help="Go on with the stopped study in the --out FILE.jsonl."
    ),
    click.option("--quiet", is_flag=True, help="No progress on standard error."),
)
"""The options of :func:`deliver`, which measures a study."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What becomes of a study, as :data:`OUTPUTS` say."""

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
        """Take the options of outputs out of those of a command, and check them."""
        outputs = cls(**{field.name: options.pop(field.name) for field in fields(cls)})
        outputs._check(can_draw)
        return outputs

    @property
    def files(self) -> list[str]:
        """The files that the study is written to."""
        return [*self.out, *filter(None, (self.plot, self.report))]

    @property
    def journals(self) -> list[str]:
        """The files of JSON lines, which grow while a study is measured."""
        return [path for path in self.out if _suffix(path) == ".jsonl"]

    def _check(self, can_draw: bool) -> None:
        """See that what is asked for can be written, before anything is measured."""
        from cutnode.lab import files, plots

        if (self.as_json, self.as_csv, self.format != "table").count(True) > 1:
            raise CutnodeError("--json, --csv and --format exclude each other")
        if self.plot is not None:
            plots.check_plot(self.plot)
        if self.report is not None and _suffix(self.report) != ".html":
            raise CutnodeError(f"a report is a file that ends in .html, not {self.report!r}")
        for path in self.files:
            files.check_out(path)
            if _suffix(path)[1:] in plots.PLOTS and not can_draw:
                raise CutnodeError(f"{path} cannot be written: a study of this kind has no plot")
        if self.samples is not None:
            files.check_samples(self.samples)
        written = [*self.files, *filter(None, [self.samples])]
        for path in written:
            if written.count(path) > 1:
                raise CutnodeError(f"{path} would be written twice")

    def write(self, study: Study, draw: Draw | None) -> None:
        """Write the files, those of data first; of a study without rows no plots."""
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
        """Return the study with the columns that are wanted."""
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
    """Run an experiment with *options*; print, draw and write it, and return it.

    What cannot be written is said before anything is measured.  Files of JSON lines grow while it
    runs.
    """
    from cutnode.cli.studies import Check, following
    from cutnode.lab.files import Journal

    outputs = Outputs.taken_from(options, can_draw=draw is not None)
    if resume and not outputs.journals:
        raise CutnodeError("--resume needs the --out FILE.jsonl of the study that was stopped")
    journals = [Journal(path, resume) for path in outputs.journals]
    with following([Check(outputs.selected), *journals], quiet) as progress:
        study = measure(**options, progress=progress)
    outputs.write(study, draw)
    outputs.print(study)
    if study.failure:
        click.echo(f"cutnode: {study.failure}; this is what was found until then", err=True)
        sys.exit(FAILED)
    if study.stopped:
        interrupted(found=True)
    return study
