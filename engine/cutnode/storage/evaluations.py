"""Files of learned evaluations, and the choice of the evaluation for a search.

``cutnode train`` installs weights next to the game's module as ``GAME.weights`` or
``GAME-VARIANT.weights``; from then on they are the game's default evaluation, and its own
``evaluate`` is called ``own``.  A file is refused if it is damaged, or was made for another game,
board or encoding of positions, or for other rules: a few random games must go as they went when the
weights were written.  Comments, estimates and faster code do not matter.
"""

from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name, module_of
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.loading import Game, is_in_file, named_in_file
from cutnode.contract.notation import board_of
from cutnode.contract.verbs import chance, chance_outcome, outcome, play
from cutnode.kernels.evaluation import OWN, AnyEvaluation, Evaluation, evaluation_of
from cutnode.kernels.learned import Learned
from cutnode.kernels.networks import Inputs, Network
from cutnode.kernels.optionality import PRESETS, Optionality
from cutnode.kernels.patterns import Patterns, Shape
from cutnode.storage.arrays import read_arrays, write_arrays

KIND = b"cutnode evaluation\n"
SUFFIX = ".weights"
OWN_NAME = "own"
"""The name of a game's ``evaluate``, whatever is installed."""

GAMES, LONGEST = 3, 60
"""The number of random games that tell different rules apart, and the most plies of each: they
take a few milliseconds, in chess 80."""


def save_evaluation(
    path: str | os.PathLike[str], learned: Learned, recipe: Mapping[str, Any]
) -> None:
    """Write a learned evaluation to a file, with the *recipe* that made it."""
    arrays = learned.arrays
    about = {
        "game": game_name(learned.cls),
        "fields": _fields(learned.cls),
        "board": _board(learned.cls),
        "course": _course(learned.cls),
        "kind": learned.kind,
        "shape": learned.shape._asdict(),
        "sizes": {name: list(array.shape) for name, array in arrays.items()},
        "recipe": dict(recipe),
    }
    flat = {name: array.reshape(-1) for name, array in arrays.items()}
    write_arrays(path, KIND, about, flat)


def load_evaluation(path: str | os.PathLike[str], cls: Any) -> Learned:
    """Read a learned evaluation for a position class; :class:`GameError` if it does not fit."""
    try:
        when = os.stat(path).st_mtime_ns
    except OSError as error:
        raise GameError(f"{path} cannot be read: {error.strerror}") from None
    return _loaded(os.fspath(path), when, cls)


@functools.lru_cache(8)
def _loaded(path: str, when: int, cls: Any) -> Learned:
    about, arrays = read_arrays(path, KIND, GameError, map=False)
    wanted = game_name(cls), _fields(cls)
    try:
        if (about["game"], about["fields"]) != wanted:
            raise GameError(
                f"{path} has weights for {about['game']} (positions of "
                f"{', '.join(about['fields'])}), not for {wanted[0]} ({', '.join(wanted[1])})"
            )
        if about["board"] != _board(cls):
            raise GameError(f"{path} has weights for another board than {wanted[0]} has now")
        if "course" in about and about["course"] != _course(cls):
            raise GameError(
                f"{path} has weights for other rules of {wanted[0]} than those that run: train "
                f"again, delete the file, or play without the weights (--evaluation {OWN_NAME})"
            )
        found = _made(cls, about, arrays)
    except CutnodeError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):  # a header that this version lacks
        raise GameError(f"{path} cannot be read: made by another version of cutnode?") from None
    found.file = Path(path).name
    return found


def _made(cls: Any, about: dict[str, Any], arrays: dict[str, Any]) -> Learned:
    learned, shape = SHAPES[about["kind"]]
    values = dict(about["shape"])
    values["fields"] = tuple(values["fields"])
    if "terms" in values:
        values["terms"] = tuple(map(tuple, values["terms"]))
    shaped = {name: array.reshape(about["sizes"][name]) for name, array in arrays.items()}
    found: Learned = learned(cls, shape(**values), **shaped)
    return found


SHAPES: dict[str, tuple[Any, Any]] = {
    Patterns.kind: (Patterns, Shape),
    Network.kind: (Network, Inputs),
}
"""The classes of learned evaluations and of their shapes, by kind."""


def evaluation_recipe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the recipe that made the weights in a file."""
    recipe: dict[str, Any] = read_arrays(path, KIND, GameError, map=True)[0].get("recipe", {})
    return recipe


def _fields(cls: Any) -> list[str]:
    return list(getattr(cls, "_fields", ()))


def _board(cls: Any) -> list[Any]:
    """Return what weights depend on in a board: its places and their contents."""
    board = board_of(cls)
    return [] if board is None else [[list(place) for place in board.places], list(board.contents)]


@functools.cache
def _course(cls: Any) -> str:
    """Return a digest of a few random games by a class's rules: their positions and values.

    The choice of a move depends on the numbers of all legal moves, not on their order.
    """
    digest = blake2b(digest_size=8)
    start = Game.of(cls).start()
    for number in range(GAMES):
        chosen, position = random.Random(f"course {number}"), start
        for _ in range(LONGEST):
            over, value = outcome(position)
            seen = [each if isinstance(each, float) else int(each) for each in position]
            digest.update(repr((seen, bool(over), float(value))).encode())
            if over:
                break
            if chance(position):
                position = chance_outcome(position, chosen.randrange(chance(position)))[1]
            else:
                position = play(position, chosen.choice(sorted(legal_moves(position))))
    return digest.hexdigest()


def installed_file(cls: Any) -> Path | None:
    """Return the path for a position class's weights, next to its game; None if it has no file."""
    module = module_of(cls)
    if not getattr(module, "__file__", None):
        return None
    file = Path(str(module.__file__))
    place = file.parent if file.name == "__init__.py" else file
    variant = re.sub(r"[^\w.]+", "-", getattr(cls, "VARIANT", ""))
    return place.with_name(place.stem + (f"-{variant}" if variant else "") + SUFFIX)


def installed_weights(cls: Any) -> Path | None:
    """Return the file of weights installed for a position class; None if there is none."""
    file = installed_file(cls)
    return file if file is not None and file.exists() else None


def chosen_evaluation(cls: Any, chosen: AnyEvaluation) -> Evaluation | Optionality | Learned:
    """Return the evaluation that a user chose.

    None stands for installed weights, or for the game's ``evaluate`` if there are none; ``"own"``
    always is ``evaluate``.  A name that ends in ``.weights`` is a file of weights, and
    ``my_file.py:centre`` is a function in a user's file.
    :func:`~cutnode.kernels.evaluation.evaluation_of` handles all other names.
    """
    if chosen is None:
        file = installed_weights(cls)
        return OWN if file is None else load_evaluation(file, cls)
    if isinstance(chosen, str):
        if chosen == OWN_NAME:
            return OWN
        if chosen.endswith(SUFFIX):
            return load_evaluation(chosen, cls)
        if is_in_file(chosen):
            chosen = named_in_file(chosen, "the evaluation")
    return evaluation_of(cls, chosen)


def evaluation_text(cls: Any, evaluation: Evaluation | Optionality | Learned) -> str:
    """Describe the evaluation that a search of a position class uses."""
    if isinstance(evaluation, Learned):
        return f"weights of {evaluation.file}" if evaluation.file else "learned weights"
    if isinstance(evaluation, Optionality) and evaluation not in PRESETS.values():
        return "features with weights"
    if evaluation.name is not None:
        return evaluation.name
    return "the game's own estimate" if defines(cls, "evaluate") else "no estimate"
