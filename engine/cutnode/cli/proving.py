"""The commands ``cutnode solve``, ``cutnode analyse`` and ``cutnode verify``."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import cutnode
from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import NOT_PROVEN, interrupted
from cutnode.cli.live import live, progress_bar
from cutnode.cli.options import (
    AT_LEAST,
    PROGRESS,
    SOLVER,
    combined,
    integer,
    journal_option,
    memory_option,
    nodes_option,
    positions_of_game,
    positions_option,
    seconds_option,
    seed_option,
    table_option,
    tablebase_option,
    threads_option,
    tolerance_option,
    weak_option,
)
from cutnode.cli.output import json_of_iteration, json_of_proof
from cutnode.cli.values import print_values, table_of
from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import check_file

if TYPE_CHECKING:
    from cutnode.search.canonical_values import ValueTable
    from cutnode.search.handles import Progress
    from cutnode.search.results import Result
    from cutnode.storage.tables import Table
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import OWN_GAME, POSITION, option

PROOF = combined(
    positions_of_game,
    weak_option(),
    SOLVER,
    nodes_option("Node limit per position."),
    seconds_option("Time limit per position, in seconds."),
    threads_option("Search one position with N threads, or divide a file among them."),
    table_option(256),
    tablebase_option(),
    memory_option("Memory limit in MiB for solving games with cycles.", 512),
    option(
        "--values",
        "Take known values of parts from FILE, which `cutnode solve --value --values FILE` "
        "writes and extends, in games whose positions fall apart.",
        metavar="FILE",
        shell_complete=complete_file,
    ),
    journal_option(
        "Keep what is proven below the position in FILE, and resume from it; several processes may "
        "use it at once: see engine/docs/howto/long_proofs.md."
    ),
    click.option("--cold", is_flag=True, help="Clear the table before each position of a file."),
    positions_option("Games of chance: position limit, about 200 bytes each.", default=10_000_000),
    tolerance_option("Games of chance: largest gap between the bounds of a value.", default=1e-9),
    PROGRESS,
)
"""The parameters of commands that prove values."""

WITHOUT_CHANCE = (
    *("weak", "engine", "nodes", "threads", "table_mb", "cold", "tablebase", "memory_mb"),
    *("told", "at_least", "proof", "values", "journal"),
)
WITH_CHANCE = ("positions", "tolerance")
"""The options for games without chance only, and for games of chance only."""

WITH_VALUE = ("canonical", "values", "nodes", "seconds", "told", "as_json", "file", "skip_bad")
"""The options that can be given with ``--value``."""


def prove_and_print(
    kind: str,
    entries: list[tuple[str, Any]],
    *,
    file: str | None,
    as_json: bool,
    told: bool,
    table_mb: int,
    cold: bool,
    positions: int,
    tolerance: float,
    memory_mb: int,
    **search: Any,
) -> None:
    """Prove the values of positions, to ``"analyse"`` also of all moves, and print them."""
    from cutnode.contract.dispatch import defines
    from cutnode.runtime.running import Limits

    if search.pop("canonical", False):
        refuse_with_value()
        most = Limits(search["nodes"], search["seconds"])
        print_values(entries, file, as_json, told, most, search["values"])
        return
    has_chance = defines(type(entries[0][1]), "chance")
    refuse_options(has_chance)
    if has_chance:
        limits = {"positions": positions, "tolerance": tolerance, "seconds": search["seconds"]}
        solve_by_iteration(kind, entries, as_json=as_json, lines=file is not None, limits=limits)
        return
    proof, leaf_nodes = search.pop("proof", None), search.pop("leaf_nodes", None)
    require_sense(kind, entries, file, search)
    require_target(proof, leaf_nodes, file)
    if search["values"] is not None:
        search["values"] = given_values(search["values"], type(entries[0][1]), search["engine"])
    table = cutnode.Table(table_mb)
    search["memory"] = memory_mb << 20
    started = time.perf_counter()
    results: Iterator[Result]
    if file is not None:
        positions_of_file = [entry for _, entry in entries]
        results = prove_file(kind, positions_of_file, table, cold, told, search)
    else:
        kept = proof is not None
        results = iter([prove_one(kind, entries[0][1], table, kept, told, not as_json, search)])

    width = max(len(text) for text, _ in entries)
    solved, nodes, broken = 0, 0, False
    for (text, _), result in zip(entries, results, strict=False):
        if result.reason == "interrupted":
            broken = True
            if file is not None and not result.nodes:
                continue  # it was not reached
        if as_json:
            click.echo(json_of_proof(kind, result, text))
        elif file is None:
            click.echo(result)
        else:
            click.echo(f"{text:{width}}  {one_line(result)}")
        solved += result.reason == "proven" if kind == "analyse" else result.answered
        nodes += result.nodes

    if file is not None and sys.stderr.isatty():
        summarise(solved, len(entries), nodes, time.perf_counter() - started)
    if broken:
        interrupted(found=True)
    if proof is not None:
        limits = {name: search[name] for name in ("nodes", "seconds")}
        engine = None if leaf_nodes is None else search["engine"]
        limits |= {"leaf_nodes": leaf_nodes, "engine": engine}
        save_proof(proof, result, table, limits, not as_json)
    if solved < len(entries):
        sys.exit(NOT_PROVEN)


def given_values(file: str, cls: Any, engine: str | None) -> ValueTable:
    """Load values of parts; :class:`CutnodeError` if the engine does not use them."""
    from cutnode.search.options import solving_engine

    if solving_engine(cls, engine) != "sums":
        raise CutnodeError("--values is for --engine sums, the default where positions split")
    return table_of(file, cls)


def summarise(solved: int, positions: int, nodes: int, seconds: float) -> None:
    """Print a summary of the results of a file."""
    click.echo(
        f"{solved:,} of {positions:,} positions solved, "
        f"{nodes:,} nodes in {seconds:.3g} s ({nodes / seconds:,.0f} per second)",
        err=True,
    )


def require_sense(
    kind: str, entries: list[tuple[str, Any]], file: str | None, search: dict[str, Any]
) -> None:
    """Fail if options or values make no sense; drop ``at_least`` from *search* if it is None."""
    from cutnode.search.game_solver import require_value
    from cutnode.search.options import proof_options

    if file is not None and search["journal"] is not None:
        raise CutnodeError("--journal and --file exclude each other: a journal has one position")
    if search.get("at_least") is None:
        search.pop("at_least", None)
    asked = ("weak", "engine", "nodes", "seconds", "at_least")
    proof_options(kind, {name: search[name] for name in asked if name in search})
    for _, start in entries:
        require_value(start, search.get("at_least"))


def require_target(proof: str | None, leaf_nodes: int | None, file: str | None) -> None:
    """Fail, before anything is solved, if a proof cannot be written to its file."""
    if proof is None:
        if leaf_nodes is not None:
            raise CutnodeError("--leaf-nodes needs --proof")
        return
    if file is not None:
        raise CutnodeError("--proof and --file exclude each other: a proof covers one position")
    check_file(proof)


def save_proof(path: str, result: Result, table: Table, limits: dict[str, Any], told: bool) -> None:
    """Write the strategies that prove a result to a file, and say so if *told*."""
    from cutnode.search.value_proofs import claims

    try:
        if not result.answered:
            raise CutnodeError(f"no proof yet: {result.reason}")
        proofs = [
            cutnode.write_proof(result.position, table=table, **(claim | limits))
            for claim in claims(result)
        ]
        cutnode.save_proofs(path, proofs)
    except cutnode.GameError:
        raise
    except CutnodeError as error:
        click.echo(f"cutnode: {path} is not written: {error}", err=True)
        sys.exit(NOT_PROVEN)
    if told:
        for each in proofs:
            leaves = f" down to {len(each.leaves):,} leaves" * bool(each.leaves)
            what = f"{len(each):,} positions, verified{leaves}"
            click.echo(f"proof  {each.claim()}: {what}, in {path}")


def refuse_options(has_chance: bool) -> None:
    """Fail if a given option does not apply to such a game."""
    ctx = click.get_current_context()
    game = ctx.params["game"]
    refused = WITHOUT_CHANCE if has_chance else WITH_CHANCE
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name in refused and ctx.get_parameter_source(name) != ParameterSource.DEFAULT:
            kind = "a game of chance" if has_chance else "not a game of chance"
            instead = (
                "; value iteration solves it (see --positions), and `cutnode search` estimates it"
            )
            raise CutnodeError(
                f"{game} is {kind}: {parameter.opts[-1]} does not apply{instead * has_chance}"
            )


def refuse_with_value() -> None:
    """Fail if an option is given that does not apply to canonical values."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) != ParameterSource.DEFAULT
        if given and isinstance(parameter, click.Option) and name not in WITH_VALUE:
            raise CutnodeError(f"--value and {parameter.opts[-1]} exclude each other")


def prove_one(
    kind: str,
    start: Any,
    table: Table,
    kept: bool,
    told: bool,
    as_text: bool,
    search: dict[str, Any],
) -> Result:
    """Prove the value of one position, after printing its board if *as_text*; show progress.

    *kept* says whether the table is used afterwards.
    """
    from cutnode.kernels.clock import Clock
    from cutnode.search.game_solver import GameSolver
    from cutnode.search.handles import Progress
    from cutnode.search.options import proof_options
    from cutnode.search.resuming import require_journal
    from cutnode.search.tiers import first_proof
    from cutnode.tablebases.tablebase import Tablebase

    known = Tablebase.of(search.pop("tablebase"), type(start))
    threads, memory = search.pop("threads"), search.pop("memory")
    values, journal = search.pop("values"), search.pop("journal")
    options = proof_options(kind, search).of_game(type(start))
    if journal is not None:
        require_journal(type(start), options.engine)
    if as_text:
        click.echo(f"{drawn(start)}\n")
    solver = GameSolver(
        type(start),
        table,
        threads,
        tablebase=known,
        memory=memory,
        values=values,
        journal=journal,
    )
    solver.told = lambda note: click.echo(f"cutnode: {journal}: {note}", err=True)
    clock = Clock(None)

    def look() -> Progress:
        nodes, lower, upper = solver.progress()
        seconds, fill = clock.elapsed(), table.fill()
        return Progress(0, None, lower, upper, (), nodes, seconds, fill, solver.outlook)

    with live(start, look, told=told):
        if known is None and threads == 1 and not kept and journal is None:
            first = first_proof(kind, start, options, table)
            if first is not None:
                return first
        solver.prepare(options.engine)
        clock = Clock(None)
        result = solver.prove(kind, start, options)
    if result.reason != "proven" and solver.outlook is not None:
        click.echo(f"cutnode: {journal}: {solver.outlook}", err=True)
    return result


def prove_file(
    kind: str, positions: list[Any], table: Table, cold: bool, told: bool, search: dict[str, Any]
) -> Iterator[Result]:
    """Yield the results of many positions in order; stop early if interrupted."""
    from cutnode.search.loops import has_loops
    from cutnode.tablebases.tablebase import Tablebase

    cls = type(positions[0])
    known = Tablebase.of(search.pop("tablebase"), cls)
    memory, values, _ = (search.pop(name) for name in ("memory", "values", "journal"))
    in_batch = kind == "solve" and "at_least" not in search and values is None
    if in_batch and known is None and not has_loops(cls):
        with progress_bar(len(positions), told=told) as progress:
            batch = cutnode.solve_many(
                positions, table=table, cold=cold, lines=True, progress=progress, **search
            )
        yield from itertools.islice(batch, len(batch) - 1)
        yield replace(batch[-1], reason=batch.reason) if batch.reason else batch[-1]
        return
    # At a terminal the lines show the progress, and a bar would get between them.
    prove = cutnode.solve if kind == "solve" else cutnode.analyse
    with progress_bar(len(positions), wanted=not sys.stdout.isatty(), told=told) as progress:
        for done, position in enumerate(positions, 1):
            if cold:
                table.forget()
            result = prove(
                position, table=table, tablebase=known, memory=memory, values=values, **search
            )
            progress(done)
            yield result
            if result.reason == "interrupted":
                return


def one_line(result: Result) -> str:
    """Format a result as one line: value, best move, nodes, seconds, and scores if any."""
    value = result.value if result.proven else f"{result.lower}..{result.upper}"
    if result.at_least is not None:
        value = {True: "yes", False: "no", None: "?"}[result.answer]
    best = result.move_text() or "-"
    line = f"{value:>8}  {best:>4}  {result.nodes:>12}  {result.seconds:>10.6f}"
    for move, score in (result.named_scores() or {}).items():
        line += f"  {move}:{'?' if score is None else score}"
    return line


def solve_by_iteration(
    kind: str,
    entries: list[tuple[str, Any]],
    *,
    as_json: bool,
    lines: bool,
    limits: dict[str, Any],
) -> None:
    """Solve positions of a game of chance, and print the results."""

    width = max(len(text) for text, _ in entries)
    proven = 0
    for text, start in entries:
        result = cutnode.iterate(start, **limits)
        if as_json:
            click.echo(json_of_iteration(kind, result, text))
        elif not lines:
            click.echo(f"{drawn(start)}\n\n{result}")
        else:
            value = (
                f"{result.lower:.9g}..{result.upper:.9g}"
                if result.value is None
                else f"{result.value:.9g}"
            )
            best = result.move_text() or "-"
            click.echo(
                f"{text:{width}}  {value:>14}  {best:>8}  "
                f"{result.positions:>12}  {result.seconds:>10.6f}"
            )
        proven += result.proven
        if result.reason == "interrupted":
            interrupted(found=True)
    if proven < len(entries):
        sys.exit(NOT_PROVEN)


@click.command(epilog=EPILOG)
@PROOF
@AT_LEAST
@option(
    "--proof",
    "Search again by proof numbers, within the same limits, verify the proof tree, and write it "
    "to FILE, for `cutnode verify`.",
    metavar="FILE",
    shell_complete=complete_file,
)
@integer(
    "--leaf-nodes",
    "With --proof: end lines at positions that N nodes of the same engine prove.  "
    "[default: lines end with the game]",
)
@click.option(
    "--value",
    "canonical",
    is_flag=True,
    help="Print the canonical value instead, in games where whoever cannot move loses.",
)
def solve(**options: Any) -> None:
    """Prove the value, a best move, and the line of best play.

    Values are for the player to move. `cutnode analyse` also gives the value of every move.

    With --file each line is: position, value (or lower..upper if it is not proven), best
    move, nodes, seconds. With --at-least, yes, no or ? stands in place of the value.

    Games of chance are solved by value iteration over all reachable positions. The output has the
    values of all moves or rolls; with --file it has the number of positions in place of nodes.

    With --value the output is the canonical value, the outcome class, the birthday, and the
    temperature and mean if the value is small. With --file each line is: position, value.
    """
    prove_and_print("solve", **options)


@click.command(epilog=EPILOG)
@PROOF
def analyse(**options: Any) -> None:
    """Prove the value of every move.

    Like `cutnode solve`, but for all moves instead of one best move. Limits apply to all moves of
    a position together; ? marks a value that is not proven.

    With --file each line is: position, value, best move, nodes, seconds, and MOVE:VALUE for
    each move.
    """
    prove_and_print("analyse", **options)


FILE = """\
\b
FILE      proofs written by `cutnode solve --proof FILE` or printed by
          `cutnode mate --proof --json`.

"""


@click.command(epilog=FILE + EPILOG)
@click.argument("file", shell_complete=complete_file)
@POSITION
@OWN_GAME
@integer("--sample", "Prove only N leaves of each proof again, drawn at random.", least=0)
@seed_option("Random seed of the sample.")
@threads_option("Prove leaves in N threads, each with a table of its own.")
@table_option(64)
@SOLVER
@seconds_option("Time limit per leaf, in seconds.")
@PROGRESS
def verify(
    file: str,
    position: str | None,
    game: str | None,
    table_mb: int,
    told: bool,
    **search: Any,
) -> None:
    """Check the proofs in a file against the rules of the game.

    The check uses the rules and nothing else, except that leaves, where lines of long proofs end,
    are solved again from empty tables, by the engine you choose. Each line is: game, position, what
    is proven, the number of positions with an answer, and of leaves. With POSITION, every proof has
    to be of that position.

    Example: cutnode verify FILE --sample 50 --engine pn
    """
    from cutnode.contract.dispatch import game_name
    from cutnode.contract.messages import position_text

    loaded = None if game is None else cutnode.load_game(game)
    proofs = cutnode.read_proofs(file, loaded)
    for proof in proofs:
        proven = proof.position
        if position is not None and cutnode.Game.of(proven).parse(position) != proven:
            raise CutnodeError(f"{file} is a proof of {position_text(proven)}, not of {position}")
        note = ""
        try:
            proof.verify()
            if isinstance(proof, cutnode.ValueProof) and proof.leaves:
                leaves, sample = len(proof.leaves), search["sample"]
                with progress_bar(min(sample or leaves, leaves), told=told) as progress:
                    done = proof.prove_leaves(table=table_mb, progress=progress, **search)
                note = f", {done:,} of {leaves:,} leaves solved again"
        except CutnodeError as error:
            raise CutnodeError(f"{file}: {error}") from None
        about = f"{game_name(type(proven))}  {position_text(proven)}"
        click.echo(f"{about}  {proof.claim()}: {len(proof):,} positions, verified{note}")
