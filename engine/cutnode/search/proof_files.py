"""Files of proofs: strategies as JSON lines, read back as what the rules alone can verify."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cutnode.contract.collection import game_names
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError, require_iterable, require_path, shown
from cutnode.contract.loading import Game, load_game
from cutnode.search.proofs import Proof
from cutnode.search.value_proofs import ValueProof
from cutnode.storage.files import write_whole

FORM = "cutnode_proof"
VERSION = 1
"""The key that marks a proof of a value, and the version of its form."""


def save_proofs(path: str | os.PathLike[str], proofs: Sequence[ValueProof]) -> None:
    """Write proofs of values to a file, a line of JSON each; it appears complete or not at all.

    Each is verified as it will be read; :class:`CutnodeError` if one is wrong.
    """
    lines = []
    for proof in require_iterable(proofs, "proofs"):
        if not isinstance(proof, ValueProof):
            raise CutnodeError(f"proofs to save are what write_proof returns, not {shown(proof)}")
        data = proof.to_dict()
        ValueProof.from_dict(data, Game.of(proof.position)).verify()
        lines.append(json.dumps({FORM: VERSION} | data))
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def read_proofs(path: str | os.PathLike[str], game: Game | None = None) -> list[ValueProof | Proof]:
    """Read the proofs in a file that :func:`save_proofs` or ``cutnode solve --proof`` wrote.

    Or those of wins in what ``cutnode mate --proof --json`` printed.  They are read, not checked:
    see their ``verify()``.  *game* has to be given if it is none of those that come with cutnode;
    :class:`CutnodeError` if it is another one, or if the file is damaged.
    """
    path = require_path(path, "a file of proofs")
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} holds no proof: it is not text") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found += _read(line, game)
            except CutnodeError as error:
                raise CutnodeError(f"{path}, line {number}: {error}") from None
    if not found:
        raise CutnodeError(f"{path} holds no proof")
    return found


def _read(line: str, game: Game | None) -> list[ValueProof | Proof]:
    """Return the proof in a line; none if it says that there is no win."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise CutnodeError("this is no JSON, or it is cut off") from None
    if not isinstance(data, dict) or (FORM not in data and data.get("verb") != "mate"):
        raise CutnodeError("this is no proof of cutnode")
    if data.get(FORM, VERSION) != VERSION:
        raise CutnodeError(f"this form of proofs is {data[FORM]!r}, and {VERSION} is known here")
    found = _game(data.get("game"), game)
    try:
        if FORM in data:
            return [ValueProof.from_dict(data, found)]
        proof = data["details"]["proof"]
        return [] if proof is None else [Proof.from_dict(proof, found)]
    except CutnodeError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise CutnodeError("the proof is damaged") from None


def _game(name: Any, given: Game | None) -> Game:
    """Return the game of a proof; code in other files is run only if a person names it."""
    if given is not None:
        mine = game_name(type(given.start()))
        if mine != name:
            raise CutnodeError(f"this is a proof of {name}, not of {mine}")
        return given
    if not isinstance(name, str) or name.partition(":")[0] not in game_names():
        raise CutnodeError(f"this is a proof of {name}, which does not come with cutnode: name it")
    return load_game(name)
