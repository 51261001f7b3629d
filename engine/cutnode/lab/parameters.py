"""The parameters of techniques as a table: values, ranges, and where they were measured."""

from __future__ import annotations

from cutnode.contract.loading import Game
from cutnode.kernels.profiles import DEFAULT, profile_of
from cutnode.kernels.techniques import TECHNIQUES, parameters_of
from cutnode.lab.study import Column, Study

COLUMNS = (
    Column("parameter", "its name; `--set` and `parameters=` take it"),
    Column("value", "what searches use", "g"),
    Column("default", "what they use where a game does not choose", "g"),
    Column("range", "what it can be"),
    Column("unit", "UNIT: margins are in that of the game"),
    Column("about", "what it does; depths are plies left"),
    Column("measured", "what was measured of it"),
)


def parameters_study(game: Game | None = None) -> Study:
    """List the parameters of the engine's techniques, with the values of a *game*'s profile."""
    profile = DEFAULT if game is None else profile_of(type(game.start()))
    rows = [
        {
            "parameter": name,
            "value": profile.values.get(name, parameter.default),
            "default": parameter.default,
            "range": f"{parameter.least:,} to {parameter.most:,}",
            "unit": "UNIT" if parameter.margin else "",
            "about": parameter.about,
            "measured": parameter.measured,
        }
        for name, _, parameter in parameters_of(TECHNIQUES.values())
    ]
    settings = {} if game is None else {"game": game.source}
    return Study("parameters", "Parameters of techniques", settings, COLUMNS, rows)
