"""The commands ``cutnode tablebase ...``: solve all positions of a game, and look them up."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.boards import drawn
from cutnode.cli.completion import complete_folder
from cutnode.cli.exit_codes import BAD_INPUT, INTERRUPTED
from cutnode.cli.inputs import position_of
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    BEGIN,
    GAME,
    OWN_GAME,
    POSITION,
    choice,
    combined,
    json_option,
    memory_option,
    option,
    out_option,
    threads_option,
    tolerance_option,
)
from cutnode.contract.choices import LAYER_MEMORY, METRICS

if TYPE_CHECKING:
    from cutnode.tablebases.building import BuildProgress
    from cutnode.tablebases.tablebase import Tablebase

FOLDER = click.argument("folder", shell_complete=complete_folder)
DISTANCES = "; ".join(f"{name}: {meaning}" for name, meaning in METRICS.items())


SOLVED = combined(
    out_option("Folder of the tablebase; an unfinished one is resumed.", required=True),
    BEGIN,
    click.option(
        "--layer",
        "layers",
        multiple=True,
        metavar="NAME",
        help="Solve this layer and the layers that it leads to. Repeatable.",
    ),
    option("--through", "Solve all layers up to this one.", metavar="NAME"),
    choice("--metric", f"Distance metric: {DISTANCES}.", [*METRICS]),
    tolerance_option("Error bound of expected values, in games of chance."),
    memory_option("Memory limit (MiB) per layer being solved.", LAYER_MEMORY >> 20),
    json_option("Print the output of `stats` as a JSON object."),
)
"""The options of a tablebase to build: its positions, folder, metric and limits."""


@click.group()
def tablebase() -> None:
    """Solve all positions of a game, even with cycles or dice."""


@tablebase.command()
@GAME
@SOLVED
@threads_option("Threads.  [default: one for each core]", default=None)
def build(threads: int | None, **options: Any) -> None:
    """Solve every position, layer by layer, and keep the results in a folder.

    If the program ends at any moment, even by a power cut, the same command resumes it.
    """
    from cutnode.tablebases.building import build_tablebase

    solve_and_print(build_tablebase, threads or os.cpu_count() or 1, **options)


def solve_and_print(
    solve: Callable[..., str],
    threads: int,
    *,
    game: str,
    out: str,
    start: str | None,
    metric: str,
    tolerance: float | None,
    memory_mb: int,
    as_json: bool,
    **which: Any,
) -> None:
    """Build a tablebase with *solve*, and print its statistics; the rest are command options."""
    from cutnode.tablebases.solving import Settings
    from cutnode.tablebases.tablebase import Tablebase

    loaded = cutnode.load_game(game)
    root = loaded.start() if start is None else loaded.parse(start)
    settings = Settings(metric=metric, threads=threads, memory=memory_mb << 20, tolerance=tolerance)
    with progress_bar(1, labelled=True) as tell:

        def show(progress: BuildProgress) -> None:
            left = "" if progress.left is None else f", {_time(progress.left)} left"
            label = f"{progress.layer}: {progress.step} {progress.part:.0%}{left}"
            tell(progress.solved, progress.total, label)

        reason = solve(root, out, settings=settings, progress=show, **which)
    if reason != "done":
        click.echo(f"cutnode: {reason}: run the same command to resume", err=True)
        sys.exit(INTERRUPTED)
    _print_stats(Tablebase.open(out), as_json, False)


def _time(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{minutes:.0f} min" if minutes >= 1 else f"{seconds:.0f} s"


@tablebase.command()
@FOLDER
@POSITION
@OWN_GAME
@json_option()
def probe(folder: str, position: str | None, game: str | None, as_json: bool) -> None:
    """Look up a position: its value for the mover, the distance, and every move."""

    found = _opened(folder, game)
    place = position_of(found.cls, position)
    data = found.probe(place)
    if as_json:
        click.echo(json.dumps(data))
        return
    click.echo(drawn(place))
    click.echo(f"value  {_number(data['value'])}  ({data['meaning']})")
    for text, known in data["moves"].items():
        distance = "" if known["distance"] is None else f"  in {known['distance']}"
        click.echo(f"  {text:10} {_number(known['value'])}{distance if known['value'] else ''}")
    for text, known in data["chances"].items():
        click.echo(f"  {known['odds']:.4g}  {_number(known['value']):>15}  {text}")


def _number(value: float) -> str:
    return f"{value:.12g}"


@tablebase.command()
@FOLDER
@OWN_GAME
@click.option("--layers", "each", is_flag=True, help="Also print each layer.")
@json_option()
def stats(folder: str, game: str | None, each: bool, as_json: bool) -> None:
    """Print the statistics of a tablebase: won, drawn and lost positions, the longest win."""
    _print_stats(_opened(folder, game), as_json, each)


def _print_stats(found: Tablebase, as_json: bool, each: bool) -> None:
    data = found.stats()
    layers = list(found.layers()) if each else []
    if as_json:
        click.echo(json.dumps({**data, "by_layer": layers} if each else data))
        return
    for name, value in data.items():
        if value is not None:
            text = f"{value:,}" if isinstance(value, int) else str(value)
            click.echo(f"{name.replace('_', ' '):18}{text}")
    for layer in layers:
        name = layer.pop("layer")
        click.echo(f"{name:20}{'  '.join(f'{key} {value:,}' for key, value in layer.items())}")


@tablebase.command()
@FOLDER
@OWN_GAME
@threads_option("Threads.  [default: one for each core]", default=None)
@json_option()
def verify(folder: str, game: str | None, threads: int | None, as_json: bool) -> None:
    """Check every entry against the entries that its moves lead to.

    The exit code is 2 if one is wrong.
    """
    found = _opened(folder, game)
    with progress_bar(1) as tell:
        result = found.verify(threads=threads or os.cpu_count() or 1, progress=tell)
    examples = [
        {"layer": layer, "index": index, "position": str(found.position_at(layer, index))}
        for layer, index in result.examples
    ]
    if as_json:
        data = {"compared": result.compared, "wrong": result.wrong, "examples": examples}
        click.echo(json.dumps(data))
    else:
        click.echo(f"{result.compared:,} entries compared, {result.wrong:,} wrong")
        for example in examples:
            click.echo(f"layer {example['layer']}, index {example['index']:,}:")
            click.echo(example["position"])
    if result.wrong:
        sys.exit(BAD_INPUT)


@tablebase.command()
@GAME
@json_option()
def layers(game: str, as_json: bool) -> None:
    """List the layers into which a game divides its positions."""
    from cutnode.tablebases.spaces import indexed

    loaded = cutnode.load_game(game)
    space = indexed(loaded.start())
    data = dict(zip(space.names, space.sizes, strict=True))
    if as_json:
        click.echo(json.dumps(data))
        return
    for name, size in data.items():
        click.echo(f"{name:20} {size:>16,}")
    click.echo(f"{'all':20} {sum(space.sizes):>16,}")


@tablebase.command()
@FOLDER
@OWN_GAME
def compress(folder: str, game: str | None) -> None:
    """Compress the files of a tablebase, where that saves at least an eighth.

    Compressed layers are not memory-mapped, but decompressed when the tablebase is opened.
    """
    from cutnode.tablebases.building import compress_tablebase

    if game is not None:
        cutnode.load_game(game)
    click.echo(f"{compress_tablebase(folder):,} bytes saved")


def _opened(folder: str, game: str | None) -> Tablebase:
    """Open a tablebase, after loading its game if one is named."""
    from cutnode.tablebases.tablebase import Tablebase

    loaded: Any = None if game is None else cutnode.load_game(game)
    found = Tablebase.open(folder)
    if loaded is not None:
        found.require(type(loaded.start()))
    return found
