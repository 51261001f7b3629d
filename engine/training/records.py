"""Labelled positions in files, so that a training goes on where another ended.

A folder has a Parquet file for each generation, ``games-0001.parquet`` and so on, which appears
complete or not at all.  Its columns are the words of the packed position (``word_0``, ``word_1``,
...), the ``score`` of the search, the ``result`` of the game, the number of the ``game``, and what
was ``expected``: the odds to win, or points.  Its metadata has, under ``cutnode``, the game and how
the games were played.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.contract.dispatch import game_name
from engine.contract.errors import CutnodeError
from engine.contract.positions import words_each
from engine.storage.files import writing
from engine.storage.parquet import pyarrow_modules
from engine.training.games import Labelled

__all__ = ["read_games", "write_games"]


def write_games(
    folder: str | os.PathLike[str], cls: Any, played: Labelled, recipe: Mapping[str, Any]
) -> Path:
    """Write the positions of a generation to the next file of a folder, made if need be."""
    arrow, parquet = pyarrow_modules()
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CutnodeError(f"{folder} cannot be made: {error.strerror}") from None
    numbers = [int(path.stem.removeprefix("games-")) for path in _files(place)]
    path = place / f"games-{max(numbers, default=0) + 1:04}.parquet"
    columns = {f"word_{n}": played.words[:, n] for n in range(words_each(cls))}
    columns |= {
        "score": played.scores.astype(np.int32),
        "result": played.results.astype(np.int32),
        "game": played.games.astype(np.int32),
        "expected": played.expected.astype(np.float32),
    }
    about = {"game": game_name(cls), "fields": list(cls._fields), **recipe}
    table = arrow.table({name: arrow.array(column) for name, column in columns.items()})
    table = table.replace_schema_metadata({b"cutnode": json.dumps(about).encode()})
    with writing(path) as file:
        parquet.write_table(table, file, compression="zstd")
    return path


def read_games(folder: str | os.PathLike[str], cls: Any) -> list[tuple[Labelled, dict[str, Any]]]:
    """Read the files of a folder, with the recipe of each; none if there is no such folder.

    :class:`CutnodeError` if one is damaged, or of another game.
    """
    _, parquet = pyarrow_modules()
    found = []
    for path in _files(Path(folder)):
        try:
            table = parquet.read_table(path)
            about = json.loads((table.schema.metadata or {})[b"cutnode"])
            wanted = game_name(cls), list(cls._fields)
            if (about["game"], about["fields"]) != wanted:
                raise CutnodeError(f"{path} has positions of {about['game']}, not of {wanted[0]}")
            words = [table[f"word_{n}"].to_numpy() for n in range(words_each(cls))]
            names = ("score", "result", "game", "expected")
            played = Labelled(np.stack(words, axis=1), *(table[name].to_numpy() for name in names))
        except CutnodeError:
            raise
        except Exception as error:  # pyarrow has many of its own
            raise CutnodeError(f"{path} holds no games to learn from: {error}") from None
        found.append((played, about))
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("games-[0-9][0-9][0-9][0-9].parquet"))
