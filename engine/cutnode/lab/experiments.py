"""The experiments by the names of their studies, so that a study can be repeated and drawn."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.lab.study import Progress, Study, no_progress

EXPERIMENTS = {
    "ablation": "cutnode.lab.ablation:ablation",
    "compare": "cutnode.lab.compare:compare",
    "depths": "cutnode.lab.depths:depths",
    "deviation": "cutnode.lab.deviation:deviation",
    "engines": "cutnode.lab.engines:engines",
    "minimal": "cutnode.lab.minimal:minimal_graph",
    "nodes": "cutnode.lab.nodes:nodes",
    "sweep": "cutnode.lab.sweep:sweep",
    "theory": "cutnode.lab.theory:theory",
    "tune": "cutnode.lab.tuning:tune",
}
"""The function of each experiment.

The settings of its studies are its arguments: the game by name, positions as texts, and the rest as
it is.  A function takes of ``game`` and ``positions`` what it has parameters for, and of ``start``
the first position; a ``draw`` beside it draws its studies.
"""

Draw = Callable[[Study, Any], None]
"""Draws a study on a figure of matplotlib, and sets its label: what a caption says is drawn."""


def drawing_of(study: Study) -> Draw | None:
    """Return what draws a study, if anything does."""
    module, _, _ = EXPERIMENTS.get(study.name, "").partition(":")
    return getattr(importlib.import_module(module), "draw", None) if module else None


def repeat(study: Study, progress: Progress = no_progress) -> Study:
    """Run the experiment of a study again; :class:`CutnodeError` says why that cannot be done."""
    if study.name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise CutnodeError(f"studies of {study.name!r} are not repeated; those of {known} are")
    module, _, name = EXPERIMENTS[study.name].partition(":")
    function: Callable[..., Study] = getattr(importlib.import_module(module), name)
    parameters = _parameters(function)
    options = dict(study.settings)
    if "game" in options:
        game = load_game(options.pop("game"))
        positions = [game.parse(text) for text in options.pop("positions", [])]
        given = {"game": game, "positions": positions, "start": (positions or [game.start()])[0]}
        options |= {name: value for name, value in given.items() if name in parameters}
    for name in options:
        if name not in parameters:
            raise CutnodeError(
                f"the study has a setting {name!r}, which {study.name} does not take"
            )
    for name, needed in parameters.items():
        if needed and name not in options:
            raise CutnodeError(f"the study lacks the setting {name!r}")
    return function(**options, progress=progress)


def _parameters(function: Callable[..., Study]) -> dict[str, bool]:
    """Return the names of a function's parameters, and whether it needs them."""
    found: dict[str, bool] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:  # Unpack of a TypedDict
            (options,) = get_args(get_type_hints(function)[parameter.name])
            found |= dict.fromkeys(get_type_hints(options), False)
        else:
            found[parameter.name] = parameter.default is parameter.empty
    return found
