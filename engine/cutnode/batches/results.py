"""The results of a batch, as arrays and as files: Parquet or JSON Lines."""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from cutnode.contract.dispatch import defines, game_constant, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_path
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.positions import Packed, as_words
from cutnode.contract.stop import CALLED, NODES, PLAYOUTS, RUNNING, TIME
from cutnode.contract.verbs import NO_MOVE
from cutnode.storage.files import writing
from cutnode.storage.frames import Tabular
from cutnode.storage.lines import positions_in
from cutnode.storage.parquet import pyarrow_modules

SOLVED = np.dtype(
    [
        ("lower", "<i4"),
        ("upper", "<i4"),
        ("move", "<i4"),  # NO_MOVE if not wanted, or if the game is over
        ("reason", "<i4"),
        ("nodes", "<i8"),
        ("seconds", "<f8"),
    ]
)
"""The row of a solved position."""

FOUND = np.dtype(
    [
        ("value", "<i4"),
        ("proven", "?"),
        ("move", "<i4"),
        ("depth", "<i4"),
        ("reason", "<i4"),
        ("nodes", "<i8"),
    ]
)
"""The row of a searched position."""

ROWS = {"solve": SOLVED, "search": FOUND}


def row_dtype(cls: Any, task: str, engine: str = "alphabeta") -> np.dtype[Any]:
    """Return the dtype of the rows of a batch.

    Rows of engines that may play playouts also have the root moves, and scores that are not
    rounded.  The arrays of root moves are padded with ``NO_MOVE`` and without visits.
    """
    if task == "solve" or engine == "alphabeta":
        return ROWS[task]
    most = game_constant(cls, "MAX_MOVES", 256)
    found: list[Any] = [field for field in FOUND.descr if field[0] != "value"]
    return np.dtype(
        [
            ("value", "<f8"),
            *found,
            ("playouts", "<i8"),
            ("win_rate", "<f8"),  # NaN without playouts
            ("root_moves", "<i4", (most,)),  # the best first; padded with NO_MOVE
            ("visits", "<i8", (most,)),
            ("values", "<f8", (most,)),  # scores of the root moves; NaN without playouts
        ]
    )


def require_whole_scores(cls: type) -> None:
    """Raise :class:`GameError` for a game of chance, whose scores are not integers as in rows."""
    if defines(cls, "chance"):
        raise GameError(f"{game_name(cls)} is a game of chance: batches are for other games")


REASONS = {
    CALLED: "not done",
    NODES: "node limit",
    TIME: "time limit",
    PLAYOUTS: "playout limit",
}
READ_APART = {"move", "reason", "win_rate", "root_moves", "visits", "values"}
"""The fields of rows that files store in another form."""

CODES = {text: code for code, text in REASONS.items()}


CHECKSUM = "checksum"
"""The key of the checksum of a JSON line."""

INSTEAD = ", or write .jsonl"
"""The alternative to installing pyarrow, for its error message."""


@dataclass(frozen=True, eq=False)
class BatchResult(Tabular):
    """The results of a batch: arrays with one element for each position.

    ``rows`` is a structured array with the fields of :func:`row_dtype`.
    """

    positions: Packed
    task: str
    rows: Any
    weak: bool
    seconds: float
    reason: str
    """Why the batch ended: ``done``, ``stopped`` or ``interrupted``."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def done(self) -> Any:
        """Flags of the positions that were processed; nothing is known of the others."""
        return self.rows["reason"] != CALLED

    @property
    def proven(self) -> Any:
        """Flags of the positions whose value is proven."""
        if self.task == "search":
            return self.rows["proven"]
        return self.rows["lower"] == self.rows["upper"]

    @property
    def values(self) -> Any:
        """The values for the mover: proven values, 0 where unproven; or the scores of searches."""
        if self.task == "search":
            return self.rows["value"]
        return np.where(self.proven, self.rows["lower"], 0)

    @property
    def moves(self) -> Any:
        """The best moves, ``NO_MOVE`` where there is none."""
        return self.rows["move"]

    @property
    def nodes(self) -> Any:
        """The nodes visited for each position."""
        return self.rows["nodes"]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield plain data for each position, in the game's notation."""
        for part in self._parts():
            names = list(part)
            for values in zip(*part.values(), strict=True):
                yield dict(zip(names, values, strict=True))

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns of :meth:`records`."""
        return self._columns(0, self.rows)

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``; the game and the task are in its metadata as ``cutnode``."""
        arrow, _ = pyarrow_modules(INSTEAD)
        return arrow.table(self.to_columns(), schema=self._schema(arrow))

    @property
    def has_playouts(self) -> bool:
        """Whether the engine played playouts, or may have."""
        return "playouts" in (self.rows.dtype.names or ())

    def _parts(self, size: int = 1 << 14) -> Iterator[dict[str, list[Any]]]:
        """Yield the columns in parts of *size* positions."""
        for start in range(0, len(self), size):
            yield self._columns(start, self.rows[start : start + size])

    def _columns(self, start: int, rows: Any) -> dict[str, list[Any]]:
        positions = list(self.positions[start : start + len(rows)])
        columns: dict[str, list[Any]] = {"position": [position_text(each) for each in positions]}
        if self.task == "solve":
            bounds = zip(rows["lower"].tolist(), rows["upper"].tolist(), strict=True)
            columns["value"] = [lower if lower == upper else None for lower, upper in bounds]
            columns["lower"], columns["upper"] = rows["lower"].tolist(), rows["upper"].tolist()
            proven = rows["lower"] == rows["upper"]
        else:
            columns["value"], columns["proven"] = rows["value"].tolist(), rows["proven"].tolist()
            columns["depth"] = rows["depth"].tolist()
            proven = rows["proven"]
        moves = zip(positions, rows["move"].tolist(), strict=True)
        columns["best_move"] = [None if m == NO_MOVE else move_text(p, m) for p, m in moves]
        if self.has_playouts:
            rates = rows["win_rate"].tolist()
            columns["win_rate"] = [None if math.isnan(rate) else rate for rate in rates]
            columns["playouts"] = rows["playouts"].tolist()
            columns["moves"] = list(map(_root_moves, positions, rows))
        columns["nodes"] = rows["nodes"].tolist()
        if self.task == "solve":
            columns["seconds"] = rows["seconds"].tolist()
        codes = zip(rows["reason"].tolist(), proven.tolist(), strict=True)
        columns["reason"] = [_reason(code, known) for code, known in codes]
        return columns

    def _about(self) -> dict[str, Any]:
        """Return the metadata: the game, the task, and of proofs whether they are weak."""
        weak = {"weak": self.weak} if self.task == "solve" else {}
        return {"game": game_name(type(self.positions.example)), "task": self.task, **weak}

    def json_lines(self) -> Iterator[str]:
        """Yield a JSON object for each position, as a line without its end."""
        about = self._about()
        for record in self.records():
            yield json.dumps(about | record)

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write a line for each position: a JSON object with its own checksum."""
        about = self._about()
        with writing(path) as file:
            for record in self.records():
                line = about | record
                file.write(json.dumps(line | {CHECKSUM: _checksum(line)}).encode() + b"\n")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table that :meth:`to_arrow` returns as a Parquet file."""
        arrow, parquet = pyarrow_modules(INSTEAD)
        schema = self._schema(arrow)
        with (
            writing(path) as file,
            parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer,
        ):
            for part in self._parts(1 << 16):
                writer.write_table(arrow.Table.from_pydict(part, schema))

    def _schema(self, arrow: Any) -> Any:
        """Return the Arrow schema: column types and metadata."""
        types = {
            "position": arrow.string(),
            "value": arrow.float64() if self.has_playouts else arrow.int32(),
            "lower": arrow.int32(),
            "upper": arrow.int32(),
            "proven": arrow.bool_(),
            "depth": arrow.int32(),
            "best_move": arrow.string(),
            "win_rate": arrow.float64(),
            "playouts": arrow.int64(),
            "moves": arrow.list_(
                arrow.struct(
                    {"move": arrow.string(), "visits": arrow.int64(), "value": arrow.float64()}
                )
            ),
            "nodes": arrow.int64(),
            "seconds": arrow.float64(),
            "reason": arrow.dictionary(arrow.int32(), arrow.string()),
        }
        names = self._columns(0, self.rows[:0])
        about = {b"cutnode": json.dumps(self._about()).encode()}
        return arrow.schema([(name, types[name]) for name in names], metadata=about)


def read_results(path: str | os.PathLike[str]) -> BatchResult:
    """Read the results of a batch from a file that ``to_parquet`` or ``to_jsonl`` wrote.

    The game must have a name or a module.  :class:`CutnodeError` if the file has no results or is
    damaged; Parquet pages and JSON lines have checksums.
    """
    path = require_path(path, "a file of results")
    try:
        if path.endswith(".parquet"):
            about, records = _read_parquet(path)
        else:
            with open(path, encoding="utf-8") as file:
                records = _sound([json.loads(line) for line in file])
            about = records[0] if records else {}
        task = about["task"]
        game = load_game(about["game"])
        positions = [game.parse(record["position"]) for record in records]
        engine = "mcts" if records and "playouts" in records[0] else "alphabeta"
        rows = np.zeros(len(records), row_dtype(type(game.start()), task, engine))
        for row, position, record in zip(rows, positions, records, strict=True):
            for name in rows.dtype.names or ():
                if name not in READ_APART:
                    row[name] = record[name]
            text = record["best_move"]
            parse_move = notation_of(type(position)).parse_move
            row["move"] = NO_MOVE if text is None else parse_move(position, text)
            row["reason"] = CODES.get(record["reason"], RUNNING)
            if engine == "mcts":
                rate = record["win_rate"]
                row["win_rate"] = math.nan if rate is None else rate
                set_root_moves(
                    row,
                    [
                        (parse_move(position, each["move"]), each["visits"], each["value"])
                        for each in record["moves"]
                    ],
                )
        return BatchResult(
            Packed.of(positions), task, rows, bool(about.get("weak")), 0.0, "read from a file"
        )
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} has no results of a batch: it is not text") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        if isinstance(error, CutnodeError):
            raise
        raise CutnodeError(f"{path} has no results of a batch: {error!r}") from None


def _read_parquet(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the metadata of a Parquet file, and a record for each position."""
    arrow, parquet = pyarrow_modules(INSTEAD)
    try:
        table = parquet.read_table(path, page_checksum_verification=True)
        about = json.loads((table.schema.metadata or {}).get(b"cutnode", b"{}"))
        return about, table.to_pylist()
    except (arrow.ArrowException, NotImplementedError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        reason = str(error).partition("\n")[0]
        raise CutnodeError(f"{path} has no results of a batch: {reason}") from None


def _sound(records: list[Any]) -> list[dict[str, Any]]:
    """Return the records without checksums; :class:`ValueError` names the first damaged line.

    Either all lines have a checksum or, in files that other programs wrote, none.
    """
    checked = any(CHECKSUM in record for record in records)
    for number, record in enumerate(records, 1):
        if checked and record.pop(CHECKSUM, None) != _checksum(record):
            raise ValueError(f"line {number} is damaged")
    return records


def _checksum(record: dict[str, Any]) -> str:
    """Return the CRC-32 of a record's JSON, without the checksum itself."""
    return f"{crc32(json.dumps(record).encode()):08x}"


def set_root_moves(row: Any, moves: Sequence[tuple[int, int, float | None]]) -> None:
    """Set the root moves of a row, each with its visits and score."""
    row["root_moves"] = NO_MOVE
    for at, (move, visits, value) in enumerate(moves):
        row["root_moves"][at], row["visits"][at] = move, visits
        row["values"][at] = math.nan if value is None else value


def _root_moves(position: Any, row: Any) -> list[dict[str, Any]]:
    """Return the root moves of a row as plain data."""
    figures = zip(*(row[name].tolist() for name in ("root_moves", "visits", "values")), strict=True)
    return [
        {
            "move": move_text(position, move),
            "visits": visits,
            "value": None if math.isnan(value) else value,
        }
        for move, visits, value in figures
        if move != NO_MOVE
    ]


def _reason(code: int, proven: bool) -> str:
    return "proven" if proven else REASONS.get(code, "depth limit")


def read_positions(
    game: Game, lines: Iterable[str], source: str = "the text", skipped: list[str] | None = None
) -> Packed:
    """Read positions from lines of text, packing each at once so that millions fit in memory.

    Text after a ``;``, blank lines, and lines that begin with ``#`` are ignored.
    :class:`PositionError` names the line of *source* that is wrong; if *skipped* is a list, it
    receives these messages instead, and the lines are skipped.
    """
    words: Any = None
    example: Any = None
    for _, position in positions_in(game, lines, source, skipped):
        if example is None:
            example, words = position, [] if is_plain(type(position)) else array("Q")
        words.extend(as_words([position]))
    return Packed(words if isinstance(words, list) else np.frombuffer(words, np.uint64), example)
