"""Suspicions: things that no rule forbids, but that are mostly mistakes."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any

from cutnode.conformance.findings import Finding
from cutnode.conformance.sample import Line, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import VERBS, defines
from cutnode.contract.guarding import attributes_of
from cutnode.contract.notation import FOR_PEOPLE, board_of, contents_of
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.verbs import canonical, play, recurrence, reversible
from cutnode.search.record import is_over

CONSTANTS = (
    *("CELLS", "DECISIVE", "FOCUS", "LAYER_NAMES", "LAYER_SIZES", "MAX_ACTIONS", "MAX_MOVES"),
    *("MAX_PLIES", "MOVE_PATTERN", "PART_IMAGES", "PROFILE", "RECORD_SUFFIX", "REPETITION"),
    *("REPETITIONS", "SEMICOLONS", "UNIT", "VALUE_LIMIT", "VARIANT", "VARIANTS"),
)
"""The constants of the contract (``cutnode.contract.verbs``)."""

LIKE, LIKE_CONSTANT = 0.81, 0.75
"""Similarity from which the name of a function, or of a constant, counts as a misspelt one."""

PAIRS = (("mine", "theirs"), ("own", "other"), ("own", "opp"), ("me", "you"), ("us", "them"))
"""Names of fields for the mover's pieces and for the other player's."""

PLAYER_FIELDS = (
    *("player", "current_player", "to_move", "mover", "side", "side_to_move", "turn", "who"),
    *("current", "second", "white", "black"),
)
"""Names of fields for the player to move; the last two may be boards as well."""

FEW = 10
"""The least evidence, in moves or pieces, for a warning."""


def suspicions(sample: Sample) -> list[Finding]:
    """Return warnings about a game, given its sample of random games."""
    position = sample.lines[0].positions[0]
    return [
        *near_names(sample.game.module, type(position)),
        *_endings(sample),
        *(list(_turns(sample, type(position))) or _players(sample, type(position))),
        *(list(_swaps(sample, position)) or _owners(sample, type(position))),
        *_symmetries(sample, type(position)),
        *_repetition(sample, type(position)),
        *_counters(sample, type(position)),
    ]


def near_names(module: ModuleType, cls: type) -> Iterator[Finding]:
    """Warn of public functions and constants with names that resemble names of the contract.

    A name that the game uses is no mistake.  Without the source there are no warnings.
    """
    functions = (*VERBS, *FOR_PEOPLE)
    try:
        used = set(_used_names(module))
    except (OSError, TypeError):  # a notebook, or a module that an adapter made
        return
    places: tuple[Any, ...] = (module, cls)
    for name, value in {**vars(cls), **vars(module)}.items():
        own = _is_own(value, module)
        known = functions if own else CONSTANTS
        if isinstance(value, ModuleType) or callable(value) != own:
            continue
        if name[0] == "_" or name in used or name in known or name.startswith("evaluate_"):
            continue
        missing = [other for other in known if not any(hasattr(it, other) for it in places)]
        meant = _nearest(name, missing, LIKE if own else LIKE_CONSTANT)
        if meant and _takes_as_many(value, meant):
            what = "function" if own else "constant"
            yield Finding(
                name, "", f"no {what} of the contract, and nothing uses it (did you mean {meant}?)"
            )


def _takes_as_many(value: Any, meant: str) -> bool:
    """Return whether a function has the number of parameters that the contract has for a name."""
    if not callable(value):
        return True
    wanted = FOR_PEOPLE.get(meant) or inspect.signature(VERBS[meant]).parameters
    return len(inspect.signature(value).parameters) == len(wanted)


def _is_own(value: Any, module: ModuleType) -> bool:
    own = getattr(value, "__module__", None) == module.__name__
    return callable(value) and not isinstance(value, type) and own


def _used_names(module: ModuleType) -> Iterator[str]:
    """Yield the names that the source of a module uses."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _nearest(name: str, known: list[str], least: float) -> str:
    """Return the known name closest to another; "" if none is close enough."""
    plain = {other.replace("_", "").lower(): other for other in known}
    given = name.replace("_", "").lower()
    for other in plain:
        if sorted(other) == sorted(given):
            return plain[other]
    likeness = {
        other: difflib.SequenceMatcher(None, given, other, autojunk=False).ratio()
        for other in plain
    }
    best = max(likeness, key=lambda other: likeness[other], default="")
    return plain[best] if best and likeness[best] >= least else ""


def _turns(sample: Sample, cls: type) -> Iterator[Finding]:
    sides = {side for line in sample.lines for side in line.sides}
    if defines(cls, "turn") and len(sides) == 1 and any(len(it.moves) > 1 for it in sample.lines):
        yield Finding(
            "turn",
            "",
            f"it never changed: the same player moved in all {len(sample.lines)} games; if "
            f"players alternate, leave turn out",
        )


def _endings(sample: Sample) -> Iterator[Finding]:
    if is_over(sample.lines[0].positions[0]):
        yield Finding("outcome", "", "the game is over at the start: no move was made")


def _players(sample: Sample, cls: type) -> Iterator[Finding]:
    """Warn if a field for the player to move stays the same though the players alternate."""
    if defines(cls, "turn"):
        return
    for name in PLAYER_FIELDS:
        pairs = [
            (getattr(before, name), getattr(after, name))
            for before, after in _plies(sample.lines)
            if hasattr(before, name)
        ]
        stayed = sum(before == after for before, after in pairs)
        values = {value for pair in pairs for value in pair}
        if name in PLAYER_FIELDS[-2:] and not all(isinstance(it, bool) for it in values):
            continue
        if stayed and len(values) <= 2:
            yield Finding(
                "play",
                "",
                f"{name} stays after {stayed} of {len(pairs)} moves, though the players alternate: "
                f"change it with each move, or, if a player can move again, define turn",
            )
            return


def _plies(lines: list[Line]) -> Iterator[tuple[Any, Any]]:
    """Yield the positions before and after each move after which the other player moves."""
    for line in lines:
        steps = zip(pairwise(line.positions), pairwise(line.sides), line.moves, strict=True)
        for (before, after), (mover, following), move in steps:
            if move is not None and mover != following:
                yield before, after


def _swaps(sample: Sample, start: Any) -> Iterator[Finding]:
    """Warn if play does not swap the fields of mover and opponent.

    The opponent's field then never gains anything.
    """
    for mine, theirs in PAIRS:
        if not isinstance(getattr(start, mine, None), int) or not hasattr(start, theirs):
            continue
        gained = moved = 0
        for before, after in _plies(sample.lines):
            gained += int(getattr(after, theirs)) & ~int(getattr(before, theirs)) != 0
            moved += getattr(after, mine) != getattr(before, mine)
        if gained == 0 and moved >= FEW:
            yield Finding(
                "play",
                "",
                f"it does not swap {mine} and {theirs}, though the other player is to move: only "
                f"{mine}, the first player's, ever moves (see the opening)",
            )


def _owners(sample: Sample, cls: type) -> Iterator[Finding]:
    """Warn if pieces change owners, or if one player's pieces never move."""
    board = board_of(cls)
    if board is None or not {0, 1} <= {*board.owners}:
        return
    owners = board.owners
    came, stayed, flipped = [0, 0], 0, 0
    for before, after in _plies(sample.lines):
        pairs = zip(contents_of(before), contents_of(after), strict=True)
        for old, new in ((owners[a], owners[b]) for a, b in pairs if 0 <= a < len(owners) > b >= 0):
            if new is not None and old != new:
                came[new] += 1
            stayed += old is not None and old == new
            flipped += old is not None and new is not None and old != new
    if flipped > FEW and flipped > 2 * stayed:
        yield Finding(
            "cell",
            "",
            "nearly each piece changes its owner with every move (see the opening): if play swaps "
            "the fields of mover and opponent, cell must still return the player who owns a piece",
        )
    elif 0 in came and sum(came) > FEW:
        player = board.sides[came.index(0)]
        yield Finding(
            "play", "", f"no piece of {player} was ever moved or placed (see the opening)"
        )


def _symmetries(sample: Sample, cls: type) -> Iterator[Finding]:
    """Warn if ``canonical`` turns positions and nothing turns moves."""
    if not defines(cls, "canonical") or defines(cls, "canonical_move"):
        return
    classes: dict[int, Any] = {}
    for position in sample.choices():
        word, symmetry = canonical(position)
        other = classes.setdefault(int(word), position)
        if canonical(other)[1] == symmetry:
            continue
        for move in legal_moves(position):
            if move in legal_moves(other):
                ends = [canonical(play(it, move))[0] for it in (position, other)]
                if ends[0] == ends[1]:
                    continue
            yield Finding(
                "canonical_move",
                sample.text(position),
                f"it is not defined, but canonical turns positions: move {move} is another one at "
                f"{sample.text(other)!r}; define canonical_move, and its inverse, original_move",
            )
            return


def _counters(sample: Sample, cls: type) -> Iterator[Finding]:
    """Warn of a field that every move changes in one direction, so that no position recurs."""
    if not defines(cls, "reversible") or defines(cls, "recurrence") or defines(cls, "key"):
        return
    steps = [(a, b) for line in sample.lines for a, b in pairwise(line.positions)]
    if len(steps) < FEW or not any(reversible(*step) for step in steps):
        return
    start = sample.lines[0].positions[0]
    for name in getattr(start, "_fields", None) or attributes_of(start):
        if type(getattr(start, name)) is not int:
            continue
        changes = [getattr(after, name) - getattr(before, name) for before, after in steps]
        if min(changes) > 0 or max(changes) < 0:
            yield Finding(
                "reversible",
                "",
                f"no position comes back, as every move changes {name}: leave {name} out of the "
                f"position, or out of the word that recurrence(position) returns",
            )


def _repetition(sample: Sample, cls: type) -> Iterator[Finding]:
    if repetition_rule(cls) != "draw":
        yield from _forgotten(sample)
    if defines(cls, "chance") and defines(cls, "reversible"):
        yield Finding(
            "reversible",
            "",
            "with it no game of chance can be solved, as it makes repetitions draws: remove it, "
            "so that play may repeat positions",
        )


def _forgotten(sample: Sample) -> Iterator[Finding]:
    """Warn of positions that count as a repetition although the same player has other moves."""
    player, known = sample.game.notation.player, dict[Any, Any]()
    for position in sample.choices():
        other = known.setdefault((recurrence(position), player(position)), position)
        if legal_moves(other) != legal_moves(position):
            yield Finding(
                "recurrence",
                sample.text(position),
                f"the same player has other moves in {sample.text(other)!r}, which counts as a "
                f"repetition of it: put all that decides the moves into the word",
            )
            return
