"""The commands ``cutnode lab ...``: experiments from a shell.

A study is a table on standard output, or in another form there and in files.
Exit codes: 0 measured, 1 what was measured again differs, 2 bad input, 130 interrupted (what was
measured until then is printed).
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.completion import (
    complete_file,
    complete_folder,
    complete_parameter,
    complete_player,
)
from cutnode.cli.inputs import names_in, numbers_in, read_positions, with_techniques
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    ANY_GAME,
    BEGIN,
    CHOSEN,
    EVALUATION,
    FILE,
    GAME,
    POSITION,
    Decorator,
    choice,
    combined,
    depth_option,
    games_option,
    integer,
    nodes_option,
    option,
    out_option,
    pairs_option,
    positions_option,
    positive,
    seconds_option,
    seed_option,
    sprt_options,
    table_option,
    workers_option,
)
from cutnode.cli.studies import MEASURED, OUTPUTS, Outputs, deliver
from cutnode.contract.choices import AIMS
from cutnode.contract.errors import CutnodeError
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.runtime.processes import MOST_PROCESSES, physical_cores

if TYPE_CHECKING:
    from cutnode.contract.loading import Game
    from cutnode.lab.study import Draw, Study

EPILOG = """\
\b
GAME and POSITION are those of `cutnode solve --help`.

\b
Exit codes: 0 measured, 1 an unexpected failure, 2 bad input, 130 interrupted,
143 ended by SIGTERM (what was measured until then is printed).
"""

RERUN_EPILOG = """\
\b
Exit codes: 0 all is the same but for times, 1 something differs, 2 bad input,
130 interrupted.
"""
DIFFERS = 1

WORKERS = workers_option(
    "Search positions in N processes at once.  [one for each core, at most]",
    most=MOST_PROCESSES,
)
PLIES = option("--plies", "Draw positions after A to B plies.", metavar="A:B", default="4:24")


def positions_options(
    *arguments: Decorator, seed: str = "Which games positions are drawn from."
) -> Decorator:
    """One position, a file of them, or some that are drawn from games; *seed* is help.

    Without *arguments* a POSITION follows the game.
    """
    return combined(
        GAME,
        *(arguments or (POSITION,)),
        FILE,
        positions_option("Draw N positions from games that begin with POSITION."),
        PLIES,
        seed_option(seed),
    )


RUNS = integer(
    "--runs",
    "Take the median of N times: of more for short searches, of fewer for long ones.",
    most=99,
    default=3,
)

COUNTED = combined(
    depth_option(least=1, most=MOST_DEPTH, required=True),
    CHOSEN,
    EVALUATION,
    integer(
        "--most-nodes",
        "Give up a row of the table that takes more nodes than N.",
        default=100_000_000,
    ),
    table_option(64),
    WORKERS,
)
"""How experiments search: depth, techniques, limits."""

SEARCHES_OF_GAME = combined(COUNTED, RUNS)
"""How they search and take the time."""

SEARCHED = combined(positions_options(), SEARCHES_OF_GAME)
"""The parameters of experiments with searches of a game."""

USUAL_POSITIONS = 50
"""The positions of comparisons for which none are named."""

OPENINGS_TOO = "Which openings, and which games positions are drawn from."

SEARCHES = option("--searches", "Only these of plain, engine, pvs, mtdf, exact.", metavar="A,B")


def depths_option(default: str) -> Decorator:
    """The depths of an experiment."""
    return option("--depths", "Plies.", metavar="N,N", default=default)


def move_seconds_option(help: str, **settings: Any) -> Decorator:
    """The time of each move in play."""
    return positive("--move-seconds", help, metavar="S", **settings)


def moves_in_play(seconds: float) -> Decorator:
    """How moves in play are limited, by default to so many *seconds*, and how games begin."""
    return combined(
        move_seconds_option(f"Give each move in play S seconds.  [{seconds}]"),
        integer("--move-nodes", "Give each move in play N nodes: then games are the same."),
        integer("--opening-plies", "Begin each pair after N random moves.", least=0, default=4),
    )


@click.group(epilog=EPILOG)
def lab() -> None:
    """Measure what the techniques of the search save."""


def with_positions(
    *,
    game: str,
    position: str | None,
    file: str | None = None,
    skip_bad: bool = False,
    positions: int | None,
    plies: str,
    seed: int,
    **options: Any,
) -> tuple[Game, dict[str, Any]]:
    """Return a game, and options with the positions that :func:`positions_options` ask for."""
    from cutnode.lab.sampling import plies_in, sample_positions

    bounds = plies_in(plies)
    if positions is not None and file is not None:
        raise CutnodeError("--positions and --file exclude each other")
    skipped: list[str] = []
    loaded, entries = read_positions(game, position, file, skipped if skip_bad else None)
    starts, whence = [start for _, start in entries], file or ""
    if skipped:
        whence += f" without {len(skipped):,} of its lines, which cannot be read"
    if positions is not None:
        whence = sample_command(game, position, positions, plies, seed)
        wanted = not options.get("quiet")
        with progress_bar(positions, wanted=wanted, labelled=True) as progress:
            starts = sample_positions(
                *(starts[0], positions),
                plies=bounds,
                seed=seed,
                progress=lambda now, done, of: progress(done, of, now),
            )
    return loaded, options | {"positions": starts, "positions_from": whence}


def several(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with a number of positions to draw, if they name no others."""
    named = options["position"] is not None or options["file"] is not None
    return options if named else options | {"positions": options["positions"] or USUAL_POSITIONS}


def sample_command(game: str, position: str | None, count: int, plies: str, seed: int) -> str:
    """Return the command that draws some positions."""
    options = {"positions": count, "plies": plies, "seed": seed}
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    return f"cutnode lab sample {shlex.join([game, *([position] if position else [])])} {words}"


def chosen_workers(workers: int | None, positions: Sequence[Any]) -> int:
    """Return how many processes search positions: by default one on each core, if there is work."""
    return workers or min(physical_cores(), len(positions))


def measure_searches(
    experiment: Callable[..., Study],
    draw: Draw,
    *,
    workers: int | None,
    **options: Any,
) -> None:
    """Run an experiment that takes the parameters :data:`COUNTED`."""
    _, options = with_positions(**options)
    starts = options["positions"]
    options = with_techniques(type(starts[0]), options)
    options["workers"] = chosen_workers(workers, starts)
    deliver(experiment, draw, **options)


@lab.command(epilog=EPILOG)
@SEARCHED
@MEASURED
def ablation(**options: Any) -> None:
    """Add techniques in turn, and take each from all of them.

    The rows: minimax and textbook alpha-beta, the search without any technique, with each
    technique more, and with all but one. Node counts are exact and can be had again. Of
    several positions they are totals, and ratios are geometric means with 95 % intervals.
    Selective techniques are compared with the exact result at the same depth.
    """
    from cutnode.lab import ablation as study

    measure_searches(study.ablation, study.draw, **options)


@lab.command(epilog=EPILOG)
@SEARCHED
@MEASURED
def depths(**options: Any) -> None:
    """Search each depth up to N: nodes, time, best move and score.

    Every depth is searched from nothing. Of several positions, nodes and times are totals;
    growth and branching factor are geometric means with 95 % intervals.
    """
    from cutnode.lab import depths as study

    measure_searches(study.depths, study.draw, **options)


@lab.command(epilog=EPILOG)
@positions_options()
@COUNTED
@MEASURED
def nodes(**options: Any) -> None:
    """Count what happens in nodes: kinds, cutoffs by move, first moves, the table.

    The search is compiled once more, with hooks that count.
    """
    from cutnode.lab import nodes as study

    measure_searches(study.nodes, study.draw, **options)


@lab.command(epilog=EPILOG)
@option("--widths", "Moves.", metavar="N,N", default="2,5")
@depths_option("2,4,6,8")
@option(
    "--models",
    "How leaves get values and moves their order; see games/uniform.py.",
    metavar="A,B",
    default="ordered,ordered=75,random",
)
@integer("--trees", "Take the mean of N trees, those of seed 0 and so on.", default=20)
@SEARCHES
@table_option(16)
@MEASURED
def theory(
    widths: str, depths: str, models: str, trees: int, searches: str | None, **options: Any
) -> None:
    """Count leaves in uniform trees: above the fewest possible, and how fast they grow.

    The fewest are those of Knuth and Moore; the growth of random trees is Pearl's.
    """
    from cutnode.lab import theory as study

    deliver(
        study.theory,
        study.draw,
        widths=numbers_in(widths),
        depths=numbers_in(depths),
        models=names_in(models),
        seeds=range(trees),
        searches=None if searches is None else names_in(searches),
        **options,
    )


@lab.command(epilog=EPILOG)
@positions_options()
@depths_option("4,6,8")
@EVALUATION
@SEARCHES
@table_option(64)
@WORKERS
@MEASURED
def minimal(depths: str, searches: str | None, workers: int | None, **options: Any) -> None:
    """Estimate the smallest tree and graph of a game, and how far searches are above them.

    The score is proven again with the moves that proved it in front.
    """
    from cutnode.lab import minimal as study

    _, options = with_positions(**options)
    deliver(
        study.minimal_graph,
        study.draw,
        workers=chosen_workers(workers, options["positions"]),
        depths=numbers_in(depths),
        searches=None if searches is None else names_in(searches),
        **options,
    )


@lab.command(epilog=EPILOG)
@GAME
@POSITION
@depth_option("Search to all depths up to N plies.", least=2, default=8)
@games_option("Take positions of N games.", 60)
@seed_option("Which games.")
@EVALUATION
@table_option(16)
@MEASURED
def deviation(game: str, position: str | None, **options: Any) -> None:
    """Compare scores of shallow and deep searches, for a game's `deviation` (ProbCut).

    The games begin with POSITION, and the engine plays them against itself, with some moves
    at random.
    """
    from cutnode.lab import deviation as study

    _, [(_, start)] = read_positions(game, position, None)
    deliver(study.deviation, study.draw, start=start, **options)


@lab.command(epilog=EPILOG)
@positions_options(seed=OPENINGS_TOO)
@seconds_option("Give each proof S seconds.", default=1.0)
@pairs_option("Play N pairs of games; 0: none.", least=0, default=10)
@move_seconds_option("Give each move of a match S seconds.", default=0.05)
@table_option(256)
@MEASURED
def engines(seed: int, **options: Any) -> None:
    """Compare alpha-beta, proof numbers and Monte Carlo tree search.

    Alpha-beta, proof numbers (pn) and Monte Carlo tree search (mcts) prove the values of the
    positions, each from nothing; auto gives the first two turns. mcts plays a match against the
    search by alpha-beta, with the same time for each move. Notes below the table say which engine
    suits the game, or that so few positions and games do not decide it.
    """
    from cutnode.lab import engines as study

    game, options = with_positions(seed=seed, **options)
    deliver(study.engines, study.draw, game=game, seed=seed, **options)


SWEPT = """\
\b
RANGE     NAME=LOW:HIGH:STEPS, the name of a parameter and the values that it
          is given; of whole numbers NAME=LOW:HIGH has all. One or two.

"""


@lab.command(epilog=SWEPT + EPILOG)
@positions_options(
    click.argument(
        "ranges",
        metavar="RANGE...",
        nargs=-1,
        required=True,
        shell_complete=complete_parameter,
    )
)
@BEGIN
@SEARCHES_OF_GAME
@MEASURED
def sweep(ranges: tuple[str, ...], start: str | None, **options: Any) -> None:
    """Search with each value of a number of the search, or each pair of values of two.

    Nodes, time, and how often the value and the move are those of the usual numbers, which stand
    in the first row; a plot draws a line, or of two numbers a map. Without --from and --file, 50
    positions are drawn.
    """
    from cutnode.lab import sweep as study

    def measure(**options: Any) -> Study:  # a technique from a file is known by then
        values = dict(map(study.range_of, ranges))
        if len(values) < len(ranges):
            raise CutnodeError("the two parameters of a sweep are one")
        return study.sweep(ranges=values, **options)

    measure_searches(measure, study.draw, **several(options | {"position": start}))


COMPARED = """\
\b
A, B      settings, separated by commas, as `cutnode match` takes them, or
          `default`; among others
            techniques=X+Y, without=X+Y, exact, evaluation=NAME, engine=mcts,
            set=lmr.base=0.8
            depth=N, nodes=N, seconds=S
                          limits of its own
            path=FOLDER   the version of a checkout of cutnode
            python=FILE   that of a virtual environment; or for a checkout
            game=FILE     with other rules

"""


@lab.command(epilog=COMPARED + EPILOG)
@positions_options(
    click.argument("a", shell_complete=complete_player),
    click.argument("b", shell_complete=complete_player),
    POSITION,
    seed=OPENINGS_TOO,
)
@depth_option("Search positions N plies deep.", least=1, most=MOST_DEPTH)
@nodes_option("Search positions with at most N nodes.")
@seconds_option("Search positions for at most S seconds.")
@RUNS
@pairs_option("Play N pairs of games; 0: none.", least=0, default=10)
@moves_in_play(0.1)
@sprt_options("B", "A")
@WORKERS
@MEASURED
def compare(opening_plies: int, seed: int, workers: int | None, **options: Any) -> None:
    """Compare two settings of the engine, or two versions of it: A, and B beside it.

    Both search the same positions, by turns, and play games, each opening with both sides: nodes,
    time, the same values and moves, Elo. Each runs in a process of its own, so one may be an
    older version. With --elo0 and --elo1 a sequential test (SPRT) ends the match when it is
    decided. Without POSITION or a FILE, 50 positions are drawn.
    """
    from cutnode.lab import compare as study

    game, options = with_positions(seed=seed, **several(options))
    deliver(
        study.compare,
        study.draw,
        game=game,
        plies=opening_plies,
        seed=seed,
        workers=chosen_workers(workers, options["positions"]),
        **options,
    )


@lab.command(epilog=EPILOG)
@GAME
@POSITION
@positions_option("Draw N positions.", default=50)
@PLIES
@seed_option("Which games.")
@out_option("Write to FILE, not to standard output.")
def sample(out: str | None, **options: Any) -> None:
    """Draw positions from games, one to a line, as --file reads them.

    The engine plays games against itself from POSITION on, half of its moves at random, and of
    each one position is taken, no two of them equivalent.
    """
    from cutnode.lab.provenance import machine
    from cutnode.storage.files import check_file, write_whole

    if out is not None:
        check_file(out)
    game, drawn = with_positions(**options)
    origin = f"# Drawn by cutnode {machine()['cutnode']}: {drawn['positions_from']}"
    lines = [origin, *map(game.position_text, drawn["positions"])]
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text.encode())


@lab.command(epilog=EPILOG)
@click.argument("file", shell_complete=complete_file)
@OUTPUTS
@option(
    "--extract",
    "Write the code that the study was run with, files of its author, into FOLDER.",
    metavar="FOLDER",
    shell_complete=complete_folder,
)
def show(file: str, extract: str | None, **options: Any) -> None:
    """Print a study again, or turn it into other forms.

    FILE is a page, .json or .jsonl that an experiment wrote; one that is still being written,
    or was stopped, gives what it has.
    """
    from cutnode.lab.files import extract_files, read_study
    from cutnode.lab.study import drawing_of

    study = read_study(file)
    draw = drawing_of(study)
    outputs = Outputs.taken_from(options, can_draw=draw is not None)
    if extract is not None:
        for path in extract_files(study, extract):
            click.echo(f"cutnode: wrote {path}", err=True)
    outputs.write(study, draw)
    outputs.print(study)


@lab.command(epilog=RERUN_EPILOG)
@click.argument("file", shell_complete=complete_file)
@MEASURED
def rerun(file: str, **options: Any) -> None:
    """Measure a study again, and say what differs.

    FILE is a page, .json or .jsonl that an experiment wrote. Node counts, values and moves have
    to be the same to the digit, of each row and position; times are compared by their ratio.
    Another version or machine is said.
    """
    from cutnode.lab import rerun as again
    from cutnode.lab.files import read_study

    study = read_study(file)
    compared = deliver(again.rerun, None, study=study, **options)
    if any(row["same"] != again.SAME for row in compared.rows):
        sys.exit(DIFFERS)


@lab.command("parameters", epilog=EPILOG)
@ANY_GAME
@OUTPUTS
def list_parameters(game: str | None, **options: Any) -> None:
    """List the parameters of techniques: values, ranges, and what was measured.

    With a GAME, the values are those of its profile. `--set` gives others.
    """
    from cutnode.contract.loading import load_game
    from cutnode.lab.tables import parameters_study

    outputs = Outputs.taken_from(options, can_draw=False)
    study = parameters_study(None if game is None else load_game(game))
    outputs.write(study, None)
    outputs.print(study)


@lab.command(epilog=EPILOG)
@positions_options(seed=OPENINGS_TOO)
@option(
    "--parameters",
    "Fit these, as lmr.*,futility.margin.  [those of selective techniques that change moves]",
    metavar="A,B",
)
@choice("--by", "What counts: what moves lose, or the games that both points of a step play.", AIMS)
@nodes_option("Choose moves with N nodes.", default=1000)
@integer("--iterations", "Take N steps of SPSA, of 40 positions or 8 pairs each.", default=60)
@pairs_option("Play at most N pairs of games; 0: none.", least=0, default=200)
@moves_in_play(0.05)
@positive("--least-elo", "Accept what wins so much Elo.", default=20.0, metavar="ELO")
@WORKERS
@MEASURED
def tune(
    parameters: str | None, opening_plies: int, seed: int, workers: int | None, **options: Any
) -> None:
    """Fit parameters of the search to a game.

    They are fitted by what the chosen moves lose, as a deeper search sees it, or by games between
    settings; then the fitted search plays the default, until a sequential test (SPRT) tells the
    least Elo from 0. What to write in the game is printed if it won. Without POSITION or a FILE,
    200 positions are drawn.
    """
    from cutnode.lab import tuning as study

    if options["position"] is None and options["file"] is None:
        options["positions"] = options["positions"] or 200
    game, options = with_positions(seed=seed, **options)
    deliver(
        study.tune,
        study.draw,
        game=game,
        parameters=None if parameters is None else names_in(parameters),
        plies=opening_plies,
        seed=seed,
        workers=workers or physical_cores(),
        **options,
    )
