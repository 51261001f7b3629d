"""The command ``cutnode puzzles``."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import EPILOG, NOT_PROVEN, interrupted
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    GAME,
    PROGRESS,
    integer,
    nodes_option,
    option,
    out_option,
    seconds_option,
    seed_option,
    tablebase_option,
)
from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import check_file, decoded, write_whole

if TYPE_CHECKING:
    from cutnode.contract.loading import Game

LINES, EPD, PAGE = ENDINGS = ".jsonl", ".epd", ".html"
"""The endings of files that puzzles can be written to."""

PROOF_NODES = 100_000  # of cutnode.explaining.puzzles, which takes a while to import


@click.command(epilog=EPILOG)
@GAME
@integer("--count", "Find N puzzles.", default=10)
@option(
    "--records",
    "Take positions from the games in PATH, a game file or a folder of them, instead of from games "
    "of the engine against itself.",
    metavar="PATH",
    shell_complete=complete_file,
)
@out_option(
    "Write to FILE.jsonl, FILE.html or (chess) FILE.epd; repeatable. JSON Lines are written as "
    "puzzles are found; if FILE.jsonl exists, resume from it.  [default: JSON Lines to standard "
    "output]",
    multiple=True,
)
@seed_option("Random seed of the games.")
@nodes_option("Node limit of the proofs for each position.", default=PROOF_NODES)
@seconds_option("Time limit of the proofs for each position, in seconds.")
@tablebase_option()
@PROGRESS
def puzzles(
    game: str,
    count: int,
    out: tuple[str, ...],
    told: bool,
    **options: Any,
) -> None:
    """Find positions in which exactly one move keeps the result, and it is not the obvious one.

    Every puzzle is proven: by the values of all moves, or in games too large for that, such as
    chess, by a search for wins within 2 to 4 moves. The grade says how many nodes a search needs to
    find the solution.

    Example: cutnode puzzles chess --count 20 --out puzzles.jsonl --out puzzles.html
    """
    files = files_in(out)
    chosen = cutnode.load_game(game)
    epd = epd_of(chosen) if EPD in files else None
    found = read_found(files[LINES], chosen)[:count] if LINES in files else []
    stopped = False
    try:
        if len(found) < count:
            with progress_bar(count, labelled=True, told=told) as tell:
                search(game, found, files.get(LINES), not files, tell, count, options)
    except KeyboardInterrupt:
        stopped = True
    if epd is not None:
        lines = (epd_line(epd, chosen, data) for data in found)
        write_whole(files[EPD], "".join(f"{line}\n" for line in lines).encode())
    if PAGE in files:
        from cutnode.explaining.puzzle_page import puzzle_page

        write_whole(files[PAGE], puzzle_page(chosen, found).encode())
    if stopped:
        interrupted(found=True)
    if len(found) < count:
        click.echo(f"cutnode: found {len(found):,} of {count:,} puzzles", err=True)
        sys.exit(NOT_PROVEN)


def search(
    game: str,
    found: list[dict[str, Any]],
    file: str | None,
    printed: bool,
    tell: Any,
    count: int,
    options: dict[str, Any],
) -> None:
    """Find the puzzles that are missing; write each to a file, or print it, at once."""
    from cutnode.explaining.puzzles import find_puzzles

    before = len(found)
    chosen = cutnode.load_game(game)
    known = [(chosen.parse(data["position"]), data["source"]) for data in found]
    for puzzle in find_puzzles(
        game,
        count - before,
        known=known,
        progress=lambda source, more: tell(before + more, label=source),
        **options,
    ):
        data = puzzle.to_dict()
        found.append(data)
        if file is not None:
            with open(file, "a", encoding="utf-8") as lines:
                lines.write(f"{json.dumps(data)}\n")
        elif printed:
            click.echo(json.dumps(data))
        tell(len(found), label=puzzle.source)


def files_in(out: tuple[str, ...]) -> dict[str, str]:
    """Return the files to write by their endings; check each before anything is computed."""
    files: dict[str, str] = {}
    for file in out:
        ending = Path(file).suffix
        if ending not in ENDINGS:
            raise CutnodeError(f"a file of puzzles must end in {', '.join(ENDINGS)}, got {file}")
        if ending in files:
            raise CutnodeError(f"--out names two {ending} files: {files[ending]} and {file}")
        check_file(file)
        files[ending] = file
    return files


def read_found(file: str, game: Game) -> list[dict[str, Any]]:
    """Return the puzzles in a file of JSON Lines, without a line that a crash cut off."""
    path = Path(file)
    if not path.exists():
        return []
    try:
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            write_whole(path, whole)
    except OSError as error:
        raise CutnodeError(f"{file} cannot be read: {error.strerror}") from None
    return puzzles_of(whole, file, game)


def read_puzzles(file: str, game: Game) -> list[dict[str, Any]]:
    """Return the puzzles of a game in a file of JSON Lines."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise CutnodeError(f"{file} cannot be read: {error.strerror}") from None
    return puzzles_of(data.rstrip() + b"\n", file, game)


def puzzles_of(whole: bytes, file: str, game: Game) -> list[dict[str, Any]]:
    """Return the puzzles of a game in the content of a file, whose lines end in line feeds."""
    found = []
    for number, line in enumerate(decoded(whole).split("\n")[:-1], 1):
        try:
            puzzle = json.loads(line)
            said = puzzle["game"]
            game.parse(puzzle["position"]), str(puzzle["source"])
        except (ValueError, TypeError, KeyError, CutnodeError):
            raise CutnodeError(
                f"{file}, line {number}: this is no puzzle of {game.source}"
            ) from None
        if said != game.source:
            raise CutnodeError(f"{file}, line {number}: a puzzle of {said}, not {game.source}")
        found.append(puzzle)
    return found


def epd_of(game: Game) -> Any:
    """Return the module that writes a game's EPD; :class:`CutnodeError` if it has none."""
    name = f"{game.module.__name__}.epd"
    if not hasattr(game.module, "__path__") or importlib.util.find_spec(name) is None:
        raise CutnodeError(f"{game.name} has no EPD: write to a file that ends in {LINES}")
    return importlib.import_module(name)


def epd_line(epd: Any, game: Game, puzzle: dict[str, Any]) -> str:
    """Return a puzzle as EPD: the solution (``bm``), the line, the moves to mate, and comments."""
    operations = {"bm": (puzzle["solution"],), "pv": tuple(puzzle["line"])}
    if puzzle["within"] is not None:
        operations["dm"] = (str(puzzle["within"]),)
    operations["id"] = (f"{puzzle['source']}, ply {puzzle['ply']}",)
    comments = (puzzle["goal"], puzzle["grade"], *puzzle["hints"])
    operations |= {f"c{number}": (text,) for number, text in enumerate(comments)}
    return str(epd.Record(game.parse(puzzle["position"]), operations))
