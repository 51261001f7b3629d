"""The commands ``cutnode lab ...``: experiments from a shell.

A study is a table on standard output, or JSON or CSV; plots and reports go to files.
Exit codes: 0 measured, 2 bad input, 130 interrupted (what was measured is printed).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from engine.cli.options import EVALUATION, EXACT, FILE, TECHNIQUES, WITHOUT, table_mb
from engine.contract.errors import CutnodeError

if TYPE_CHECKING:
    from engine.lab.report import Draw
    from engine.lab.study import Study

__all__ = ["deliver", "lab", "outputs", "searched"]

INTERRUPTED_CODE = 130

EPILOG = """\
\b
GAME and POSITION are those of `cutnode solve --help`.

\b
Exit codes: 0 measured, 1 an unexpected failure, 2 bad input, 130 interrupted
(what was measured until then is printed).
"""


@click.group(epilog=EPILOG)
def lab() -> None:
    """Measure what the techniques of the search save."""


def searched(command: Callable[..., None]) -> Callable[..., None]:
    """What experiments with a game take: positions, a depth, techniques, limits."""
    from engine.kernels.parameters import MOST_DEPTH

    for parameter in (
        table_mb(64),
        click.option(
            "--most-nodes",
            type=click.IntRange(min=1),
            default=100_000_000,
            show_default=True,
            metavar="N",
            help="Give up a row of the table that takes more nodes than N.",
        ),
        click.option(
            "--runs",
            type=click.IntRange(1, 99),
            default=3,
            show_default=True,
            metavar="N",
            help="Take the median of N times: of more for short searches, of fewer for long ones.",
        ),
        EVALUATION,
        EXACT,
        WITHOUT,
        TECHNIQUES,
        click.option(
            "--depth",
            type=click.IntRange(1, MOST_DEPTH),
            required=True,
            metavar="N",
            help="Search N plies deep.",
        ),
        FILE,
        click.argument("position", required=False),
        click.argument("game"),
    ):
        command = parameter(command)
    return command


def outputs(command: Callable[..., None]) -> Callable[..., None]:
    """Where the outcome of an experiment goes; for :func:`deliver`."""
    for parameter in (
        click.option(
            "--report", metavar="FILE", help="Also write a page of HTML: table, plot, settings."
        ),
        click.option("--plot", metavar="FILE", help="Also draw it: a .png, .svg or .pdf file."),
        click.option("--csv", "as_csv", is_flag=True, help="Print CSV, settings as # comments."),
        click.option("--json", "as_json", is_flag=True, help="Print a JSON object."),
    ):
        command = parameter(command)
    return command


def deliver(
    measure: Callable[[Any], Study],
    draw: Draw | None,
    *,
    as_json: bool,
    as_csv: bool,
    plot: str | None,
    report: str | None,
) -> None:
    """Run an experiment, which is told how to report progress, and print, draw and write it.

    That all can be written is seen before.
    """
    from engine.lab import report as reporting
    from engine.lab.measuring import INTERRUPTED

    if as_json and as_csv:
        raise CutnodeError("--json and --csv exclude each other")
    if plot is not None:
        reporting.check_plot(plot)
    if report is not None:
        reporting.check_file(report)
    with reporting.progress_bar() as progress:
        study = measure(progress)
    if plot is not None and draw is not None and study.rows:
        reporting.write_plot(study, draw, plot)
    if report is not None and study.rows:
        page = reporting.page("cutnode lab", [(study, draw)])
        reporting.write_whole(report, page.encode())
    if as_json:
        click.echo(json.dumps(study.to_dict()))
    elif as_csv:
        click.echo(study.to_csv(), nl=False)
    else:
        reporting.print_study(study)
    if INTERRUPTED in study.notes:
        sys.exit(INTERRUPTED_CODE)


@lab.command(epilog=EPILOG)
@searched
@outputs
def ablation(**options: Any) -> None:
    """Add techniques in turn, and take each from all of them.

    The rows: minimax and textbook alpha-beta, the search without any technique, with each
    technique more, and with all but one. Node counts are exact and can be had again; with
    a FILE they are totals. Selective techniques are compared with the exact result at the
    same depth.
    """
    from engine.lab import ablation as experiment

    _search_and_deliver(experiment.ablation, experiment.draw, options)


@lab.command(epilog=EPILOG)
@searched
@outputs
def depths(**options: Any) -> None:
    """Search each depth up to N: nodes, time, best move and score.

    Every depth is searched from nothing. With a FILE, nodes and times are totals.
    """
    from engine.lab import depths as experiment

    _search_and_deliver(experiment.depths, experiment.draw, options)


def numbers_in(text: str) -> list[int]:
    """The numbers of an option such as ``4,6,8``."""
    from engine.cli.inputs import names_in

    try:
        return [int(number) for number in names_in(text)]
    except ValueError:
        raise CutnodeError(f"{text!r} is not a list of numbers such as 4,6,8") from None


SEARCHES = click.option(
    "--searches", metavar="A,B", help="Only these of plain, engine, pvs, mtdf, exact."
)


@lab.command(epilog=EPILOG)
@click.option("--widths", default="2,5", show_default=True, metavar="N,N", help="Moves.")
@click.option("--depths", default="2,4,6,8", show_default=True, metavar="N,N", help="Plies.")
@click.option(
    "--models",
    default="ordered,ordered=75,random",
    show_default=True,
    metavar="A,B",
    help="How leaves get values and moves their order; see games/uniform.py.",
)
@click.option(
    "--trees",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Take the mean of N trees, those of seed 0 and so on.",
)
@SEARCHES
@table_mb(16)
@outputs
def theory(
    widths: str,
    depths: str,
    models: str,
    trees: int,
    searches: str | None,
    table_mb: int,
    **where: Any,
) -> None:
    """Count leaves in uniform trees: above the fewest possible, and how fast they grow.

    The fewest are those of Knuth and Moore; the growth of random trees is Pearl's.
    """
    from engine.cli.inputs import names_in
    from engine.lab import theory as experiment

    deliver(
        lambda progress: experiment.theory(
            numbers_in(widths),
            numbers_in(depths),
            names_in(models),
            range(trees),
            searches=None if searches is None else names_in(searches),
            table_mb=table_mb,
            progress=progress,
        ),
        experiment.draw,
        **where,
    )


@lab.command(epilog=EPILOG)
@click.argument("game")
@click.argument("position", required=False)
@FILE
@click.option("--depths", default="4,6,8", show_default=True, metavar="N,N", help="Plies.")
@EVALUATION
@SEARCHES
@table_mb(64)
@outputs
def minimal(
    game: str,
    position: str | None,
    file: str | None,
    depths: str,
    evaluation: str | None,
    searches: str | None,
    table_mb: int,
    **where: Any,
) -> None:
    """Estimate the smallest tree and graph of a game, and how far searches are above them.

    The score is proven again with the moves that proved it in front.
    """
    from engine.cli.inputs import names_in, read_positions
    from engine.lab import theory as experiment

    _, entries = read_positions(game, position, file)
    deliver(
        lambda progress: experiment.minimal_graph(
            [start for _, start in entries],
            numbers_in(depths),
            evaluation=evaluation,
            searches=None if searches is None else names_in(searches),
            table_mb=table_mb,
            progress=progress,
        ),
        experiment.draw_minimal,
        **where,
    )


@lab.command(epilog=EPILOG)
@click.option(
    "--games",
    default="tictactoe,connect4",
    show_default=True,
    metavar="A,B",
    help="On these games.",
)
@click.option(
    "--depths", default="6,8", show_default=True, metavar="N,N", help="Plies of Connect Four."
)
@click.option("--packages", metavar="A,B", help="Only these of easyAI, open_spiel, aima3.")
@click.option(
    "--runs",
    type=click.IntRange(1, 99),
    default=3,
    show_default=True,
    metavar="N",
    help="Take the median of N times.",
)
@outputs
def peers(games: str, depths: str, packages: str | None, runs: int, **where: Any) -> None:
    """Search the same trees with other Python packages: nodes that agree, and CPU time.

    A package that is not installed has a row that says how to get it.
    """
    from engine.cli.inputs import names_in
    from engine.lab import peers as experiment

    deliver(
        lambda progress: experiment.peers(
            names_in(games),
            numbers_in(depths),
            packages=None if packages is None else names_in(packages),
            runs=runs,
            progress=progress,
        ),
        experiment.draw,
        **where,
    )


@lab.command(epilog=EPILOG)
@click.argument("game")
@click.argument("position", required=False)
@click.option(
    "--depth",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    metavar="N",
    help="Search to all depths up to N plies.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    metavar="N",
    help="Take positions of N games.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Which games.")
@EVALUATION
@table_mb(16)
@outputs
def deviation(game: str, position: str | None, **options: Any) -> None:
    """Compare scores of shallow and deep searches, for a game's `deviation` (ProbCut).

    The games begin with POSITION, and the engine plays them against itself, with some moves
    at random.
    """
    from engine.cli.inputs import read_positions
    from engine.lab import deviation as experiment

    where = {name: options.pop(name) for name in ("as_json", "as_csv", "plot", "report")}
    _, entries = read_positions(game, position, None)
    start = entries[0][1]
    deliver(
        lambda progress: experiment.deviation(start, progress=progress, **options), None, **where
    )


def _search_and_deliver(
    experiment: Callable[..., Study], draw: Draw | None, options: dict[str, Any]
) -> None:
    from engine.cli.inputs import chosen_techniques, read_positions

    where = {name: options.pop(name) for name in ("as_json", "as_csv", "plot", "report")}
    asked = (options.pop(name) for name in ("game", "position", "file"))
    _, entries = read_positions(*asked)
    positions = [position for _, position in entries]
    techniques, without = options.pop("techniques"), options.pop("without")
    options["techniques"] = chosen_techniques(
        type(positions[0]), techniques, without, options["exact"]
    )
    deliver(lambda progress: experiment(positions, progress=progress, **options), draw, **where)
