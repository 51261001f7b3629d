"""The command ``cutnode review``."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import BAD_INPUT, interrupted
from cutnode.cli.inputs import read_lines
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    GAME,
    PROGRESS,
    integer,
    json_option,
    nodes_option,
    out_option,
    seconds_option,
    table_option,
    tablebase_option,
)
from cutnode.cli.output import json_line
from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import check_file, write_whole

if TYPE_CHECKING:
    from cutnode.contract.loading import Game
    from cutnode.explaining.judging import Judge
    from cutnode.explaining.reviews import Review
    from cutnode.playing.records import Recorded

REVIEWED = """
\b
GAME    as in `cutnode solve --help`.
RECORD  a file: .pgn (chess), .txt (a list of moves) or .json (a saved
        session of `cutnode play`); - for standard input; the moves
        themselves, as in `cutnode review connect4 "4 4 3"`; or a folder.

\b
Exit codes: 0 reviewed, 1 an unexpected failure, 2 bad input (the other
games of a folder are reviewed), 130 interrupted (what was reviewed is kept).
"""

FORMATS = "html", "record"
"""The formats of reviewed games in a folder, in addition to JSON."""


@click.command(epilog=REVIEWED)
@GAME
@click.argument("record", shell_complete=complete_file)
@nodes_option("Node limit per position.")
@seconds_option("Time limit per position, in seconds.  [default: 0.5 if there is no other limit]")
@integer("--turning-points", "Explain at most N turning points.", least=0, default=3)
@table_option(64)
@tablebase_option()
@out_option(
    "Also write the review to FILE: .html, .json, or an annotated record (.pgn, .txt). Repeatable. "
    "For a folder of records: the folder of the reviews.",
    multiple=True,
    show_default=False,
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    default=FORMATS[:1],
    show_default=True,
    help="For a folder: write pages, or annotated records. Repeatable.",
)
@PROGRESS
@json_option()
def review(
    game: str,
    record: str,
    turning_points: int,
    table_mb: int,
    tablebase: str | None,
    out: tuple[str, ...],
    formats: tuple[str, ...],
    told: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Review a game: marks, accuracy, turning points.

    Moves are marked ! (an only move that is not obvious), ?! (inaccuracy), ? (mistake or missed
    win) and ?? (blunder). A square marks other only moves. Values are proven where the limits
    allow it.

    For a folder, each game gets NAME.json and its --format; games with finished reviews are
    skipped, so an interrupted review is resumed by the same command.
    """
    from cutnode.explaining.judging import Judge

    loaded = cutnode.load_game(game)
    judge = Judge(loaded, table=table_mb, tablebase=tablebase)
    options = {"turning_points": turning_points, **limits}
    if Path(record).is_dir():
        if as_json:
            raise CutnodeError("a folder of games is reviewed into files: leave out --json")
        review_folder(loaded, game, Path(record), out, formats, judge, options, told=told)
        return
    for path in out:
        kind_of(path, loaded)
        check_file(path)
    recorded = read(loaded, game, record)
    with progress_bar(told=told) as tell:
        result = reviewed(recorded, record, judge, options, progress=tell)
    for path in out:
        write_whole(path, written(result, kind_of(path, loaded), {}).encode())
    if as_json:
        click.echo(json_of_review(result, record))
    else:
        click.echo(result)
    if not result.complete:
        interrupted(found=True)


def suffixes_of(game: Game) -> tuple[str, ...]:
    """Return the endings of records of a game."""
    return (*filter(None, [getattr(game.module, "RECORD_SUFFIX", "")]), ".txt")


def kind_of(path: str, game: Game) -> str:
    """Return the ending that says how to write a review: of pages, data or annotated records."""
    suffix, known = Path(path).suffix.lower(), (".html", ".json", *suffixes_of(game))
    if suffix not in known:
        raise CutnodeError(f"a review's file name must end in {', '.join(known)}, got {path}")
    return suffix


def read(game: Game, name: str, record: str) -> Recorded:
    """Read a record: a file, standard input, or moves."""
    from cutnode.playing.records import parse_record, read_record

    known = (*suffixes_of(game), ".json")
    if Path(record).suffix.lower() in known:
        return read_record(record, name)
    if record == "-" or Path(record).is_file():
        record, lines = read_lines(record)
        text = "\n".join(lines)
    elif hasattr(game.module, "parse_record"):
        text = record
    else:
        text = "\n".join(re.findall(r"chance \d+|\S+", record))
    try:
        return parse_record(text, name, game.module)
    except CutnodeError as error:
        raise CutnodeError(f"{record}: {error}") from None


def reviewed(
    recorded: Recorded, source: str, judge: Judge, options: dict[str, Any], **more: Any
) -> Review:
    """Review a game; errors begin with where it is from."""
    from cutnode.explaining.reviewing import board_of_game

    try:
        board_of_game(recorded)
    except CutnodeError as error:
        raise CutnodeError(f"{source}: {error}") from None
    return cutnode.review(recorded, judge=judge, **options, **more)


def written(review: Review, kind: str, about: dict[str, Any]) -> str:
    """Return the text of a file by its ending; JSON begins with the facts in *about*."""
    from cutnode.explaining.annotated import annotated
    from cutnode.explaining.pages import page

    if kind == ".html":
        return page(review)
    if kind == ".json":
        return json.dumps(about | review.to_dict(), indent=1) + "\n"
    return annotated(review, kind)


def json_of_review(review: Review, given: str) -> str:
    """Return the JSON of a review; all but the effort are details."""
    details = review.to_dict()
    effort = {name: details.pop(name) for name in ("nodes", "seconds", "reason")}
    return json_line("review", review.start, given, **effort, details=details)


# Folders


def review_folder(
    game: Game,
    name: str,
    folder: Path,
    out: tuple[str, ...],
    formats: tuple[str, ...],
    judge: Judge,
    options: dict[str, Any],
    *,
    told: bool,
) -> None:
    """Review all games of a folder that have no finished review, and print a summary."""
    from cutnode.explaining.reviews import aligned

    known = (*suffixes_of(game), ".json")
    records = sorted(file for file in folder.iterdir() if file.suffix.lower() in known)
    if not records:
        raise CutnodeError(f"{folder} has no records: files that end in {', '.join(known)}")
    if len(out) != 1 or Path(out[0]).resolve() == folder.resolve():
        raise CutnodeError("a folder of games needs --out FOLDER, another one, for the reviews")
    target = Path(out[0])
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise CutnodeError(f"{target} cannot be made: {error.strerror}") from None
    summaries, bad, ended = [], 0, False
    with progress_bar(len(records), labelled=True, told=told) as tell:
        for number, record in enumerate(records):
            tell(number, label=record.name)
            sha256 = hashlib.sha256(record.read_bytes()).hexdigest()
            about = {"file": record.name, "sha256": sha256, "options": options}
            own = record.name if record.suffix.lower() != ".json" else f"{record.name}.txt"
            names = {"html": f"{record.name}.html", "record": own}
            files = [target / names[kind] for kind in formats]
            data = target / f"{record.name}.json"
            facts = finished(data, about) if all(file.is_file() for file in files) else None
            if facts is None:
                try:
                    found = reviewed(read(game, name, str(record)), str(record), judge, options)
                except CutnodeError as error:
                    click.echo(f"cutnode: {' '.join(str(error).split())}", err=True)
                    bad += 1
                    continue
                if ended := not found.complete:
                    break
                for file in files:
                    write_whole(file, written(found, file.suffix.lower(), {}).encode())
                write_whole(data, written(found, ".json", about).encode())
                facts = about | found.to_dict()
            summaries.append(facts)
        tell(len(records))
    for line in aligned(summary(summaries)):
        click.echo(line)
    if ended:
        interrupted(found=True)
    if bad:
        sys.exit(BAD_INPUT)


def finished(path: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """Return the facts of a finished review of the same record by the same options, if any."""
    try:
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    same = isinstance(facts, dict) and all(facts.get(name) == about[name] for name in about)
    return facts if same else None


def summary(reviews: list[dict[str, Any]]) -> list[list[str]]:
    """Return a table of reviewed games, with a row of headings."""
    rows = [["game", "moves", "points", "accuracy", "", "?!", "?", "??"]]
    for facts in reviews:
        sides = facts["sides"]
        accuracies = ["-" if x["accuracy"] is None else f"{x['accuracy']:.1f} %" for x in sides]
        marks = ["/".join(str(x["marks"][mark]) for x in sides) for mark in ("?!", "?", "??")]
        result = "-" if facts["result"] is None else f"{facts['result']:g}"
        moves = str(sum(side["moves"] for side in sides))
        rows.append([facts["file"], moves, result, *accuracies, *marks])
    return rows
