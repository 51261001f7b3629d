"""What commands do with studies: measure, print, write, draw."""

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
    from cutnode.cli.following import Check, following
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
