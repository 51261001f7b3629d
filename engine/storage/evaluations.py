"""Files of learned evaluations, and which evaluation a search uses.

Weights that ``cutnode train`` installed lie beside the game's module, ``GAME.weights`` or
``GAME-VARIANT.weights``, and are the game's usual evaluation from then on; its own ``evaluate`` is
called ``own``.  A file is refused if it is damaged, or was made for another game, board or encoding
of positions.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.contract.dispatch import game_name, module_of
from engine.contract.errors import GameError
from engine.contract.loading import is_in_file, named_in_file
from engine.contract.notation import board_of
from engine.kernels.evaluation import OWN, AnyEvaluation, Evaluation, evaluation_of
from engine.kernels.learned import Learned
from engine.kernels.networks import Inputs, Network
from engine.kernels.optionality import Optionality
from engine.kernels.patterns import Patterns, Shape
from engine.storage.arrays import read_arrays, write_arrays

__all__ = [
    "SUFFIX",
    "chosen_evaluation",
    "evaluation_recipe",
    "installed_file",
    "installed_weights",
    "load_evaluation",
    "save_evaluation",
]

KIND = b"cutnode evaluation\n"
SUFFIX = ".weights"
OWN_NAME = "own"


def save_evaluation(
    path: str | os.PathLike[str], learned: Learned, recipe: Mapping[str, Any]
) -> None:
    """Write a learned evaluation to a file, and the *recipe* by which it was made."""
    arrays = learned.arrays
    about = {
        "game": game_name(learned.cls),
        "fields": _fields(learned.cls),
        "board": _board(learned.cls),
        "kind": learned.kind,
        "shape": learned.shape._asdict(),
        "sizes": {name: list(array.shape) for name, array in arrays.items()},
        "recipe": dict(recipe),
    }
    flat = {name: array.reshape(-1) for name, array in arrays.items()}
    write_arrays(path, KIND, about, flat)


def load_evaluation(path: str | os.PathLike[str], cls: Any) -> Learned:
    """Read a learned evaluation for a position class; :class:`GameError` if it is none for it."""
    try:
        when = os.stat(path).st_mtime_ns
    except OSError as error:
        raise GameError(f"{path} cannot be read: {error.strerror}") from None
    return _loaded(os.fspath(path), when, cls)


@functools.lru_cache(8)
def _loaded(path: str, when: int, cls: Any) -> Learned:
    about, arrays = read_arrays(path, KIND, GameError, map=False)
    wanted = game_name(cls), _fields(cls)
    if (about["game"], about["fields"]) != wanted:
        raise GameError(
            f"{path} has weights for {about['game']} (positions of {', '.join(about['fields'])}), "
            f"not for {wanted[0]} ({', '.join(wanted[1])})"
        )
    if about["board"] != _board(cls):
        raise GameError(f"{path} has weights for another board than {wanted[0]} has now")
    learned, shape = SHAPES[about["kind"]]
    about["shape"]["fields"] = tuple(about["shape"]["fields"])
    if "terms" in about["shape"]:
        about["shape"]["terms"] = tuple(map(tuple, about["shape"]["terms"]))
    shaped = {name: array.reshape(about["sizes"][name]) for name, array in arrays.items()}
    found: Learned = learned(cls, shape(**about["shape"]), **shaped)
    return found


SHAPES: dict[str, tuple[Any, Any]] = {
    Patterns.kind: (Patterns, Shape),
    Network.kind: (Network, Inputs),
}
"""The classes of learned evaluations, and of their shapes."""


def evaluation_recipe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return how the weights of a file were made."""
    recipe: dict[str, Any] = read_arrays(path, KIND, GameError, map=True)[0]["recipe"]
    return recipe


def _fields(cls: Any) -> list[str]:
    return list(getattr(cls, "_fields", ()))


def _board(cls: Any) -> list[Any]:
    """What a board has to have in common with the one for which weights were learned."""
    board = board_of(cls)
    return [] if board is None else [[list(place) for place in board.places], list(board.contents)]


def installed_file(cls: Any) -> Path | None:
    """The place beside the game of a position class for its weights; None if it is in no file."""
    module = module_of(cls)
    if not getattr(module, "__file__", None):
        return None
    file = Path(str(module.__file__))
    place = file.parent if file.name == "__init__.py" else file
    variant = re.sub(r"[^\w.]+", "-", getattr(cls, "VARIANT", ""))
    return place.with_name(place.stem + (f"-{variant}" if variant else "") + SUFFIX)


def installed_weights(cls: Any) -> Path | None:
    """The file of the weights that are installed for a position class; None if there are none."""
    file = installed_file(cls)
    return file if file is not None and file.exists() else None


def chosen_evaluation(cls: Any, chosen: AnyEvaluation) -> Evaluation | Optionality | Learned:
    """The evaluation that a user means.

    None is what was learned for the game, if weights are installed, and else its ``evaluate``,
    which is always ``"own"``.  A name that ends in ``.weights`` is a file of weights, and
    ``my_file.py:centre`` a function in a file of the user's; all else is as
    :func:`~engine.kernels.evaluation.evaluation_of` has it.
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
