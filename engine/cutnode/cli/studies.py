"""The handling of studies by commands: measure, print, write, plot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.exit_codes import FAILED, interrupted
from cutnode.cli.inputs import names_in
from cutnode.cli.options import choice, combined, json_option, option, out_option
from cutnode.contract.errors import CutnodeError

if TYPE_CHECKING:
    from cutnode.lab.study import Draw, Study

FORMATS = ("table", "json", "csv", "latex", "markdown")
"""The formats that can be printed."""

OUTPUTS = combined(
    json_option("Print JSON: --format json."),
    choice("--format", "Output format; latex needs the packages booktabs and longtable.", FORMATS),
    option(
        "--columns",
        "Columns of tables, in this order; data, pages and plots have all columns.",
        metavar="A,B",
    ),
    out_option(
        "Also write FILE, in the format of its ending: table .csv .parquet .tex .md, page .html, "
        "plot .svg .pdf .png, complete .json, or .jsonl, which grows during the run; and the "
        "measurements of each position to .samples.csv .samples.jsonl .samples.parquet. "
        "Repeatable.",
        multiple=True,
    ),
)
"""The output options of a study."""

QUIET = click.option("--quiet", is_flag=True, help="Show no progress on stderr.")

MEASURED = combined(
    OUTPUTS,
    click.option(
        "--resume", is_flag=True, help="Resume the interrupted study in the --out FILE.jsonl."
    ),
    QUIET,
)
"""The options of :func:`deliver`, which runs a study."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a study: the values of :data:`OUTPUTS`."""

    as_json: bool
    format: str
    columns: str | None
    out: tuple[str, ...]

    @classmethod
    def taken_from(cls, options: dict[str, Any], can_draw: bool) -> Outputs:
        """Remove the output options from a command's options, check them, and return them."""
        outputs = cls(**{field.name: options.pop(field.name) for field in fields(cls)})
        outputs._check(can_draw)
        return outputs

    @property
    def journals(self) -> list[str]:
        """The JSON Lines files, which grow while a study runs."""
        from cutnode.lab.files import suffix_of

        return [path for path in self.out if suffix_of(path) == ".jsonl"]

    def _check(self, can_draw: bool) -> None:
        """Check, before anything is measured, that all outputs can be written."""
        from cutnode.lab import files, plots

        if self.as_json and self.format != "table":
            raise CutnodeError("--json and --format exclude each other")
        for path in self.out:
            files.check_out(path)
            if files.suffix_of(path)[1:] in plots.PLOTS and not can_draw:
                raise CutnodeError(f"{path} cannot be written: this kind of study has no plot")
            if self.out.count(path) > 1:
                raise CutnodeError(f"{path} would be written twice")

    def write(self, study: Study, draw: Draw | None) -> None:
        """Write the files, data first, and no plots of a study without rows."""
        from cutnode.lab import files, plots

        drawn = ".html", *(f".{kind}" for kind in plots.PLOTS)
        for path in sorted(self.out, key=lambda path: files.suffix_of(path) in drawn):
            suffix = files.suffix_of(path)
            if study.rows or suffix[1:] not in plots.PLOTS:
                shown = self.selected(study) if suffix in files.TABLES else study
                files.write_study(shown, path, draw)

    def print(self, study: Study) -> None:
        """Print the study."""
        from cutnode.lab import files, tables
        from cutnode.lab.study import Study
        from cutnode.lab.terminal import print_study

        form = "json" if self.as_json else self.format
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
    from cutnode.cli.following import Check, following
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
