"""The check of a game: random games, and all properties of their positions.

:func:`check` plays random games with the rules as plain Python, and checks each property on
the positions met.  Near the end of games, where minimax over the verbs alone is affordable,
it knows the true values, and so checks what a game claims about values.  If all of this
passes, it compares the compiled kernels with the same rules in plain Python.

An exception is reported for the verb that raises it, unless there are complaints about that
verb, which explain it.  An exception that no verb raises is reported only if nothing else was
found.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cutnode.conformance.compiled import COMPILED, SEARCHES
from cutnode.conformance.findings import Finding, raised
from cutnode.conformance.numbering import NUMBERING
from cutnode.conformance.rules import RULES
from cutnode.conformance.sample import Sample
from cutnode.conformance.summary import Summary
from cutnode.conformance.sums import SUMS
from cutnode.conformance.suspicions import suspicions
from cutnode.conformance.symmetry import SYMMETRY
from cutnode.conformance.texts import TEXTS
from cutnode.conformance.turns import TURNS, odds_complaints
from cutnode.conformance.values import VALUES
from cutnode.contract.derived import end_of, wrong_answers
from cutnode.contract.dispatch import REQUIRED, VERBS, game_constant, module_of, runs_plainly
from cutnode.contract.errors import ContractError
from cutnode.contract.guarding import ChangedPositionError, guarding
from cutnode.contract.loading import Game
from cutnode.contract.notation import FOR_PEOPLE
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import MOVES_ROOM, chance, moves, outcome

TOGETHER = (
    *(("chance", "chance_outcome"), ("chance_outcome", "chance")),
    ("original_move", "canonical_move"),
    *(("index", "position_at"), ("position_at", "index")),
    *(("retreats", "retreat"), ("retreats", "index")),
    *(("parts", "part"), ("part", "parts"), ("part_key", "parts")),
    ("asymmetry", "parts"),
)
"""Verbs that mean nothing without another, as (verb, other)."""


@dataclass(frozen=True)
class Report:
    """The results of a check."""

    findings: list[Finding]
    """The breaches of the contract; none if the game conforms."""
    warnings: list[Finding] = field(default_factory=list)
    """Likely mistakes that no rule forbids."""
    summary: Summary | None = None
    """A summary of the random games; None if the check could not make one."""


def check(game: Game, *, games: int = 20, seed: int = 0, compile: bool = True) -> list[Finding]:
    """Return the breaches of the contract seen in random *games*; empty if the game conforms.

    Without *compile*, only the rules are checked, as plain Python, which takes a second or two
    instead of ten.
    """
    return examine(game, games=games, seed=seed, compile=compile).findings


def examine(game: Game, *, games: int = 20, seed: int = 0, compile: bool = True) -> Report:
    """Return the findings of :func:`check`, warnings, and a summary of the random games."""
    findings = list(_declarations(game)) or list(_beginnings(game))
    if findings:
        return Report(findings)
    with guarding():
        sample = Sample(game, Random(seed))
        for number in range(games):
            sample.play_game(reluctant=number % 2 == 1)
        sample.ask([*RULES, *TEXTS, *TURNS, *VALUES, *SYMMETRY, *NUMBERING, *SUMS])
        if compile and not sample.found() and not runs_plainly(game.module):
            sample.ask(COMPILED)
        if compile and not sample.found():
            sample.ask(SEARCHES)
        found = sample.found()
        if sample.changed:
            return Report(found)
        try:
            return Report(found, suspicions(sample), Summary.of(sample))
        except Exception:
            if found:  # rules that fail cannot be summed up
                return Report(found)
            raise


def _declarations(game: Game) -> Iterator[Finding]:
    """Yield verbs that are missing, or whose parameters are not the contract's."""
    module = game.module

    def defined(name: str) -> bool:
        return callable(getattr(module, name, None))

    for name in sorted(REQUIRED):
        if not defined(name):
            yield Finding(name, "", "is not defined")
    for name, other in TOGETHER:
        if defined(name) and not defined(other):
            yield Finding(other, "", f"is not defined, but {name} is")
    if defined("position_text") and not (defined("parse_position") or defined("from_cells")):
        yield Finding("parse_position", "", "is not defined, but position_text is")
    for name, verb in VERBS.items():
        rule = getattr(module, name, None)
        if inspect.iscoroutinefunction(rule):
            yield Finding(name, "", "it is async: write def instead of async def")
        parameters = list(inspect.signature(verb).parameters)
        if callable(rule) and len(inspect.signature(rule).parameters) != len(parameters):
            yield Finding(name, "", f"the contract is {name}({', '.join(parameters)})")
    for name, given in FOR_PEOPLE.items():
        rule = getattr(module, name, None)
        if callable(rule):
            try:
                inspect.signature(rule).bind(*given)
            except TypeError:
                yield Finding(name, "", f"the contract is {name}({', '.join(given)})")


def _beginnings(game: Game) -> Iterator[Finding]:
    """Yield faults of the first position itself."""
    try:
        position = game.start()
        coerce(position)
    except Exception as error:
        yield Finding("start", "", raised(error))
        return
    if module_of(type(position)) is not game.module:
        yield Finding("start", "", f"{type(position)!r} is not defined in {game.module.__name__}")
        return
    yield from _answers(position)


def _answers(position: Any) -> Iterator[Finding]:
    """Yield a rule whose answer at the start no search can use."""
    try:
        if wrong := next(wrong_answers(position), None):
            yield Finding(wrong[0], "", wrong[1])
        elif not outcome(position)[0] and not chance(position):
            room = game_constant(type(position), "MAX_MOVES", 256) + MOVES_ROOM
            end_of(position, moves(position, [0] * room, 0))
        elif wrong_odds := next(odds_complaints(position), ""):
            yield Finding("chance", "", wrong_odds)
    except ChangedPositionError as error:
        yield Finding(error.verb, "", error.change)
    except ContractError as error:
        yield Finding("moves", "", str(error))
    except Exception:  # the properties will tell more
        return
