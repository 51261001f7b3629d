"""Positions sampled at random from games, not chosen by hand.

The engine plays games against itself from a given position.  Each move is random or the best of a
search to depth :data:`DEPTH`, equally often, so that the positions are neither all alike nor all
absurd.  One position is taken from each game, after a random number of plies, unless the game is
over there, a move wins at once, or the position or an equivalent one was taken before.  The same
seed gives the same positions with the same version of the engine; a study records the positions
themselves as texts, so it does not depend on the version.
"""

from __future__ import annotations

import functools
from random import Random
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.contract.positions import coerce
from cutnode.lab.measuring import search_afresh
from cutnode.lab.study import Progress, no_progress
from cutnode.search.record import class_key, position_of_game, wins_at_once
from cutnode.search.searcher import Searcher

DEPTH = 2
"""The depth of the players' search, in plies."""

RANDOM = 0.5
"""The share of random moves."""

GAMES_EACH = 20
"""The games played for each position wanted, before the sampling fails."""

MOST_POSITIONS = 100_000


def plies_in(text: str) -> tuple[int, int]:
    """Return the least and the most plies from ``8:20``, or from ``8``, which means 8 to 8."""
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise CutnodeError(
            f"plies must be a number or range like 8 or 8:20, got {text!r}"
        ) from None


def sample_positions(
    start: Any,
    count: int,
    *,
    plies: tuple[int, int] = (4, 24),
    seed: int = 0,
    progress: Progress = no_progress,
) -> list[Any]:
    """Return *count* different positions that games from *start* reach.

    *plies* are the least and the most plies from *start*: moves of both players, not chance
    events.  :class:`CutnodeError` if too few such positions are found, or for numbers out of range.
    """
    start = coerce(start)
    least, most = (require_integer(number, "a number of plies") for number in plies)
    if not 1 <= require_integer(count, "a number of positions") <= MOST_POSITIONS:
        raise CutnodeError(f"a sample needs 1..{MOST_POSITIONS:,} positions, got {count}")
    if not 0 <= least <= most:
        raise CutnodeError(f"plies must be LEAST:MOST with 0 <= LEAST <= MOST, got {least}:{most}")
    require_integer(seed, "a seed")
    searcher = Searcher(start, exact=True, table=1)
    found: dict[Any, Any] = {}
    for number in range(GAMES_EACH * count + 100):
        progress(f"game {number + 1}", len(found), count)
        random = Random(f"{seed} sample {number}")
        choose = functools.partial(_chosen, searcher, random)
        position = position_of_game(start, random.randint(least, most), random, choose)
        if position is not None and not wins_at_once(position):
            found.setdefault(class_key(position), position)
        if len(found) == count:
            return list(found.values())
    raise CutnodeError(
        f"found only {len(found)} of {count} different positions after {least} to {most} plies: "
        f"ask for fewer positions, or for other plies"
    )


def _chosen(searcher: Searcher, random: Random, position: Any) -> int:
    """Return a move of a search, or sometimes a random one."""
    if random.random() < RANDOM:
        return random.choice(legal_moves(position))
    return search_afresh(searcher, position, DEPTH).lines[0].move
