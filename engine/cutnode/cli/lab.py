"""The commands ``cutnode lab ...``: experiments from a shell.

A study is printed as a table or in another format, and can be written to files.
Exit codes: 0 measured, 1 a repeated study differs, 2 bad input, 130 interrupted (the results so far
are printed).
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.completion import (
    complete_entry,
    complete_file,
    complete_folder,
    complete_parameter,
    complete_player,
    complete_techniques,
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
from cutnode.runtime.processes import MOST_PROCESSES, physical_cores

if TYPE_CHECKING:
    from cutnode.contract.loading import Game
    from cutnode.lab.study import Draw, Study

EPILOG = """\
\b
GAME and POSITION: see `cutnode solve --help`.

\b
Exit codes: 0 measured, 1 an unexpected failure, 2 bad input, 130 interrupted,
143 ended by SIGTERM (the results so far are printed).
"""

RERUN_EPILOG = """\
\b
Exit codes: 0 equal apart from times, 1 something differs, 2 bad input,
130 interrupted.
"""
DIFFERS = 1

WORKERS = workers_option(
    "Search positions in N processes.  [default: at most one per core]",
    most=MOST_PROCESSES,
)
PLIES = option("--plies", "Sample positions after A to B plies.", metavar="A:B", default="4:24")


def positions_options(
    *arguments: Decorator, seed: str = "Random seed for sampled positions."
) -> Decorator:
    """Return the options of one position, a file of them, or a sample; *seed* is a help text.

    Without *arguments* a POSITION follows the game.
    """
    return combined(
        GAME,
        *(arguments or (POSITION,)),
        FILE,
        positions_option("Sample N positions from games that start at POSITION."),
        PLIES,
        seed_option(seed),
    )


RUNS = integer(
    "--runs",
    "Repeat each search N times (short ones more, long ones less), and report the median.",
    most=99,
    default=3,
)

COUNTED = combined(
    depth_option(least=1, required=True),
    CHOSEN,
    EVALUATION,
    integer(
        "--most-nodes",
        "Abandon a row of the table that takes more than N nodes.",
        default=100_000_000,
    ),
    table_option(64),
    WORKERS,
)
"""The options of counted searches: depth, techniques, limits."""

SEARCHES_OF_GAME = combined(COUNTED, RUNS)
"""The options of counted and timed searches."""

SEARCHED = combined(positions_options(), SEARCHES_OF_GAME)
"""The parameters of experiments with searches of a game."""

USUAL_POSITIONS = 50
"""The number of sampled positions of a comparison, unless positions are given."""

OPENINGS_TOO = "Random seed for openings and sampled positions."

SEARCHES = option(
    "--searches", "Only these of: plain, engine, pvs, mtdf, sss, dual, exact.", metavar="A,B"
)


def depths_option(default: str) -> Decorator:
    """Return the option of an experiment's depths."""
    return option("--depths", "Depths in plies.", metavar="N,N", default=default)


def move_seconds_option(help: str, **settings: Any) -> Decorator:
    """Return the option of the time per move in a match."""
    return positive("--move-seconds", help, metavar="S", **settings)


def moves_in_play(seconds: float) -> Decorator:
    """Return the options of a match's moves, by default limited to *seconds*, and openings."""
    return combined(
        move_seconds_option(f"Time per move in the match, in seconds.  [default: {seconds}]"),
        integer("--move-nodes", "Node limit per move in the match, for reproducible games."),
        integer("--opening-plies", "Start each pair after N random moves.", least=0, default=4),
    )


@click.group(epilog=EPILOG)
def lab() -> None:
    """Run experiments that measure what search techniques save."""


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
    """Return the game, and the options with *positions* in place of :func:`positions_options`."""
    from cutnode.lab.sampling import plies_in, sample_positions

    bounds = plies_in(plies)
    if positions is not None and file is not None:
        raise CutnodeError("--positions and --file exclude each other")
    skipped: list[str] = []
    loaded, entries = read_positions(game, position, file, skipped if skip_bad else None)
    starts, whence = [start for _, start in entries], file or ""
    if skipped:
        whence += f" without {len(skipped):,} unreadable lines"
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
    """Return the options, with a default number of positions to sample if none are given."""
    named = options["position"] is not None or options["file"] is not None
    return options if named else options | {"positions": options["positions"] or USUAL_POSITIONS}


def sample_command(game: str, position: str | None, count: int, plies: str, seed: int) -> str:
    """Return the command that samples these positions."""
    options = {"positions": count, "plies": plies, "seed": seed}
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    return f"cutnode lab sample {shlex.join([game, *([position] if position else [])])} {words}"


def chosen_workers(workers: int | None, positions: Sequence[Any]) -> int:
    """Return the number of worker processes: by default one per core, at most one per position."""
    return workers or min(physical_cores(), len(positions))


def measure_searches(
    experiment: Callable[..., Study],
    draw: Draw,
    *,
    workers: int | None,
    **options: Any,
) -> None:
    """Run an experiment that has the parameters :data:`COUNTED`."""
    _, options = with_positions(**options)
    starts = options["positions"]
    options = with_techniques(type(starts[0]), options)
    options["workers"] = chosen_workers(workers, starts)
    deliver(experiment, draw, **options)


@lab.command(epilog=EPILOG)
@SEARCHED
@MEASURED
def ablation(**options: Any) -> None:
    """Measure what each technique saves, added and removed.

    The rows are minimax and textbook alpha-beta, the search without techniques, with one more
    technique in each row, and with all but one. Node counts are exact and reproducible. With
    several positions they are totals, and ratios are geometric means with 95 % confidence
    intervals. Selective techniques are compared with the exact result at the same depth.
    """
    from cutnode.lab import ablation as study

    measure_searches(study.ablation, study.draw, **options)


@lab.command(epilog=EPILOG)
@positions_options()
@option(
    "--combine",
    "Combine these techniques; all searches have the others of --techniques.  [default: table, "
    "history, killers, countermoves, pvs]",
    metavar="A,B",
    shell_complete=complete_techniques,
)
@click.option(
    "--no-order", is_flag=True, help="Search without the game's own order of moves in every row."
)
@COUNTED
@MEASURED
def combinations(combine: str | None, no_order: bool, **options: Any) -> None:
    """Search with all combinations of techniques.

    With k techniques, each position is searched 2**k times. The rows are the combinations, the
    main effect of each technique, and the interaction of each pair. Node counts are exact and
    reproducible; nothing is timed.
    """
    from cutnode.lab import combinations as study

    factors = None if combine is None else names_in(combine)
    measure_searches(
        study.combinations, study.draw, factors=factors, ordered=not no_order, **options
    )


@lab.command(epilog=EPILOG)
@SEARCHED
@MEASURED
def depths(**options: Any) -> None:
    """Search to each depth up to N plies.

    The columns are nodes, time, best move and score. Each search starts with empty tables. With
    several positions, nodes and times are totals; growth and branching factor are geometric
    means with 95 % confidence intervals.
    """
    from cutnode.lab import depths as study

    measure_searches(study.depths, study.draw, **options)


@lab.command(epilog=EPILOG)
@positions_options()
@COUNTED
@MEASURED
def nodes(**options: Any) -> None:
    """Count node types, cutoffs and table hits.

    Cutoffs are counted by move number, and first-move cutoffs by node type and depth. The
    search is compiled again, with hooks that count.
    """
    from cutnode.lab import nodes as study

    measure_searches(study.nodes, study.draw, **options)


@lab.command(epilog=EPILOG)
@option("--widths", "Widths: moves per position.", metavar="N,N", default="2,5")
@depths_option("2,4,6,8")
@option(
    "--models",
    "Models of leaf values and move ordering; see games/uniform.py.",
    metavar="A,B",
    default="ordered,ordered=75,random",
)
@integer("--trees", "Average over N trees, with seeds 0 to N - 1.", default=20)
@SEARCHES
@table_option(16)
@MEASURED
def theory(
    widths: str, depths: str, models: str, trees: int, searches: str | None, **options: Any
) -> None:
    """Compare the leaves searched in uniform trees with theory.

    The minimal tree is Knuth and Moore's; the growth rate of random trees is Pearl's.
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
    """Compare searches with the minimal tree and graph.

    Both are estimated: the score is proven again, searching the moves that proved it first.
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
@games_option("Take positions from N games.", 60)
@seed_option("Random seed.")
@EVALUATION
@table_option(16)
@MEASURED
def deviation(game: str, position: str | None, **options: Any) -> None:
    """Compare scores of shallow and deep searches.

    The result is the formula of a game's `deviation`, for ProbCut. The games start at POSITION;
    the engine plays them against itself, with some random moves.
    """
    from cutnode.lab import deviation as study

    _, [(_, start)] = read_positions(game, position, None)
    deliver(study.deviation, study.draw, start=start, **options)


@lab.command(epilog=EPILOG)
@positions_options(seed=OPENINGS_TOO)
@seconds_option("Time limit per proof, in seconds.", default=1.0)
@nodes_option("Node limit per proof, in place of --seconds, for reproducible proofs.")
@option("--provers", "Prove with these of: alphabeta, pn, auto, sums, mcts.", metavar="A,B")
@pairs_option("Play N pairs of games; 0: no match.", least=0, default=10)
@move_seconds_option("Time per move in the match, in seconds.", default=0.05)
@table_option(256)
@MEASURED
def engines(seed: int, provers: str | None, **options: Any) -> None:
    """Compare alpha-beta, proof numbers and MCTS on a game.

    Alpha-beta, proof-number search (pn) and Monte Carlo tree search (mcts) prove the values of the
    positions, each from empty tables; auto alternates the first two, or is the proof on sums
    of parts (sums) if positions fall apart. mcts plays a match against
    alpha-beta, with the same time per move. Notes below the table say which engine suits the game,
    or that there are too few positions and games to decide.
    """
    from cutnode.lab import engines as study

    game, options = with_positions(seed=seed, **options)
    names = None if provers is None else names_in(provers)
    deliver(study.engines, study.draw, game=game, seed=seed, provers=names, **options)


SWEPT = """\
\b
RANGE     NAME=LOW:HIGH:STEPS: a parameter, and STEPS values from LOW to HIGH.
          For an integer parameter, NAME=LOW:HIGH has all values. Give one or
          two ranges.

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
    """Search with a range of values of one or two parameters.

    The columns are nodes, time, and how often the value and the move are the same as with the
    default values, which are in the first row. A plot has lines for one parameter, heat maps for
    two. Without --from and --file, 50 positions are sampled.
    """
    from cutnode.lab import sweep as study

    def measure(**options: Any) -> Study:  # by now techniques from files are registered
        values = dict(map(study.range_of, ranges))
        if len(values) < len(ranges):
            raise CutnodeError("a sweep needs two different parameters")
        return study.sweep(ranges=values, **options)

    measure_searches(measure, study.draw, **several(options | {"position": start}))


COMPARED = """\
\b
A, B      settings as for `cutnode match`, separated by commas, or `default`;
          among others
            techniques=X+Y, without=X+Y, exact, evaluation=NAME, engine=mcts,
            set=lmr.base=0.8
            depth=N, nodes=N, seconds=S
                          its own limits
            path=FOLDER   the version in a checkout of cutnode
            python=FILE   the version in a virtual environment, or the Python
                          to run a checkout with
            game=FILE     other rules

"""


@lab.command(epilog=COMPARED + EPILOG)
@positions_options(
    click.argument("a", shell_complete=complete_player),
    click.argument("b", shell_complete=complete_player),
    POSITION,
    seed=OPENINGS_TOO,
)
@depth_option("Depth limit per position, in plies.", least=1)
@nodes_option("Node limit per position.")
@seconds_option("Time limit per position, in seconds.")
@RUNS
@pairs_option("Play N pairs of games; 0: no match.", least=0, default=10)
@moves_in_play(0.1)
@sprt_options("B", "A")
@WORKERS
@MEASURED
def compare(opening_plies: int, seed: int, workers: int | None, **options: Any) -> None:
    """Compare two settings or versions of the engine, A and B.

    Both search the same positions alternately and play a match, each opening twice with colours
    reversed. The columns are nodes, time, agreement of values and moves, and Elo. Each runs in its
    own process, so one may be an older version. With --elo0 and --elo1, an SPRT ends the match
    when it is decided. Without POSITION or FILE, 50 positions are sampled.
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
@positions_option("Sample N positions.", default=50)
@PLIES
@seed_option("Random seed.")
@out_option("Write to FILE instead of standard output.")
def sample(out: str | None, **options: Any) -> None:
    """Sample positions from games.

    The output has one position per line, as --file reads it. The engine plays games against itself
    from POSITION, with half of the moves random, and one position is taken from each game. No two
    positions are equivalent.
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
    "Write the author's code files, with which the study was run, into FOLDER.",
    metavar="FOLDER",
    shell_complete=complete_folder,
)
def show(file: str, extract: str | None, **options: Any) -> None:
    """Print a study again, or convert it to other formats.

    FILE is a page, .json or .jsonl that an experiment wrote; a running or interrupted study has
    its results so far.
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
    """Repeat a study, and list the differences.

    FILE is a page, .json or .jsonl that an experiment wrote. Node counts, values and moves must be
    exactly the same for each row and position; times are compared by their ratio. A different
    version or machine is noted.
    """
    from cutnode.lab import rerun as again
    from cutnode.lab.files import read_study

    study = read_study(file)
    compared = deliver(again.rerun, None, study=study, **options)
    if any(row["same"] != again.SAME for row in compared.rows):
        sys.exit(DIFFERS)


@lab.command(epilog=EPILOG)
@click.argument("names", metavar="[NAME...]", nargs=-1, shell_complete=complete_entry)
@click.option("--list", "listed", is_flag=True, help="List the entries, and measure nothing.")
@MEASURED
def literature(names: tuple[str, ...], listed: bool, **options: Any) -> None:
    """Measure published results of search and pruning again.

    Each entry is a publication. A row has a published number, the one measured here with its 95 %
    confidence interval, and a verdict: reproduced, reproduced in sign only, or not reproduced.
    Notes have the claims, the sources, and what is different here. Without NAME, all are measured;
    `cutnode lab literature knuth-moore` measures one.
    """
    from cutnode.lab import literature as study

    if not listed:
        deliver(study.literature, study.draw, names=names, **options)
        return
    for name in ("resume", "quiet"):
        del options[name]
    outputs = Outputs.taken_from(options, can_draw=False)
    found = study.listed(names)
    outputs.write(found, None)
    outputs.print(found)


@lab.command("parameters", epilog=EPILOG)
@ANY_GAME
@OUTPUTS
def list_parameters(game: str | None, **options: Any) -> None:
    """List the parameters of techniques.

    The columns include values, ranges and measured effects. With a GAME, the values are from
    its profile. `--set` changes them.
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
    "Parameters to tune, such as lmr.*,futility.margin.  [default: parameters of selective "
    "techniques that change moves]",
    metavar="A,B",
)
@choice(
    "--by",
    "Objective: the loss of the moves chosen, or the results of games between settings.",
    AIMS,
)
@nodes_option("Node limit per move.", default=1000)
@integer("--iterations", "SPSA iterations, each of 40 positions or 8 pairs of games.", default=60)
@pairs_option("Play at most N pairs of games; 0: no match.", least=0, default=200)
@moves_in_play(0.05)
@positive(
    "--least-elo", "Least Elo gain to accept; SPRT: H1, against 0.", default=20.0, metavar="ELO"
)
@WORKERS
@MEASURED
def tune(
    parameters: str | None, opening_plies: int, seed: int, workers: int | None, **options: Any
) -> None:
    """Tune search parameters for a game.

    SPSA minimises the loss of the chosen moves, as a deeper search judges it, or plays games
    between settings. The tuned search then plays the default until an SPRT of --least-elo against
    0 decides. If it wins, the profile to write in the game is printed. Without POSITION or FILE,
    200 positions are sampled.
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
