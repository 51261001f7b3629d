"""Labelled positions in files, so that a training can continue from an earlier one.

A folder has a Parquet file for each generation, ``games-0001-DIGEST.parquet`` and so on, which
appears complete or not at all; trainings that share a folder overwrite nothing.  Its columns are
the words of the packed position (``word_0``, ``word_1``, ...), the ``score`` of the search, the
``result`` of the game, the number of the ``game``, and the ``expected`` odds to win, or points.
Its metadata has, under ``cutnode``, the game, a digest of its rules, and the settings of the games.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError
from cutnode.contract.positions import words_each
from cutnode.storage.arrays import rules_digest
from cutnode.storage.files import check_file, writing
from cutnode.storage.parquet import pyarrow_modules
from cutnode.training.games import Labelled

MOST_FILES = 32
"""The most files to read: the ones of the last generations."""


def prepare_folder(folder: str | os.PathLike[str]) -> None:
    """Create a folder if it does not exist; :class:`CutnodeError` if it cannot be written to."""
    if Path(folder).is_file():
        raise CutnodeError(f"{folder} is a file: games are kept in a folder")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CutnodeError(f"{folder} cannot be made: {error.strerror}") from None
    check_file(Path(folder) / "games")


def as_kept(cls: Any, played: Labelled) -> Labelled:
    """Return positions with numbers as precise as in files, so that fits to both are the same."""
    number = np.float32 if defines(cls, "chance") else np.int32
    return replace(
        played,
        scores=played.scores.astype(number),
        results=played.results.astype(number),
        games=played.games.astype(np.int32),
        expected=played.expected.astype(np.float32),
    )


def digest_of(played: Labelled) -> str:
    """Return a digest of positions and their labels."""
    digest = blake2b(digest_size=16)
    for part in (played.words, played.scores, played.results, played.games, played.expected):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def write_games(
    folder: str | os.PathLike[str], cls: Any, played: Labelled, recipe: Mapping[str, Any]
) -> Path:
    """Write the positions of a generation to the next file of a folder.

    :class:`GameError` if the rules of the game are not in a file, or were changed since this
    process began.
    """
    arrow, parquet = pyarrow_modules()
    place = Path(folder)
    files = _files(place)
    kept = as_kept(cls, played)
    number = _number(files[-1]) + 1 if files else 1
    path = place / f"games-{number:04}-{digest_of(kept)[:8]}.parquet"
    columns = {f"word_{n}": kept.words[:, n] for n in range(words_each(cls))}
    columns |= {
        "score": kept.scores,
        "result": kept.results,
        "game": kept.games,
        "expected": kept.expected,
    }
    about = {"game": game_name(cls), "fields": list(cls._fields), "rules": rules_digest(cls, ())}
    about |= recipe
    table = arrow.table({name: arrow.array(column) for name, column in columns.items()})
    table = table.replace_schema_metadata({b"cutnode": json.dumps(about).encode()})
    with writing(path) as file:
        parquet.write_table(table, file, compression="zstd")
    return path


def read_games(
    folder: str | os.PathLike[str], cls: Any, most: int | None = MOST_FILES
) -> list[tuple[Labelled, dict[str, Any]]]:
    """Read the last files of a folder, at most *most*, with their recipes.

    A recipe also has the name of its ``file``.  The list is empty if there is no such folder.
    :class:`CutnodeError` if a file is damaged, or about another game or other rules.
    """
    _, parquet = pyarrow_modules()
    found = []
    files = _files(Path(folder))
    for path in files if most is None else files[-most:]:
        try:
            table = parquet.read_table(path)
            about = json.loads((table.schema.metadata or {})[b"cutnode"])
            wanted = game_name(cls), list(cls._fields)
            if (about["game"], about["fields"]) != wanted:
                raise CutnodeError(f"{path} has positions of {about['game']}, not of {wanted[0]}")
            if "rules" in about and about["rules"] != rules_digest(cls, ()):
                raise CutnodeError(
                    f"{path} was played by other rules of {wanted[0]} than those that run: "
                    f"name another folder"
                )
            words = [table[f"word_{n}"].to_numpy() for n in range(words_each(cls))]
            names = ("score", "result", "game", "expected")
            played = Labelled(np.stack(words, axis=1), *(table[name].to_numpy() for name in names))
        except CutnodeError:
            raise
        except Exception as error:  # pyarrow raises many kinds
            raise CutnodeError(f"{path} holds no games to learn from: {error}") from None
        found.append((played, about | {"file": path.name}))
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("games-*-*.parquet"), key=_number)


def _number(path: Path) -> int:
    number = path.name.split("-")[1]
    return int(number) if number.isdecimal() else 0
