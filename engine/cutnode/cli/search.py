"""The command ``cutnode search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import EPILOG, interrupted
from cutnode.cli.inputs import with_techniques
from cutnode.cli.live import live
from cutnode.cli.options import (
    ENGINE,
    PLAYOUTS,
    PROGRESS,
    PROOF_SHARE,
    SEARCHER,
    TREE,
    declared,
    nodes_option,
    positions_of_game,
    seconds_option,
    tablebase_option,
    threads_option,
)
from cutnode.cli.output import json_of_search
from cutnode.contract.errors import CutnodeError
from cutnode.runtime.options import OPTIONS, TREE_OPTIONS

if TYPE_CHECKING:
    from cutnode.search.engine import Engine
    from cutnode.search.handles import Handle


@click.command(epilog=EPILOG)
@positions_of_game
@ENGINE
@declared("depth")
@PLAYOUTS
@nodes_option()
@seconds_option("Time limit in seconds.  [default: 1 if there is no other limit]")
@declared("lines")
@SEARCHER
@PROOF_SHARE
@TREE
@declared("seed")
@threads_option("Search each position with N threads.")
@declared("table")
@declared("memory", default=OPTIONS["memory"].default)
@tablebase_option("Probe the tablebase in FOLDER, at the root and in the search.")
@click.option("--statistics", is_flag=True, help="Print the counters of the search.")
@PROGRESS
@declared("debug")
def search(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    told: bool,
    engine: str,
    depth: int | None,
    playouts: int | None,
    nodes: int | None,
    seconds: float | None,
    lines: int,
    seed: int | None,
    threads: int,
    table_mb: int,
    memory_mb: int,
    statistics: bool,
    evaluation: str | None,
    **options: Any,
) -> None:
    """Search for the best move, as deep as limits allow.

    Scores are for the player to move. Each position starts with an empty table, or tree.
    """
    from cutnode.contract.verbs import outcome
    from cutnode.search.engine import Engine
    from cutnode.search.record import is_over

    check_limits(engine, depth, playouts, seconds, nodes)
    if depth is None and playouts is None and nodes is None and seconds is None:
        seconds = 1.0
    cls = type(entries[0][1])
    if engine != "alphabeta":
        names = (*TREE_OPTIONS, "tablebase") if engine == "mcts" else ("tablebase",)
        chosen = {"memory": memory_mb << 20, **_options_of(engine, names, options)}
    else:
        chosen = _searcher_options(cls, options)
    chosen["evaluation"] = evaluation
    engine_of_game = Engine(cls, engine=engine, table=table_mb, threads=threads, **chosen)
    alone = file is None and threads == 1 and engine == "alphabeta"
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        engine_of_game.new_game()
        if file is None and not as_json:
            is_drawn = is_over(start) and not outcome(start)[0]
            note = "\na draw by the rules; if play continues:" * is_drawn
            click.echo(f"{drawn(start)}\n{note}")
        result = search_one(
            engine_of_game,
            start,
            first=chosen if alone else None,
            told=told,
            depth=depth,
            playouts=playouts,
            nodes=nodes,
            seconds=seconds,
            lines=lines,
            seed=seed,
        )
        if as_json:
            click.echo(json_of_search(result, text))
        elif file is None:
            click.echo(result)
        else:
            best = result.move_text() or "-"
            click.echo(
                f"{text:{width}}  {result.value_text():>8}  {best:>4}  {result.depth:>3}  "
                f"{result.nodes:>12}  {result.seconds:>10.6f}"
            )
        if statistics and not as_json:
            for name, value in result.statistics.to_dict().items():
                number = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
                click.echo(f"  {name.replace('_', ' '):24}{number:>16}")
        if result.reason == "interrupted":
            interrupted(found=True)


def check_limits(
    engine: str, depth: int | None, playouts: int | None, seconds: float | None, nodes: int | None
) -> None:
    """Raise :class:`CutnodeError` if an engine does not take one of the limits."""
    if depth is not None and engine != "alphabeta":
        limits = "--playouts, --nodes or --seconds" if engine == "mcts" else "--seconds"
        raise CutnodeError(f"--depth limits alpha-beta: --engine {engine} takes {limits}")
    if playouts is not None and engine != "mcts":
        raise CutnodeError("--playouts limits Monte Carlo tree search: add --engine mcts")
    if engine == "auto" and nodes is not None and seconds is None:
        raise CutnodeError("--engine auto needs --seconds, for its trial takes a share of the time")


def search_one(
    searching: Engine, start: Any, *, first: dict[str, Any] | None, told: bool, **limits: Any
) -> Any:
    """Search a position, and show progress.

    *first* holds the options of a searcher that may give a first answer, before the engine of the
    only search is compiled.
    """
    from cutnode.kernels.clock import Clock
    from cutnode.search.handles import Progress
    from cutnode.search.options import SearchOptions
    from cutnode.search.tiers import FirstSearch

    clock = Clock(None)
    handle: Handle | None = None

    def look() -> Progress:
        if handle is None:
            return Progress(0, None, None, None, (), 0, clock.elapsed(), 0.0)
        return handle.progress

    with live(start, look, told=told):
        if first is not None:
            options = SearchOptions.of("search", limits)
            found = FirstSearch(start, options, searching.table, first).result
            if found is not None:
                return found
        searching.prepare()
        handle = searching.start(start, **limits)
        return handle.wait()


UNSET = None, False, (), OPTIONS["driver"].default, OPTIONS["depth_in"].default


def _options_of(engine: str, names: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of ``mcts`` or ``auto``; :class:`CutnodeError` for any other option."""
    for name, value in options.items():
        if name not in names and value not in UNSET:
            owner = "mcts" if name in TREE_OPTIONS else "alpha-beta"
            raise CutnodeError(
                f"--{name.replace('_', '-')} is an option of {owner}, not of {engine}"
            )
    return {name: options[name] for name in names if options[name] is not None}


def _searcher_options(cls: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of alpha-beta; :class:`CutnodeError` for any other option."""
    for name in TREE_OPTIONS:
        if options.pop(name) not in (None, False):
            raise CutnodeError(f"--{name.replace('_', '-')} is an option of --engine mcts")
    return with_techniques(cls, options)
